//! SpotSigs: signatures anchored at the stop words of running text. Finds every pair at or above a multiset Jaccard
//! similarity.
//!
//! **What it detects.** The same article inside different pages. Navigation, link lists and advertisements have few
//! stop words and so few spots; the prose between them has many.
//!
//! **Source.** Theobald, Siddharth & Paepcke, *SpotSigs: Robust and Efficient Near Duplicate Detection in Large Web
//! Collections*, SIGIR 2008.
//!
//! **Formula.** At each occurrence of an *antecedent* (a common stop word) a spot is the antecedent and a chain of `c`
//! tokens: the `d`-th, `2d`-th, … of the following tokens that are not stop words. A document is the multiset of its
//! spots; similarity is `Σ min / Σ max` over the counts of the spots. *"At a rally to kick off a weeklong campaign"*
//! has `a:rally:kick` and `a:weeklong:campaign`. An antecedent that fewer than `c·d` such tokens follow makes no spot.
//! With `spots set` a document is the set of its distinct spots, and similarity is the Jaccard similarity of sets.
//!
//! **Parameters.** See [`PARAMETERS`]. The English antecedents are those of the paper's example and of the
//! configuration of its reference program; those of other languages, and all stop words, were compiled for this crate
//! ([`words`]). Some descriptions also count `this`, which the reference program does not: `en+this`, or a list of words,
//! does. The least number of spots is the reference program's.
//!
//! **Cost.** One reading of the collection to count spots, and a second one if they do not fit the memory for features.
//! Then a key for each of about `(1 − τ)·n` of a document's `n` spots, rare ones first, and a second one for the first of them: as the
//! shorter one of two documents in neighbouring partitions ([`partitions`]) it shares more spots with a longer one than with a shorter
//! one. A comparison for each pair that shares a key. No pair at or above the threshold is missed.
//!
//! **Where it is weak.** Headings, lists, tables, code, and languages other than the one of the antecedents: documents
//! with fewer than `min_spots` spots are compared with nothing. A scan warns if their share is above 20 %.

pub mod partitions;
pub mod words;

use super::builder::{Number, parameters};
use super::parameter::{DROP_COMMON, Origins, Parameter, Settings, THRESHOLD, Values};
use super::prefix::Prefix;
use super::{
    Algorithm, CompareOn, Entry, Explain, Features, FingerprintForm, Forecast, Learned, Learns, PreparedAlgorithm,
    Profile, Row, RunSummary,
};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::similarity::{Similarity, Threshold, jaccard, jaccard_at_least};
use crate::tokenizer::Tokens;
use crate::tokenizer::prepared::Step;
use partitions::Partitions;
use std::sync::OnceLock;
use words::{LANGUAGES, Language, Role, WordLists, Words};

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "spotsigs",
    aliases: &["spot-sigs"],
    summary: "short chains of words after stop words; all pairs by exact multiset Jaccard similarity",
    advice: "For prose inside pages that differ around it: menus and link lists have few stop words, so they hardly count. Finds every \
             pair at or above the threshold. Give the language with `antecedents`; documents with too few spots (lists, code, another \
             language) are compared with nothing, and counted.",
    parameters: PARAMETERS,
    defaults: &[(&THRESHOLD, "0.5")],
    // These steps would remove or change the antecedents.
    refuses: &[Step::Fold, Step::StopWords, Step::Stem],
    prepare,
    depends_on_length: |_| false,
    forecast,
};

