//! The page: a stream of HTML around blocks of JSON.

use super::differences::Differences;
use super::head::{About, head, listed};
use super::select::{BINS, MAX_CLUSTERS, MAX_MEMBERS, MAX_TEXTS, Member, Selection, Shown};
use crate::engine::{Kept, Observer, ScanOptions, Texts};
use crate::error::Error;
use crate::passages::lcs::Lcs;
use crate::readable::{controls_display, count, counted};
#[cfg(feature = "files")]
use crate::source::values_shown;
use crate::source::{Rank, RankBy, Source};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The maximum number of bytes of the clusters on a page.
pub const MAX_BYTES: usize = 32 << 20;

/// The maximum number of bytes of a text that are compared.
const MAX_COMPARED: usize = 32 << 10;

/// The number of clusters listed without scripts, and of members of each.
const LISTED: usize = 50;
const LISTED_MEMBERS: usize = 20;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The SHA-256 of both, in Base64, as the content security policy wants it. A test says what it must be.
const STYLE_HASH: &str = "ZmZbNEhipzsGJAlK8J2Bcn9QcmpwmMlp93C8jg9yoxU=";
const SCRIPT_HASH: &str = "uX39RyCQDLsnowCedgIHqX8KMxT+UrYCihGDJa/56eo=";

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Review {
    /// All clusters.
    pub clusters: u64,
    /// Those on the page.
    pub shown: u64,
    /// The bytes of the page.
    pub bytes: u64,
}

#[derive(Serialize)]
struct ClusterRecord<'a> {
    id: u64,
    size: u64,
    kept: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<f64>,
    /// The same as it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_digits: Option<String>,
    members: Vec<MemberRecord<'a>>,
}

#[derive(Serialize)]
struct MemberRecord<'a> {
    id: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    keep: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reference: bool,
    /// The number of the member that it is a near-duplicate of, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    /// The same as it is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Differences>,
    /// The values by which it is kept rather than others, or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Whether the text could not be read again, or has changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unread: bool,
}

#[derive(Serialize)]
struct Summary {
    clusters: u64,
    shown: u64,
    max_clusters: usize,
    max_members: usize,
    max_texts: usize,
    max_bytes: usize,
    histogram: [u64; BINS],
}

/// Writes the page. The sources must be those of the scan, with the same options; they are read again for the texts.
///
/// # Errors
/// [`Error::Output`] if it cannot be written; a source fails as a whole, or a temporary file cannot be written.
///
/// # Cost
/// One reading, in which only the documents on the page are tokenised. Time: linear in the documents, and for each of up to
/// [`MAX_TEXTS`] members of up to [`MAX_CLUSTERS`] clusters a comparison of two texts of 32 KiB. Memory: 16 bytes for each
/// cluster, 64 for each member on the page, up to 250 for each rule of a member whose text is on it, and a cluster at a time; a temporary
/// file for the texts. The page takes
/// [`MAX_BYTES`] and less than a megabyte more, and is the same for any number of threads and any memory.
pub fn write(
    out: &mut dyn Write,
    kept: &Kept<'_>,
    about: About<'_>,
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    (options, observer): (&ScanOptions, &dyn Observer),
) -> Result<Review, Error> {
    let selection = Selection::new(kept);
    let texts = kept.texts(source, reference, (options, observer), selection.with_texts(), MAX_COMPARED)?;
    let (rules, prefer) = (&options.ranked_by[..], about.prefer);
    let mut page = Page {
        out,
        kept,
        texts,
        rules,
        prefer,
        lcs: Lcs::default(),
        list: String::new(),
        bytes: 0,
        clusters: 0,
        shown: 0,
    };
    page.whole(&selection, &head(about, kept, &selection, &options.tokenizer.name()))?;
    Ok(Review { clusters: selection.clusters, shown: page.shown, bytes: page.bytes })
}

struct Page<'a, 'k> {
    out: &'a mut dyn Write,
    kept: &'a Kept<'k>,
    texts: Texts,
    /// What the values of ranks are.
    rules: &'a [RankBy],
    /// What the classes of ranks are.
    prefer: &'a [String],
    lcs: Lcs,
    /// The list for those without scripts.
    list: String,
    /// Bytes of the page so far, and of its clusters.
    bytes: u64,
    clusters: usize,
    shown: u64,
}

