//! Helpers of the tests: random numbers and corpora that are the same every time, plain reference implementations,
//! shorter ways to run a scan, and exact bounds for statistical claims.

pub mod corpus;
pub mod plain;
pub mod planted;
pub mod random;
pub mod scanning;
pub mod statistics;