parameters! {
    /// Sets the parameters of SpotSigs.
    ///
    /// ```
    /// use neardups::algorithm::{AlgorithmFactory, spotsigs::{ChainOver, SpotSigs}};
    ///
    /// let factory = SpotSigs::builder().threshold(0.5).antecedents("de").chain_over(ChainOver::All).build()?;
    /// assert_eq!(factory.prepare(0)?.algorithm.name(), "spotsigs");
    /// # Ok::<(), neardups::Error>(())
    /// ```
    builder;
    /// The least similarity of a reported pair: above 0 and at most 1; 0.5 by default.
    threshold(threshold: impl Into<Number>) THRESHOLD = threshold.into().0;
    /// The antecedents: a language, by its code in [`LANGUAGES`]; words separated by commas, after which
    /// chains skip no others; words that are added to those of a language (`en+this`), or take their place
    /// (`en:a,an,the,this`). Words are tokens, in lower case with most tokenizers. `en` by default.
    antecedents(antecedents: impl Into<String>) ANTECEDENTS = antecedents.into();
    /// The distance between the tokens of a spot: from 1 to 16; 1 by default.
    spot_distance(tokens: usize) SPOT_DISTANCE = tokens.to_string();
    /// The number of tokens in a spot, without its stop word: from 1 to 16; 2 by default.
    spot_chain(tokens: usize) SPOT_CHAIN = tokens.to_string();
    /// The tokens that the chain of a spot consists of; [`ChainOver::Content`] by default.
    chain_over(over: ChainOver) CHAIN_OVER = over.name();
    /// Whether a document is the multiset or the set of its spots; [`Spots::Multiset`] by default.
    spots(spots: Spots) SPOTS = spots.name();
    /// The fewest spots of a document that is compared: from 1 to 1000; 4 by default.
    min_spots(spots: usize) MIN_SPOTS = spots.to_string();
    /// Leaves out features that more than this share of the documents have: from 0.001 to 0.999.
    drop_common(share: impl Into<Number>) DROP_COMMON = share.into().0;
}

/// The parameter `antecedents`.
pub static ANTECEDENTS: Parameter = Parameter {
    name: "antecedents",
    placeholder: "LANG|WORDS|FILE",
    default: "en",
    values: Values::ChoiceOrWords(&[
        ("en", "English: articles, forms of be, can, will, have and do"),
        ("de", "German"),
        ("fr", "French"),
        ("es", "Spanish"),
        ("zh", "Chinese: the commonest function characters"),
    ]),
    help: "The stop words that start a spot: of a language, listed, or in a file",
    details: "en (English), de (German), fr (French), es (Spanish) or zh (Chinese); en follows the paper and its reference program. The \
              lists of de, fr, es and zh are ours, made after the same pattern. For zh, whose tokens are single characters, `spot-chain 3` is \
              stricter. Words separated by commas are a list of your own (a,an,the,this), and so is a file with one word a line; chains \
              then skip no other words. en+this adds words to a list, and en:a,an,the,this takes only these, with the other English stop \
              words skipped. A list of one word ends with a comma. A value with a dot or a slash is a file, and so is the name of an \
              existing file that is neither a language nor a list of words: ./de names the file de.",
};
static SPOT_DISTANCE: Parameter = Parameter {
    name: "spot-distance",
    placeholder: "D",
    default: "1",
    values: Values::Integer(1..=16),
    help: "How far apart the tokens of a spot are",
    details: "Counted in tokens that are not stop words: 1 takes the next one after another, 2 every second.",
};
static SPOT_CHAIN: Parameter = Parameter {
    name: "spot-chain",
    placeholder: "C",
    default: "2",
    values: Values::Integer(1..=16),
    help: "Tokens in a spot, its stop word not counted",
    details: "A longer chain is stricter: one changed word spoils more spots, and unrelated texts share fewer.",
};
static CHAIN_OVER: Parameter = Parameter {
    name: "chain-over",
    placeholder: "WHICH",
    default: "content",
    values: Values::Choice(&[
        ("content", "tokens that are not stop words, as in the paper"),
        ("all", "the very next tokens, stop words or not"),
    ]),
    help: "Which tokens the chain of a spot is made of",
    details: "content skips stop words, and so tolerates changes in them. all is the stop-word shingle of Mining of Massive Datasets, section \
              3.2.4: a stop word and the next two words, whatever they are; simpler, and stricter.",
};
static SPOTS: Parameter = Parameter {
    name: "spots",
    placeholder: "KIND",
    default: "multiset",
    values: Values::Choice(&[
        ("multiset", "a spot counts as often as it occurs, as in the paper"),
        ("set", "a spot counts once"),
    ]),
    help: "Whether repeated spots count: multiset or set",
    details: "multiset is that of the paper: a text and the same text twice over are at 0.5. As sets they are equal. `min-spots` then counts \
              distinct spots.",
};
static MIN_SPOTS: Parameter = Parameter {
    name: "min-spots",
    placeholder: "N",
    default: "4",
    values: Values::Integer(1..=1000),
    help: "Fewest spots of a document that is compared",
    details: "A document with fewer is never reported as like another; it is counted with those that have too few features. A scan \
              warns if these are more than a fifth of all documents.",
};

