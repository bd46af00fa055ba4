//! The text of markup.

use super::markup::{Content, INLINE, Token, Tokens, is_among, push_without_nul, unescape};

/// The text of a page. Runs of white space around tags are one, a line feed if the tag separates.
pub(crate) fn text(html: &str) -> String {
    let mut text = Text { text: String::with_capacity(html.len() / 4), gap: None };
    let (mut templates, mut titled) = (0u64, false);
    let mut inside = Content::Data;
    for token in Tokens::new(html) {
        match token {
            Token::Start { name, .. } => {
                templates += u64::from(name.eq_ignore_ascii_case("template"));
                inside = Content::of(name);
                text.tag(name);
            }
            Token::End { name } => {
                if name.eq_ignore_ascii_case("template") {
                    templates = templates.saturating_sub(1);
                }
                inside = Content::Data;
                text.tag(name);
            }
            Token::Comment(_) => {}
            Token::Text(_) if templates > 0 => {}
            Token::Text(run) => match inside {
                Content::Title if titled => {}
                Content::Title => {
                    titled = true;
                    text.push(run, true);
                }
                Content::Hidden | Content::Script => {}
                Content::Data | Content::Area => text.push(run, true),
                Content::Sample | Content::Plain => text.push(run, false),
            },
        }
    }
    text.text
}

/// The text so far, and the separator before the next word.
struct Text {
    text: String,
    gap: Option<char>,
}

impl Text {
    fn tag(&mut self, name: &str) {
        if !is_among(INLINE, name) {
            self.gap = Some('\n');
        }
    }

    fn push(&mut self, run: &str, references: bool) {
        let inner = run.trim_ascii_start();
        if inner.len() < run.len() {
            self.gap.get_or_insert(' ');
        }
        if inner.is_empty() {
            return;
        }
        if let Some(gap) = self.gap.take().filter(|_| !self.text.is_empty()) {
            self.text.push(gap);
        }
        let trimmed = inner.trim_ascii_end();
        if references {
            unescape(trimmed, &mut self.text)
        } else {
            push_without_nul(trimmed, &mut self.text)
        }
        if trimmed.len() < inner.len() {
            self.gap = Some(' ');
        }
    }
}
