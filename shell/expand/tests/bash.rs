//! Expansions compared with bash: each line of `snippets/*.sh` runs in the test shell and in bash
//! 5.2, and both must print the same on both streams.
//!
//! `p` prints its arguments in angle brackets, with their number. Lines run in a directory
//! with a few files, with `HOME=/h`. Comments begin with `#`.

mod oracle;
mod support;

use std::path::Path;

use oracle::{fixture, here, in_bash};

fn compare(file: &str) {
    let dir = fixture();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snippets").join(file);
    let text = std::fs::read_to_string(path).expect("the snippets are there");
    let mut failures = 0;
    let mut count = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        // `⏎` stands for a newline, so that a here-document fits on a line.
        let snippet = line.replace('⏎', "\n");
        count += 1;
        let (expected, got) = (in_bash(&dir, &snippet), here(&dir, &snippet));
        if expected != got {
            failures += 1;
            println!("--- {line}\nbash: {}{}ours: {}{}", expected.0, expected.1, got.0, got.1);
        }
    }
    assert!(count > 0, "no snippets in {file}");
    assert_eq!(failures, 0, "{failures} of {count} snippets of {file} differ from bash");
}

macro_rules! files {
    ($($test:ident: $file:literal,)*) => { $(#[test] fn $test() { compare($file); })* };
}

files! {
    parameters: "parameters.sh",
    splitting: "splitting.sh",
    braces_and_tildes: "braces.sh",
    arithmetic: "arithmetic.sh",
    pathnames: "pathnames.sh",
    contexts: "contexts.sh",
}
