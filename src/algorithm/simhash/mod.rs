//! SimHash: a fingerprint of sign bits. Near-duplicates differ in few of them.
//!
//! **What it detects.** Long documents that differ in a few words. Unlike MinHash it measures how much the texts have
//! in common as a whole, not which runs they share. Its fingerprint is 8 bytes, or 4 to 32.
//!
//! **Source.** Charikar, STOC 2002 (the signs of random projections); Manku, Jain & Das Sarma, WWW 2007 (64 bits, distance 3,
//! block tables).
//!
//! **Formula.** Bit `i` is 1 iff the features whose hash has bit `i` weigh more than those whose hash has not. For
//! features of comparable weight a bit differs with probability `θ / π`, where `θ` is the angle between the two feature
//! vectors. The share of agreeing bits is `1 − θ/π`, which is *not* the cosine. A single additional feature flips bits
//! up to 1.25 times as often ([`hamming::bits_differ_at_most`]); the parameter `recall` allows for that. Similarity is
//! `1 − distance / bits`.
//!
//! **Parameters.** See [`PARAMETERS`]. Features are the distinct single tokens and pairs of neighbours, each with
//! weight 1. Counting occurrences (`weights` = `tf`) makes unrelated long texts look alike, because their common words
//! weigh most; with `idf` the rare words weigh most ([`weights`](super::weights)).
//!
//! **Cost.** A table look-up and about six operations a feature for each 64 bits; 8 bytes a document for 64 bits. All
//! pairs within the distance are found exactly, through block tables whose number is chosen from the number of
//! documents ([`Layout::cheapest`]). `weights` = `idf` reads the collection twice, once for counting,
//! unless a `lexicon` is given. It also costs a look-up a token, a sort of the features, and three times as long for
//! the bits.
//!
//! **Where it is weak.** Short documents: below about 300 tokens one changed word flips more than 3 of 64 bits. If 2 %
//! of the words are substituted (documents of 300 and 1,000 words drawn from a Zipf distribution), it finds about a
//! quarter of the pairs at distance 3, three quarters at 6 and nearly all at 10; `tests/oracle/signs.rs` measures that.

use super::builder::{self, Number, parameters};
use super::parameter::{
    COSINE, DROP_COMMON, HASH, LEXICON, Origins, Parameter, RECALL, Settings, Values, WEIGHTS, blocks_of_levels,
};
use super::shingles::ShingleHash;
use super::sign_bits::{SignBits, Signs};
use super::weights::Weigher;
use super::{Entry, Features, Forecast, PreparedAlgorithm, Provenance, Row};
use crate::error::Error;
use crate::hamming::{self, Layout};
use crate::lexicon::Lexicon;
use crate::similarity::Threshold;
use crate::tokenizer::{TokenDetail, Tokens};
use std::sync::Arc;

pub use super::weights::Weights;

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "simhash",
    aliases: &["sim-hash"],
    summary: "32 to 256 sign bits of weighted features; all pairs within a Hamming distance, exactly",
    advice: "For long documents with tiny edits, and where a fingerprint must be 8 bytes. At its default distance of 3 it misses many \
             pairs that MinHash finds; it is refused where the median document has fewer than 50 tokens.",
    parameters: PARAMETERS,
    defaults: &[],
    refuses: &[],
    prepare,
    depends_on_length: |_| false,
    forecast,
};

