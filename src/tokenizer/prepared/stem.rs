//! Stemming: words without their endings, by the Snowball algorithms.

use crate::error::Error;
use unicode_script::{Script, UnicodeScript};
#[cfg(feature = "stemming")]
use waken_snowball::Algorithm;

/// A language whose words can be stemmed.
#[derive(Debug)]
pub struct StemLanguage {
    /// Its ISO 639-1 code.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    #[cfg(feature = "stemming")]
    algorithm: Algorithm,
    scripts: &'static [Script],
}

#[cfg(feature = "stemming")]
const fn language(
    code: &'static str,
    name: &'static str,
    algorithm: Algorithm,
    scripts: &'static [Script],
) -> StemLanguage {
    StemLanguage { code, name, algorithm, scripts }
}

/// Every language that can be stemmed, by code. None without the feature `stemming`.
#[cfg(not(feature = "stemming"))]
pub static STEM_LANGUAGES: &[StemLanguage] = &[];

/// Every language that can be stemmed, by code.
#[cfg(feature = "stemming")]
pub static STEM_LANGUAGES: &[StemLanguage] = &[
    language("ar", "Arabic", Algorithm::Arabic, &[Script::Arabic]),
    language("ca", "Catalan", Algorithm::Catalan, &[Script::Latin]),
    language("da", "Danish", Algorithm::Danish, &[Script::Latin]),
    language("de", "German", Algorithm::German, &[Script::Latin]),
    language("el", "Greek", Algorithm::Greek, &[Script::Greek]),
    language("en", "English", Algorithm::English, &[Script::Latin]),
    language("eo", "Esperanto", Algorithm::Esperanto, &[Script::Latin]),
    language("es", "Spanish", Algorithm::Spanish, &[Script::Latin]),
    language("et", "Estonian", Algorithm::Estonian, &[Script::Latin]),
    language("eu", "Basque", Algorithm::Basque, &[Script::Latin]),
    language("fi", "Finnish", Algorithm::Finnish, &[Script::Latin]),
    language("fr", "French", Algorithm::French, &[Script::Latin]),
    language("ga", "Irish", Algorithm::Irish, &[Script::Latin]),
    language("hi", "Hindi", Algorithm::Hindi, &[Script::Devanagari]),
    language("hu", "Hungarian", Algorithm::Hungarian, &[Script::Latin]),
    language("hy", "Armenian", Algorithm::Armenian, &[Script::Armenian]),
    language("id", "Indonesian", Algorithm::Indonesian, &[Script::Latin]),
    language("it", "Italian", Algorithm::Italian, &[Script::Latin]),
    language("lt", "Lithuanian", Algorithm::Lithuanian, &[Script::Latin]),
    language("ne", "Nepali", Algorithm::Nepali, &[Script::Devanagari]),
    language("nl", "Dutch", Algorithm::Dutch, &[Script::Latin]),
    language("no", "Norwegian", Algorithm::Norwegian, &[Script::Latin]),
    language("pt", "Portuguese", Algorithm::Portuguese, &[Script::Latin]),
    language("ro", "Romanian", Algorithm::Romanian, &[Script::Latin]),
    language("ru", "Russian", Algorithm::Russian, &[Script::Cyrillic]),
    language("sr", "Serbian", Algorithm::Serbian, &[Script::Cyrillic, Script::Latin]),
    language("sv", "Swedish", Algorithm::Swedish, &[Script::Latin]),
    language("ta", "Tamil", Algorithm::Tamil, &[Script::Tamil]),
    language("tr", "Turkish", Algorithm::Turkish, &[Script::Latin]),
    language("yi", "Yiddish", Algorithm::Yiddish, &[Script::Hebrew]),
];

/// The maximum length of a token, in bytes. A longer one is not stemmed: it is not a word, and the algorithms are slow
/// on it.
const LONGEST: usize = 128;

