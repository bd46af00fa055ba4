//! Dependencies between modules: a module uses only modules before it in the drawing at the head of `src/lib.rs`, the
//! files of a module form no circle, nor with the file of the module itself, and only argument modules read what clap
//! parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names of the modules of the crate.
fn modules() -> BTreeSet<String> {
    let entries = fs::read_dir("src").unwrap().map(|entry| entry.unwrap().path());
    let names = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string());
    names.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

/// The modules in the order in which they are drawn.
fn drawn(modules: &BTreeSet<String>) -> Vec<String> {
    let source = fs::read_to_string("src/lib.rs").unwrap();
    let drawing = source.split("//! ```text\n").find(|part| part.contains("union_find")).expect("the drawing is there");
    let mut names = Vec::new();
    for line in drawing.lines().take_while(|line| !line.contains("```")) {
        // Columns are parted by two spaces or more; the first word of each may be a module.
        let columns = line.trim_start_matches("//!").split("  ").filter_map(|column| column.split_whitespace().next());
        names.extend(columns.filter(|name| modules.contains(*name) && *name != "files").map(str::to_string));
    }
    // The first column is the subject of a line, and may equal the name of a module.
    let mut order: Vec<String> = Vec::new();
    for name in names.into_iter().rev() {
        if !order.contains(&name) {
            order.push(name);
        }
    }
    order.reverse();
    order
}

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| files(&entry.unwrap().path(), found));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_path_buf());
    }
}

/// The lines of a file without comments, up to its tests; if these are in a file of their own, all lines.
fn without_tests(source: &str) -> String {
    let code = source.lines().take_while(|line| !line.ends_with("mod tests {"));
    code.filter(|line| !line.trim_start().starts_with("//") && !line.ends_with("mod tests;"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The modules that a file names by `crate::` or by the name of the crate, but for its tests and comments.
fn used(source: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code = without_tests(source);
    let after = ["crate::", "neardups::"].into_iter().flat_map(|prefix| code.split(prefix).skip(1));
    let mut used = BTreeSet::new();
    for rest in after {
        // One path, or the first names of several in braces.
        let list = rest.strip_prefix('{').map_or(rest, |list| list.split("};").next().unwrap());
        let paths = if list.len() < rest.len() { list.split(',').collect() } else { vec![list] };
        for path in paths {
            let name: String = path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if modules.contains(&name) {
                used.insert(name);
            }
        }
    }
    used
}

#[test]
fn modules_use_only_those_before_them_in_the_drawing() {
    let modules = modules();
    let order = drawn(&modules);
    assert_eq!(order.iter().cloned().collect::<BTreeSet<_>>(), modules, "every module is drawn, and nothing else");
    let place = |name: &str| order.iter().position(|other| other == name).unwrap();
    let mut uses = 0;
    for module in &modules {
        let mut paths = Vec::new();
        for path in [format!("src/{module}.rs"), format!("src/{module}")] {
            if Path::new(&path).exists() {
                files(Path::new(&path), &mut paths);
            }
        }
        for path in paths {
            let used = used(&fs::read_to_string(&path).unwrap(), &modules);
            for other in used.iter().filter(|other| *other != module) {
                uses += 1;
                assert!(place(other) < place(module), "{}: {module} uses {other}, which comes later", path.display());
            }
        }
    }
    assert!(uses > 100, "{uses}");
}

/// A module, as the names of a path.
type Module = Vec<String>;

/// The module that a file defines.
fn module_of(path: &Path) -> Module {
    let inside = path.strip_prefix("src").unwrap().with_extension("");
    let names = inside.iter().map(|name| name.to_str().unwrap().to_string());
    names.filter(|name| !["mod", "lib"].contains(&name.as_str())).collect()
}

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    without_tests(&fs::read_to_string(path).unwrap())
}

/// The paths in a use tree such as `a::{b, c::d}`, after those names that lead to it, and the rest of the code.
fn tree<'a>(mut rest: &'a str, mut path: Module, paths: &mut Vec<Module>) -> &'a str {
    loop {
        rest = rest.trim_start();
        if let Some(list) = rest.strip_prefix('{') {
            rest = list;
            while !rest.starts_with('}') {
                rest = tree(rest, path.clone(), paths).trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
                // Not a use tree: braces of code.
                if rest.is_empty() || !rest.starts_with(|c: char| c.is_alphanumeric() || "_}{*".contains(c)) {
                    return rest;
                }
            }
            return &rest[1..];
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_string());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(more) => rest = more,
            None => break,
        }
    }
    paths.push(path);
    // A renamed item, or a glob.
    let end = rest.find(|c: char| ",}".contains(c)).unwrap_or(rest.len());
    if rest.starts_with(" as ") || rest.starts_with('*') { &rest[end..] } else { rest }
}

