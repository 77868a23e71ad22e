use super::PerlDialect::{Oniguruma, Pcre2};
use super::{PerlPatternError, rewrite_pattern};

fn pcre(pattern: &str) -> String {
    rewrite_pattern(pattern, Pcre2).expect(pattern)
}

fn onig(pattern: &str) -> String {
    rewrite_pattern(pattern, Oniguruma).expect(pattern)
}

#[test]
fn classes_are_spelled_out() {
    assert_eq!(pcre(r"\d+\W"), "[0-9]+[^0-9A-Za-z_]");
    assert_eq!(pcre(r"[\d.][]a]"), r"[0-9\.][\]a]");
    assert_eq!(pcre(r"\Qa.b\E."), r"a\.b.");
    assert_eq!(pcre(r"[^\W]"), "[^[^0-9A-Za-z_]]");
    assert_eq!(onig(r"[\d]\w"), r"[\d]\w");
}

#[test]
fn brackets_do_not_nest() {
    assert_eq!(onig("[[a]b]"), r"[\[a]b]");
    assert_eq!(onig("[a&&b]"), r"[a\&\&b]");
    assert_eq!(pcre("[[:alpha]"), r"[\[\:alpha]");
    assert_eq!(onig("[[:^digit:]x]"), r"[[^\p{Nd}]x]");
}

#[test]
fn hyphens_make_ranges() {
    assert_eq!(pcre("[+--]"), r"[\+-\-]");
    assert_eq!(pcre("[a-c-e]"), r"[a-c\-e]");
    assert_eq!(pcre("[a-z--_]"), r"[a-z\--_]");
    assert_eq!(pcre("[a-]"), r"[a\-]");
    assert_eq!(onig(r"[\w-z]"), r"[\w\-z]");
    assert_eq!(rewrite_pattern(r"[\w-z]", Pcre2), Err(PerlPatternError::RangeOfClass));
    assert_eq!(rewrite_pattern("[a--]", Oniguruma), Err(PerlPatternError::RangeOrder));
}

#[test]
fn characters_by_number() {
    assert_eq!(pcre(r"[\101\x42\o{103}\cA]"), r"[ABC\x{1}]");
    assert_eq!(onig(r"[\xc3\xa9]"), "[é]");
    assert_eq!(rewrite_pattern(r"[\xe9]", Oniguruma), Err(PerlPatternError::BrokenText));
    assert_eq!(pcre(r"[\xe9]"), "[é]");
}

#[test]
fn errors_have_the_texts_of_both_libraries() {
    let error = rewrite_pattern("[", Pcre2).expect_err("unclosed");
    assert_eq!(error.text(Pcre2), "missing terminating ] for character class");
    assert_eq!(error.text(Oniguruma), "premature end of char-class");
    assert_eq!(rewrite_pattern("[:a:]", Pcre2), Err(PerlPatternError::ClassOutside));
}
