//! Directives of reStructuredText and MyST: what of each is text.

/// Directives whose bodies are code.
pub(super) const CODE: &[&str] = &[
    "code",
    "code-block",
    "code-cell",
    "sourcecode",
    "parsed-literal",
    "literal",
    "testcode",
    "testsetup",
    "testcleanup",
    "testoutput",
    "doctest",
    "prompt",
    "ipython",
    "jupyter-execute",
    "math",
    "productionlist",
    "graphviz",
    "digraph",
    "graph",
    "mermaid",
    "uml",
    "plantuml",
    "plot",
];

/// Directives of which only the alternative text of an image counts.
pub(super) const HIDDEN: &[&str] = &[
    "toctree",
    "contents",
    "include",
    "literalinclude",
    "image",
    "highlight",
    "raw",
    "index",
    "meta",
    "role",
    "default-role",
    "sectnum",
    "section-numbering",
    "module",
    "currentmodule",
    "py:module",
    "py:currentmodule",
    "tabularcolumns",
    "header",
    "footer",
    "autosummary",
    "target-notes",
];

/// Directives whose arguments are text. Of other directives only the body counts.
pub(super) const WITH_TEXT: &[&str] = &[
    "note",
    "warning",
    "tip",
    "hint",
    "important",
    "attention",
    "caution",
    "danger",
    "error",
    "seealso",
    "todo",
    "admonition",
    "topic",
    "sidebar",
    "rubric",
    "centered",
    "epigraph",
    "highlights",
    "pull-quote",
    "table",
    "list-table",
    "csv-table",
    "versionadded",
    "versionchanged",
    "versionremoved",
    "deprecated",
    "dropdown",
    "tab-item",
    "tab",
    "card",
    "grid-item-card",
    "line-block",
    "compound",
];

/// Directives of MyST, Sphinx Design and Jupyter Book whose bodies are text, besides those whose arguments are text.
/// Other blocks between backticks are code.
const WITH_BODY: &[&str] = &[
    "figure",
    "glossary",
    "margin",
    "aside",
    "div",
    "container",
    "only",
    "tab-set",
    "tab-set-code",
    "tabbed",
    "panels",
    "grid",
    "grid-item",
    "card-carousel",
    "exercise",
    "exercise-start",
    "solution",
    "solution-start",
    "blockquote",
    "details",
];

/// Directives whose arguments are signatures, one a line. So are those of domains, such as `py:function`, and of autodoc.
const SIGNATURES: &[&str] = &[
    "function",
    "method",
    "class",
    "data",
    "attribute",
    "exception",
    "decorator",
    "decoratormethod",
    "classmethod",
    "staticmethod",
    "abstractmethod",
    "coroutinefunction",
    "coroutinemethod",
    "property",
    "describe",
    "object",
    "option",
    "cmdoption",
    "program",
    "envvar",
    "opcode",
    "confval",
    "setting",
];

/// Whether the arguments of a directive are signatures.
pub(super) fn has_signatures(name: &str) -> bool {
    SIGNATURES.contains(&name) || name.starts_with("auto") || (name.contains(':') && !name.starts_with("prf:"))
}

/// Whether the body of a directive that stands between backticks is text.
pub(super) fn is_text(name: &str) -> bool {
    WITH_TEXT.contains(&name) || WITH_BODY.contains(&name) || name.starts_with("prf:")
}

/// Whether the body of a directive does not count as text.
pub(super) fn is_code(name: &str) -> bool {
    CODE.contains(&name) || HIDDEN.contains(&name)
}

/// Whether the argument of a directive is text.
pub(super) fn has_text_argument(name: &str) -> bool {
    WITH_TEXT.contains(&name) || name.starts_with("prf:") || ["exercise", "tabbed", "details"].contains(&name)
}