parameters! {
    /// Sets the parameters of SimHash.
    ///
    /// ```
    /// use neardups::algorithm::{AlgorithmFactory, simhash::SimHash, weights::Weights};
    ///
    /// let factory = SimHash::builder().cosine(0.98).recall(0.9).grams([2, 3]).weights(Weights::Binary).build()?;
    /// assert_eq!(factory.prepare(500)?.algorithm.measure(), "hamming");
    /// # Ok::<(), neardups::Error>(())
    /// ```
    builder;
    /// The most bits in which a reported pair may differ: from 0 to 32; 3 by default.
    distance(bits: usize) DISTANCE = bits.to_string();
    /// Takes the smallest distance that a pair of this cosine keeps with probability [`recall`](Self::recall).
    cosine(cosine: impl Into<Number>) COSINE = cosine.into().0;
    /// The probability that a pair at the [`cosine`](Self::cosine) is found: between 0 and 1; 0.99 by default.
    recall(recall: f64) RECALL = recall.to_string();
    /// The bits of the fingerprint: a multiple of 32 up to 256; 64 by default.
    bits(bits: usize) BITS = bits.to_string();
    /// The lengths of the token runs that are features: from 1 to 16 each; 1 and 2 by default.
    grams(lengths: impl IntoIterator<Item = usize>) GRAMS = builder::sum(lengths);
    /// The hash of a run of tokens; [`ShingleHash::Xxh3`] by default.
    hash(hash: ShingleHash) HASH = hash.name();
    /// How much a feature weighs; [`Weights::Binary`] by default.
    weights(weights: Weights) WEIGHTS = weights.name();
    /// Takes document frequencies from this lexicon, instead of counting them in the documents. See
    /// [`lexicon`](crate::lexicon) for an example.
    lexicon(lexicon: impl Into<Arc<Lexicon>>) LEXICON = lexicon.into();
    /// The number of blocks that the bits are cut into for searching: more than the distance, and at most 64. By
    /// default the cheapest for the number of documents.
    blocks(blocks: usize) BLOCKS = blocks.to_string();
    /// The number of tables for searching, instead of blocks: that of a [`Layout`], at most 2,000. By default the
    /// cheapest for the number of documents.
    tables(tables: usize) TABLES = tables.to_string();
    /// Whether to run even where documents are too short for SimHash.
    force(force: bool) FORCE = force.to_string();
    /// Leaves out features that more than this share of the documents have: from 0.001 to 0.999.
    drop_common(share: impl Into<Number>) DROP_COMMON = share.into().0;
}

static DISTANCE: Parameter = Parameter {
    name: "distance",
    placeholder: "K",
    default: "3",
    values: Values::Integer(0..=32),
    help: "Maximum number of bits in which a reported pair may differ",
    details: "3 of 64 is what Google's crawler used; it finds about a quarter of the pairs that differ in 2 % of their words, 6 three \
              quarters, 10 nearly all. Unrelated documents are about half the bits apart.",
};
static BITS: Parameter = Parameter {
    name: "bits",
    placeholder: "F",
    default: "64",
    values: Values::Multiple(32, 32..=256),
    help: "Bits of the fingerprint: a multiple of 32",
    details: "64 bits take 8 bytes a document, 128 bits 16, with half the noise. With 128 bits the same similarity is twice the distance: \
              raise `distance` too.",
};
static GRAMS: Parameter = Parameter {
    name: "grams",
    placeholder: "N+N",
    default: "1+2",
    values: Values::Sum(1..=16),
    help: "Lengths of the token runs that are features",
    details: "1+2 takes single tokens and pairs of neighbours. Longer runs react more to each edit and to word order; for Chinese, \
              whose tokens are single characters, 2+3 is better.",
};
static BLOCKS: Parameter = Parameter {
    name: "blocks",
    placeholder: "M",
    default: "auto",
    values: Values::AutoInteger(1..=64),
    help: "Blocks that the bits are cut into for searching",
    details: "auto takes the cheapest for the number of documents. Every choice above the distance finds the same pairs.",
};
static TABLES: Parameter = Parameter {
    name: "tables",
    placeholder: "T",
    default: "auto",
    values: Values::AutoTables(1..=Layout::MOST_TABLES as u64),
    help: "Tables for searching, instead of `blocks`",
    details: "A number, or the blocks of two levels, such as 4x4 for 16 tables. More tables take more memory and compare fewer documents; every number finds the same pairs. At distance 3: 4, 10, 16 (blocks \
              cut into blocks again), 20, 35, and so on. A plan lists them.",
};
static FORCE: Parameter = Parameter {
    name: "force",
    placeholder: "",
    default: "false",
    values: Values::Switch,
    help: "Run even where documents are too short for SimHash",
    details: "Below a median of 50 tokens SimHash misses most near-duplicates, and is refused without this.",
};

/// Below this median number of tokens SimHash is refused; below the second it is run with a warning.
const REFUSED_BELOW_TOKENS: usize = 50;
const WARNED_BELOW_TOKENS: usize = 300;

/// The detector.
pub type SimHash = SignBits<Runs>;

/// The features of SimHash: runs of tokens.
pub struct Runs {
    grams: Vec<usize>,
    hash: ShingleHash,
}