impl StemLanguage {
    /// Finds a language by its code.
    ///
    /// # Errors
    /// [`Error::Parameter`] that lists the codes.
    pub fn by_code(code: &str) -> Result<&'static StemLanguage, Error> {
        STEM_LANGUAGES.iter().find(|language| language.code == code).ok_or_else(|| {
            if STEM_LANGUAGES.is_empty() {
                return Error::Unsuitable("words are only stemmed by programs built with the feature stemming".into());
            }
            let codes: Vec<_> = STEM_LANGUAGES.iter().map(|language| language.code).collect();
            Error::parameter("stem", code, format!("one of {}", codes.join(", ")))
        })
    }

    /// Appends the stem of a token.
    #[cfg(feature = "stemming")]
    fn add_stem(&self, token: &str, stem: &mut String) {
        stem.push_str(&waken_snowball::stem(self.algorithm, token));
    }

    /// Appends nothing: there are no languages in this build.
    #[cfg(not(feature = "stemming"))]
    fn add_stem(&self, _token: &str, _stem: &mut String) {}

    /// Whether the first character of a token is in the script of this language.
    fn fits(&self, token: &str) -> bool {
        let first = token.chars().next().filter(|_| token.len() <= LONGEST);
        first.is_some_and(|c| {
            if c.is_ascii_alphabetic() {
                self.scripts.contains(&Script::Latin)
            } else {
                self.scripts.contains(&c.script())
            }
        })
    }
}

/// Stems words of one language one after the other, and caches the common ones: a few hundred bytes for each of
/// [`SLOTS`] words.
#[derive(Clone, Debug, Default)]
pub(super) struct Stems {
    language: Option<&'static str>,
    slots: Vec<(String, String)>,
}

const SLOTS: usize = 4096;

impl Stems {
    /// The stem of a token with this hash. If the token is in another script, or its stem would be empty, it is its own
    /// stem.
    pub fn of<'a>(&'a mut self, language: &StemLanguage, token: &'a str, hash: u64) -> &'a str {
        if !language.fits(token) {
            return token;
        }
        if self.language != Some(language.code) {
            self.language = Some(language.code);
            self.slots.clear();
            self.slots.resize(SLOTS, Default::default());
        }
        let (word, stem) = &mut self.slots[hash as usize % SLOTS];
        if word != token {
            word.clear();
            word.push_str(token);
            stem.clear();
            language.add_stem(token, stem);
            if stem.is_empty() {
                stem.push_str(token);
            }
        }
        stem
    }
}

#[cfg(all(test, feature = "stemming"))]
mod tests {
    use super::*;
    use crate::hash::token_hash;
    use proptest::prelude::*;

    fn stem(code: &str, token: &str) -> String {
        Stems::default().of(StemLanguage::by_code(code).unwrap(), token, token_hash(token.as_bytes(), 0)).to_string()
    }

    #[test]
    fn words_and_their_stems() {
        // From the sample vocabularies of the Snowball project, and words of other scripts.
        for (code, token, expected) in [
            ("en", "consignment", "consign"),
            ("en", "knightly", "knight"),
            ("en", "日", "日"),
            ("en", "книгами", "книгами"),
            ("en", "<date>", "<date>"),
            ("de", "aufeinanderfolgenden", "aufeinanderfolg"),
            ("fr", "continuellement", "continuel"),
            ("es", "chicharrones", "chicharron"),
            ("ru", "важнейшими", "важн"),
            ("ru", "running", "running"),
            ("ar", "running", "running"),
        ] {
            assert_eq!(stem(code, token), expected, "{code} {token}");
        }
        let long = "running".repeat(40);
        assert_eq!(stem("en", &long), long);
    }

    #[test]
    fn codes_are_in_order_and_others_are_refused() {
        assert!(STEM_LANGUAGES.is_sorted_by(|a, b| a.code < b.code));
        let message = StemLanguage::by_code("zh").unwrap_err().to_string();
        assert!(message.starts_with("invalid value 'zh' for `stem`: expected one of ar, ca, da"), "{message}");
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{1,12}",
            "[a-zäöüßéèçñışț]{1,14}",
            "[а-яё]{1,14}",
            "[α-ω]{1,14}",
            "[ء-ي]{1,12}",
            "[अ-ह]{1,12}",
            "[அ-ஹ]{1,12}",
            "[א-ת]{1,12}",
            "[ա-և]{1,12}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_token_has_a_stem_whatever_was_stemmed_before(tokens in prop::collection::vec(word(), 1..12)) {
            for language in STEM_LANGUAGES {
                let mut stems = Stems::default();
                for token in &tokens {
                    // One hash, so that all meet in one slot.
                    let kept = stems.of(language, token, 7).to_string();
                    prop_assert!(!kept.is_empty());
                    prop_assert_eq!(&kept, &stem(language.code, token), "{} {}", language.code, token);
                }
            }
        }
    }
}
