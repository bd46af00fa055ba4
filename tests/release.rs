//! What is published: workflows, the action, the hook and the package's metadata agree with each other and with the
//! version of Cargo.toml.

mod installer;
mod packaging;

use crate::cli::shell::{Shell, root};
use neardups::guide::CHAPTERS;
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::fs;

/// The one document of a file of YAML.
pub fn yaml(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).expect("the file is YAML");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// The script of a step of the action.
pub fn script<'a>(action: &'a Yaml<'_>, name: &str) -> &'a str {
    let mut steps = action["runs"]["steps"].as_sequence().expect("the action has steps").iter();
    steps.find(|step| step["name"].as_str() == Some(name)).expect(name)["run"].as_str().expect("a script")
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

/// What a composite action must have: <https://docs.github.com/actions/reference/metadata-syntax-for-github-actions>.
#[test]
fn the_action_has_what_github_needs() {
    let text = read(".github/actions/check/action.yml");
    let action = yaml(&text);
    assert!(action["name"].as_str().is_some() && action["description"].as_str().is_some());
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    for input in ["paths", "args"] {
        assert!(action["inputs"][input]["description"].as_str().is_some(), "{input}");
    }
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    for step in steps {
        assert_eq!(step["shell"].as_str(), Some("bash"), "each step that runs something says in what");
    }
    assert_eq!(check_scripts(&Shell::new(), steps.iter().map(|step| step["run"].as_str().unwrap())), 2);
}

/// What <https://pre-commit.com/#new-hooks> asks for.
#[test]
fn the_hook_has_what_pre_commit_needs() {
    let text = read(".pre-commit-hooks.yaml");
    let hooks = yaml(&text);
    let hook = &hooks.as_sequence().expect("a list of hooks")[0];
    let is = |key: &str, value: &str| assert_eq!(hook[key].as_str(), Some(value), "{key}");
    is("id", "dedup-check");
    is("name", "dedup check");
    is("entry", "dedup check");
    is("language", "rust");
    assert_eq!(hook["pass_filenames"].as_bool(), Some(false), "all pages are compared");
    assert_eq!(hook["always_run"].as_bool(), Some(true), "whatever a commit changes: a page, a baseline, dedup.toml");
    assert!(!hook.contains_mapping_key("args"), "arguments are for the project to give");
}

/// The hook that a project defines itself differs from that of the repository in how it is installed, and no more.
#[test]
fn the_hook_of_the_guide_is_that_of_the_repository() {
    let guide = read("src/guide/checking.md");
    let block = guide.split("```yaml\n").find(|block| block.contains("repo: local")).expect("a block with the hook");
    let local = yaml(block.split("```").next().unwrap());
    let local = &local["repos"][0]["hooks"][0];
    let text = read(".pre-commit-hooks.yaml");
    let hook = &yaml(&text)[0];
    for key in ["id", "name", "entry", "pass_filenames", "always_run"] {
        assert_eq!(local[key], hook[key], "{key}");
    }
    assert_eq!(local["language"].as_str(), Some("python"));
    let package = format!("neardups=={}", env!("CARGO_PKG_VERSION"));
    assert_eq!(local["additional_dependencies"][0].as_str(), Some(&*package));
}

/// Texts that name a version name this one. That of pyproject.toml is taken from Cargo.toml by maturin.
#[test]
fn versions_agree() {
    let files = ["README.md", ".pre-commit-hooks.yaml", ".github/actions/check/action.yml"];
    let chapters = CHAPTERS.iter().map(|chapter| format!("src/guide/{}.md", chapter.name));
    let mut found = BTreeSet::new();
    for path in files.map(String::from).into_iter().chain(chapters) {
        let text = read(&path);
        for mark in ["neardups==", "actions/check@v", "releases/download/v", "ghcr.io/OWNER/REPO:"] {
            for rest in text.split(mark).skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !".-+".contains(c)).unwrap_or(rest.len());
                assert_eq!(&rest[..end], env!("CARGO_PKG_VERSION"), "{path}: {mark}");
                found.insert((path.clone(), mark));
            }
        }
    }
    let in_guide = |mark| found.contains(&("src/guide/checking.md".to_string(), mark));
    assert!(in_guide("neardups==") && in_guide("actions/check@v"), "{found:?}");
    assert!(read("pyproject.toml").contains("\ndynamic = [\"version\"]\n"));
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
