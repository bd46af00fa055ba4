//! Checking a folder of documentation through the library: which pages and passages were copied.
//!
//! ```text
//! cargo run --release --example check_folder -- docs
//! ```

use neardups::check::{Error, Outcome, Request, run};

fn check(folder: &str) -> Result<Outcome, Error> {
    let mut request = Request::new([folder]);
    request.find.min_words = 30;
    run(&request)
}

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/english/docs".into());
    for finding in &check(&folder)? {
        let here = finding.primary();
        println!("{}:{}: {}: {}", here.path(), here.stretch.start, finding.grade.name(), finding.summary());
        for there in finding.others() {
            println!("  also at {}:{}", there.path(), there.stretch.start);
        }
        println!("  {}", here.text().lines().next().unwrap_or_default());
    }
    Ok(())
}

#[test]
fn finds_the_two_editions_of_a_speech() {
    let outcome = check("fixtures/english/docs").unwrap();
    assert!(outcome.findings.iter().any(|finding| finding.places[0].path().contains("gettysburg")));
}
