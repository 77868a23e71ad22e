//! Cases with answers of glibc (through GNU sed and grep).

use super::*;

fn find(syntax: RegexSyntax, pattern: &str, text: &str) -> Option<(usize, usize)> {
    Regex::new(pattern.as_bytes(), &RegexOptions::new(syntax)).unwrap().find_at(text.as_bytes(), 0)
}

fn groups(syntax: RegexSyntax, pattern: &str, text: &str) -> Vec<Option<(usize, usize)>> {
    let re = Regex::new(pattern.as_bytes(), &RegexOptions::new(syntax)).unwrap();
    let mut captures = Captures::default();
    if !re.captures_at(text.as_bytes(), 0, &mut captures) {
        return Vec::new();
    }
    (0..captures.len()).map(|n| captures.get(n)).collect()
}

fn error(syntax: RegexSyntax, pattern: &str) -> String {
    Regex::new(pattern.as_bytes(), &RegexOptions::new(syntax)).unwrap_err().to_string()
}

#[test]
fn the_longest_match_wins() {
    assert_eq!(find(RegexSyntax::Ere, "a|ab|abc", "xabcd"), Some((1, 4)));
    assert_eq!(find(RegexSyntax::Ere, "(a|ab)(c|bcd)(d*)", "abcd"), Some((0, 4)));
    assert_eq!(find(RegexSyntax::Ere, "a*(ab)?", "aab"), Some((0, 3)));
    assert_eq!(find(RegexSyntax::Bre, "x*", "é"), Some((0, 0)));
}

#[test]
fn groups_are_those_of_the_first_way_to_the_longest_match() {
    let s = |a, b| Some((a, b));
    assert_eq!(
        groups(RegexSyntax::Ere, "(a|ab)(c|bcd)(d*)", "abcd"),
        [s(0, 4), s(0, 1), s(1, 4), s(4, 4)]
    );
    assert_eq!(groups(RegexSyntax::Ere, "(a*)*", "b"), [s(0, 0), s(0, 0)]);
    assert_eq!(groups(RegexSyntax::Ere, "(a*)+", "aab"), [s(0, 2), s(0, 2)]);
    assert_eq!(groups(RegexSyntax::Ere, "((a)|b)*", "ab"), [s(0, 2), s(1, 2), s(0, 1)]);
    assert_eq!(groups(RegexSyntax::Ere, "(x)?(a*)", "aa"), [s(0, 2), None, s(0, 2)]);
}

#[test]
fn back_references() {
    let s = |a, b| Some((a, b));
    assert_eq!(groups(RegexSyntax::Bre, r"\(a*\)b\1", "aabaaa"), [s(0, 5), s(0, 2)]);
    assert_eq!(find(RegexSyntax::Ere, r"(.)(.).?\2\1", "xabba"), s(1, 5));
    assert_eq!(find(RegexSyntax::Ere, r"^(.*)\n?\1$", "abab"), s(0, 4));
    let re = Regex::new(br"(a)\1", &RegexOptions::new(RegexSyntax::Ere).icase(true)).unwrap();
    assert_eq!(re.find_at(b"xaA", 0), s(1, 3));
}

#[test]
fn operators_by_context() {
    assert_eq!(find(RegexSyntax::Bre, "*a", "b*a"), Some((1, 3)));
    assert_eq!(find(RegexSyntax::Bre, "^*a", "*a"), Some((0, 2)));
    assert_eq!(find(RegexSyntax::Bre, r"\(^a\)b$c", "ab$c"), Some((0, 4)));
    assert_eq!(find(RegexSyntax::Bre, "a^b", "a^b"), Some((0, 3)));
    assert_eq!(find(RegexSyntax::Egrep, "*a", "b*a"), Some((2, 3)));
    assert_eq!(find(RegexSyntax::Egrep, "{1}a", "b{1}a"), Some((4, 5)));
    assert_eq!(find(RegexSyntax::Egrep, "b{1", "b{1"), Some((0, 3)));
    assert_eq!(find(RegexSyntax::Grep, r"\{1", "b{1"), Some((1, 3)));
    assert_eq!(find(RegexSyntax::EreRegcomp, ")", "a)"), Some((1, 2)));
    assert_eq!(find(RegexSyntax::Emacs, "a+", "baa"), Some((1, 3)));
    assert_eq!(find(RegexSyntax::Awk, r"a\/\x62[\/\]]", "a/b]"), Some((0, 4)));
}

