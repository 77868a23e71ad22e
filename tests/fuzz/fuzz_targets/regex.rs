//! Searches a text for a regular expression, one line each. There must be no panic, time must be
//! bounded, and `is_match`, `find_at` and `captures_at` must agree.
#![no_main]

use box_text::regex::{Captures, Regex, RegexOptions, RegexSyntax};
use libfuzzer_sys::fuzz_target;

const SYNTAXES: [RegexSyntax; 8] = [
    RegexSyntax::EreRegcomp,
    RegexSyntax::Ere,
    RegexSyntax::Bre,
    RegexSyntax::Grep,
    RegexSyntax::Egrep,
    RegexSyntax::Awk,
    RegexSyntax::Emacs,
    RegexSyntax::MinimalBre,
];

fuzz_target!(|data: &[u8]| {
    let Some((&flags, rest)) = data.split_first() else { return };
    let mut lines = rest.splitn(2, |&b| b == b'\n');
    let (Some(pattern), Some(text)) = (lines.next(), lines.next()) else { return };
    if pattern.len() > 200 || text.len() > 400 {
        return;
    }
    let syntax = SYNTAXES[usize::from(flags & 7)];
    let mut options = RegexOptions::new(syntax).icase(flags & 8 != 0).multiline(flags & 16 != 0);
    options.utf8 = flags & 32 == 0;
    let Ok(regex) = Regex::new(pattern, &options) else { return };
    let found = regex.find_at(text, 0);
    let mut captures = Captures::default();
    let captured = regex.captures_at(text, 0, &mut captures);
    if regex.gave_up() {
        return;
    }
    assert_eq!(regex.is_match(text), found.is_some());
    assert_eq!(captured, found.is_some());
    if captured {
        assert_eq!(captures.get(0), found);
        for n in 1..captures.len() {
            if let Some((a, b)) = captures.get(n) {
                assert!(a <= b && b <= text.len());
            }
        }
    }
});