/// The tokens that chains consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainOver {
    /// Tokens that are not stop words.
    #[default]
    Content,
    /// All following tokens.
    All,
}

/// The collection of spots that a document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spots {
    /// Each spot as often as it occurs.
    #[default]
    Multiset,
    /// Each spot once.
    Set,
}

/// The detector.
pub struct SpotSigs {
    threshold: Threshold,
    lists: WordLists,
    distance: usize,
    chain: usize,
    over: ChainOver,
    kind: Spots,
    min_spots: usize,
    partitions: Partitions,
    prefix: Prefix,
    /// The words of the language, hashed with the seed of the first document. A run has one seed.
    words: OnceLock<Words>,
    origins: Origins,
}

impl SpotSigs {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A detector of pairs at or above `threshold`. Spots have `chain` tokens that are `distance` apart; documents with
    /// fewer than `min_spots` spots are compared with nothing. Each of the three is raised to 1 if it is 0.
    pub fn new(
        threshold: Threshold,
        language: &'static Language,
        distance: usize,
        chain: usize,
        min_spots: usize,
    ) -> Self {
        let min_spots = min_spots.max(1);
        SpotSigs {
            threshold,
            lists: language.into(),
            distance: distance.max(1),
            chain: chain.max(1),
            over: ChainOver::Content,
            kind: Spots::Multiset,
            min_spots,
            partitions: Partitions::new(threshold, min_spots),
            prefix: Prefix::new(threshold),
            words: OnceLock::new(),
            origins: Origins::default(),
        }
    }

    /// Sets the tokens that chains consist of.
    pub fn with_chains_over(mut self, over: ChainOver) -> Self {
        self.over = over;
        self
    }

    /// Sets the antecedents and the words that chains skip, in place of those of the language.
    pub fn with_words(mut self, lists: WordLists) -> Self {
        self.lists = lists;
        self
    }

    /// Sets whether a document is the multiset or the set of its spots.
    pub fn with_spots(mut self, kind: Spots) -> Self {
        self.kind = kind;
        self
    }