impl SimHash {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A detector of pairs at most `distance` of `bits` bits apart. Features are runs of `grams` tokens. `blocks` fixes the
    /// search; `None` lets it follow the number of documents.
    ///
    /// # Panics
    /// If `bits` is not a multiple of 32, or `distance` or `blocks` do not fit it.
    pub fn new(bits: usize, distance: usize, grams: Vec<usize>, weights: Weights, blocks: Option<usize>) -> Self {
        SignBits::of(Runs { grams, hash: ShingleHash::default() }, bits, distance, weights, blocks)
    }

    /// Sets the hash of features.
    pub fn with_hash(mut self, hash: ShingleHash) -> Self {
        self.family.hash = hash;
        self
    }
}

impl Signs for Runs {
    const NAME: &'static str = "simhash";

    fn reads(&self) -> TokenDetail {
        self.hash.reads()
    }

    fn features(&self, weigher: &Weigher, tokens: &Tokens, features: &mut Features) {
        // A run longer than the document would only repeat its longest run.
        let widths = self.grams.iter().copied().filter(|&width| width <= tokens.len() || width == self.grams[0]);
        widths.clone().for_each(|width| self.hash.shingles(tokens, width, &mut features.hashes));
        weigher.weigh(tokens.hashes(), widths, features);
    }

    fn rows(&self, bits: usize, distance: usize, origins: &Origins) -> Vec<Row> {
        let grams = self.grams.iter().map(|n| n.to_string()).collect::<Vec<_>>().join("+");
        let mut rows = vec![
            Row::identity("bits", bits).with(origins.of(&BITS)),
            Row::identity("distance", distance).with(origins.of(&DISTANCE)),
            Row::identity("grams", grams).with(origins.of(&GRAMS)),
        ];
        rows.extend(self.hash.row(origins));
        rows
    }

    fn blocks(&self, origins: &Origins) -> Provenance {
        origins.of(&BLOCKS)
    }
}

/// Returns the smallest distance that a pair at `cosine` keeps with probability `recall`, even if its documents differ
/// in a single feature.
pub fn distance_for(bits: usize, cosine: f64, recall: f64) -> usize {
    let differ = hamming::bits_differ_at_most(cosine);
    (0..bits).find(|&k| hamming::probability_within(bits, k, differ) >= recall).unwrap_or(bits)
}

fn resolve(settings: &Settings) -> Result<SimHash, Error> {
    let bits = settings.integer(&BITS)?.expect("never auto");
    let mut origins = settings.origins();
    let distance = match settings.threshold(&COSINE)? {
        Some(_) if settings.has(&DISTANCE) => {
            return Err(Error::Usage("`cosine` chooses the distance: leave `distance` out".into()));
        }
        Some(cosine) => {
            let distance = distance_for(bits, cosine.as_f64(), settings.probability(&RECALL)?);
            if distance > 32 {
                return Err(Error::Usage(format!(
                    "a cosine of {cosine} needs a distance of {distance} of {bits} bits, and 32 is the most: \
                     raise `cosine` or lower `recall`"
                )));
            }
            origins.derive(&DISTANCE, "from `cosine` and `recall`");
            distance
        }
        None if settings.has(&RECALL) => {
            return Err(Error::Usage("`recall` has no effect on simhash without `cosine`".into()));
        }
        None => settings.integer(&DISTANCE)?.expect("never auto"),
    };
    if distance >= bits {
        return Err(Error::parameter("distance", distance, format!("less than the bits of the fingerprint ({bits})")));
    }
    let layout = resolve_layout(settings, bits, distance)?;
    match layout {
        Some(_) if settings.has(&TABLES) => origins.derive(&BLOCKS, "for so many tables"),
        _ => {}
    }
    let weights = Weights::of(settings, ENTRY.name)?;
    let simhash = SimHash::new(bits, distance, settings.sum(&GRAMS)?, weights, None);
    let simhash = simhash.with_terms(settings.term_weights().cloned());
    let simhash = simhash.with_hash(ShingleHash::of(settings)?).with_origins(origins);
    Ok(match layout {
        Some(layout) => simhash.with_layout(layout),
        None => simhash,
    })
}