/// The paths that a file uses, from the root of the crate.
fn paths_used(code: &str, module: &Module) -> Vec<Module> {
    let mut used = Vec::new();
    for prefix in ["crate::", "neardups::", "super::"] {
        for (at, _) in code.match_indices(prefix) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) {
                continue;
            }
            let (mut rest, mut base) = (&code[at..], module.clone());
            if prefix == "super::" {
                while let Some(more) = rest.strip_prefix(prefix) {
                    rest = more;
                    base.pop();
                }
            } else {
                (rest, base) = (&rest[prefix.len()..], Module::new());
            }
            tree(rest, base, &mut used);
        }
    }
    used
}

/// The modules of other files that the file of a module uses.
fn modules_used(path: &Path, all: &BTreeSet<Module>) -> BTreeSet<Module> {
    let module = module_of(path);
    let deepest = |path: Module| (0..=path.len()).rev().map(|end| path[..end].to_vec()).find(|part| all.contains(part));
    let used = paths_used(&code(path), &module).into_iter().filter_map(deepest);
    used.filter(|other| *other != module).collect()
}

/// All files but those of unit tests.
fn sources() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    files(Path::new("src"), &mut paths);
    paths.retain(|path| !module_of(path).contains(&"tests".to_string()));
    paths
}

/// What is left of a graph when nodes that use no others are removed again and again: circles, and what uses them.
fn circle(mut graph: BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    loop {
        let before = graph.len();
        graph.retain(|_, used| !used.is_empty());
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        let edges = |graph: &BTreeMap<_, BTreeSet<_>>| graph.values().map(BTreeSet::len).sum::<usize>();
        let edges_before = edges(&graph);
        graph.values_mut().for_each(|used| used.retain(|name| left.contains(name)));
        if (graph.len(), edges(&graph)) == (before, edges_before) {
            return left;
        }
    }
}

#[test]
fn a_circle_is_what_is_left() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (a, b) in edges {
            graph.entry(a.to_string()).or_default().insert(b.to_string());
        }
        graph
    };
    assert!(circle(graph(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    assert_eq!(
        circle(graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])),
        ["a", "b", "c"].map(String::from).into()
    );
}

#[test]
fn use_trees_are_understood() {
    let module: Module = ["cli", "check", "print"].map(String::from).into();
    let code = "use super::super::{terminal::{Terminal, bytes as b}, status};\nuse crate::source::*;\nlet x = super::targets::new();";
    let mut paths: Vec<String> = paths_used(code, &module).iter().map(|path| path.join("::")).collect();
    paths.sort();
    assert_eq!(
        paths,
        ["cli::check::targets::new", "cli::status", "cli::terminal::Terminal", "cli::terminal::bytes", "source::"]
    );
}

/// A file and a folder beside it that is named like it count as one.
#[test]
fn files_of_a_module_form_no_circle() {
    let sources = sources();
    let all: BTreeSet<Module> = sources.iter().map(|path| module_of(path)).collect();
    let mut graphs: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for path in &sources {
        let module = module_of(path);
        for other in modules_used(path, &all) {
            let shared = module.iter().zip(&other).take_while(|(a, b)| a == b).count();
            // Parents and children are one thing; the modules of the crate have a test of their own.
            if shared > 0 && shared < module.len() && shared < other.len() {
                let graph = graphs.entry(module[..shared].to_vec()).or_default();
                graph.entry(module[shared].clone()).or_default().insert(other[shared].clone());
            }
        }
    }
    let edges: usize = graphs.values().flat_map(|graph| graph.values()).map(BTreeSet::len).sum();
    assert!(edges > 200, "{edges}");
    let mut circles = Vec::new();
    for (folder, graph) in graphs {
        let circle = circle(graph);
        if !circle.is_empty() {
            circles.push(format!("src/{}: a circle among {circle:?}, or files that use it", folder.join("/")));
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

/// The code of a file without re-exports and declarations of modules; and the names that it re-exports from these
/// modules, each with its module.
fn without_reexports(code: &str, children: &BTreeSet<String>) -> (String, BTreeMap<String, String>) {
    let (mut rest, mut exported) = (String::new(), BTreeMap::new());
    for statement in code.split_inclusive(';') {
        let words = statement.split('\n').filter(|line| !line.trim_start().starts_with("#[")).collect::<String>();
        let words = words.trim_start();
        let visible = words.strip_prefix("pub").map(|words| match words.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, words)| words).trim_start(),
            None => words.trim_start(),
        });
        if let Some(used) = visible.and_then(|words| words.strip_prefix("use ")) {
            let mut paths = Vec::new();
            tree(used, Module::new(), &mut paths);
            for path in paths.iter().filter(|path| children.contains(&path[0])) {
                exported.insert(path[path.len() - 1].clone(), path[0].clone());
            }
        } else if !visible.unwrap_or(words).starts_with("mod ") {
            rest += statement;
        }
    }
    (rest, exported)
}

/// Whether code has a name as a word of its own, followed by something.
fn names(code: &str, name: &str, followed_by: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_:.".contains(c);
    code.match_indices(name).any(|(at, _)| {
        let behind = &code[at + name.len()..];
        let ends = behind.starts_with(followed_by) && !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        !code[..at].ends_with(is_part) && ends
    })
}

