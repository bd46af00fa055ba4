//! The drawing at the head of `src/lib.rs` is true: a module uses only modules that stand before it.

use std::collections::BTreeSet;
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
    // The first column says what a line is about, and may be called as a module is.
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

/// The modules that a file names by `crate::` or by the name of the crate, but for its tests and comments.
fn used(source: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
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
                assert!(
                    place(other) < place(module),
                    "{}: {module} uses {other}, which stands behind it",
                    path.display()
                );
            }
        }
    }
    assert!(uses > 100, "{uses}");
}
