//! The library against plain reference implementations, published examples, and what the theory promises; through its public
//! interface alone.

mod ahead;
mod arrange;
mod candidates;
mod check;
mod common;
mod compare;
mod copies;
mod corners;
mod custom;
mod determinism;
mod estimator;
mod filter;
mod fingerprints;
mod fixtures;
mod hamming;
mod hosts;
mod imatch;
mod interrupted;
mod lexicon;
mod metamorphic;
mod prepared;
mod projection;
mod published;
mod recall;
mod robust;
mod scripts;
mod shingles;
mod signs;
mod spotsigs;
mod supershingles;
mod table;
mod tokens;
mod verified;
mod weights;
mod winnowing;
