//! Globs that match nothing.

use super::error::List;
use super::globs::Globs;
use super::pages::Tree;
use std::path::Path;

/// A glob that matches no page that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Where it stands.
    pub list: List,
    /// The glob.
    pub glob: String,
}

/// Those of some lists that match nothing of a tree. If there is nothing at all, the globs are not to blame.
pub(super) fn unused(tree: &Tree, lists: &[(List, &Globs)]) -> Vec<Unused> {
    if tree.pages.is_empty() && tree.left_out.is_empty() {
        return Vec::new();
    }
    let files = tree.pages.iter().map(|page| &page.place).chain(&tree.left_out);
    let skipped = tree.skipped.iter().map(|(place, is_folder)| (place.as_path(), *is_folder));
    let places: Vec<(&Path, bool)> = files.map(|place| (place.as_path(), false)).chain(skipped).collect();
    let of_list = |&(list, globs): &(List, &Globs)| {
        let nothing: Vec<String> = globs.find_nothing(&places).into_iter().map(String::from).collect();
        nothing.into_iter().map(move |glob| Unused { list, glob })
    };
    lists.iter().flat_map(of_list).collect()
}