#[test]
fn errors_in_gnu_words() {
    assert_eq!(error(RegexSyntax::Ere, "a)"), "Unmatched ) or \\)");
    assert_eq!(error(RegexSyntax::Ere, "(a"), "Unmatched ( or \\(");
    assert_eq!(error(RegexSyntax::Ere, "*a"), "Invalid preceding regular expression");
    assert_eq!(error(RegexSyntax::Ere, "a{1"), "Unmatched \\{");
    assert_eq!(error(RegexSyntax::Bre, r"a\{x\}"), "Invalid content of \\{\\}");
    assert_eq!(error(RegexSyntax::Bre, "a**"), "Invalid preceding regular expression");
    assert_eq!(error(RegexSyntax::Bre, "[z-a]"), "Invalid range end");
    assert_eq!(error(RegexSyntax::Bre, "[[:foo:]]"), "Invalid character class name");
    assert_eq!(error(RegexSyntax::Bre, "[[.space.]]"), "Invalid collation character");
    assert_eq!(error(RegexSyntax::Bre, "[a"), "Unmatched [, [^, [:, [., or [=");
    assert_eq!(error(RegexSyntax::Bre, r"\(a\1\)"), "Invalid back reference");
    assert_eq!(error(RegexSyntax::Bre, r"a\"), "Trailing backslash");
    assert_eq!(error(RegexSyntax::Bre, r"a\{40000\}"), "Regular expression too big");
}

#[test]
fn bytes_that_are_no_characters() {
    let options = RegexOptions::new(RegexSyntax::Bre);
    let dot = Regex::new(b".", &options).unwrap();
    assert_eq!(dot.find_at(b"\xff", 0), None);
    assert_eq!(dot.find_at("é".as_bytes(), 0), Some((0, 2)));
    assert_eq!(Regex::new(b"\xff", &options).unwrap().find_at(b"a\xff", 0), Some((1, 2)));
    let c = Regex::new(b".", &options.utf8(false)).unwrap();
    assert_eq!(c.find_at(b"\xff", 0), Some((0, 1)));
    assert_eq!(Regex::new(b"x*", &options).unwrap().find_at("é".as_bytes(), 1), Some((2, 2)));
}

#[test]
fn lines_and_bounds() {
    let lines = RegexOptions::new(RegexSyntax::Grep).lines(b'\n');
    let re = Regex::new(b"^b.*$", &lines).unwrap();
    assert_eq!(re.find_at(b"a\nbcd\ne", 0), Some((2, 5)));
    assert_eq!(Regex::new(b"a[^x]b", &lines).unwrap().find_at(b"a\nb", 0), None);
    let word = lines.bound(MatchBound::Word);
    let re = Regex::new(b"ab*", &word).unwrap();
    assert_eq!(re.find_at("abc éab ab".as_bytes(), 0), Some((9, 11)));
    let line = lines.bound(MatchBound::Line);
    let re = Regex::literals(&["a", "ab"], &line).unwrap();
    assert_eq!(re.find_at(b"abc\nab\n", 0), Some((4, 6)));
    let multi = RegexOptions::new(RegexSyntax::Bre).multiline(true);
    assert_eq!(Regex::new(b"^b", &multi).unwrap().find_at(b"a\nb", 0), Some((2, 3)));
    assert_eq!(Regex::new(b"\\`b", &multi).unwrap().find_at(b"a\nb", 0), None);
}

/// The same lines match as in a search line by line, whatever the number of lines with a required
/// text.
#[test]
fn lines_by_required_texts() {
    let regex =
        Regex::new(b"^[0-9]+ (warn|error)\\b", &RegexOptions::new(RegexSyntax::Egrep).lines(b'\n'));
    let regex = regex.unwrap();
    for every in [1, 3, 50, 5000] {
        let line = |n: usize| match n % every {
            0 => format!("{n} {} x", ["warn", "errors", "error", "warned"][n / every % 4]),
            _ => format!("{n} information with some more text"),
        };
        let lines: Vec<String> = (0..3000).map(line).collect();
        let matches = |line: &&String| line.ends_with(" warn x") || line.ends_with(" error x");
        let want: Vec<&String> = lines.iter().filter(matches).collect();
        let (text, mut at, mut found) = (lines.join("\n"), 0, Vec::new());
        while let Some(end) = regex.earliest_end(text.as_bytes(), at) {
            let start = text[..end].rfind('\n').map_or(0, |i| i + 1);
            let stop = text[end..].find('\n').map_or(text.len(), |i| end + i);
            found.push(&text[start..stop]);
            at = stop + 1;
        }
        assert_eq!(found, want, "{every}");
    }
}

#[test]
fn hostile_patterns_end() {
    let deep = "(".repeat(5000) + &")".repeat(5000);
    assert_eq!(error(RegexSyntax::Ere, &deep), "Regular expression too big");
    let stars = "a".to_string() + &"*".repeat(100_000);
    assert_eq!(find(RegexSyntax::Ere, &stars, "aa"), Some((0, 2)));
    let huge = "((((a{1000}){1000}){1000}){1000})";
    assert_eq!(error(RegexSyntax::Ere, huge), "Regular expression too big");
    let re = Regex::new(br"(a*)*(a*)*(a*)*\1\2\3b", &RegexOptions::new(RegexSyntax::Ere)).unwrap();
    assert_eq!(re.find_at(&[b"a".repeat(300), b"xb".to_vec()].concat(), 0), None);
    assert!(re.gave_up());
}

/// A condition at a place where the rest of the pattern matches the empty text.
#[test]
fn empty_matches_under_conditions() {
    for (text, found) in [(&b""[..], false), (b" ", false), (b"\x7f", false), (b" a", true)] {
        let regex = Regex::new(b"\\<\x7f*w*", &RegexOptions::new(RegexSyntax::Bre)).unwrap();
        assert_eq!(regex.is_match(text), found, "{text:?}");
        assert_eq!(regex.find_at(text, 0).is_some(), found, "{text:?}");
    }
}
