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

impl Prose {
    /// Whether a link whose target is at that byte of the source is navigation: it is in a menu or a table of contents that HTML marks, or
    /// in an item, a cell or a line with separators that consists of links. A link without a text is not.
    ///
    /// Cost: binary searches, and linear in the block of the link.
    pub(crate) fn is_navigation(&self, target: usize, source: &str) -> bool {
        let menu = self.navigation.get(self.navigation.partition_point(|menu| menu.end <= target));
        if menu.is_some_and(|menu| menu.start <= target) {
            return true;
        }
        let Some(block) = self.text_of_link(target, source).and_then(|piece| self.block_of(piece)) else {
            return false;
        };
        let [all, linked] = self.letters(block.text.clone());
        let has_separator = || self.text[block.text.clone()].contains(SEPARATORS);
        let is_list = match block.kind {
            Kind::Item | Kind::Cell => true,
            Kind::Paragraph => has_separator(),
            _ => false,
        };
        is_list && linked > 0 && 100 * linked >= LINKED_PERCENT * all
    }

    /// The text of a link, or its end: before the target as in Markdown, or after it.
    fn text_of_link(&self, target: usize, source: &str) -> Option<&Piece> {
        let next = self.pieces.partition_point(|piece| piece.source.start < target);
        let before = next.checked_sub(1).map(|last| &self.pieces[last]).filter(|piece| piece.linked);
        let is_close = |from: usize, to: usize| to.saturating_sub(from) <= MAX_BETWEEN;
        let is_its_text = |piece: &&Piece| {
            let from = piece.source.end;
            let between = source.get(from..target).filter(|_| is_close(from, target));
            between.is_some_and(|between| between.trim_end_matches(MARKS).trim_start_matches(MARKS) == "](")
        };
        let after = || {
            let piece = self.pieces.get(next).filter(|piece| piece.linked)?;
            let between = source.get(target..piece.source.start).filter(|_| is_close(target, piece.source.start))?;
            (!between.contains("\n\n")).then_some(piece)
        };
        before.filter(is_its_text).or_else(after)
    }

    fn block_of(&self, piece: &Piece) -> Option<&Block> {
        self.blocks.get(self.blocks.partition_point(|block| block.text.end <= piece.text.start))
    }
}
