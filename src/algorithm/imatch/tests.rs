use super::digests::{ABSENT, digests};
use super::kept::Kept;
use super::parameters::resolve;
use super::*;
use crate::algorithm::builder::tests::{check_setters, lexicon};
use crate::algorithm::{Algorithm, Explain, Features, Learned, RunSummary};
use crate::hash::token_hash;
use crate::lexicon::{LexiconBuilder, TermMemory};
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn setters_write_what_would_be_typed() {
    let built = IMatch::builder().idf_low(0.2).idf_high(1.0).lexicons(5).drop_fraction(0.3).min_terms(3);
    let built = built.drop_frequent("5%").drop_rare(0.2).min_share(0.4);
    let built = built.lexicon(lexicon()).lexicon_without([lexicon(), lexicon()]);
    let typed = [
        ("idf-low", "0.2"),
        ("idf-high", "1"),
        ("drop-frequent", "5%"),
        ("drop-rare", "0.2"),
        ("lexicons", "5"),
        ("drop-fraction", "0.3"),
        ("min-terms", "3"),
        ("min-share", "0.4"),
    ];
    check_setters(built, &ENTRY, &typed);
}

fn hex(digest: [u8; 20]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_digest_is_that_of_the_terms_joined_by_line_breaks() {
    // printf 'cat\nmat\nsat' | sha1sum
    assert_eq!(hex(digest(["cat", "mat", "sat"])), "ff68e756a2be9db2e7eba6823447a31ab4872325");
    assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
}

fn detector(lexicons: usize, drop: u64, min_terms: usize) -> IMatch {
    IMatch::new(Parameters { lexicons, drop, min_terms, min_share: 0, ..Parameters::default() })
}

fn tokens(words: &str) -> Tokens {
    let mut tokens = Tokens::new(TokenDetail::Everything, 0);
    words.split_whitespace().for_each(|word| tokens.push(word, 0..0));
    tokens
}

fn fingerprint(detector: &IMatch, words: &str) -> Vec<u64> {
    let (mut features, mut fingerprint) = (Features::default(), Vec::new());
    detector.features(&mut tokens(words), &mut features);
    detector.fingerprint(&features, &mut fingerprint);
    fingerprint
}

/// A run over documents of these words.
fn summary(detector: &IMatch, documents: &[&str]) -> RunSummary {
    let (mut run, mut features) = (RunSummary::default(), Features::default());
    for words in documents {
        features.clear();
        detector.features(&mut tokens(words), &mut features);
        run.add(features.hashes.is_empty(), features.remark.take());
    }
    run
}

fn taught(mut detector: IMatch, frequencies: &[(&str, u32)]) -> IMatch {
    let frequencies = frequencies.iter().map(|(term, frequency)| (tokens(term).hashes()[0], *frequency));
    detector.learn(&Learned::Terms(Arc::new(Lexicon::new(9_999, frequencies))));
    detector
}

/// The words of the golden digest count; so do two more.
const KNOWN: &[(&str, u32)] =
    &[("mat", 7), ("cat", 30), ("sat", 1584), ("dog", 10), ("log", 10), ("the", 1585), ("rare", 6), ("own", 1)];

#[test]
fn the_terms_of_the_band_in_any_order_make_the_fingerprint() {
    let detector = taught(detector(0, 300, 3), KNOWN);
    let expected = [0xff68e756a2be9db2, 0xe7eba6823447a31a];
    for words in ["mat cat sat", "sat cat mat", "the cat sat cat the mat rare own"] {
        assert_eq!(fingerprint(&detector, words), expected, "{words}");
    }
    assert_ne!(fingerprint(&detector, "cat sat mat dog"), expected);
}

#[test]
fn too_few_terms_make_no_fingerprint() {
    let detector = taught(detector(10, 300, 4), KNOWN);
    for words in ["", "the the", "mat cat sat", "the mat cat sat the cat"] {
        assert!(fingerprint(&detector, words).is_empty(), "{words}");
    }
    assert_eq!(fingerprint(&detector, "mat cat sat dog").len(), 22);
    // Not taught yet.
    assert!(fingerprint(&self::detector(10, 300, 1), "mat cat sat dog").is_empty());
}

#[test]
fn a_document_of_mostly_its_own_terms_is_known_by_all_of_them() {
    let detector = taught(detector(2, 0, 2), KNOWN);
    let usual = fingerprint(&detector, "mat cat own own own unknown");
    assert_eq!(usual, fingerprint(&detector, "cat mat"));
    let alone = fingerprint(&detector, "mat mat cat the own unknown unheard unseen");
    assert_eq!((alone.len(), &alone[2..]), (6, &[0; 4][..]));
    assert_eq!(alone, fingerprint(&detector, "unseen unheard unknown own cat mat"));
    assert_ne!(alone, fingerprint(&detector, "unseen unheard unknown other cat mat"));
    assert_eq!(detector.compare(&alone, &alone), Some(Similarity::ONE));
    // So is one that has too few others.
    assert!(!fingerprint(&detector, "mat own").is_empty());
}

#[test]
fn a_lexicon_that_leaves_too_few_terms_has_no_digest_and_no_key() {
    let detector = taught(detector(60, 500, 4), KNOWN);
    let made = fingerprint(&detector, "mat cat sat dog log");
    let expected: Vec<bool> = (0..=60)
        .map(|i| {
            let left = ["mat", "cat", "sat", "dog", "log"]
                .iter()
                .filter(|t| i == 0 || !detector.lacks(i, tokens(t).hashes()[0]));
            left.count() >= 4
        })
        .collect();
    let found: Vec<bool> = digests(&made).map(|digest| digest != ABSENT).collect();
    assert_eq!(found, expected);
    assert!(found.iter().any(|present| !present) && found[1..].iter().any(|present| *present));
    let mut keys = Vec::new();
    detector.keys(&made, &mut keys);
    assert_eq!(keys.len(), found.iter().filter(|present| **present).count());
}

#[test]
fn the_similarity_is_the_share_of_equal_digests() {
    let detector = detector(3, 300, 1);
    let (a, b) = ([1, 1, 2, 2, 3, 3, 0, 0], [9, 9, 2, 2, 4, 3, 0, 0]);
    assert_eq!(detector.compare(&a, &b), Some(Similarity::ratio(1, 4)));
    // Equal under the whole lexicon is equal under every part of it.
    assert_eq!(detector.compare(&a, &a), Some(Similarity::ONE));
    // Digests that are not there are not equal, nor are equal ones of different lexicons.
    assert_eq!(detector.compare(&[1, 1, 0, 0, 5, 6, 7, 8], &[2, 2, 0, 0, 7, 8, 5, 6]), None);
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    detector.keys(&[1, 1, 0, 0, 5, 6, 7, 8], &mut of_a);
    detector.keys(&[2, 2, 0, 0, 7, 8, 5, 6], &mut of_b);
    assert!(of_a.iter().all(|key| !of_b.contains(key)));
}

#[test]
fn few_terms_that_are_a_small_share_do_not_identify_a_document() {
    let of = |min_share: u64| IMatch::new(Parameters { min_share, ..Parameters::default() });
    let kept = |share: u64, counting: usize, distinct: usize| Kept::of(&of(share).parameters, counting, 0, distinct);
    assert_eq!([7, 8, 9].map(|distinct| kept(500, 4, distinct)), [Kept::Counting, Kept::All, Kept::All]);
    assert_eq!([19, 20].map(|counting| kept(500, counting, 1000)), [Kept::All, Kept::Counting]);
    assert_eq!((kept(0, 4, 1000), kept(1000, 4, 5), kept(1000, 4, 4)), (Kept::Counting, Kept::All, Kept::Counting));
    // Too few are too few, whatever their share is.
    assert_eq!((kept(500, 3, 3), Kept::of(&of(500).parameters, 10, 11, 21)), (Kept::WithOwn, Kept::WithOwn));
}

#[test]
fn digests_of_few_terms_are_counted_with_an_example() {
    let warning = |words: &[&str]| {
        let detector = taught(detector(2, 500, 4), KNOWN);
        let run = summary(&detector, words);
        detector.warnings(&run).into_iter().find(|warning| warning.contains("few terms"))
    };
    // All four count, and four of five.
    assert_eq!(warning(&["mat cat sat dog", "mat cat sat dog the the", "too few"]), None);
    let one = warning(&["mat cat sat dog the own", "mat cat sat dog the"]).unwrap();
    assert!(one.starts_with("1 document has") && one.contains("the 4 of 6 in \"cat dog mat sat\""), "{one}");
    // The example does not depend on the order.
    let documents = ["mat cat sat dog the own", "log cat sat dog the own", "mat log sat dog the own new"];
    let [forwards, backwards] = [warning(&documents), warning(&documents.iter().rev().copied().collect::<Vec<_>>())];
    assert!(forwards == backwards && forwards.as_ref().is_some_and(|warning| warning.starts_with("3 documents have")));
    let says_little = super::kept::says_little;
    assert_eq!(
        [(4, 5), (4, 6), (7, 9), (7, 10), (8, 15), (8, 16), (19, 38), (20, 400)].map(|(c, d)| says_little(c, d)),
        [false, true, false, true, false, true, true, false]
    );
}

#[test]
fn words_to_leave_out_that_the_lexicon_lacks_are_reported() {
    let list = |words: &str| Arc::new(Lexicon::parse_list("f", words.as_bytes(), &crate::tokenizer::Word, 0).unwrap());
    let warning = |lists: &[&str]| {
        let detector = detector(0, 300, 3).with_left_out(lists.iter().map(|words| list(words)).collect());
        let detector = taught(detector, KNOWN);
        detector.warnings(&summary(&detector, &["mat"])).into_iter().find(|warning| warning.contains("lexicon-without"))
    };
    assert_eq!(warning(&["mat\ncat", "dog"]), None);
    let one = warning(&["mat\nlion\nzebra", "cat\ntiger"]).unwrap();
    assert!(one.starts_with("3 of the 5 words") && one.ends_with("such as lion, zebra, tiger"), "{one}");
}

#[test]
fn digests_that_neither_document_has_are_not_compared() {
    let detector = taught(detector(60, 500, 4), KNOWN);
    let made = fingerprint(&detector, "mat cat sat dog log");
    let present = digests(&made).filter(|digest| *digest != ABSENT).count();
    let agreement = detector.agreement(&made, &made).unwrap();
    assert_eq!((agreement[0].equal, agreement[0].of), (present, present));
    assert!(present < 61);
    let other = fingerprint(&detector, "mat cat sat dog own");
    let agreement = detector.agreement(&made, &other).unwrap();
    assert!(agreement[0].of >= present && agreement[0].equal < present);
}

#[test]
fn small_collections_are_judged_as_larger_ones_at_the_common_end() {
    let band = |documents| informative(documents, &(200..=800));
    assert_eq!([band(0), band(10), band(999), band(1000)], [2..=251, 2..=251, 2..=251, 4..=251]);
    assert_eq!(band(1_000_000), 16..=63_095);
    assert_eq!(informative(1_000_000, &(0..=1000)), 2..=1_000_000);
    let warnings = |documents| {
        let mut detector = detector(10, 300, 4);
        detector.learn(&Learned::Terms(Arc::new(Lexicon::new(documents, []))));
        detector.warnings(&RunSummary::default()).len()
    };
    assert_eq!([0, 1, 999, 1000].map(warnings), [0, 1, 1, 0]);
}

#[test]
fn probabilities_by_number_of_differing_terms() {
    let table = [
        (0.1, 10, [0.651, 0.096, 0.010, 0.001, 0.000]),
        (0.3, 5, [0.832, 0.376, 0.128, 0.040, 0.004]),
        (0.3, 10, [0.972, 0.611, 0.239, 0.078, 0.007]),
        (0.3, 20, [0.999, 0.848, 0.422, 0.150, 0.015]),
        (0.5, 10, [0.999, 0.944, 0.737, 0.476, 0.146]),
        (0.5, 20, [1.000, 0.997, 0.931, 0.725, 0.270]),
    ];
    for (drop, lexicons, expected) in table {
        let found = [1, 2, 3, 4, 6].map(|x| probability_found(lexicons, drop, x));
        let off = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        assert!(off.into_iter().all(|off| off < 0.0006), "{drop} {lexicons}: {found:?}");
    }
    assert_eq!(
        [probability_found(0, 0.3, 0), probability_found(0, 0.3, 1), probability_found(5, 1.0, 9)],
        [1.0, 0.0, 1.0]
    );
}

#[test]
fn defaults_in_code_are_those_of_the_command_line() {
    assert_eq!(resolve(&Settings::default()).unwrap(), Parameters::default());
}

#[test]
fn contradictions_are_named() {
    let error = |pairs: &[(&str, &str)]| resolve(&Settings::from_pairs(pairs.iter().copied())).unwrap_err().to_string();
    assert!(error(&[("idf-low", "0.9")]).contains("from 0.9 (`idf-low`) to 0.8 (`idf-high`)"));
    assert!(error(&[("lexicons", "0"), ("drop-fraction", "0.3")]).contains("no effect"));
    assert!(error(&[("idf-low", "0.12345")]).contains("at most three decimals"));
}

/// The features of a document that counts as long or not, and what is remarked on it.
fn features(detector: &IMatch, words: &str, is_long: bool) -> Features {
    let (mut tokens, mut features) = (tokens(words), Features::default());
    if is_long {
        tokens.allow_taking();
    }
    detector.features(&mut tokens, &mut features);
    features
}

/// A lexicon of which hardly any term is in memory.
fn stored(frequencies: impl Iterator<Item = (u64, u32)>) -> Lexicon {
    let builder = LexiconBuilder::within(TermMemory { counting: 1 << 10, kept: 0, folder: None }, 1);
    frequencies.for_each(|(term, df)| builder.add_term(term, df).unwrap());
    builder.freeze(9_999).unwrap()
}

/// The first words of the digests of sets, zeros for those of fewer than `min_terms` terms.
fn first_words(sets: &[BTreeSet<&str>], min_terms: usize) -> Vec<u64> {
    let words = |set: &BTreeSet<&str>| match set.len() < min_terms {
        true => [0; 2],
        false => {
            let digest = digest(set.iter().copied());
            [0, 8].map(|at| u64::from_be_bytes(digest[at..at + 8].try_into().unwrap()))
        }
    };
    sets.iter().flat_map(words).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
    /// The digests are those of sets of words, however long the document is and wherever its terms were counted.
    #[test]
    fn digests_are_those_of_sets(
        frequencies in prop::collection::btree_map("[a-c]{1,2}|common prefix[a-d]{1,3}", 1u32..12, 0..60),
        words in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        others in prop::collection::vec("[d-f]{1,10}", 0..30),
        left_out in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        min_terms in 1usize..6,
        min_share in prop_oneof![Just(0u64), Just(500)],
        is_stored: bool,
        is_long: bool,
    ) {
        // Words without blanks.
        let frequencies: BTreeMap<String, u32> =
            frequencies.into_iter().map(|(term, df)| (term.replace(' ', "_"), df)).collect();
        let terms: Vec<&str> = frequencies.keys().map(String::as_str).collect();
        let some = |indexes: &[prop::sample::Index]| -> Vec<&str> {
            indexes.iter().filter(|_| !terms.is_empty()).map(|index| *index.get(&terms)).collect()
        };
        let document = [some(&words), others.iter().map(String::as_str).collect()].concat();
        let without: BTreeSet<&str> = some(&left_out).into_iter().chain(["zzz"]).collect();
        let list = Lexicon::parse_list("f", without.iter().copied().collect::<Vec<_>>().join("\n").as_bytes(), &crate::tokenizer::Whitespace, 0);
        let parameters = Parameters { lexicons: 4, min_terms, min_share, ..Parameters::default() };
        let mut detector = IMatch::new(parameters).with_left_out(vec![Arc::new(list.unwrap())]);
        let hashed = frequencies.iter().map(|(term, df)| (token_hash(term.as_bytes(), 0), *df));
        let lexicon = if is_stored { stored(hashed) } else { Lexicon::new(9_999, hashed) };
        detector.learn(&Learned::Terms(Arc::new(lexicon)));
        let found = features(&detector, &document.join(" "), is_long);
        prop_assert!(detector.check_learned().is_ok());

        let all: BTreeSet<&str> = document.iter().copied().collect();
        let df = |term: &&str| frequencies.get(*term).copied().unwrap_or(0);
        // Of 9,999 documents from 7 to 1,584.
        let counting: BTreeSet<&str> = all.iter().copied().filter(|term| (7..=1584).contains(&df(term))).collect();
        let own: BTreeSet<&str> = all.iter().copied().filter(|term| df(term) < 2).collect();
        let kept = Kept::of(&detector.parameters, counting.len(), own.len(), all.len());
        let mut sets = vec![match kept {
            Kept::Counting => counting.clone(),
            Kept::WithOwn => counting.union(&own).copied().collect(),
            Kept::All => all.clone(),
        }];
        let expected_made_of = sets[0].len();
        let is_thin = sets[0].len() < min_terms;
        sets.extend((0..5).map(|lexicon| match (kept, lexicon) {
            (Kept::Counting, 0) => counting.difference(&without).copied().collect(),
            (Kept::Counting, random) => {
                let lacks = |term: &&str| detector.lacks(random, token_hash(term.as_bytes(), 0));
                counting.iter().copied().filter(|term| !lacks(term)).collect()
            }
            _ => BTreeSet::new(),
        }));
        let expected = if is_thin { Vec::new() } else { first_words(&sets, min_terms) };
        prop_assert_eq!(&found.hashes, &expected);
        prop_assert_eq!(found.count(), expected_made_of);
        let short = features(&detector, &document.join(" "), false);
        prop_assert_eq!((found.hashes, found.remark), (short.hashes, short.remark));
    }
}

#[test]
fn a_temporary_file_that_is_lost_is_an_error() {
    let lexicon = Arc::new(stored((0..200).map(|n| (token_hash(format!("w{n}").as_bytes(), 0), 9))));
    let mut detector = detector(2, 500, 4);
    detector.learn(&Learned::Terms(Arc::clone(&lexicon)));
    let words: String = (0..200).map(|n| format!("w{n} ")).collect();
    assert!(features(&detector, &words, false).count() == 200 && detector.check_learned().is_ok());
    lexicon.damage();
    features(&detector, &words, false);
    // Whoever asks, and however often.
    for _ in 0..2 {
        let error = detector.check_learned().unwrap_err();
        assert_eq!(error.kind().name(), "disk");
        assert!(error.to_string().starts_with("cannot read terms back from a temporary file in "), "{error}");
    }
}