impl Page<'_, '_> {
    fn whole(&mut self, selection: &Selection, head: &str) -> Result<(), Error> {
        // The parts of the page between what is put in.
        for part in PAGE.split("{{").flat_map(|part| part.split("}}")) {
            match part {
                "style hash" => self.push(STYLE_HASH)?,
                "script hash" => self.push(SCRIPT_HASH)?,
                "head" => self.push(head)?,
                "style" => self.push(STYLE)?,
                "script" => self.push(SCRIPT)?,
                "clusters" => self.push_clusters(selection)?,
                "summary" => {
                    let summary = self.summary(selection);
                    self.push(&in_html(&summary))?;
                }
                "list" => {
                    let list = std::mem::take(&mut self.list);
                    self.push(&list)?;
                }
                "left out of the list" => {
                    let listed = self.shown.min(LISTED as u64);
                    self.push(&format!("{} of {}", count(listed), counted(selection.clusters, "cluster")))?;
                }
                html => self.push(html)?,
            }
        }
        Ok(())
    }

    fn push(&mut self, text: &str) -> Result<(), Error> {
        self.bytes += text.len() as u64;
        self.out.write_all(text.as_bytes()).map_err(cannot_write)
    }

    fn summary(&self, selection: &Selection) -> Summary {
        Summary {
            clusters: selection.clusters,
            shown: self.shown,
            max_clusters: MAX_CLUSTERS,
            max_members: MAX_MEMBERS,
            max_texts: MAX_TEXTS,
            max_bytes: MAX_BYTES,
            histogram: selection.histogram,
        }
    }

    /// The clusters, a line each. One that does not fit is left out.
    fn push_clusters(&mut self, selection: &Selection) -> Result<(), Error> {
        self.push("[")?;
        for cluster in &selection.shown {
            let line = in_html(&self.cluster(cluster)?);
            if self.clusters + line.len() > MAX_BYTES {
                continue;
            }
            self.clusters += line.len();
            self.push(if self.shown == 0 { "\n" } else { ",\n" })?;
            self.push(&line)?;
            if self.shown < LISTED as u64 {
                self.list(cluster);
            }
            self.shown += 1;
        }
        self.push("\n]")
    }

    fn cluster(&mut self, cluster: &Shown) -> Result<ClusterRecord<'_>, Error> {
        let Page { kept, texts, rules, prefer, lcs, .. } = self;
        let members = cluster.members.iter().map(|member| {
            let of =
                member.of.and_then(|(of, _)| cluster.members.binary_search_by_key(&of, |member| member.document).ok());
            let text = if member.has_text { differences(texts, member, lcs)? } else { None };
            let document = member.document as usize;
            let at = kept.at(document);
            Ok(MemberRecord {
                id: kept.id(document),
                file: at.path,
                record: at.line,
                keep: member.keep,
                reference: kept.is_reference(document),
                of,
                similarity: member.of.map(|(_, similarity)| similarity),
                digits: member.of.map(|(_, similarity)| digits(similarity)),
                unread: member.has_text && text.is_none(),
                text,
                by: by_values(kept, texts, (rules, prefer), document),
            })
        });
        let members = members.collect::<Result<_, Error>>()?;
        let &Shown { id, size, kept, least, .. } = cluster;
        Ok(ClusterRecord { id, size, kept, least, least_digits: least.map(digits), members })
    }

    /// Adds a cluster to the list for those without scripts.
    fn list(&mut self, cluster: &Shown) {
        let (list, kept) = (&mut self.list, self.kept);
        let (size, number) = (counted(cluster.size, "document"), cluster.id);
        _ = write!(list, "<section><h3>Cluster {}: {size}, {} kept</h3><ul>", count(number), count(cluster.kept));
        for member in cluster.members.iter().take(LISTED_MEMBERS) {
            let document = member.document as usize;
            let place = kept.at(document).to_string();
            _ = write!(list, "<li><code>{}</code>", listed(kept.id(document)));
            if place != kept.id(document) {
                _ = write!(list, " in <code>{}</code>", listed(&place));
            }
            list.push_str(match member.keep {
                true if kept.is_reference(document) => ", reference",
                true => ", kept",
                false => "",
            });
            if let Some((of, similarity)) = member.of {
                _ = write!(list, ", {} to <code>{}</code>", digits(similarity), listed(kept.id(of as usize)));
            }
            if let Some(by) = by_values(kept, &self.texts, (self.rules, self.prefer), document) {
                _ = write!(list, ", by {}", listed(&by));
            }
            list.push_str("</li>");
        }
        let more = cluster.size.saturating_sub(cluster.members.len().min(LISTED_MEMBERS) as u64);
        if more > 0 {
            _ = write!(list, "<li>and {} more</li>", count(more));
        }
        list.push_str("</ul></section>\n");
    }
}