/// The layout that `blocks` or `tables` fixes.
fn resolve_layout(settings: &Settings, bits: usize, distance: usize) -> Result<Option<Layout>, Error> {
    if let Some((blocks, again)) = blocks_of_levels(settings.text(&TABLES)) {
        if settings.integer(&BLOCKS)?.is_some() {
            return Err(Error::Usage("`tables` chooses the blocks: leave `blocks` out".into()));
        }
        let layout = Layout::two_levels(bits, distance, blocks, again);
        let fits = layout.filter(|layout| layout.tables() <= Layout::MOST_TABLES as f64);
        let expected = format!(
            "two numbers of blocks above the distance ({distance}), the second of the bits that the first leaves, and at most {} tables",
            Layout::MOST_TABLES
        );
        return fits.map(Some).ok_or_else(|| Error::parameter("tables", settings.text(&TABLES), expected));
    }
    match (settings.integer(&BLOCKS)?, settings.integer(&TABLES)?) {
        (Some(_), Some(_)) => Err(Error::Usage("`tables` chooses the blocks: leave `blocks` out".into())),
        (Some(blocks), None) => {
            let is_fine = distance < blocks && blocks <= bits;
            if !is_fine || hamming::binomial(blocks, distance) > Layout::MOST_TABLES as f64 {
                return Err(Error::parameter(
                    "blocks",
                    blocks,
                    format!(
                        "more than the distance ({distance}), and so few that there are at most {} tables",
                        Layout::MOST_TABLES
                    ),
                ));
            }
            Ok(Some(Layout::one_level(bits, distance, blocks)))
        }
        (None, Some(tables)) => match Layout::with_tables(bits, distance, tables) {
            Some(layout) => Ok(Some(layout)),
            None => Err(Error::parameter("tables", tables, expected_tables(bits, distance, tables))),
        },
        (None, None) => Ok(None),
    }
}

/// The numbers of tables that layouts have, for an error; if they are many, the nearest ones.
fn expected_tables(bits: usize, distance: usize, typed: usize) -> String {
    const MOST_LISTED: usize = 50;
    let mut numbers = Layout::numbers_of_tables(bits, distance);
    let are_many = numbers.len() > MOST_LISTED;
    if are_many {
        numbers.sort_by_key(|number| number.abs_diff(typed));
        numbers.truncate(6);
        numbers.sort_unstable();
    }
    let listed = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let which = if are_many { "a number of tables such as" } else { "one of" };
    format!("for a distance of {distance} {which} {listed}")
}

fn warnings(simhash: &SimHash, median_tokens: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if (1..WARNED_BELOW_TOKENS).contains(&median_tokens) {
        warnings.push(format!(
            "SimHash misses most edits in short documents: their median is {median_tokens} tokens, and below {WARNED_BELOW_TOKENS} one \
             changed word can move more than 3 bits; `algo minhash` finds more"
        ));
    }
    if simhash.weigher.weights() == Weights::TermFrequency {
        warnings.push(
            "with `weights tf` common words decide, and unrelated long documents become similar; with `weights binary` or idf they do not"
                .into(),
        );
    }
    warnings
}

fn prepare(settings: &Settings, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    let simhash = resolve(settings)?;
    let warnings = warnings(&simhash, median_tokens);
    let too_short = (1..REFUSED_BELOW_TOKENS).contains(&median_tokens) && !settings.switch(&FORCE)?;
    let refusal = too_short.then(|| {
        format!(
            "SimHash is not reliable on documents this short: their median is {median_tokens} tokens, the minimum {REFUSED_BELOW_TOKENS}; \
             use `algo minhash`, or `force` to run it all the same"
        )
    });
    Ok(PreparedAlgorithm { warnings, refusal, ..PreparedAlgorithm::new(simhash) })
}

