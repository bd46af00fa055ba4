
"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  const GRADES = ["error", "warning", "note"], KINDS = ["file", "passage", "paragraph"], SPACES = ["", " ", "\n\n"];
  const BATCH = 200, EXCERPT = 240, MAX_PLACES = 20, MAX_NAME = 40;
  const { pages, strings } = data;

  const add = (parent, tag, text, name) => {
    const element = parent.appendChild(document.createElement(tag));
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const number = (count, what) => count.toLocaleString("en") + " " + (count === 1 ? what : what.replace(/y$/, "ie") + "s");

  const place = ([page, line, column, end, heading, isNew]) => ({ page, line, column, end, heading, isNew });
  const copies = data.findings.map((row, at) => {
    const [kind, grade, accepted, words, summary, reasons, primary, proposal, places, pairs, why] = row;
    const all = places.map(place);
    return { at, kind, grade, accepted, words, summary, reasons, proposal, why, places: all, pairs, primary: all[primary], text: null };
  });
  const name = (place) => pages[place.page][0] + ":" + place.line + ":" + place.column;
  const link = (place) => {
    const template = pages[place.page][1];
    return template && template.replace(/\{line\}/g, place.line).replace(/\{end\}/g, place.end).replace(/\{column\}/g, place.column);
  };

  // Parts are numbers: nine times the string, three times the mark (shared, own, beside), and the space after it.
  const part = (code) => [strings[Math.floor(code / 9)], Math.floor(code / 3) % 3, SPACES[code % 3]];
  const excerpt = (copy) => {
    let text = "";
    for (const code of copy.pairs[0][5]) {
      const [own, mark, space] = part(code);
      if (mark < 2) text += own + space;
      if (text.length > EXCERPT) return text.slice(0, EXCERPT) + "\u2026";
    }
    return text;
  };
  const searched = (copy) => {
    if (copy.text === null) {
      const texts = copy.places.flatMap((place) => [pages[place.page][0], strings[place.heading] || ""]);
      texts.push(strings[copy.summary], strings[copy.proposal] || "", strings[copy.why] || "", ...copy.reasons.map((reason) => strings[reason]));
      for (const pair of copy.pairs) {
        for (const side of [pair[4], pair[5]]) texts.push(side.map((code) => part(code)[0] + part(code)[2]).join(""));
      }
      copy.text = texts.join("\n").toLowerCase();
    }
    return copy.text;
  };

  const titled = (parent, at) => {
    const url = link(at);
    const element = add(parent, url ? "a" : "span", name(at), "where");
    if (url) Object.assign(element, { href: url, target: "_blank", rel: "noopener noreferrer" });
    return element;
  };
  const remarks = (parent, at) => {
    if (at.heading >= 0) add(parent, "span", " \u201c" + strings[at.heading] + "\u201d", "faint");
    if (at.isNew) add(parent, "span", "new", "tag");
  };
  const side = (parent, copy, at, codes, own) => {
    const section = add(parent, "section");
    remarks(titled(add(section, "h3"), copy.places[at]).parentNode, copy.places[at]);
    const text = add(section, "div", "", "text");
    text.tabIndex = 0;
    for (const code of codes) {
      const [words, mark, space] = part(code);
      if (mark === 0) text.append(words);
      else add(text, mark === 1 ? own : "span", words, mark === 1 ? "" : "faint");
      text.append(space);
    }
  };
  const compare = (parent, copy, pair) => {
    parent.replaceChildren();
    const [left, right, , reordered, one, other] = pair;
    if (reordered) add(parent, "p", "Some of it is in another order in the other place.", "faint");
    const sides = add(parent, "div", undefined, "sides");
    side(sides, copy, left, one, "del");
    side(sides, copy, right, other, "ins");
  };
  const listPlaces = (body, copy) => {
    const list = add(body, "ol", undefined, "places");
    const show = (places) => {
      for (const at of places) {
        const item = add(list, "li");
        item.value = copy.places.indexOf(at) + 1;
        titled(item, at);
        remarks(item, at);
      }
    };
    const ordered = [...copy.places].sort((a, b) => b.isNew - a.isNew);
    show(ordered.slice(0, MAX_PLACES));
    const rest = ordered.slice(MAX_PLACES);
    if (!rest.length) return;
    const more = add(body, "button", "Show " + number(rest.length, "more place"));
    more.type = "button";
    more.addEventListener("click", () => { more.remove(); show(rest); });
  };
  const open = (details, copy) => {
    const body = add(details, "div", undefined, "body");
    listPlaces(body, copy);
    if (copy.pairs.length > 1) {
      const label = add(body, "label", "Compare places ");
      const select = add(label, "select");
      copy.pairs.forEach(([a, b, percent], at) => {
        add(select, "option", (a + 1) + " and " + (b + 1) + " (" + percent + " % alike)").value = at;
      });
      select.addEventListener("change", () => compare(texts, copy, copy.pairs[select.value]));
    }
    if (copy.why >= 0) add(body, "p", "Accepted: " + strings[copy.why]);
    if (copy.proposal >= 0) add(body, "p", "Proposal: " + strings[copy.proposal]);
    const texts = add(body, "div");
    compare(texts, copy, copy.pairs[0]);
  };
  const card = (parent, copy) => {
    const details = add(parent, "details", undefined, "copy " + GRADES[copy.grade] + (copy.accepted ? " accepted" : ""));
    const summary = add(details, "summary");
    add(summary, "span", name(copy.primary), "where");
    // A line may break where there is a space.
    const follow = (text, classes) => { summary.append(" "); add(summary, "span", text, classes); };
    follow(GRADES[copy.grade], "grade");
    follow(strings[copy.summary]);
    if (copy.places.length === 2) follow("also at " + name(copy.places[copy.pairs[0][0]]), "faint also");
    for (const reason of copy.reasons) follow(strings[reason], "tag");
    if (copy.accepted) follow("accepted", "tag");
    add(summary, "span", excerpt(copy), "excerpt");
    details.addEventListener("toggle", () => { if (details.open && !details.querySelector(".body")) open(details, copy); });
  };

  const byPlace = (a, b) => a.primary.page - b.primary.page || a.primary.line - b.primary.line || a.at - b.at;
  const SORTS = {
    grade: (a, b) => a.grade - b.grade || byPlace(a, b),
    words: (a, b) => b.words - a.words || byPlace(a, b),
    path: byPlace,
    places: (a, b) => b.places.length - a.places.length || byPlace(a, b),
  };
  const fill = (id, options) => options.forEach(([value, text]) => { add(by(id), "option", text).value = value; });
  const hasNew = copies.some((copy) => copy.places.some((place) => place.isNew));
  const hasOpen = copies.some((copy) => !copy.accepted);
  fill("grade", [["0", "errors"], ["1", "errors, warnings"], ["2", "all"]]);
  fill("kind", [["", "all"], ...KINDS.map((kind, at) => [at, kind + "s"])]);
  fill("status", [["open", "not accepted"], ["accepted", "accepted"], ["", "all"], ...(hasNew ? [["new", "with new places"]] : [])]);
  fill("sort", [["grade", "grade"], ["words", "words"], ["path", "path"], ["places", "places"]]);

  // Two files that were selected on the map.
  let cell = null;
  const isBetween = (copy) => {
    const [a, b] = cell, count = (page) => copy.places.filter((place) => place.page === page).length;
    return a === b ? count(a) > 1 : count(a) > 0 && count(b) > 0;
  };
  const filtered = () => {
    const words = by("search").value.trim().toLowerCase(), kind = by("kind").value, status = by("status").value;
    return copies.filter((copy) => copy.grade <= +by("grade").value
      && (kind === "" || copy.kind === +kind)
      && (status !== "open" || !copy.accepted) && (status !== "accepted" || copy.accepted)
      && (status !== "new" || copy.places.some((place) => place.isNew))
      && (!cell || isBetween(copy))
      && (!words || searched(copy).includes(words)));
  };
  // Findings, and the pages that they are grouped under.
  const grouped = (found) => {
    const groups = new Map();
    for (const copy of found) {
      if (!groups.has(copy.primary.page)) groups.set(copy.primary.page, []);
      groups.get(copy.primary.page).push(copy);
    }
    return [...groups].flatMap(([page, own]) => [{ page, count: own.length }, ...own]);
  };

  let items = [], shown = 0;
  const more = () => {
    const part = document.createDocumentFragment();
    for (const item of items.slice(shown, shown + BATCH)) {
      if (item.count) add(part, "h2", pages[item.page][0] + " (" + item.count + ")");
      else card(part, item);
    }
    by("list").append(part);
    shown += BATCH;
    by("more").hidden = shown >= items.length;
  };
  const clear = (text, change) => {
    const button = add(by("count"), "button", text);
    button.type = "button";
    button.addEventListener("click", () => { change(); update(); });
  };
  const update = () => {
    const found = filtered().sort(SORTS[by("sort").value]);
    items = by("group").checked ? grouped(found) : found;
    shown = 0;
    by("list").replaceChildren();
    by("count").textContent = found.length.toLocaleString("en") + " of " + number(copies.length, "copy")
      + (cell ? ", between " + pages[cell[0]][0] + " and " + pages[cell[1]][0] + " " : " ");
    if (cell) clear("All files", () => { cell = null; });
    if (by("search").value.trim()) clear("Clear search", () => { by("search").value = ""; });
    if (!found.length) add(by("list"), "p", "No copy matches all filters.", "empty");
    more();
  };

  const short = (path) => path.length > MAX_NAME ? "\u2026" + path.slice(1 - MAX_NAME) : path;
  const drawMap = () => {
    const { files, cells, left_off: leftOff } = data.map;
    const note = "Each number is the count of copies between two files; select it to see them."
      + (leftOff ? " " + number(leftOff, "more file") + " with fewer copied words not shown." : "");
    add(by("map"), "p", note, "faint");
    const scroll = add(by("map"), "div", undefined, "scroll");
    scroll.tabIndex = 0;
    const table = add(scroll, "table"), head = add(add(table, "thead"), "tr"), rows = add(table, "tbody");
    add(head, "td");
    files.forEach((file, at) => { add(head, "th", at + 1).title = pages[file][0]; });
    files.forEach((file, at) => {
      const row = add(rows, "tr");
      add(row, "th", (at + 1) + " " + short(pages[file][0])).title = pages[file][0];
      files.forEach((other, column) => {
        const count = cells[at][column], field = add(row, "td");
        if (!count || column > at) return;
        const button = add(field, "button", count, "heat" + Math.min(3, Math.ceil(Math.log2(count + 1))));
        button.type = "button";
        button.title = pages[file][0] + " and " + pages[other][0];
        button.setAttribute("aria-label", number(count, "copy") + " between " + button.title);
        button.addEventListener("click", () => { cell = [file, other]; update(); by("tools").scrollIntoView(); });
      });
    });
  };

  const start = () => {
    // It is there for readers without scripts.
    by("list").replaceChildren();
    if (data.stale.length) {
      by("stale").hidden = false;
      add(by("stale"), "h2", "Stale baseline entries");
      const list = add(by("stale"), "ul");
      for (const [paths, text] of data.stale) add(list, "li", paths + ": " + text);
    }
    if (!copies.length) {
      add(by("list"), "p", "No copies were found.", "empty");
      return;
    }
    by("tools").hidden = false;
    if (data.kept) {
      const text = "There are many copies, so at most " + data.kept.toLocaleString("en") + " characters are shown of each text. ";
      by("tools").after(add(document.createDocumentFragment(), "p", text, "faint"));
    }
    by("grade").value = copies.some((copy) => copy.grade <= data.grade) ? data.grade : 2;
    by("status").value = hasOpen ? "open" : "";
    let timer = 0;
    by("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 150); });
    for (const id of ["grade", "kind", "status", "sort", "group"]) by(id).addEventListener("change", update);
    by("tools").addEventListener("submit", (event) => event.preventDefault());
    by("more").addEventListener("click", more);
    by("map-button").addEventListener("click", () => {
      if (!by("map").firstChild) drawMap();
      by("map").hidden = !by("map").hidden;
      by("map-button").setAttribute("aria-expanded", !by("map").hidden);
    });
    if (window.IntersectionObserver) {
      new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) more(); }, { rootMargin: "600px" })
        .observe(by("more"));
    }
    update();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "/") { event.preventDefault(); by("search").focus(); return; }
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const cards = [...document.querySelectorAll("details.copy")];
    const at = cards.findIndex((card) => card.contains(document.activeElement));
    const next = cards[at < 0 ? (step > 0 ? 0 : cards.length - 1) : at + step];
    if (!next) return;
    next.querySelector("summary").focus();
    next.scrollIntoView({ block: "nearest" });
  });
  start();
})();
