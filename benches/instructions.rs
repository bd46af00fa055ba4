//! Instructions of the inner loops, counted by valgrind: the load of the machine has no effect.
//!
//! ```text
//! cargo bench --bench instructions              (all loops)
//! cargo bench --bench instructions -- sketch    (those with this in their name)
//! ```
//!
//! Prints a table in Markdown. Each number is the difference of a process that runs the loop three times and of one
//! that runs it once, so that making the data does not count. There is no column for AVX-512, which valgrind does not
//! support.

mod loops;

use loops::LOOPS;
use neardups::hash;
use std::env;
use std::process::Command;

/// How often a loop is run more than once.
const MORE: u64 = 2;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, name, which, times] = &arguments[..]
        && flag == "--run"
    {
        return run(name, which, times.parse().expect("a number"));
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        return println!("instructions are not counted: there is no valgrind");
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    println!("| loop | for each | said plainly | `plain` | `avx2` |\n|---|---|---|---|---|");
    for (name, make) in LOOPS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| name.contains(&**wanted))) {
        let mut made = make();
        made.check();
        let each = |which, level| counted(name, which, level) as f64 / (MORE * made.amount) as f64;
        let said_plainly = made.plain.as_ref().map(|_| digits(each("plain", "plain"))).unwrap_or_default();
        let [plain, avx2] = ["plain", "avx2"].map(|level| digits(each("fast", level)));
        println!("| {name} | {} | {said_plainly} | {plain} | {avx2} |", made.unit);
    }
}

/// Three digits, and all those before the point.
fn digits(x: f64) -> String {
    match x {
        100.0.. => format!("{x:.0}"),
        10.0.. => format!("{x:.1}"),
        1.0.. => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// The counted work: the loop, this many times.
fn run(name: &str, which: &str, times: u64) {
    let (_, make) = LOOPS.iter().find(|(of, _)| *of == name).expect("there is such a loop");
    let mut made = make();
    let run = if which == "plain" { made.plain.as_mut().expect("it has one") } else { &mut made.fast };
    let mut out = Vec::new();
    (0..times).for_each(|_| run(&mut out));
}

/// The instructions of `MORE` runs.
fn counted(name: &str, which: &str, level: &str) -> u64 {
    let of = |times: u64| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(env::current_exe().expect("it runs")).args(["--run", name, which, &times.to_string()]);
        let output = valgrind.env("NEARDUPS_KERNEL", level).output().expect("valgrind was there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let collected = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
        collected.unwrap_or_else(|| panic!("valgrind did not count: {said}"))
    };
    let (once, more): (u64, u64) = (of(1), of(1 + MORE));
    more - once
}
