//! Expands a word in a shell that has only variables. There must be no panic, and output and time
//! must be bounded (braces, `${x//a/$x}` bombs, arithmetic).
#![no_main]

mod shell;

use libfuzzer_sys::fuzz_target;
use sh_syntax::parse::{ParseOptions, parse_word};

fuzz_target!(|data: &[u8]| {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    if data.contains(&0) {
        return;
    }
    let Ok(word) = parse_word(data, &options) else { return };
    let mut shell = shell::Shell::new();
    if let Ok(fields) = sh_expand::expand_words(&mut shell, std::slice::from_ref(&word)) {
        let bytes: usize = fields.iter().map(|f| f.len()).sum();
        assert!(bytes <= shell::BUDGET + (64 << 10), "{bytes} bytes out of {}", data.len());
    }
    let mut shell = shell::Shell::new();
    let _ = sh_expand::expand_assignment_value(&mut shell, &word);
    let _ = sh_expand::expand_pattern(&mut shell, &word);
    let _ = sh_expand::expand_regex(&mut shell, &word);
});
