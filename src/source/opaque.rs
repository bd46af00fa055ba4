//! Files without text that could be read directly: detected by their first bytes, and reported with advice.

/// A kind of file by its first bytes, with advice.
const MAGICS: &[(&[u8], &str)] = &[
    (b"%PDF-", "PDF document: convert it to text first (pdftotext FILE -)"),
    (
        b"PK\x03\x04",
        "ZIP archive, or an office document or e-book in one (DOCX, XLSX, PPTX, ODT, EPUB): unpack it, or convert it to text first \
         (pandoc -t plain FILE)",
    ),
    (b"PK\x05\x06", "empty ZIP archive"),
    (b"PAR1", "Parquet file: write its text column as JSON lines first"),
    (b"ARROW1\0\0", "Arrow file: write its text column as JSON lines first"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "office document (DOC, XLS, PPT): convert it to text first (soffice --convert-to txt FILE)",
    ),
    (b"{\\rtf", "RTF document: convert it to text first (pandoc -t plain FILE)"),
    (b"%!PS-Adobe", "PostScript document: convert it to text first (ps2ascii FILE)"),
    (b"Rar!\x1a\x07", "RAR archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive: unpack it first"),
    (b"SQLite format 3\0", "SQLite database: write its text column as JSON lines first"),
];

/// The offset of the mark of a tar archive.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The kind of a file with these first bytes, with advice, if it is one that is never read as text.
///
/// Only kinds whose first bytes are unlikely to begin a text are listed. Other files are binary if they have NUL bytes.
pub fn opaque(head: &[u8]) -> Option<&'static str> {
    // Some programs put a mark or white space before %PDF; readers of PDF allow it too.
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |magic: &[u8]| head.starts_with(magic) || magic == b"%PDF-" && text.starts_with(magic);
    let known = MAGICS.iter().find(|(magic, _)| begins(magic)).map(|&(_, advice)| advice);
    let is_tar = head.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1));
    known.or_else(|| is_tar.then_some("tar archive: unpack it first"))
}

/// Extensions of documents that are ZIP archives.
#[cfg(feature = "files")]
const OFFICE: &[&str] = &["docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"];

/// Whether a file that is opaque is a PDF or an office document, which programs turn into text. ZIP archives are distinguished
/// by the extension of the file.
#[cfg(feature = "files")]
pub fn is_document(head: &[u8], name: Option<&std::ffi::OsStr>) -> bool {
    let extension =
        name.and_then(|name| std::path::Path::new(name).extension()).and_then(|extension| extension.to_str());
    match opaque(head) {
        Some(what) if what.starts_with("ZIP") => {
            extension.is_some_and(|extension| OFFICE.iter().any(|office| office.eq_ignore_ascii_case(extension)))
        }
        Some(what) => ["PDF", "office", "RTF", "PostScript"].iter().any(|kind| what.starts_with(kind)),
        None => false,
    }
}

/// Whether more bytes could make this beginning that of a known kind. No such kind begins with a whole line.
pub fn may_become_opaque(head: &[u8]) -> bool {
    MAGICS.iter().any(|(magic, _)| head.len() < magic.len() && magic.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_their_first_bytes() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..262].copy_from_slice(b"ustar");
        for (head, named) in [
            (&b"%PDF-1.7\n%\xe2\xe3"[..], Some("PDF document")),
            (b"\xef\xbb\xbf\n%PDF-1.4", Some("PDF document")),
            (b"PK\x03\x04\x14\0", Some("ZIP archive")),
            (b"PAR1\x15\0", Some("Parquet file")),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some("office document")),
            (b"{\\rtf1\\ansi", Some("RTF document")),
            (&tar, Some("tar archive")),
            (b"%PDF is a format", None),
            (b"PK is a name", None),
            (b"PAR", None),
            (b"text", None),
            (b"", None),
        ] {
            let found = opaque(head);
            assert_eq!(found.is_some(), named.is_some(), "{}", head.escape_ascii());
            assert!(found.unwrap_or_default().starts_with(named.unwrap_or_default()), "{found:?}");
        }
    }

    #[test]
    #[cfg(feature = "files")]
    fn documents_by_first_bytes_and_extension() {
        for (head, name, expected) in [
            (&b"%PDF-1.7"[..], None, true),
            (b"{\\rtf1", Some("a"), true),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some("a.doc"), true),
            (b"PK\x03\x04", Some("a.DOCX"), true),
            (b"PK\x03\x04", Some("a.zip"), false),
            (b"PK\x03\x04", None, false),
            (b"text", Some("a.docx"), false),
        ] {
            assert_eq!(is_document(head, name.map(std::ffi::OsStr::new)), expected, "{name:?}");
        }
    }

    #[test]
    fn a_stream_is_not_held_up_for_more_than_a_line() {
        assert!(may_become_opaque(b"") && may_become_opaque(b"%PD") && may_become_opaque(b"PK"));
        assert!(!may_become_opaque(b"%PDF-") && !may_become_opaque(b"%PDA") && !may_become_opaque(b"text"));
        assert!(MAGICS.iter().all(|(magic, _)| !magic.contains(&b'\n')));
    }
}
