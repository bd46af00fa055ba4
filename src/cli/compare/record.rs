//! The report as JSON.

use super::super::json::{Ordered, json};
use super::super::spelling::spelled;
use super::document::{Document, Place};
use super::partial::contained;
use super::report::Report;
use super::verdict::{outcome, reported_by_exact, sentence};
use neardups::algorithm::{Agreement, Entry};
use neardups::compare::{Comparison, CountedTerms, Evidence};
use neardups::review::{Difference, Differences, Piece};
use neardups::similarity::Similarity;
use neardups::source::Place as RecordPlace;
use serde::Serialize;

/// Maximum length in words of a fingerprint.
const MAX_FINGERPRINT: usize = 32;

impl Report<'_> {
    /// The report as one JSON object.
    pub fn as_json(&self) -> String {
        let [a, b] = &self.documents;
        let document = |document: &Document| {
            let size = (document.text.len(), document.tokens.len(), document.distinct_tokens());
            let at = document.at.as_ref().map(RecordPlace::to_string);
            DocumentRecord { id: document.id.clone(), at, bytes: size.0, tokens: size.1, distinct_tokens: size.2 }
        };
        let share = |share: Option<Similarity>| share.map(Similarity::value);
        let [covered_a, covered_b] = self.runs.covered();
        let reported = self.comparisons.iter().filter(|(_, comparison)| comparison.verdict.is_reported());
        let record = Record {
            r#type: "comparison",
            a: document(a),
            b: document(b),
            tokenizer: self.tokenizer,
            algorithms: self.comparisons.iter().map(|(entry, comparison)| algorithm(entry, comparison)).collect(),
            shingles: self
                .overlaps
                .iter()
                .map(|(name, overlap)| ShinglesRecord {
                    shingle: name,
                    a: overlap.a,
                    b: overlap.b,
                    shared: overlap.shared,
                    jaccard: share(overlap.jaccard()),
                    a_in_b: share(overlap.containment()[0]),
                    b_in_a: share(overlap.containment()[1]),
                })
                .collect(),
            token_counts: CountsRecord { cosine: self.counts.cosine, euclidean: self.counts.euclidean },
            min_run: self.min_run,
            covered: [covered_a, covered_b],
            complete: self.runs.frequent == 0,
            passages: self
                .passages
                .iter()
                .map(|run| {
                    let place = a.place(run.a, run.tokens);
                    let text = &a.text[place.bytes[0]..place.bytes[1]];
                    PassageRecord { tokens: run.tokens, a: place, b: b.place(run.b, run.tokens), text }
                })
                .collect(),
            differences: DifferencesRecord::new(&self.differences, [a, b]),
            median_tokens: self.median_tokens,
            reported_by: reported.map(|(_, comparison)| comparison.algorithm).collect(),
            contained: contained(self),
        };
        json(&record)
    }
}

/// The one object of `--json`, its fields in this order.
#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    a: DocumentRecord,
    b: DocumentRecord,
    tokenizer: &'a str,
    algorithms: Vec<AlgorithmRecord<'a>>,
    shingles: Vec<ShinglesRecord<'a>>,
    token_counts: CountsRecord,
    min_run: usize,
    covered: [usize; 2],
    complete: bool,
    passages: Vec<PassageRecord<'a>>,
    differences: DifferencesRecord<'a>,
    median_tokens: usize,
    reported_by: Vec<&'a str>,
    contained: Option<&'static str>,
}

/// The words in which the texts differ.
#[derive(Serialize)]
struct DifferencesRecord<'a> {
    shown: usize,
    more: usize,
    complete: bool,
    a: Vec<PieceRecord<'a>>,
    b: Vec<PieceRecord<'a>>,
    places: Vec<PlacesRecord>,
}