fn forecast(settings: &Settings, _median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let simhash = resolve(settings)?;
    let (bits, distance) = (simhash.bits, simhash.distance);
    let search = simhash.forecast(documents);
    Ok(Forecast {
        curve_of: "cosine",
        curve: [0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 1.0]
            .map(|cosine| (cosine, hamming::probability_within(bits, distance, hamming::bits_differ_at_most(cosine))))
            .to_vec(),
        costs: vec![
            ("fingerprint", bits as f64 / 8.0, "bytes a document"),
            ("fingerprints compared", search.chosen.compared(documents as f64).round(), "pairs, if codes are random"),
            ("search on one core", search.seconds(), "seconds, estimated"),
            (
                "standard error of the cosine that fingerprints show",
                hamming::error_of_cosine(bits, distance),
                "at the distance",
            ),
        ],
        search: Some(search),
        stored: None,
        notes: vec![
            format!("every pair at most {distance} of {bits} bits apart is found"),
            hamming::stated(bits, distance, settings.threshold(&COSINE)?.map_or(0.99, Threshold::as_f64)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::builder::tests::{check_setters, lexicon};
    use crate::algorithm::{Algorithm, Learned};
    use crate::tokenizer::Tokenizer;

    #[test]
    fn setters_write_what_would_be_typed() {
        let built = SimHash::builder().distance(3).cosine("0.98").recall(0.9).bits(128).grams([1, 2]);
        let built = built.hash(ShingleHash::Md5).weights(Weights::Idf).lexicon(lexicon()).blocks(9).tables(16);
        let built = built.force(true).drop_common(0.1);
        let typed = [
            ("distance", "3"),
            ("cosine", "0.98"),
            ("recall", "0.9"),
            ("bits", "128"),
            ("grams", "1+2"),
            ("hash", "md5"),
            ("weights", "idf"),
            ("blocks", "9"),
            ("tables", "16"),
            ("force", "true"),
            ("drop-common", "0.1"),
        ];
        check_setters(built, &ENTRY, &typed);
    }

    #[test]
    fn distances_for_cosines() {
        // Least k with P(Binomial(64, p) ≤ k) ≥ 0.9, where p = ½·C(2m, m) / 4^m for 2m = 26, 10 and 6 features and one more, at most 1 %
        // above the exact .0777, .1231 and .1563.
        let chosen = [0.98, 0.95, 0.90].map(|cosine| distance_for(64, cosine, 0.9));
        assert_eq!(chosen, [8, 11, 14]);
    }

    #[test]
    fn short_documents_are_refused_unless_forced() {
        let refusal = |pairs: &[(&str, &str)], median| {
            prepare(&Settings::from_pairs(pairs.iter().copied()), median).unwrap().refusal
        };
        assert!(refusal(&[], 49).unwrap().contains("49 tokens"));
        assert_eq!(refusal(&[("force", "true")], 49), None);
        assert_eq!((refusal(&[], 50), refusal(&[], 0)), (None, None));
    }

    #[test]
    fn weak_choices_are_warned_of() {
        let warnings =
            |weights, median| prepare(&Settings::from_pairs([("weights", weights)]), median).unwrap().warnings.len();
        assert_eq!(
            [warnings("binary", 300), warnings("binary", 299), warnings("tf", 300), warnings("tf", 60)],
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn contradictions_are_named() {
        let error = |pairs: &[(&str, &str)]| {
            prepare(&Settings::from_pairs(pairs.iter().copied()), 0).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(error(&[("recall", "0.9")]).contains("without `cosine`"));
        assert!(error(&[("cosine", "0.9"), ("distance", "3")]).contains("leave `distance` out"));
        assert!(error(&[("blocks", "3")]).contains("more than the distance (3)"));
        assert!(error(&[("cosine", "0.1")]).contains("raise `cosine`"));
    }

    #[test]
    fn fingerprints_are_fixed() {
        // Computed by a few lines of Python; fingerprints will be part of stored indexes.
        let simhash = SimHash::new(128, 3, vec![1, 2], Weights::Binary, None);
        let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
        for word in ["the", "quick", "brown", "fox", "jumps", "over"] {
            tokens.push(word, 0..word.len());
        }
        let (mut features, mut fingerprint) = (Features::default(), Vec::new());
        simhash.features(&mut tokens, &mut features);
        simhash.fingerprint(&features, &mut fingerprint);
        assert_eq!(fingerprint, [0xd14c205125d17eb2, 0x858be0095ebf4d48]);
    }

    fn fingerprint(simhash: &SimHash, text: &str, tokenizer: &dyn Tokenizer) -> Vec<u64> {
        let mut tokens = Tokens::new(simhash.profile().reads, 0);
        tokenizer.tokenize(text, &mut tokens);
        let (mut features, mut fingerprint) = (Features::default(), Vec::new());
        simhash.features(&mut tokens, &mut features);
        simhash.fingerprint(&features, &mut fingerprint);
        fingerprint
    }

    /// The three sentences of a well-known introduction to SimHash, by the pairs of characters that it names. There, with a
    /// hash of its own, they are 4, 16 and 12 of 32 bits apart.
    #[test]
    fn three_sentences_with_32_bits() {
        let sentences = ["the cat sat on the mat", "the cat sat on a mat", "we all scream for ice cream"];
        let pairs_of_characters = crate::tokenizer::by_name("char:2").unwrap();
        for (hash, expected) in [(ShingleHash::Xxh3, [3, 15, 14]), (ShingleHash::Md5, [5, 15, 18])] {
            let simhash = SimHash::new(32, 3, vec![1], Weights::Binary, None).with_hash(hash);
            let codes = sentences.map(|text| fingerprint(&simhash, text, &*pairs_of_characters));
            assert!(codes.iter().all(|code| code.len() == 1 && code[0] <= u64::from(u32::MAX)));
            let apart = |a: usize, b: usize| hamming::distance(&codes[a], &codes[b]);
            assert_eq!([apart(0, 1), apart(0, 2), apart(1, 2)], expected, "{hash:?}");
        }
    }

    #[test]
    fn a_fingerprint_of_fewer_bits_is_the_beginning_of_one_of_more() {
        let code = |bits| {
            let simhash = SimHash::new(bits, 3, vec![1, 2], Weights::TermFrequency, None);
            fingerprint(
                &simhash,
                "the quick brown fox jumps over the lazy dog and the quick cat",
                &crate::tokenizer::Word,
            )
        };
        let longest = code(256);
        assert_eq!(longest.len(), 4);
        for bits in (32..=256).step_by(32) {
            let mut expected = longest[..usize::div_ceil(bits, 64)].to_vec();
            if bits % 64 == 32 {
                *expected.last_mut().unwrap() &= u64::from(u32::MAX);
            }
            assert_eq!(code(bits), expected, "{bits} bits");
        }
    }

    #[test]
    fn tables_choose_the_layout() {
        let layout = |pairs: &[(&str, &str)]| {
            let simhash = resolve(&Settings::from_pairs(pairs.iter().copied())).map_err(|error| error.to_string())?;
            let tables = simhash.rows().into_iter().find(|row| row.name == "tables").unwrap();
            Ok::<_, String>(format!("{} {}", simhash.layout, tables.provenance))
        };
        assert_eq!(layout(&[("tables", "16")]).unwrap(), "4x4 C(4, 3) × C(4, 3), keys of 28 bits");
        assert_eq!(layout(&[("tables", "20")]).unwrap(), "6 C(6, 3), keys of 31 to 33 bits");
        assert_eq!(layout(&[("tables", "20")]), layout(&[("blocks", "6")]));
        assert_eq!(layout(&[("tables", "auto")]), layout(&[]));
        assert_eq!(layout(&[("bits", "32"), ("tables", "10")]).unwrap(), "5 C(5, 3), keys of 12 to 14 bits");
        assert_eq!(layout(&[("tables", "4x4")]), layout(&[("tables", "16")]));
        assert_eq!(layout(&[("tables", "5x4")]).unwrap(), "5x4 C(5, 3) × C(4, 3), keys of 34 to 36 bits");
        assert!(layout(&[("tables", "3x4")]).unwrap_err().contains("above the distance (3)"));
        assert!(layout(&[("tables", "4x")]).unwrap_err().contains("such as 4x4"));
        assert!(layout(&[("tables", "4x4"), ("blocks", "4")]).unwrap_err().contains("leave `blocks` out"));
        assert!(layout(&[("tables", "17")]).unwrap_err().contains("one of 4, 10, 16, 20, 35"));
        assert!(layout(&[("tables", "4"), ("blocks", "4")]).unwrap_err().contains("leave `blocks` out"));
        assert!(layout(&[("bits", "32"), ("distance", "32")]).unwrap_err().contains("less than the bits"));
        assert!(layout(&[("bits", "48")]).unwrap_err().contains("a multiple of 32 from 32 to 256"));
    }

    #[test]
    fn tables_follow_what_an_index_expects_unless_they_are_fixed() {
        let learned = |blocks, learned: Learned| {
            let mut simhash = SimHash::new(64, 3, vec![1], Weights::Binary, blocks);
            simhash.learn(&learned);
            simhash.tables.len()
        };
        assert_eq!(
            [Learned::Expected(1 << 31), Learned::Tables(20), Learned::Tables(17)].map(|it| learned(None, it)),
            [16, 20, 4]
        );
        assert_eq!([Learned::Expected(1 << 31), Learned::Tables(16)].map(|it| learned(Some(5), it)), [10, 10]);
    }

    #[test]
    fn a_short_document_has_the_features_of_its_only_run_once() {
        let simhash = SimHash::new(64, 3, vec![2, 3], Weights::TermFrequency, None);
        let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
        tokens.push("one", 0..3);
        let mut features = Features::default();
        simhash.features(&mut tokens, &mut features);
        assert_eq!(features.hashes.len(), 1);
    }
}
