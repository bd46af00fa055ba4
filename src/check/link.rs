//! Links from a report to places, by a template: in a repository or an editor.

use crate::readable::controls_display;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// What a template may contain besides the path: the first line, the last line, the first column, and the root of the repository.
const OTHERS: [&str; 4] = ["{line}", "{end}", "{column}", "{root}"];

/// Schemes whose links would run code or contain a page.
const FORBIDDEN: [&str; 4] = ["javascript", "data", "vbscript", "blob"];

/// A template of links, such as `https://github.com/OWNER/REPO/blob/main/{path}#L{line}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link(String);

impl FromStr for Link {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let rest = OTHERS.iter().fold(typed.replace("{path}", ""), |rest, name| rest.replace(name, ""));
        let scheme = typed.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && !FORBIDDEN.contains(&scheme.as_str());
        let is_url = |c: char| !c.is_whitespace() && !controls_display(c) && !"<>\"'`\\^|{}()[]".contains(c);
        match is_scheme && typed.contains("{path}") && rest.chars().all(is_url) {
            true => Ok(Link(typed.into())),
            false => Err("expected a URL with {path}, and with {line}, {end}, {column} or {root} if needed, such as \
                https://github.com/OWNER/REPO/blob/main/{path}#L{line}-L{end}"
                .into()),
        }
    }
}

/// As it is typed.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As it is typed.
impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Link {
    /// The template for a page, with the path and the root inserted, which have no braces then. A template has its own slash before the
    /// root.
    pub(super) fn page(&self, path: &Path, root: &Path) -> String {
        let [path, root] = [path, root].map(|path| uri(path.as_os_str().as_encoded_bytes()));
        self.0.replace("{path}", &path).replace("{root}", root.trim_start_matches('/'))
    }
}

/// A path as part of a URI (RFC 3986): all characters except unreserved ones and `/` as `%XX`.
pub(super) fn uri(path: &[u8]) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.iter()
        .map(|&byte| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_urls_with_a_path() {
        for (typed, expected) in [
            ("https://github.com/o/r/blob/main/{path}#L{line}-L{end}", true),
            ("vscode://file/{root}/{path}:{line}:{column}", true),
            ("https://example.org/{line}", false),
            ("https://example.org/{path}{row}", false),
            ("https://example.org/{path} x", false),
            ("https://example.org/{path}\">", false),
            ("https://example.org/{path})", false),
            ("javascript://%0aalert(1)//{path}", false),
            ("JavaScript://{path}", false),
            ("data:text/html,{path}", false),
            ("{path}", false),
            ("://{path}", false),
            ("", false),
        ] {
            assert_eq!(typed.parse::<Link>().is_ok(), expected, "{typed}");
        }
    }

    #[test]
    fn paths_are_inserted_escaped() {
        let link: Link = "x://{root}/{path}:{line}".parse().unwrap();
        assert_eq!(link.page(Path::new("a {line}.md"), Path::new("/r")), "x://r/a%20%7Bline%7D.md:{line}");
        assert_eq!(uri("docs/ü a#1.md".as_bytes()), "docs/%C3%BC%20a%231.md");
        assert_eq!(uri(b"a{line}\xff"), "a%7Bline%7D%FF");
    }
}