/// The place of a difference in both texts.
#[derive(Serialize)]
struct PlacesRecord {
    a: Place,
    b: Place,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum PieceRecord<'a> {
    Shared(&'a str),
    Own(&'a str),
    Omitted(usize),
}

impl<'a> DifferencesRecord<'a> {
    fn new(differences: &'a Differences, documents: [&Document; 2]) -> Self {
        let Differences { a, b, shown, more, is_cut, places, .. } = differences;
        let piece = |piece: &'a Piece| match piece {
            Piece::Shared(text) => PieceRecord::Shared(text),
            Piece::Own(text) => PieceRecord::Own(text),
            Piece::Omitted(words) => PieceRecord::Omitted(*words),
        };
        let [a, b] = [a, b].map(|pieces| pieces.iter().map(piece).collect());
        let place = |place: &Difference| PlacesRecord {
            a: documents[0].place_of(place.a.clone()),
            b: documents[1].place_of(place.b.clone()),
        };
        let places = places.iter().map(place).collect();
        DifferencesRecord { shown: *shown, more: *more, complete: !is_cut, a, b, places }
    }
}

#[derive(Serialize)]
struct DocumentRecord {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    bytes: usize,
    tokens: usize,
    distinct_tokens: usize,
}

#[derive(Serialize)]
struct AlgorithmRecord<'a> {
    algo: &'a str,
    measure: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<&'a str>,
    parameters: Ordered<'a>,
    reported: bool,
    outcome: &'static str,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by_exact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeaturesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<[TermsRecord<'a>; 2]>,
    agreement: &'a [Agreement],
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprints: Option<[String; 2]>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct FeaturesRecord {
    a: usize,
    b: usize,
    distinct_a: usize,
    distinct_b: usize,
    shared: usize,
}

#[derive(Serialize)]
struct TermsRecord<'a> {
    distinct: usize,
    counting: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn algorithm<'a>(entry: &Entry, comparison: &'a Comparison) -> AlgorithmRecord<'a> {
    let evidence = comparison.evidence.as_ref();
    let features = evidence.map(|Evidence { features: [a, b], distinct, .. }| FeaturesRecord {
        a: *a,
        b: *b,
        distinct_a: distinct.a,
        distinct_b: distinct.b,
        shared: distinct.shared,
    });
    let terms = evidence.and_then(|evidence| evidence.terms.as_ref()).map(|terms| {
        terms.each_ref().map(|CountedTerms { counting, distinct, note, .. }| TermsRecord {
            distinct: *distinct,
            counting,
            note: note.map(|note| spelled(note).into_owned()),
        })
    });
    let fingerprints = evidence.filter(|evidence| {
        let [a, b] = &evidence.fingerprints;
        a.len().max(b.len()) <= MAX_FINGERPRINT
    });
    AlgorithmRecord {
        algo: comparison.algorithm,
        measure: comparison.measure,
        tokenizer: comparison.tokenizer.as_deref(),
        parameters: Ordered(comparison.parameters.iter().map(|row| (row.name, &row.value)).collect()),
        reported: comparison.verdict.is_reported(),
        outcome: outcome(&comparison.verdict),
        why: sentence(entry, comparison),
        similarity: evidence.and_then(|evidence| evidence.similarity).map(Similarity::value),
        distance: evidence.and_then(|evidence| evidence.distance),
        probability: evidence.and_then(|evidence| evidence.found_with),
        reported_by_exact: evidence.and_then(|_| reported_by_exact(entry, comparison)),
        features,
        terms,
        agreement: evidence.map_or(&[], |evidence| &evidence.agreement),
        fingerprints: fingerprints.map(|Evidence { fingerprints, form, .. }| {
            fingerprints.each_ref().map(|fingerprint| form.write(fingerprint))
        }),
        warnings: &comparison.warnings,
    }
}

#[derive(Serialize)]
struct ShinglesRecord<'a> {
    shingle: &'a str,
    a: usize,
    b: usize,
    shared: usize,
    jaccard: Option<f64>,
    a_in_b: Option<f64>,
    b_in_a: Option<f64>,
}

#[derive(Serialize)]
struct CountsRecord {
    cosine: Option<f64>,
    euclidean: f64,
}

#[derive(Serialize)]
struct PassageRecord<'a> {
    tokens: usize,
    a: Place,
    b: Place,
    text: &'a str,
}
