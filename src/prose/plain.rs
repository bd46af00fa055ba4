//! Text without markup.

use super::builder::{Builder, Mark};
use super::page_lines::{item_mark, lines};

const BULLETS: &[char] = &['-', '*', '+', '•', '‣', '–'];

pub(super) fn read(builder: &mut Builder) {
    let source = builder.source();
    let mut in_list = false;
    for line in lines(source, builder.page()) {
        let text = line.text(source);
        let mark = Mark::of(text);
        // Text such as `dedup:latest` may start a line: it counts, and is reported only if it resembles a mark.
        let is_told = mark != Some(Mark::Unknown) || Mark::meant(text).is_some_and(|mark| mark.contains("ignore"));
        if let Some(mark) = mark.filter(|_| is_told) {
            builder.mark(mark, line.range());
        }
        if matches!(mark, Some(Mark::Start | Mark::End)) {
            continue;
        }
        if line.is_blank() {
            builder.end();
        } else if let Some(mark) = item_mark(text, BULLETS) {
            if !in_list {
                builder.begin_list();
                in_list = true;
            }
            builder.begin_text();
            builder.verbatim(line.start + mark..line.end);
        } else {
            if in_list && line.indent == 0 && !builder.is_open() {
                builder.end_list();
                in_list = false;
            }
            builder.space();
            builder.verbatim(line.range());
        }
    }
}
