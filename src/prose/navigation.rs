//! Links that are navigation: those in menus, tables of contents and lists of links.

use super::block::{Block, Kind, Piece, Prose};

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
        let Some(piece) = self.text_of_link(target) else { return false };
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

    /// The text of a link, or its end: before the target as in Markdown, or after it.
    fn text_of_link(&self, target: usize) -> Option<&'a Piece> {
        let (pieces, source) = (&self.prose.pieces, self.source);
        let next = pieces.partition_point(|piece| piece.source.start < target);
        let before = next.checked_sub(1).map(|last| &pieces[last]).filter(|piece| piece.linked);
        let between = |from: usize, to: usize| source.get(from..to).filter(|text| text.len() <= MAX_BETWEEN);
        let is_its_text = |piece: &&Piece| {
            let marks = between(piece.source.end, target);
            marks.is_some_and(|marks| marks.trim_matches(MARKS) == "](")
        };
        let after = || {
            let piece = pieces.get(next).filter(|piece| piece.linked)?;
            between(target, piece.source.start).filter(|text| !text.contains("\n\n")).map(|_| piece)
        };
        before.filter(is_its_text).or_else(after)
    }
}
