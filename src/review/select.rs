//! The clusters and members that a page shows.

use crate::engine::Kept;
use std::cmp::Reverse;

/// The maximum number of clusters on a page.
pub const MAX_CLUSTERS: usize = 10_000;

/// The maximum number of members of a cluster on a page, in addition to the kept ones that they are near-duplicates of.
pub const MAX_MEMBERS: usize = 100;

/// The maximum number of members of a cluster that are shown with their differences.
pub const MAX_TEXTS: usize = 8;

/// The bins of the histogram of similarities, each of a twentieth, and one for 1.
pub(super) const BINS: usize = 21;

/// A cluster on the page.
pub(super) struct Shown {
    /// Its number.
    pub id: u64,
    pub size: u64,
    pub kept: u64,
    /// The members on the page, in input order.
    pub members: Vec<Member>,
    /// The least similarity of a member to the kept one.
    pub least: Option<f64>,
}

/// A member on the page.
pub(super) struct Member {
    pub document: u32,
    pub keep: bool,
    /// The kept document that it is a near-duplicate of, and how similar.
    pub of: Option<(u32, f64)>,
    /// Whether its differences are shown.
    pub has_text: bool,
}

/// What a page shows.
pub(super) struct Selection {
    /// Larger clusters first; equal ones in input order.
    pub shown: Vec<Shown>,
    /// The number of all clusters.
    pub clusters: u64,
    /// Those of which more than one document is kept. Every document of a reference is.
    pub keeping_several: u64,
    /// The number of documents of all clusters that are not kept, by their similarity to the kept one.
    pub histogram: [u64; BINS],
}

impl Selection {
    /// Selects from all clusters.
    ///
    /// Memory: 16 bytes for each cluster, and 32 for each member on the page.
    pub fn new(kept: &Kept<'_>) -> Self {
        let (mut sizes, mut keeping_several, mut histogram) = (Vec::new(), 0, [0; BINS]);
        for cluster in kept.clusters() {
            keeping_several += u64::from(cluster.keep_indices.len() > 1);
            sizes.push((Reverse(cluster.indices.len()), cluster.id));
            let similarities = cluster.indices.iter().filter_map(|&document| kept.duplicate_of(document));
            similarities.for_each(|(_, similarity)| histogram[bin(similarity.value())] += 1);
        }
        let clusters = sizes.len() as u64;
        sizes.sort_unstable();
        sizes.truncate(MAX_CLUSTERS);
        let mut wanted: Vec<u64> = sizes.into_iter().map(|(_, id)| id).collect();
        wanted.sort_unstable();
        let is_wanted = |id: &u64| wanted.binary_search(id).is_ok();
        let clusters_shown = kept.clusters().filter(|cluster| is_wanted(&cluster.id));
        let mut shown: Vec<Shown> = clusters_shown.map(|cluster| shown(kept, cluster.id, &cluster.indices)).collect();
        shown.sort_by_key(|cluster| (Reverse(cluster.size), cluster.id));
        Selection { shown, clusters, keeping_several, histogram }
    }

    /// The documents that are read again, ascending: those whose texts are compared, and some of those that are kept, for the values
    /// that decided.
    pub fn with_texts(&self) -> Vec<u32> {
        let members = || self.shown.iter().map(|cluster| cluster.members.iter());
        let compared = members().flatten().filter(|member| member.has_text);
        let kept = members().flat_map(|members| members.filter(|member| member.keep).take(MAX_TEXTS));
        let mut documents: Vec<u32> = compared
            .flat_map(|member| [Some(member.document), member.of.map(|(of, _)| of)])
            .flatten()
            .chain(kept.map(|member| member.document))
            .collect();
        documents.sort_unstable();
        documents.dedup();
        documents
    }
}

/// The bin of a similarity.
fn bin(similarity: f64) -> usize {
    const LAST: usize = BINS - 1;
    ((similarity * LAST as f64).max(0.0) as usize).min(if similarity < 1.0 { LAST - 1 } else { LAST })
}

/// A cluster: the least similar of its members that are not kept, what they are near-duplicates of, and other kept ones.
fn shown(kept: &Kept<'_>, id: u64, documents: &[usize]) -> Shown {
    let member = |&document: &usize| {
        let of = kept.duplicate_of(document).map(|(of, similarity)| (of as u32, similarity.value()));
        Member { document: document as u32, keep: kept.is_kept(document), of, has_text: false }
    };
    let all: Vec<Member> = documents.iter().map(member).collect();
    let kept = all.iter().filter(|member| member.keep).count() as u64;
    let (mut dropped, others): (Vec<Member>, Vec<Member>) = all.into_iter().partition(|member| member.of.is_some());
    let similarity = |member: &Member| member.of.map_or(1.0, |(_, similarity)| similarity);
    // Members are in input order, and stay so among equals.
    dropped.sort_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let least = dropped.first().map(similarity);
    // If there are too many, both kinds have room.
    let room = MAX_MEMBERS - others.len().min(MAX_MEMBERS / 4);
    dropped.truncate(room);
    dropped.iter_mut().take(MAX_TEXTS).for_each(|member| member.has_text = true);
    let mut wanted: Vec<u32> = dropped.iter().filter_map(|member| member.of).map(|(of, _)| of).collect();
    wanted.sort_unstable();
    let mut left = MAX_MEMBERS - dropped.len();
    let mut members = dropped;
    for member in others {
        if left > 0 || wanted.binary_search(&member.document).is_ok() {
            members.push(member);
        }
        left = left.saturating_sub(1);
    }
    members.sort_by_key(|member| member.document);
    Shown { id, size: documents.len() as u64, kept, members, least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_have_bins() {
        let bins = [0.0, 0.049, 0.05, 0.799_999, 0.8, 0.999_999, 1.0].map(bin);
        assert_eq!(bins, [0, 0, 1, 15, 16, 19, 20]);
    }
}
