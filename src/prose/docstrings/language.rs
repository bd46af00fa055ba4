//! The languages of source code.

use std::path::Path;

/// A programming language whose documentation can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Docstrings of modules, classes and functions, as reStructuredText in the styles of Sphinx, NumPy and Google. Joined strings
    /// are none.
    Python,
    /// `///`, `//!`, `/** */` and `/*! */`, as Markdown. Attributes `#[doc]` are not looked at.
    Rust,
    /// Comments directly before a declaration, a field or `package`, as Markdown; indentation is taken to be that of gofmt.
    Go,
    /// JavaScript and TypeScript, with JSX: `/** */` and `///`, as Markdown. Where a slash starts a regular expression is guessed
    /// from what stands before it; a quote in the text of JSX hides comments up to the end of the line.
    JavaScript,
    /// `/** */` and `///`, as Markdown.
    Java,
    /// `/** */` and `///`, as Markdown.
    Kotlin,
    /// `/** */` and `///`, as Markdown.
    Scala,
    /// C and C++: `/** */`, `///`, `/*! */` and `//!`, as Markdown.
    C,
    /// `/** */` and `///`, as Markdown.
    Php,
    /// `/** */` and `///`, as Markdown. Strings that start with `#"` are read as if without the hash.
    Swift,
    /// `/** */` and `///`, as Markdown; tags of XML go, what stands in `code` counts.
    CSharp,
}

impl Language {
    /// The language of a file, by the ending of its name whatever its case; `None` for other files.
    pub fn of_path(path: impl AsRef<Path>) -> Option<Language> {
        let ending = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "py" | "pyi" => Language::Python,
            "rs" => Language::Rust,
            "go" => Language::Go,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Language::JavaScript,
            "java" => Language::Java,
            "kt" | "kts" => Language::Kotlin,
            "scala" => Language::Scala,
            "c" | "h" | "cc" | "hh" | "cpp" | "hpp" | "cxx" | "hxx" => Language::C,
            "php" => Language::Php,
            "swift" => Language::Swift,
            "cs" => Language::CSharp,
            _ => return None,
        })
    }
}