    /// Appends the spots of the tokens. `masks` is working memory.
    ///
    /// Cost: a look-up a token, and a step a token of each spot. Which tokens are stop words is unpredictable, so no branch
    /// depends on it.
    fn spots(&self, words: &Words, tokens: &[u64], masks: &mut Vec<u64>, spots: &mut Vec<u64>) {
        // The tokens of chains are stored before the spots for now, so that stop words need not be skipped again in
        // each chain. Two words of bits for each 64 tokens say which these are, and which are antecedents.
        let (start, mut end) = (spots.len(), spots.len());
        let links_all = self.over == ChainOver::All;
        masks.clear();
        // Each 64 tokens have room for as many, however few are left.
        spots.resize(start + tokens.len().next_multiple_of(64), 0);
        for tokens in tokens.chunks(64) {
            let (mut links, mut antecedents, mut count) = (0u64, 0u64, 0);
            let room: &mut [u64; 64] = spots[end..].first_chunk_mut().expect("there is room for all tokens");
            for (i, &token) in tokens.iter().enumerate() {
                let role = words.role(token);
                let is_link = (role == Role::Content) | links_all;
                room[count % 64] = token;
                count += usize::from(is_link);
                links |= u64::from(is_link) << i;
                antecedents |= u64::from(role == Role::Antecedent) << i;
            }
            end += count;
            masks.extend([links, antecedents]);
        }
        spots.truncate(end);
        let mut before = start;
        for (tokens, &[links, mut antecedents]) in tokens.chunks(64).zip(masks.as_chunks::<2>().0) {
            let first = before;
            before += links.count_ones() as usize;
            while antecedents != 0 {
                let at = antecedents.trailing_zeros();
                antecedents &= antecedents - 1;
                // The antecedent itself is a link if all tokens are.
                let next = first + (links & (u64::MAX >> (63 - at))).count_ones() as usize;
                if next + self.chain * self.distance > end {
                    break;
                }
                let chain = (1..=self.chain).map(|link| spots[next + link * self.distance - 1]);
                spots.push(chain.fold(mix(tokens[at as usize]), combine));
            }
        }
        spots.drain(start..end);
    }
}

impl Algorithm for SpotSigs {
    fn profile(&self) -> Profile {
        let profile = Profile::new("spotsigs", "jaccard", CompareOn::Multisets);
        profile.with_jaccard(self.threshold).written_as(FingerprintForm::Elements)
    }

    fn rows(&self) -> Vec<Row> {
        let origins = &self.origins;
        vec![
            Row::identity("threshold", self.threshold.as_f64()).with(origins.of(&THRESHOLD)),
            Row::identity("antecedents", self.lists.name.clone()).with(origins.of(&ANTECEDENTS)),
            Row::identity("spot_distance", self.distance).with(origins.of(&SPOT_DISTANCE)),
            Row::identity("spot_chain", self.chain).with(origins.of(&SPOT_CHAIN)),
            Row::identity("chain_over", self.over.name()).with(origins.of(&CHAIN_OVER)),
            Row::identity("spots", self.kind.name()).with(origins.of(&SPOTS)),
            Row::identity("min_spots", self.min_spots).with(origins.of(&MIN_SPOTS)),
            Row::stated("recall_at_threshold", 1.0),
        ]
    }

    fn learns(&self) -> Option<Learns> {
        (!self.prefix.has_learned()).then_some(Learns::Features)
    }

    fn learn(&mut self, learned: &Learned) {
        if let Learned::Features(rarity) = learned {
            self.prefix.learn(rarity);
        }
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        let words = self.words.get_or_init(|| Words::new(&self.lists, tokens.seed()));
        let Features { hashes, words: masks, .. } = features;
        if words.seed() == tokens.seed() {
            self.spots(words, tokens.hashes(), masks, hashes);
        } else {
            self.spots(&Words::new(&self.lists, tokens.seed()), tokens.hashes(), masks, hashes);
        }
        if self.kind == Spots::Set {
            features.remove_repeats();
        }
    }

