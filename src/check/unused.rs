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

/// The globs in these lists that match nothing in a tree, and negated ones of what is ignored that include nothing again. Empty if the tree is
/// empty.
pub(super) fn unused(tree: &Tree, lists: &[(List, &Globs)]) -> Vec<Unused> {
    if tree.pages.is_empty() && tree.left_out.is_empty() {
        return Vec::new();
    }
    let files = tree.pages.iter().map(|page| &page.place).chain(&tree.left_out);
    let skipped = tree.skipped.iter().map(|(place, is_folder)| (place.as_path(), *is_folder));
    let places: Vec<(&Path, bool)> = files.map(|place| (place.as_path(), false)).chain(skipped).collect();
    let of_list = |&(list, globs): &(List, &Globs)| {
        let mut unmatched: Vec<String> = globs.unmatched(&places).into_iter().map(String::from).collect();
        // A page that could not be read may be one that is included again.
        if matches!(list, List::IgnoreHere | List::Ignore) && tree.failed.is_empty() {
            let read: Vec<&Path> = tree.pages.iter().map(|page| page.place.as_path()).collect();
            let idle: Vec<&str> = globs.idle_negations(&read);
            let known = unmatched.len();
            let more: Vec<String> =
                idle.into_iter().map(String::from).filter(|glob| !unmatched[..known].contains(glob)).collect();
            unmatched.extend(more);
        }
        unmatched.into_iter().map(move |glob| Unused { list, glob })
    };
    lists.iter().flat_map(of_list).collect()
}
