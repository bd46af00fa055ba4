//! Licence notices, and sections on the licence of a project.

use super::{Block, Kind, Prose, Unread};
use crate::tokenizer::stands_alone;

/// A block that contains one of these, in upper or lower case, is a licence notice.
const NOTICE: &[&str] = &[
    "spdx-license-identifier",
    "spdx-filecopyrighttext",
    "licensed under the",
    "licensed to the apache software foundation",
    "obtain a copy of the license at",
    "apache.org/licenses/",
    "unless required by applicable law or agreed to in writing",
    "permission is hereby granted, free of charge",
    "permission is granted to copy, distribute",
    "redistribution and use in source and binary forms",
    "use of this source code is governed by",
    "all rights reserved",
];

/// A block of up to [`SHORT`] words that begins with the first of two and contains the second, in upper or lower case and with blanks for
/// hyphens, is a licence notice wherever it is: projects take these sentences over from the licence, or from each other. A text on
/// licences begins otherwise.
const SENTENCES: &[[&str; 2]] = &[
    ["unless you explicitly state otherwise, any contribution", "intentionally submitted for inclusion in"],
    ["licensed under either of", "at your option"],
    ["this project is licensed under either of", "at your option"],
    ["this project is dual licensed under", "at your option"],
    ["this work is licensed under", "creative commons"],
    ["this work is licensed under", "cc by"],
    ["this documentation is licensed under", "creative commons"],
    ["this document is licensed under", "creative commons"],
    ["except where otherwise noted, ", "licensed under a creative commons"],
    ["except where otherwise noted, ", "licensed under the"],
    ["except as otherwise noted, ", "licensed under a creative commons"],
    ["except as otherwise noted, ", "licensed under the"],
    ["unless otherwise noted, ", "licensed under a creative commons"],
    ["unless otherwise noted, ", "licensed under the"],
    ["to view a copy of this license, visit", ""],
    ["to view a copy of this licence, visit", ""],
];

/// In a section on the licence, a block that contains one of these as whole words is a notice too.
const IN_SECTION: &[&str] = &[
    "licensed under",
    "released under",
    "distributed under",
    "under the terms of the",
    "mit license",
    "mit licence",
    "apache license",
    "apache licence",
    "apache-2.0",
    "public license",
    "public licence",
    "bsd",
    "cc by",
    "cc-by",
    "creative commons",
    "dual licensed",
    "dual-licensed",
    "at your option",
    "copyright (c)",
    "copyright ©",
    "above copyright notice",
    "without warranty of any kind",
    "without warranties or conditions of any kind",
];

/// A heading that consists of these words only, with at least one of the first list, starts a section on the licence.
const HEADING: [&[&str]; 2] = [
    &["license", "licenses", "licence", "licences", "copyright", "copyrights", "legal"],
    &["and", "information", "notice", "notices"],
];

/// A section of up to this many words only names the licence.
const SHORT: usize = 60;

/// Whether a block at the start of a page is a licence notice.
pub(super) fn is_notice(text: &str) -> bool {
    let text = text.to_lowercase();
    NOTICE.iter().any(|phrase| text.contains(phrase)) || is_sentence(&text)
}

/// Whether a block is a licence notice wherever it is.
fn is_sentence(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    // Most blocks begin with another word.
    let is_one = |start: &str| start.split(' ').next().is_some_and(|word| word.eq_ignore_ascii_case(first));
    SENTENCES.iter().any(|[start, _]| is_one(start)) && words(text) <= SHORT && {
        let text = text.replace('-', " ").split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        SENTENCES.iter().any(|[start, part]| text.starts_with(start) && text.contains(part))
    }
}

/// Removes the licence text of sections on the licence: all of short ones, the notices of others; and notices that are one wherever they
/// are. Headings stay.
///
/// Cost: linear.
pub(super) fn leave_out_sections(prose: &mut Prose) {
    let is_heading = |block: &Block| matches!(block.kind, Kind::Heading(_));
    let sections = prose.blocks.chunk_by(|_, next| !is_heading(next));
    let kept: Vec<bool> = sections.flat_map(|section| kept(&prose.text, section)).collect();
    if kept.contains(&false) {
        retain(prose, &kept);
    }
}

/// Decides which blocks of a section stay: a heading and the blocks up to the next one.
fn kept(text: &str, section: &[Block]) -> Vec<bool> {
    let text_of = |block: &Block| &text[block.text.clone()];
    // A heading of level 1 is the title of a page, which may be about buying licences.
    let body = match section {
        [heading @ Block { kind: Kind::Heading(2..), .. }, body @ ..] if is_on_licence(text_of(heading)) => body,
        _ => &[],
    };
    let is_short = body.iter().map(|block| words(text_of(block))).sum::<usize>() <= SHORT;
    let is_notice = |text: &str| is_notice_in_section(text) || is_sentence(text);
    let stays = body.iter().map(|block| !is_short && !is_notice(text_of(block)));
    let others = &section[..section.len() - body.len()];
    let is_heading = |block: &Block| matches!(block.kind, Kind::Heading(_));
    let others = others.iter().map(|block| is_heading(block) || !is_sentence(text_of(block)));
    others.chain(stays).collect()
}

fn is_on_licence(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let mut words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let [names, others] = HEADING;
    let mut named = false;
    let known = words.all(|word| {
        named |= names.contains(&word);
        names.contains(&word) || others.contains(&word)
    });
    known && named
}

fn is_notice_in_section(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_word = |phrase: &str| {
        lower.match_indices(phrase).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let after = lower[at + phrase.len()..].chars().next();
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        })
    };
    is_notice(text) || IN_SECTION.iter().any(|phrase| is_word(phrase))
}

/// The number of words of a text; a Han or Kana character counts as half a word.
fn words(text: &str) -> usize {
    text.split_whitespace().count() + text.chars().filter(|&c| stands_alone(c)).count() / 2
}

/// Removes the blocks that do not stay.
fn retain(prose: &mut Prose, kept: &[bool]) {
    let text = std::mem::take(&mut prose.text);
    let blocks = std::mem::take(&mut prose.blocks);
    let mut pieces = std::mem::take(&mut prose.pieces).into_iter().peekable();
    for (mut block, stays) in blocks.into_iter().zip(kept) {
        // Pieces never span two blocks.
        let own = std::iter::from_fn(|| pieces.next_if(|piece| piece.text.start < block.text.end));
        if !stays {
            own.for_each(drop);
            prose.unread.add(&text[block.text.clone()], Unread::Licences);
            continue;
        }
        if !prose.text.is_empty() {
            prose.text.push_str("\n\n");
        }
        let (from, to) = (block.text.start, prose.text.len());
        prose.pieces.extend(own.map(|mut piece| {
            piece.text = piece.text.start - from + to..piece.text.end - from + to;
            piece
        }));
        prose.text.push_str(&text[block.text.clone()]);
        block.text = to..prose.text.len();
        prose.blocks.push(block);
    }
}