/// The own file of a folder, and the modules in it: what uses what. Types that the own file only re-exports belong to the
/// module that defines them.
fn graph_with_parent(parent: &Module, own: &Path, sources: &[PathBuf]) -> BTreeMap<String, BTreeSet<String>> {
    const PARENT: &str = "its own file";
    let below = |module: &Module| module.starts_with(parent) && module.len() > parent.len();
    let modules: Vec<Module> = sources.iter().map(|path| module_of(path)).collect();
    let children: BTreeSet<String> =
        modules.iter().filter(|module| below(module)).map(|module| module[parent.len()].clone()).collect();
    let (code_of_parent, exported) = without_reexports(&code(own), &children);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let types = exported.iter().filter(|(name, _)| name.starts_with(char::is_uppercase));
    let used = types.filter(|(name, _)| names(&code_of_parent, name, "")).map(|(_, child)| child);
    let by_path = children.iter().filter(|child| names(&code_of_parent, child, "::"));
    graph.entry(PARENT.into()).or_default().extend(used.chain(by_path).cloned());
    for (path, module) in sources.iter().zip(&modules).filter(|(_, module)| below(module)) {
        let child = &module[parent.len()];
        let of_child = graph.entry(child.clone()).or_default();
        for used in paths_used(&code(path), module).iter().filter(|used| below(used)) {
            let name = &used[parent.len()];
            let other = if children.contains(name) { name } else { exported.get(name).map_or(PARENT, |m| m) };
            if other != child {
                of_child.insert(other.to_string());
            }
        }
    }
    graph
}

/// A folder's own file is `mod.rs`, or the file of the same name: it has the table of what is in the folder, or calls it.
/// What is in the folder uses nothing that it defines, if it uses that.
#[test]
fn files_form_no_circle_with_their_parents() {
    let sources = sources();
    let modules: BTreeSet<Module> = sources.iter().map(|path| module_of(path)).collect();
    let (mut circles, mut folders) = (Vec::new(), 0);
    for path in &sources {
        let parent = module_of(path);
        let has_children = modules.iter().any(|module| module.len() == parent.len() + 1 && module.starts_with(&parent));
        if parent.is_empty() || path.ends_with("src/main.rs") || !has_children {
            continue;
        }
        folders += 1;
        let circle = circle(graph_with_parent(&parent, path, &sources));
        if !circle.is_empty() {
            circles.push(format!("{}: a circle among {circle:?}, or files that use it", path.display()));
        }
    }
    assert!(folders > 20, "{folders}");
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn reexports_belong_to_their_modules() {
    let children = ["a", "b"].map(String::from).into();
    let code =
        "mod a;\nmod b;\npub use a::{One, two};\n#[x]\npub(crate) use b::Three;\nuse b::four;\nfn f(_: One) {}\n";
    let (rest, exported) = without_reexports(code, &children);
    let exported: Vec<_> = exported.iter().map(|(name, child)| (&**name, &**child)).collect();
    assert_eq!(exported, [("One", "a"), ("Three", "b"), ("two", "a")]);
    assert_eq!(["One", "Three", "two"].map(|name| names(&rest, name, "")), [true, false, false]);
    assert_eq!(["a", "b"].map(|child| names(&rest, child, "::")), [false, true]);
}

/// Otherwise a circle could go through the parent.
#[test]
fn files_of_the_command_line_use_nothing_of_their_parents() {
    let sources = sources();
    let all: BTreeSet<Module> = sources.iter().map(|path| module_of(path)).collect();
    let of_cli = || sources.iter().filter(|path| path.starts_with("src/cli"));
    assert!(of_cli().count() > 30);
    for path in of_cli() {
        let module = module_of(path);
        for other in modules_used(path, &all) {
            assert!(other.is_empty() || !module.starts_with(&other), "{} uses {}", path.display(), other.join("::"));
        }
    }
}

#[test]
fn only_argument_modules_read_what_clap_parsed() {
    let is_argument_module =
        |path: &Path| path.starts_with("src/cli/arguments") || path == Path::new("src/cli/check/arguments.rs");
    let mut readers = 0;
    for path in sources() {
        let code = code(&path);
        let reads = ["ArgMatches", ".get_one", ".get_many", ".get_flag(", ".value_source("]
            .iter()
            .any(|name| code.contains(name));
        assert!(!reads || is_argument_module(&path), "{} reads what clap parsed", path.display());
        readers += usize::from(reads);
    }
    assert!(readers > 10, "{readers}");
}

/// A custom algorithm should be short: constant properties belong in the profile, not in methods.
#[test]
fn the_trait_of_algorithms_has_at_most_ten_methods() {
    let source = fs::read_to_string("src/algorithm/family.rs").unwrap();
    let (_, from) = source.split_once("\npub trait Algorithm: Send + Sync {\n").expect("the trait");
    let (body, _) = from.split_once("\n}\n").expect("its end");
    let methods: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("    fn ")).collect();
    assert!(methods.len() > 5 && methods.len() <= 10, "{methods:#?}");
}
