
(() => {
  "use strict";
  const PAGE = 40;
  const by = (id) => document.getElementById(id);
  const clusters = JSON.parse(by("clusters").textContent);
  const summary = JSON.parse(by("summary").textContent);
  by("clusters").remove();

  // What comes from documents is untrusted: it becomes text, never markup, and its control characters are shown.
  const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  const visible = (text) => text.replace(CONTROLS, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  const visibleLine = (text) => visible(text.replace(/\n/g, "\\n").replace(/\t/g, "\\t"));
  const count = (n) => n.toLocaleString("en");
  const counted = (n, what) => count(n) + " " + what + (n === 1 ? "" : "s");
  const el = (name, properties, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key === "class") element.className = value;
      else if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const place = (member) => member.file + (member.record ? ":" + member.record : "");

  // Decisions: of a cluster, the members that are chosen, and those that are kept with what they are near-duplicates of.
  let saved = "";
  const has = (set, number) => Boolean(set && set.has(number));
  // The members with a decision, each with whether it is kept in any case.
  const wishes = (cluster) => {
    const all = new Map();
    for (const number of cluster.chosen || []) all.set(number, false);
    for (const number of cluster.both || []) {
      const { of } = cluster.members[number];
      all.set(number, true);
      if (!cluster.members[of].reference) all.set(of, true);
    }
    return all;
  };
  const decided = () => clusters.filter((cluster) => wishes(cluster).size);
  const lines = () => decided().flatMap((cluster) => [...wishes(cluster)].sort(([a], [b]) => a - b).map(([number, always]) => {
    const { id, file, record } = cluster.members[number];
    return JSON.stringify({ type: "decision", keep: id, file, record, always: always || undefined }) + "\n";
  })).join("");
  const showDecisions = () => {
    const text = lines();
    by("lines").value = text;
    const all = decided().flatMap((cluster) => [...wishes(cluster).values()]);
    const [chosen, always] = [all.length, all.filter(Boolean).length];
    by("decided-count").textContent = counted(chosen, "document") + " chosen in " + counted(decided().length, "cluster")
      + (always ? ", " + count(always) + " to keep in any case" : "") + ".";
    for (const id of ["export", "copy", "clear"]) by(id).disabled = !chosen;
  };
  const wish = (all, number) => !all.has(number) ? "" : all.get(number) ? "decision: keep in any case" : "decision: keep this one";
  // Shows the decisions on the members of a cluster that has a card.
  const showWishes = (cluster) => {
    const all = wishes(cluster);
    cluster.members.forEach((_, number) => {
      const name = cluster.id + "-" + number;
      for (const [button, set] of [[by("k" + name), cluster.chosen], [by("b" + name), cluster.both]]) {
        if (button) button.setAttribute("aria-pressed", String(has(set, number)));
      }
      const state = by("w" + name);
      if (state) state.textContent = wish(all, number);
    });
    showDecisions();
  };
  // One of the two decisions takes the place of the other.
  const toggle = (cluster, number) => {
    if (cluster.members[number].reference) return;
    cluster.chosen = cluster.chosen || new Set();
    if (!cluster.chosen.delete(number)) cluster.chosen.add(number);
    if (cluster.both) cluster.both.delete(number);
    showWishes(cluster);
  };
  const toggleBoth = (cluster, number) => {
    if (cluster.members[number].of === undefined) return;
    cluster.both = cluster.both || new Set();
    if (!cluster.both.delete(number)) cluster.both.add(number);
    if (cluster.chosen) cluster.chosen.delete(number);
    showWishes(cluster);
  };
  const save = () => {
    const text = lines();
    if (!text) return;
    const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    el("a", { href: url, download: "decisions.jsonl" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    saved = text;
  };
  by("export").addEventListener("click", save);
  by("copy").addEventListener("click", async () => {
    const area = by("lines");
    try {
      await navigator.clipboard.writeText(area.value);
    } catch {
      area.focus();
      area.select();
      document.execCommand("copy");
    }
    saved = area.value;
    by("decided-count").textContent += " Copied.";
  });
  by("clear").addEventListener("click", () => {
    for (const cluster of decided()) {
      cluster.chosen = cluster.both = undefined;
      showWishes(cluster);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (lines() !== saved) event.preventDefault();
  });

  // Cards.
  const pieces = (list, own) => list.map((piece) => {
    if (typeof piece === "string") return visible(piece);
    const [kind, value] = piece;
    return kind ? el(own, {}, visible(value)) : el("span", { class: "faint" }, " […" + counted(value, "word") + "] ");
  });
  const differences = (cluster, member) => {
    const { text } = member;
    const notes = [];
    if (!text.shown) notes.push("The words are the same.");
    if (text.more) notes.push(counted(text.more, "more difference") + " not shown.");
    if (text.is_cut) notes.push("Only the beginnings of these texts were compared.");
    const side = (name, list, own) => el("div", {},
      el("p", { class: "faint" }, name),
      el("p", { class: "text", tabIndex: 0, role: "group", "aria-label": name }, ...pieces(list, own)));
    return [
      el("div", { class: "sides" },
        side("Kept: " + visibleLine(cluster.members[member.of].id), text.kept, "del"),
        side("This one: " + visibleLine(member.id), text.own, "ins")),
      ...notes.map((note) => el("p", { class: "faint" }, note)),
    ];
  };
  const item = (cluster, member, number) => {
    const parts = [el("span", { class: "id" }, visibleLine(member.id))];
    if (place(member) !== member.id) parts.push(el("span", { class: "id faint" }, visibleLine(place(member))));
    let state = member.keep ? "kept" : "not kept";
    if (member.reference) state = "reference";
    if (member.of !== undefined) state = member.digits + " to " + visibleLine(cluster.members[member.of].id);
    parts.push(el("span", { class: "faint" }, state));
    if (member.by) parts.push(el("span", { class: "faint" }, "by " + visibleLine(member.by)));
    const name = cluster.id + "-" + number;
    parts.push(el("span", { class: "decision", id: "w" + name }, wish(wishes(cluster), number)));
    const choice = (kind, set, what, label, click) => {
      const pressed = String(has(set, number));
      const button = el("button", { type: "button", id: kind + name, "aria-pressed": pressed, "aria-label": label }, what);
      button.addEventListener("click", () => click(cluster, number));
      parts.push(button);
    };
    if (!member.reference) choice("k", cluster.chosen, "Keep this one", "Keep this one: " + visibleLine(member.id), toggle);
    if (member.of !== undefined) {
      const label = "Keep both: " + visibleLine(member.id) + " and " + visibleLine(cluster.members[member.of].id);
      choice("b", cluster.both, "Keep both", label, toggleBoth);
    }
    const rows = [el("div", { class: "member" }, ...parts)];
    if (member.text) rows.push(...differences(cluster, member));
    if (member.unread) rows.push(el("p", { class: "faint" }, "The text could not be read again, or has changed since."));
    return el("li", {}, ...rows);
  };
  // Kept members first, then the least similar ones.
  const order = (cluster) => cluster.members.map((_, number) => number).sort((a, b) => {
    const [x, y] = [cluster.members[a], cluster.members[b]];
    return (y.of === undefined) - (x.of === undefined) || (x.similarity ?? 0) - (y.similarity ?? 0) || a - b;
  });
  const card = (cluster) => {
    const title = "Cluster " + count(cluster.id) + ": " + counted(cluster.size, "document") + ", " + count(cluster.kept) + " kept"
      + (cluster.least === undefined ? "" : ", similarity from " + cluster.least_digits);
    const heading = el("h3", { id: "h" + cluster.id }, title);
    const list = el("ol", {}, ...order(cluster).map((number) => item(cluster, cluster.members[number], number)));
    const article = el("article", { class: "cluster", id: "c" + cluster.id, tabIndex: -1, "aria-labelledby": "h" + cluster.id }, heading, list);
    const left = cluster.size - cluster.members.length;
    const plain = cluster.members.filter((member) => member.of !== undefined && !member.text && !member.unread).length;
    if (plain) article.append(el("p", { class: "faint" }, "The differences of " + counted(plain, "more similar member") + " are not on this page."));
    if (left) article.append(el("p", { class: "faint" }, counted(left, "more member") + " not on this page."));
    article.cluster = cluster;
    return article;
  };

  // The list: cards are made as they are reached.
  let matching = [], made = 0;
  const more = () => {
    const next = matching.slice(made, made + PAGE);
    made += next.length;
    by("list").append(...next.map(card));
    by("more").hidden = made >= matching.length;
  };
  const number = (id, otherwise) => by(id).value === "" ? otherwise : Number(by(id).value);
  const filter = () => {
    const text = by("search").value.toLowerCase();
    const [smallest, largest, least, most] = [number("smallest", 0), number("largest", Infinity), number("least", 0), number("most", 1)];
    const any = least <= 0 && most >= 1;
    const fits = (similarity) => similarity !== undefined && similarity >= least && similarity <= most;
    matching = clusters.filter((cluster) => cluster.size >= smallest && cluster.size <= largest
      && (any || cluster.members.some((member) => fits(member.similarity)))
      && (!by("decided").checked || wishes(cluster).size)
      && (!text || cluster.members.some((member) => member.id.toLowerCase().includes(text) || member.file.toLowerCase().includes(text))));
    if (by("order").value === "least") matching.sort((a, b) => (a.least ?? 2) - (b.least ?? 2) || a.id - b.id);
    if (by("order").value === "input") matching.sort((a, b) => a.id - b.id);
    made = 0;
    by("list").replaceChildren();
    more();
    by("count").textContent = counted(matching.length, "cluster") + " of " + count(clusters.length) + ".";
  };
  let waiting;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  };
  by("filters").addEventListener("input", later);
  by("filters").addEventListener("reset", later);
  by("filters").addEventListener("submit", (event) => event.preventDefault());
  by("more").addEventListener("click", more);
  if (window.IntersectionObserver) {
    new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) more();
    }, { rootMargin: "800px" }).observe(by("more"));
  }

  // The histogram: a button for each range.
  const bins = summary.histogram, last = bins.length - 1, tallest = Math.max(1, ...bins);
  const first = bins.findIndex((members) => members > 0);
  bins.forEach((members, bin) => {
    if (first < 0 || bin < first) return;
    const [from, to] = [bin / last, bin === last ? 1 : (bin + 1) / last];
    const name = bin === last ? "1" : from.toFixed(2);
    const bar = el("span", { class: "bar" });
    bar.style.height = members ? 2 + Math.round(70 * members / tallest) + "px" : "0";
    const range = bin === last ? "similarity 1" : "similarity from " + from.toFixed(2) + " to below " + to.toFixed(2);
    const button = el("button", { type: "button", "aria-label": counted(members, "document") + " with " + range, title: range }, count(members), bar, name);
    button.addEventListener("click", () => {
      by("least").value = from;
      by("most").value = bin === last ? 1 : to - 1e-9;
      filter();
      by("count").scrollIntoView({ block: "nearest" });
    });
    by("histogram").append(button);
  });

  // The keyboard. After a b, a digit keeps both.
  let isBoth = false;
  document.addEventListener("keydown", (event) => {
    if (!by("shortcuts").checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.key === "Shift") return;
    const wasBoth = isBoth;
    isBoth = event.key === "b";
    if (event.key === "/") {
      event.preventDefault();
      by("search").focus();
      return;
    }
    if (event.key === "e") return save();
    const current = document.activeElement.closest(".cluster");
    if (/^[1-9]$/.test(event.key) && current) {
      const member = order(current.cluster)[event.key - 1];
      if (member !== undefined) (wasBoth ? toggleBoth : toggle)(current.cluster, member);
      return;
    }
    if (event.key !== "j" && event.key !== "k") return;
    let next = current ? (event.key === "j" ? current.nextElementSibling : current.previousElementSibling) : by("list").firstElementChild;
    if (!next && event.key === "j") {
      more();
      next = current && current.nextElementSibling;
    }
    if (next) {
      next.focus();
      next.scrollIntoView({ block: "start" });
    }
  });

  const left = summary.clusters - summary.shown;
  by("bounds").textContent = (left ? counted(left, "cluster") + " not on this page. " : "")
    + "The page has at most " + count(summary.max_clusters) + " clusters and " + (summary.max_bytes >> 20) + " MiB of them, the larger clusters first; of each about "
    + count(summary.max_members) + " members, and the differences of the " + count(summary.max_texts) + " least similar ones.";
  by("app").hidden = false;
  showDecisions();
  filter();
})();