/// Why a document is kept rather than others, or not, if its text was read again: a decision, the preferred files that it is among, the
/// values that the rules go by, and its length if that decides. A document of the reference is kept in any case.
fn by_values(kept: &Kept, texts: &Texts, (rules, prefer): (&[RankBy], &[String]), document: usize) -> Option<String> {
    let rank = texts.rank(document).filter(|_| !kept.is_reference(document))?;
    let mut values = Vec::new();
    if kept.is_chosen(document) {
        values.push("a decision".to_owned());
    }
    values.extend(prefer.get(rank.class() as usize).map(|files| format!("preferred files {files}")));
    values.extend(values_of(kept, rules, rank));
    values.extend(kept.deciding_length(document).map(|length| counted(length.into(), "token")));
    (!values.is_empty()).then(|| values.join(", "))
}

/// The values that decided of a rank by these rules; without files there are none.
fn values_of(kept: &Kept, rules: &[RankBy], rank: &Rank) -> Vec<String> {
    #[cfg(feature = "files")]
    return values_shown(rules, rank, |rule, number| kept.ranks_by(rule, number));
    #[cfg(not(feature = "files"))]
    {
        _ = (kept, rules, rank);
        Vec::new()
    }
}

/// The differences of a member from the kept one, unless one of the texts could not be read again.
fn differences(texts: &Texts, member: &Member, lcs: &mut Lcs) -> Result<Option<Differences>, Error> {
    let Some((of, _)) = member.of else { return Ok(None) };
    let (kept, own) = (texts.get(of as usize)?, texts.get(member.document as usize)?);
    let both = kept.zip(own);
    Ok(both.map(|(kept, own)| Differences::new(&kept.text, &own.text, kept.is_cut || own.is_cut, lcs)))
}

/// JSON in which no character can end the element around it, or control how the source is displayed.
fn in_html(record: &impl Serialize) -> String {
    let json = serde_json::to_string(record).expect("strings and numbers make JSON");
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // All of these are in strings.
            '<' | '>' | '&' => _ = write!(out, "\\u{:04x}", c as u32),
            c if controls_display(c) => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

/// A similarity as people see it, here and in the other outputs for people: to four decimals.
fn digits(similarity: f64) -> String {
    format!("{similarity:.4}")
}

fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write the page", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn hash(text: &str) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digest = Sha256::digest(text);
        let group = |group: &[u8]| {
            let bits = group.iter().enumerate().fold(0u32, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
            let digit =
                |i: usize| if i <= group.len() { DIGITS[(bits >> (18 - 6 * i)) as usize & 63] as char } else { '=' };
            (0..4).map(digit).collect::<String>()
        };
        digest.chunks(3).map(group).collect()
    }

    #[test]
    fn the_policy_allows_this_script_and_style_alone() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!((STYLE_HASH, SCRIPT_HASH), (&*hash(STYLE), &*hash(SCRIPT)));
        assert!(PAGE.contains("default-src 'none'") && !PAGE.contains("unsafe"));
        for part in [PAGE, STYLE, SCRIPT] {
            assert!(!part.contains("http:") && !part.contains("https:") && !part.contains("innerHTML"));
        }
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    }

    #[test]
    fn json_cannot_end_its_element() {
        let text = "</script><!-- & \u{202e}\u{2028}\u{7f}\n";
        let json = in_html(&text);
        assert_eq!(json, r#""\u003c/script\u003e\u003c!-- \u0026 \u202e\u2028\u007f\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(listed("<b a='1'>&\"\u{202e}\n"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;\\u{202e}\\n");
        assert_eq!(listed(&"x".repeat(301)), format!("{}…", "x".repeat(300)));
    }

    #[test]
    fn similarities_have_four_decimals() {
        let shown = [100.0 / 129.0, 0.96875, 0.03125, 1.0, 0.999_97].map(digits);
        assert_eq!(shown, ["0.7752", "0.9688", "0.0312", "1.0000", "1.0000"]);
    }
}
