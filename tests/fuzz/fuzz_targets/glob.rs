//! Matches a pattern with a text, one line each. There must be no panic, time must be bounded, and
//! all functions that match must agree.
#![no_main]

use box_text::glob::{GlobOptions, GlobPattern};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, rest)) = data.split_first() else { return };
    let mut lines = rest.splitn(2, |&b| b == b'\n');
    let (Some(pattern), Some(text)) = (lines.next(), lines.next()) else { return };
    // Matching a repeated group takes polynomial rather than linear time.
    if pattern.len() > 200 || text.len() > 400 {
        return;
    }
    let options = GlobOptions {
        extglob: flags & 1 != 0,
        ignore_case: flags & 2 != 0,
        utf8: flags & 4 != 0,
        period: flags & 8 != 0,
        no_slash: flags & 16 != 0,
        escape: flags & 32 == 0,
    };
    let pattern = GlobPattern::new(pattern, options);
    let whole = pattern.is_match(text);
    let longest = pattern.longest_prefix(text);
    let shortest = pattern.shortest_prefix(text);
    let (long_tail, short_tail) = (pattern.longest_suffix(text), pattern.shortest_suffix(text));
    if !(options.period || options.no_slash) {
        assert_eq!(whole, longest == Some(text.len()), "{longest:?}");
        assert_eq!(whole, long_tail == Some(0), "{long_tail:?}");
    }
    assert_eq!(longest.is_some(), shortest.is_some());
    assert!(shortest <= longest);
    assert_eq!(long_tail.is_some(), short_tail.is_some());
    assert!(long_tail <= short_tail);
    let mut end = 0;
    for (a, b) in pattern.matches(text).take(1000) {
        assert!(end <= a && a <= b && b <= text.len());
        end = b;
    }
});
