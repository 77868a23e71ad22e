use super::*;

fn matches(text: &[u8], pattern: &[u8]) -> bool {
    GlobPattern::new(pattern, GlobOptions { extglob: true, ..GlobOptions::default() })
        .is_match(text)
}

/// Every row was printed by bash 5.2 as `[[ $text == $pattern ]]` with `extglob` on.
#[test]
fn whole_text_as_bash() {
    let yes: &[(&str, &str)] = &[
        ("a(b)c", "@(a(b)c)"),
        ("x", "[xz-a]"),
        ("a", "[[:foo:]a]"),
        ("b", "[![:foo:]]"),
        ("[a", "[[:alpha:]"),
        ("-", "[[.hyphen.]]"),
        ("-", "[[.-.]]"),
        (" ", "[[.space.]]"),
        ("a", "[[=a=]]"),
        ("é", "?"),
        ("é", "[é]"),
        ("é", "[^a]"),
        ("É", "[[:upper:]]"),
        ("é", "[à-ê]"),
        ("]", "[]]"),
        ("a", "[]a]"),
        ("[]", "[]"),
        ("[!]", "[!]"),
        ("b", "[!]a]"),
        ("\\", "[\\\\]"),
        ("]", "[\\]]"),
        ("-", "[a\\-z]"),
        ("-", "[a-]"),
        ("-", "[--a]"),
        ("+(a|b", "+(a|b"),
        ("abab", "+(a|b)"),
        ("xx", "!(x)"),
        ("", "!(x)"),
        ("", "@()"),
        ("", "?()"),
        ("a.b", "!(*.c).b"),
        ("ab", "@(a|b)@(a|b)"),
        ("a|b", "@(a\\|b)"),
        ("a)", "@(a\\))"),
        ("a)", "@(a[)])"),
        ("a\\", "a\\"),
        ("a\\", "a\\\\"),
        ("a", "\\a"),
        ("/", "[a/b]"),
        ("[", "[[a]"),
        ("1", "[[:digit:][:alpha:]]"),
        ("_", "[[:word:]]"),
        ("b", "[[.a.]-[.c.]]"),
        ("*(", "*("),
        ("abc(", "*("),
        // A star before groups that may be empty.
        ("", "*!()b"),
        ("a", "a*!(b)c"),
        ("b", "*!(a)"),
        ("a", "*?(a)@()"),
        ("ba", "**(a)@()"),
        ("ab", "**(a"),
        ("", "*!(a"),
    ];
    for (text, pattern) in yes {
        assert!(matches(text.as_bytes(), pattern.as_bytes()), "{text} should match {pattern}");
    }
    let no: &[(&str, &str)] = &[
        ("a(b)c)", "@(a(b)c)"),
        ("b", "[z-a]"),
        ("z", "[z-a]"),
        (":", "[[:foo:]"),
        ("a", "[[:alpha:]"),
        ("a]", "[\\]]]"),
        ("b", "[a\\-z]"),
        ("a", "+(a|b"),
        ("x", "!(x)"),
        ("foo.c", "!(*.c)"),
        ("A", "[[:Upper:]]"),
        ("5", "[a-[:digit:]]"),
        ("b", "[a-[:digit:]]"),
        ("a", "[^]"),
        ("abc(d", "*(d"),
        ("a", "*@()"),
        ("b", "*!(b)"),
        ("b", "*?(a)@()"),
        ("[a-", "[a-"),
        ("[a\\", "[a\\"),
        ("a\\", "*\\"),
        ("a\\", "*?\\"),
    ];
    for (text, pattern) in no {
        assert!(!matches(text.as_bytes(), pattern.as_bytes()), "{text} should not match {pattern}");
    }
    assert!(matches(b"\xff", b"?"));
    assert!(matches(b"\xff", b"[\xff]"));
}

/// Matching by sets must agree with the two-cursor matcher on patterns that both support.
#[test]
fn matchers_agree() {
    let texts = ["", "a", "b", "ab", "aab", "abab", "ba", "aXb", "é", "aéb", ".a", "a/b"];
    let patterns = [
        "*", "a*", "*a", "*a*", "?", "??", "a?", "*a*b", "[ab]*", "*[!a]", "a*b", "*é*", "?a",
        "[a-z]?*",
    ];
    for pattern in patterns {
        for text in texts {
            let plain = GlobPattern::new(pattern.as_bytes(), GlobOptions::default());
            let mut sim = sim::Sim::new(text.as_bytes(), plain.options);
            let ends = sim.run(&plain.nodes, set::IntervalSet::single(0), sim::Direction::Forward);
            let starts = sim.run(
                &plain.nodes,
                set::IntervalSet::single(text.len()),
                sim::Direction::Backward,
            );
            let expected = plain.is_match(text.as_bytes());
            assert_eq!(ends.contains(text.len()), expected, "{text} {pattern} forward");
            assert_eq!(starts.contains(0), expected, "{text} {pattern} backward");
        }
    }
}

