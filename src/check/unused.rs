//! Globs that match nothing, and texts that no page has.

use super::error::List;
use super::globs::Globs;
use super::pages::Tree;
use std::path::Path;

/// A glob that matches none of the pages, or a text that none of them has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// The list that it is in.
    pub list: List,
    /// The glob, or the text.
    pub glob: String,
}

/// The globs in these lists that match nothing in a tree. Empty if the tree is empty.
pub(super) fn unused(tree: &Tree, lists: &[(List, &Globs)]) -> Vec<Unused> {
    if tree.pages.is_empty() && tree.left_out.is_empty() {
        return Vec::new();
    }
    let files = tree.pages.iter().map(|page| &page.place).chain(&tree.left_out);
    let skipped = tree.skipped.iter().map(|(place, is_folder)| (place.as_path(), *is_folder));
    let places: Vec<(&Path, bool)> = files.map(|place| (place.as_path(), false)).chain(skipped).collect();
    let of_list = |&(list, globs): &(List, &Globs)| {
        let unmatched: Vec<String> = globs.unmatched(&places).into_iter().map(String::from).collect();
        unmatched.into_iter().map(move |glob| Unused { list, glob })
    };
    lists.iter().flat_map(of_list).collect()
}