    /// Appends the number of spots, and the prefix of the multiset, after the number of its first elements that are the prefix for
    /// documents of the next partition. A document whose spots all occur in no other document has no prefix and no key.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        let spots = features.hashes.len();
        let Some((_, next)) = self.partitions.of(spots) else { return };
        // All documents of the next partition are longer.
        let inner = next.map_or(0, |least| self.threshold.prefix_with(spots, least));
        fingerprint.extend([spots as u64, 0]);
        let own = fingerprint.len();
        let count = self.prefix.keys_of_multiset(&features.hashes, inner, fingerprint);
        fingerprint[own - 1] = count as u64;
    }

    /// Appends the elements of the prefix in the document's partition of lengths, and the first of them also in the next partition if
    /// documents there can reach the threshold. So the shorter of two documents meets the longer one in the partition
    /// of the longer.
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        let [spots, inner, prefix @ ..] = fingerprint else { return };
        let Some((partition, next)) = self.partitions.of(*spots as usize) else { return };
        let mut add = |partition: usize, elements: &[u64]| {
            let of_partition = mix(partition as u64 + 1);
            keys.extend(elements.iter().map(|&element| combine(of_partition, element)));
        };
        add(partition, prefix);
        if next.is_some() {
            add(partition + 1, &prefix[..*inner as usize]);
        }
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        jaccard_at_least(a, b, self.threshold)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for SpotSigs {
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(jaccard(a, b))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Multisets)
    }

    fn warnings(&self, run: &RunSummary) -> Vec<String> {
        let RunSummary { documents, featureless, .. } = *run;
        if featureless.saturating_mul(5) <= documents {
            return Vec::new();
        }
        // `compare` runs an algorithm on two.
        let which = match (featureless, documents) {
            (1, 2) => "one of the two documents has".to_string(),
            (2, 2) => "both documents have".to_string(),
            _ => format!("{:.0} % of the documents have", 100.0 * featureless as f64 / documents as f64),
        };
        let were = if (featureless, documents) == (1, 2) { "was" } else { "were" };
        vec![format!(
            "{which} fewer than {} spots and {were} compared with nothing: SpotSigs is for prose in the language \
             of `antecedents` ({}); `algo minhash` compares them all",
            self.min_spots, self.lists.name
        )]
    }
}

impl ChainOver {
    fn name(self) -> &'static str {
        match self {
            ChainOver::Content => "content",
            ChainOver::All => "all",
        }
    }
}

impl Spots {
    fn name(self) -> &'static str {
        match self {
            Spots::Multiset => "multiset",
            Spots::Set => "set",
        }
    }
}

/// The words of `antecedents`.
fn word_lists(settings: &Settings) -> Result<WordLists, Error> {
    let typed = settings.choice(&ANTECEDENTS)?;
    let list = || ANTECEDENTS.word_list(typed).map(|list| WordLists::of_list(&list));
    Ok(WordLists::of_language(typed).or_else(list).expect("checked"))
}

fn resolve(settings: &Settings) -> Result<SpotSigs, Error> {
    let number = |parameter| Ok::<_, Error>(settings.integer(parameter)?.expect("never auto"));
    let threshold = settings.threshold(&THRESHOLD)?.expect("never auto");
    let over = if settings.choice(&CHAIN_OVER)? == "all" { ChainOver::All } else { ChainOver::Content };
    let (distance, chain) = (number(&SPOT_DISTANCE)?, number(&SPOT_CHAIN)?);
    let kind = if settings.choice(&SPOTS)? == "set" { Spots::Set } else { Spots::Multiset };
    let spotsigs = SpotSigs::new(threshold, &LANGUAGES[0], distance, chain, number(&MIN_SPOTS)?).with_chains_over(over);
    let spotsigs = spotsigs.with_words(word_lists(settings)?).with_spots(kind);
    Ok(SpotSigs { origins: settings.origins(), ..spotsigs })
}

fn prepare(settings: &Settings, _median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    Ok(PreparedAlgorithm::new(resolve(settings)?))
}

/// The number of spots that a plan assumes for a document. The number of tokens for each spot depends on the language
/// and the text.
const PLANNED_SPOTS: usize = 100;

