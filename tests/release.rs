//! What is published: workflows and the package's metadata agree with each other.

mod installer;
mod packaging;

use crate::cli::shell::{Shell, root};
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::fs;

/// The one document of a file of YAML.
fn yaml(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).expect("the file is YAML");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The workflows are not part of the package: there, nothing can be tested of them.
fn workflows() -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(root().join(".github/workflows")) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), read(&format!(".github/workflows/{name}")))).collect()
}

/// The targets that the release builds archives for.
fn targets() -> BTreeSet<String> {
    let workflows = workflows();
    let Some((_, text)) = workflows.iter().find(|(name, _)| name == "release.yml") else { return BTreeSet::new() };
    let workflow = yaml(text);
    let entries = workflow["jobs"]["archives"]["strategy"]["matrix"]["include"].as_sequence().unwrap();
    entries.iter().map(|entry| entry["target"].as_str().unwrap().to_string()).collect()
}

/// The name of an archive, as `.ci/package` gives it.
fn archive(version: &str, target: &str) -> String {
    let suffix = if target.contains("windows") { "zip" } else { "tar.gz" };
    format!("dedup-{version}-{target}.{suffix}")
}

/// Scripts that bash can parse, to which nothing is added that somebody else may choose.
fn check_scripts<'a>(shell: &Shell, scripts: impl Iterator<Item = &'a str>) -> usize {
    let mut count = 0;
    for script in scripts {
        assert!(!script.contains("${{"), "what somebody gives is no part of a script: {script}");
        shell.write("script", script);
        let run = shell.sh("bash -n script");
        assert_eq!((run.status, &*run.stderr), (0, ""), "{script}");
        count += 1;
    }
    count
}

#[test]
fn workflows_are_valid() {
    let shell = Shell::new();
    for (name, text) in workflows() {
        let workflow = yaml(&text);
        let jobs = workflow["jobs"].as_mapping().expect("a workflow has jobs");
        let steps = || jobs.values().filter_map(|job| job.as_mapping_get("steps")?.as_sequence()).flatten();
        let scripts = check_scripts(&shell, steps().filter_map(|step| step.as_mapping_get("run")?.as_str()));
        assert!(scripts > 0, "{name}");
        for action in steps().filter_map(|step| step.as_mapping_get("uses")?.as_str()) {
            let version = action.split_once('@').expect(action).1;
            assert!(version.starts_with('v') || version == "release/v1", "{name}: {action}");
        }
        for (job, needed) in jobs.iter().filter_map(|(job, keys)| Some((job, keys.as_mapping_get("needs")?))) {
            let needed = needed.as_sequence().map_or(vec![needed], |list| list.iter().collect());
            assert!(needed.iter().all(|name| jobs.contains_key(name)), "{name}: {job:?}");
        }
        let own = |job: &Yaml<'_>| job.contains_mapping_key("permissions");
        assert!(own(&workflow) && (name != "release.yml" || jobs.values().all(own)), "{name}: permissions");
    }
}

/// The metadata of `cargo binstall`, for a target: the address, and the program in the archive.
fn binstall(target: &str) -> (String, String) {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let package = &manifest["package"];
    let metadata = &package["metadata"]["binstall"];
    let own = metadata["overrides"].get(target);
    let value = |key: &str| own.and_then(|own| own.get(key)).unwrap_or_else(|| &metadata[key]).as_str().unwrap();
    let windows = target.contains("windows");
    assert_eq!(value("pkg-fmt"), if windows { "zip" } else { "tgz" }, "{target}");
    let fill = |template: &str| {
        let repository = package["repository"].as_str().unwrap();
        let words = [
            ("{ repo }", repository),
            ("{ version }", env!("CARGO_PKG_VERSION")),
            ("{ target }", target),
            ("{ bin }", "dedup"),
            ("{ binary-ext }", if windows { ".exe" } else { "" }),
        ];
        words.into_iter().fold(template.to_string(), |text, (word, value)| text.replace(word, value))
    };
    (fill(value("pkg-url")), fill(value("bin-dir")))
}

#[test]
fn cargo_binstall_finds_the_archives() {
    for target in targets() {
        let version = env!("CARGO_PKG_VERSION");
        let (url, program) = binstall(&target);
        let releases = format!("{}/releases/download/v{version}/", env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(url, releases + &archive(version, &target));
        let exe = if target.contains("windows") { ".exe" } else { "" };
        assert_eq!(program, format!("dedup-{version}-{target}/dedup{exe}"));
    }
}
