//! What is read of pages.

/// The text of an HTML page that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PageText {
    /// All visible text, including menus and footers.
    #[default]
    All,
    /// The main text, as dom_smoothie finds it. All text if it finds none, or if the page is too large or nested too
    /// deeply (10,000 elements, 100 within each other, 2 MiB without scripts). Takes many times as long. Needs the
    /// feature `main-content`.
    Main,
}