fn forecast(settings: &Settings, _median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let spotsigs = resolve(settings)?;
    let threshold = spotsigs.threshold;
    let keys = 8.0 * 2.0 * threshold.prefix_of(PLANNED_SPOTS) as f64;
    let ranges: Vec<String> =
        spotsigs.partitions.ranges().take(6).map(|r| format!("{}–{}", r.start(), r.end())).collect();
    Ok(Forecast {
        curve_of: "jaccard",
        curve: if threshold.as_f64() < 1.0 { vec![(threshold.as_f64(), 1.0), (1.0, 1.0)] } else { vec![(1.0, 1.0)] },
        costs: vec![
            ("keys of a document with 100 spots, at most", keys, "bytes"),
            ("keys of all documents, if each has 100 spots, at most", keys * documents as f64, "bytes"),
        ],
        search: None,
        stored: None,
        notes: vec![
            format!(
                "every pair at or above {threshold} is found; documents with fewer than {} spots are compared with nothing",
                spotsigs.min_spots
            ),
            format!(
                "lengths in spots are cut into {}, …; a document is looked for in its own range and its neighbours",
                ranges.join(", ")
            ),
            "spots that only one document has do not become keys, so there are usually far fewer".into(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Remarks;
    use crate::algorithm::builder::tests::check_setters;
    use crate::hash::token_hash;
    use crate::tokenizer::{TokenDetail, Tokenizer, Word};
    use proptest::prelude::*;

    fn spotsigs(settings: &[(&str, &str)]) -> SpotSigs {
        resolve(&Settings::from_pairs(settings.iter().copied()).with_defaults(ENTRY.defaults)).unwrap()
    }

    /// The spots of a text, sorted.
    fn spots(spotsigs: &SpotSigs, text: &str) -> Vec<u64> {
        let mut tokens = Tokens::new(TokenDetail::Hashes, 3);
        Word.tokenize(text, &mut tokens);
        let mut features = Features::default();
        spotsigs.features(&mut tokens, &mut features);
        features.hashes.sort_unstable();
        features.hashes
    }

    /// Spots as the paper writes them, `a:rally:kick`, between spaces.
    fn written(spots: &str) -> Vec<u64> {
        let hash = |token: &str| token_hash(token.as_bytes(), 3);
        let spot = |spot: &str| {
            let (antecedent, chain) = spot.split_once(':').unwrap();
            chain.split(':').map(hash).fold(mix(hash(antecedent)), combine)
        };
        let mut spots: Vec<u64> = spots.split_whitespace().map(spot).collect();
        spots.sort_unstable();
        spots
    }

    #[test]
    fn setters_write_what_would_be_typed() {
        let built = SpotSigs::builder().threshold(0.5).antecedents("de").spot_distance(2).spot_chain(3);
        let built = built.chain_over(ChainOver::All).spots(Spots::Set).min_spots(7).drop_common(0.1);
        let typed = [
            ("threshold", "0.5"),
            ("antecedents", "de"),
            ("spot-distance", "2"),
            ("spot-chain", "3"),
            ("chain-over", "all"),
            ("spots", "set"),
            ("min-spots", "7"),
            ("drop-common", "0.1"),
        ];
        check_setters(built, &ENTRY, &typed);
    }

    /// The example of Theobald, Siddharth & Paepcke 2008; antecedents a, an, the and is, distance 1, chain 2. The text has none of
    /// the others.
    #[test]
    fn spots_of_the_paper() {
        let text = "At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried to set the record straight \
                    from an attack circulating widely on the Internet that is designed to play into prejudices…";
        let expected = "a:rally:kick a:weeklong:campaign the:south:carolina the:record:straight an:attack:circulating \
                        the:internet:designed is:designed:play";
        assert_eq!(spots(&spotsigs(&[]), text), written(expected));
    }

    #[test]
    fn stop_words_inside_a_chain_cost_it_no_token() {
        // The reference program loses `three` here: after a stop word it skips one token too many.
        let text = "the one of two for three is four five";
        let long = spotsigs(&[("spot-chain", "3")]);
        assert_eq!(spots(&long, text), written("the:one:two:three"));
        let apart = spotsigs(&[("spot-distance", "2")]);
        assert_eq!(spots(&apart, text), written("the:two:four"));
        let both = spotsigs(&[("spot-chain", "1"), ("spot-distance", "2")]);
        assert_eq!(spots(&both, text), written("the:two is:five"));
    }

    /// The example of Leskovec, Rajaraman & Ullman, *Mining of Massive Datasets*, 3.2.4: nine shingles.
    #[test]
    fn stop_word_shingles_of_the_textbook() {
        static LANGUAGE: Language =
            Language { code: "textbook", antecedents: "a for the that have it is to", skipped: "" };
        let text = "A spokesperson for the Sudzo Corporation revealed today that studies have shown it is good for people to buy \
                    Sudzo products";
        let threshold = Threshold::new(1, 2).unwrap();
        let detector = SpotSigs::new(threshold, &LANGUAGE, 1, 2, 1).with_chains_over(ChainOver::All);
        let expected = "a:spokesperson:for for:the:sudzo the:sudzo:corporation that:studies:have have:shown:it it:is:good \
                        is:good:for for:people:to to:buy:sudzo";
        assert_eq!(spots(&detector, text), written(expected));
        // Two tokens apart, and not beyond the end.
        assert_eq!(
            spots(&spotsigs(&[("chain-over", "all"), ("spot-distance", "2")]), "the a b c d is e f"),
            written("the:b:d a:c:is")
        );
    }

    #[test]
    fn a_spot_that_the_text_does_not_complete_is_none() {
        let spotsigs = spotsigs(&[]);
        assert!(spots(&spotsigs, "the end").is_empty());
        assert!(spots(&spotsigs, "the very end of it, is").is_empty());
        assert_eq!(spots(&spotsigs, "the the bitter end"), written("the:bitter:end the:bitter:end"));
        assert_eq!((spots(&spotsigs, ""), spots(&spotsigs, "the the the")), (vec![], vec![]));
    }

    #[test]
    fn each_language_has_its_antecedents() {
        let check = |language, text, expected| {
            assert_eq!(spots(&spotsigs(&[("antecedents", language)]), text), written(expected), "{language}");
        };
        check("de", "Der Hund ist in das Haus gelaufen", "der:hund:haus ist:haus:gelaufen das:haus:gelaufen");
        check("fr", "L’été a été chaud dans la ville", "l:chaud:ville a:chaud:ville");
        check("es", "El perro está en la casa vieja", "el:perro:casa está:casa:vieja la:casa:vieja");
        check("zh", "我们的学校", "的:学:校");
        // English antecedents do not count here.
        check("de", "the house was painted white", "");
    }

    #[test]
    fn words_are_known_by_the_seed_of_the_tokens() {
        let spotsigs = spotsigs(&[]);
        let with = |seed| {
            let mut tokens = Tokens::new(TokenDetail::Hashes, seed);
            Word.tokenize("the bitter end of the long story", &mut tokens);
            let mut features = Features::default();
            spotsigs.features(&mut tokens, &mut features);
            features.hashes
        };
        assert_eq!([with(1).len(), with(2).len(), with(1).len()], [2, 2, 2]);
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn fewer_spots_than_the_least_make_no_fingerprint() {
        let spotsigs = spotsigs(&[("min-spots", "2")]);
        let fingerprint = |text| {
            let (mut features, mut fingerprint) = (Features::default(), Vec::new());
            features.hashes = spots(&spotsigs, text);
            spotsigs.fingerprint(&features, &mut fingerprint);
            fingerprint
        };
        assert!(fingerprint("the bitter end").is_empty());
        assert_eq!(fingerprint("the bitter end has come closer")[0], 2);
    }

    /// The reference program calls these 0 at a threshold of 0.65: it stops at a sum of differences that bounds sets only.
    #[test]
    fn multisets_are_compared_by_their_counts() {
        let times = |counts: [usize; 2]| [vec![1; counts[0]], vec![2; counts[1]]].concat();
        let compare = |threshold| spotsigs(&[("threshold", threshold)]).compare(&times([7, 3]), &times([5, 5]));
        assert_eq!(compare("2/3").unwrap().value(), 8.0 / 12.0);
        assert_eq!(compare("0.67"), None);
    }

    /// In one partition, in two neighbouring ones, and wherever the common spots are in the order.
    #[test]
    fn similar_documents_share_a_key() {
        let keys = |spotsigs: &SpotSigs, spots: &[u64]| {
            let features = Features { hashes: spots.to_vec(), ..Features::default() };
            let (mut fingerprint, mut keys) = (Vec::new(), Vec::new());
            spotsigs.fingerprint(&features, &mut fingerprint);
            spotsigs.keys(&fingerprint, &mut keys);
            keys
        };
        for threshold in ["1/3", "0.5", "0.8", "1"] {
            let spotsigs = spotsigs(&[("threshold", threshold), ("min-spots", "1")]);
            let jaccard = spotsigs.threshold;
            // Spots that nothing counted are in the order of their hashes. Those that only one document has come first, before as few
            // common ones as there may be.
            for short in 1..40u64 {
                for long in (short..=jaccard.max_total(short as usize) as u64).take(60) {
                    let shared = jaccard.jaccard_overlap(short as usize, long as usize) as u64;
                    let common = || (0..shared).map(|spot| 1000 + spot);
                    let a: Vec<u64> = (0..short - shared).chain(common()).collect();
                    let b: Vec<u64> = (100..100 + long - shared).chain(common()).collect();
                    assert!(spotsigs.compare(&a, &b).is_some());
                    let of_a = keys(&spotsigs, &a);
                    let shares = keys(&spotsigs, &b).iter().any(|key| of_a.contains(key));
                    assert!(shares, "{shared} of {short} and {long} at {threshold}");
                }
            }
        }
    }

    #[test]
    fn many_documents_without_spots_are_warned_of() {
        let spotsigs = spotsigs(&[]);
        let warnings =
            |documents, featureless| spotsigs.warnings(&RunSummary::new(documents, featureless, Remarks::default()));
        assert!(warnings(10, 2).is_empty() && warnings(0, 0).is_empty());
        assert!(warnings(2, 1)[0].starts_with("one of the two documents has fewer than 4 spots and was compared"));
        assert!(warnings(2, 2)[0].starts_with("both documents have fewer than 4 spots and were compared"));
        assert!(warnings(10, 3)[0].starts_with("30 % of the documents have fewer than 4 spots"));
    }

    #[test]
    fn the_threshold_has_a_default_of_its_own() {
        let threshold = |settings: &[(&str, &str)]| spotsigs(settings).threshold;
        assert_eq!(threshold(&[]), Threshold::new(1, 2).unwrap());
        assert_eq!(threshold(&[("threshold", "0.8")]), Threshold::new(4, 5).unwrap());
    }

    proptest! {
        #[test]
        fn spots_are_the_tokens_that_follow_antecedents(
            roles in prop::collection::vec(0usize..6, 0..300),
            distance in 1usize..4,
            chain in 1usize..4,
            all: bool,
        ) {
            let names = |i: usize| match roles[i] {
                0 => "the".to_string(),
                1 => "is".to_string(),
                2 => "of".to_string(),
                _ => format!("word{}", i % 7),
            };
            let text = (0..roles.len()).map(names).collect::<Vec<_>>().join(" ");
            let over = if all { ChainOver::All } else { ChainOver::Content };
            let detector = SpotSigs::new(Threshold::new(1, 2).unwrap(), &LANGUAGES[0], distance, chain, 1);
            let hash = |i: usize| token_hash(names(i).as_bytes(), 3);
            let spot = |at: usize| {
                let links: Vec<u64> = (at + 1..roles.len()).filter(|&i| all || roles[i] > 2).map(hash).collect();
                let chosen = (1..=chain).map(|link| links.get(link * distance - 1));
                chosen.collect::<Option<Vec<_>>>().map(|chain| chain.into_iter().copied().fold(mix(hash(at)), combine))
            };
            let mut expected: Vec<u64> = (0..roles.len()).filter(|&i| roles[i] < 2).filter_map(spot).collect();
            expected.sort_unstable();
            prop_assert_eq!(spots(&detector.with_chains_over(over), &text), expected);
        }
    }
}