#[test]
fn ignores_case() {
    let options = GlobOptions { ignore_case: true, extglob: true, ..GlobOptions::default() };
    assert!(GlobPattern::new(b"AbC*", options).is_match(b"aBcd"));
    assert!(GlobPattern::new("É?".as_bytes(), options).is_match("éx".as_bytes()));
    assert!(GlobPattern::new(b"[a-c]@(X|y)", options).is_match(b"BY"));
    assert!(GlobPattern::new(b"1*", options).is_match(b"1a"));
}

#[test]
fn periods_and_slashes() {
    let options =
        GlobOptions { period: true, no_slash: true, extglob: true, ..GlobOptions::default() };
    let test = |p: &str, t: &str| GlobPattern::new(p.as_bytes(), options).is_match(t.as_bytes());
    assert!(
        !test("*", ".a")
            && !test("?a", ".a")
            && !test("[.]a", ".a")
            && !test("!(x)", ".a")
            && !test("@(?)a", ".a")
    );
    assert!(test(".*", ".a") && test("@(.a|b)", ".a") && test("\\.a", ".a"));
    assert!(
        !test("*", "a/b") && test("*/*", "a/b") && !test("*/*", "a/.b") && !test("a[/]b", "a/b")
    );
    assert!(test("a*.c", "ab.c") && test("a*", "a.") && !test("!(x)", "a/b"));
}

/// Expected values: the expansions named in the comments, printed by bash 5.2.
#[test]
fn parts_of_a_text() {
    let p = |pattern: &str| {
        GlobPattern::new(
            pattern.as_bytes(),
            GlobOptions { extglob: true, ..GlobOptions::default() },
        )
    };
    let text = b"a/b/c.tar.gz";
    assert_eq!(p("*/").shortest_prefix(text), Some(2));
    assert_eq!(p("*/").longest_prefix(text), Some(4));
    assert_eq!(p(".*").shortest_suffix(text), Some(9));
    assert_eq!(p(".*").longest_suffix(text), Some(5));
    assert_eq!(p("*[/.]").shortest_prefix(text), Some(2));
    assert_eq!(p("*[/.]").longest_prefix(text), Some(10));
    assert_eq!(p("[/.]*").shortest_suffix(text), Some(9));
    assert_eq!(p("[/.]*").longest_suffix(text), Some(1));
    assert_eq!(p("+([a-z/])").longest_prefix(text), Some(5));
    assert_eq!(p("+([a-z/])").shortest_prefix(text), Some(1));
    assert_eq!(p("+([a-z])").longest_suffix(text), Some(10));
    assert_eq!(p("").shortest_prefix(text), Some(0));
    assert_eq!(p("x").shortest_prefix(text), None);
    assert_eq!(p("?").shortest_suffix("aé".as_bytes()), Some(1));
    assert_eq!(p("[é]").longest_suffix("aé".as_bytes()), Some(1));
    assert_eq!(p("!(a)").shortest_prefix(b"a"), Some(0));
    let all = |pattern: &str, text: &str| p(pattern).matches(text.as_bytes()).collect::<Vec<_>>();
    assert_eq!(all("a", "banana"), [(1, 2), (3, 4), (5, 6)]);
    assert_eq!(all("an", "banana"), [(1, 3), (3, 5)]);
    assert_eq!(all("a*n", "banana"), [(1, 5)]);
    assert_eq!(all("+(an)", "banana"), [(1, 5)]);
    assert_eq!(all("?", "aé"), [(0, 1), (1, 3)]);
    assert_eq!(all("*", "ab"), [(0, 2)]);
    assert_eq!(all("", "ab"), []);
    assert_eq!(all("*(x)", "axb"), [(0, 0), (1, 2), (2, 2)]);
    assert_eq!(all("*", ""), [(0, 0)]);
}

/// Patterns that would take a backtracking matcher exponential time.
#[test]
fn stays_polynomial() {
    let text = vec![b'a'; 4000];
    let stars = b"*a".repeat(20);
    let mut hostile = stars.clone();
    hostile.push(b'b');
    assert!(!matches(&text, &hostile));
    assert!(!matches(&text, b"+(+(+(a)))b"));
    assert!(!matches(&text, b"*(a|aa|*a)b"));
    assert!(!matches(&text[..300], b"+(!(b))b"));
    assert!(!matches(&text[..300], b"!(!(!(b)))b"));
    let nested = [b"@(".repeat(100_000), b")".repeat(100_000)].concat();
    assert!(!matches(b"a", &nested));
    assert!(!matches(b"a", &b"@(".repeat(100_000)));
    assert!(!matches(b"a", &b"[".repeat(100_000)));
    let many =
        GlobPattern::new(b"*([0-9])x", GlobOptions { extglob: true, ..GlobOptions::default() });
    assert_eq!(many.matches(&b"1x".repeat(20_000)).count(), 20_000);
}
