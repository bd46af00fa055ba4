//! Links that are navigation: those in menus, tables of contents and lists of links.

use super::block::{Block, Kind, Piece, Prose};
use std::ops::Range;

/// An item or a cell is navigation if at least this share of its letters is in links, in percent.
const LINKED_PERCENT: usize = 80;

/// A paragraph is navigation only with one of these between its links.
const SEPARATORS: [char; 9] = ['|', '·', '•', '»', '«', '←', '→', '‹', '›'];

/// What may stand between the text of a link in Markdown and its target, besides `](`.
const MARKS: &[char] = &['<', '"', '\'', ' ', '*', '_', '~', '`'];

/// Maximum number of bytes between a target and the text of its link.
const MAX_BETWEEN: usize = 1_000;

/// Tells which links of a page are navigation.
pub(crate) struct Navigation<'a> {
    prose: &'a Prose,
    source: &'a str,
    /// The block of the last link, and whether it is navigation: a block may have many.
    last: Option<(usize, bool)>,
}

impl<'a> Navigation<'a> {
    /// The links of a page with this source.
    pub(crate) fn new(prose: &'a Prose, source: &'a str) -> Self {
        Navigation { prose, source, last: None }
    }

    /// Whether a link whose target is at that byte of the source is navigation: it is in a menu or a table of contents that HTML marks, or
    /// in an item, a cell or a line with separators that consists of links. A link without a text is not.
    ///
    /// Cost: binary searches; and linear in the block of the link, unless the last link was in it.
    pub(crate) fn has(&mut self, target: usize) -> bool {
        let Prose { navigation, blocks, .. } = self.prose;
        let menu = navigation.get(navigation.partition_point(|menu| menu.end <= target));
        if menu.is_some_and(|menu| menu.start <= target) {
            return true;
        }
        let Some(piece) = self.prose.piece_of_link(self.source, target) else { return false };
        let piece = &self.prose.pieces[piece];
        let block = blocks.partition_point(|block| block.text.end <= piece.text.start);
        match self.last {
            Some((last, is_list)) if last == block => is_list,
            _ => {
                let is_list = blocks.get(block).is_some_and(|block| self.is_list(block));
                self.last = Some((block, is_list));
                is_list
            }
        }
    }

    fn is_list(&self, block: &Block) -> bool {
        let may_be_list = match block.kind {
            Kind::Item | Kind::Cell => true,
            Kind::Paragraph => self.prose.text[block.text.clone()].contains(SEPARATORS),
            _ => false,
        };
        may_be_list && {
            let [all, linked] = self.prose.letters(block.text.clone());
            linked > 0 && 100 * linked >= LINKED_PERCENT * all
        }
    }
}

impl Prose {
    /// The texts of links, as ranges of the text in bytes, each once, in order. Their targets are at these bytes of the source, ascending.
    ///
    /// Cost: a binary search for each target, and linear in the pieces of the texts.
    pub(crate) fn texts_of_links(&self, source: &str, targets: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let mut texts: Vec<Range<usize>> = Vec::new();
        for piece in targets.filter_map(|target| self.piece_of_link(source, target)) {
            // The text of a link may have the targets of images.
            let is_known = |text: &Range<usize>| text.contains(&self.pieces[piece].text.start);
            if texts.last().is_some_and(is_known) {
                continue;
            }
            let of_link = |other: &&Piece| other.link == self.pieces[piece].link;
            let first = self.pieces[..piece].iter().rev().take_while(of_link).last().unwrap_or(&self.pieces[piece]);
            let last = self.pieces[piece..].iter().take_while(of_link).last().unwrap_or(first);
            texts.push(first.text.start..last.text.end);
        }
        texts.sort_unstable_by_key(|text| text.start);
        texts.dedup();
        texts
    }

    /// The index of a piece of the text of a link: the last one if the text is before the target as in Markdown, or the first one if it is
    /// after it.
    fn piece_of_link(&self, source: &str, target: usize) -> Option<usize> {
        let is_linked = |piece: &usize| self.pieces.get(*piece).is_some_and(Piece::is_linked);
        let next = self.pieces.partition_point(|piece| piece.source.start < target);
        let between = |from: usize, to: usize| source.get(from..to).filter(|text| text.len() <= MAX_BETWEEN);
        let is_its_text = |piece: &usize| {
            let marks = between(self.pieces[*piece].source.end, target);
            marks.is_some_and(|marks| before_target(marks).trim_matches(MARKS) == "](")
        };
        // The link has no text if its end is between.
        let is_after = |piece: &usize| {
            let between = between(target, self.pieces[*piece].source.start);
            between.is_some_and(|text| !["\n\n", "</a", "[]"].iter().any(|end| text.contains(end)))
        };
        let before = next.checked_sub(1).filter(is_linked).filter(is_its_text);
        before.or_else(|| Some(next).filter(is_linked).filter(is_after))
    }
}

/// What is between the text of a link and its target, without a tag of Hugo such as `{{< ref "`.
fn before_target(between: &str) -> &str {
    let marks = between.trim_end_matches(MARKS);
    let tag = ["relref", "ref"].iter().find_map(|name| marks.strip_suffix(name));
    tag.map_or(between, |tag| tag.trim_end_matches(['{', '%', '<', ' ']))
}
