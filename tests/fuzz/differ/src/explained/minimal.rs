//! Deviations of a script that was made as small as possible, so that its rest shows a single one.
//!
//! A whole script has too much in it for that: a rule searches for words of the script and for
//! messages, and compares outcomes roughly. So these rules apply to short scripts only. Each is a
//! row of docs/deviations.md.

use std::borrow::Cow;

use super::says;
use crate::compare::{contains, replaced};
use crate::run::Outcome;

/// The longest script that counts as small.
const MOST: usize = 600;

/// A rule: the deviation, and whether it is the one at hand.
type Rule = (&'static str, fn(&[u8], &Outcome, &Outcome) -> bool);

const RULES: &[Rule] = &[
    ("operators after `@` that there are not", missing_operators),
    ("the status of a text that does not parse", unparsed_text),
    ("what a failed expansion or assignment drops", failed_expansion),
    ("what `set -x` shows of declarations", traced_declarations),
    ("`${x@A}` of a list", list_as_assignment),
    ("the short cut of `${x/pattern/text}`", replaced_patterns),
    ("lists beside others in a word", joined_lists),
    ("braces beside quotes and expansions", expanded_braces),
    ("process numbers", process_numbers),
    ("the text of a substitution in a function", printed_substitution),
    ("a nameref to an element", element_references),
    ("`${!#}` and braces of redirections in POSIX mode", read_in_posix_mode),
];

/// Returns the deviation that explains a difference of a small script.
pub fn reason(script: &[u8], bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
    let ends = bash.status.is_some() && ours.status.is_some();
    let small = script.len() <= MOST && ends;
    RULES.iter().filter(|_| small).find(|(_, rule)| rule(script, bash, ours)).map(|(name, _)| *name)
}

/// Returns whether either shell said one of the texts.
fn either_says(bash: &Outcome, ours: &Outcome, texts: &[&[u8]]) -> bool {
    texts.iter().any(|text| says(bash, text) || says(ours, text))
}

/// `${x@Z}`: bash makes nothing of it, or ends the shell.
fn missing_operators(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const OPERATORS: &[u8] = b"UuLQEPAKak";
    let expansions = (0..script.len()).filter(|&at| script[at..].starts_with(b"${"));
    // The first character may be the parameter `@`.
    let mut behind = expansions.filter_map(|at| script.get(at + 3..)).map(|rest| {
        let name = rest.iter().take_while(|byte| !b"@}".contains(byte)).count();
        &rest[name..]
    });
    let missing = |rest: &[u8]| {
        rest.first() == Some(&b'@') && rest.get(1).is_some_and(|b| !OPERATORS.contains(b))
    };
    either_says(bash, ours, &[b"bad substitution"]) && behind.any(missing)
}

/// `[[ a b ]]`, `a=((`: bash continues, for some without a message, or gives another status.
fn unparsed_text(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERRORS: &[&[u8]] = &[
        b"syntax error near unexpected token",
        b"syntax error: unexpected end of file",
        b"unexpected EOF while looking for matching",
        b"in conditional command",
        b"conditional binary operator expected",
        b"unexpected argument",
        b"syntax error in conditional expression",
    ];
    let numbers =
        |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|b| !b.is_ascii_digit()).collect() };
    let goes_on = numbers(&bash.stdout).starts_with(&numbers(&ours.stdout));
    ERRORS.iter().any(|text| says(ours, text)) && goes_on && bash.files.len() >= ours.files.len()
}

/// `((m['']))`, `typeset -i n=08`, `readonly a; a=1`: the two leave different amounts of the
/// surrounding code.
fn failed_expansion(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERRORS: &[&[u8]] = &[
        b"(error token is ",
        b"bad substitution",
        b"bad array subscript",
        b"readonly variable",
        b"invalid indirect expansion",
        b"invalid variable name",
        b"not a valid identifier",
        b"cannot assign list to array member",
        b"cannot convert ",
        b"cannot destroy array variables",
        b"reference variable cannot be an array",
        b"unbound variable",
        b"parameter null or not set",
        b"parameter not set",
        b"substring expression < 0",
        b"not allowed in",
        b"must use subscript when assigning associative array",
    ];
    either_says(bash, ours, ERRORS)
}

/// `set -x; export a=1`: bash also shows the assignment; lists it shows as it expanded them.
fn traced_declarations(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const DECLARES: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];
    let traces = |line: &&[u8]| line.starts_with(b"+");
    contains(script, b"set -x")
        && DECLARES.iter().any(|word| contains(script, word))
        && same_lines(bash, ours, |line| !traces(line))
}

/// `"${@@A}"`: bash makes words of it.
fn list_as_assignment(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"@A}") && same_but(bash, ours, |b| b" '\"\\[]0123456789".contains(&b))
}

/// `${x/[!]]/y}`: bash first asks by another pattern whether there is a match.
fn replaced_patterns(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let patterns: [&[u8]; 5] = [b"[]", b"[!]", b"[^]", b"!(", b"[["];
    contains(script, b"${")
        && contains(script, b"/")
        && patterns.iter().any(|pattern| contains(script, pattern))
        && bash.status == ours.status
}

/// `"$@${a[*]%b}"`, `case $* in`: the same elements, joined or apart.
fn joined_lists(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let lists: [&[u8]; 6] = [b"$*", b"${*", b"[*]", b"$@", b"${@", b"[@]"];
    let found = lists.iter().map(|list| usize::from(contains(script, list))).sum::<usize>();
    let operated = [&b"*"[..], b"@"].iter().any(|sign| {
        b"^,~#%/:@".iter().any(|operator| {
            contains(script, &[*sign, &[*operator]].concat())
                || contains(script, &[*sign, b"]", &[*operator]].concat())
        })
    });
    let separator = |byte: u8| byte.is_ascii_whitespace() || b"[]'\\0123456789:,".contains(&byte);
    (found > 1 || operated || found > 0 && contains(script, b"IFS"))
        && bash.status == ours.status
        && same_but(bash, ours, separator)
}

/// `${a:+{}{c,}`, `{a,$}b`: bash looks for the braces before it knows what is quoted or expanded.
fn expanded_braces(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let special = |word: &&[u8]| {
        let plain = word.starts_with(b"{") || word.windows(2).any(|p| p[1] == b'{' && p[0] != b'$');
        // A range from upper to lower case has a backslash and a backquote.
        let quotes = word.iter().any(|byte| b"$'\"\\`".contains(byte))
            || contains(word, b"..") && word.iter().any(u8::is_ascii_uppercase)
            // The value of an element in a list.
            || contains(word, b"]={");
        plain && quotes && (word.contains(&b',') || contains(word, b".."))
    };
    let mut words = script.split(|byte| b" \n;|&".contains(byte));
    let fails = |o: &Outcome| o.status != Some(0);
    fails(bash) == fails(ours) && words.any(|word| special(&word))
}

/// `$''$`, which is `$$` where a text is read once more.
fn process_numbers(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let number: [&[u8]; 4] = [b"$''$", b"$\"\"$", b"$$", b"BASHPID"];
    number.iter().any(|text| contains(script, text))
        && bash.status == ours.status
        && same_but(bash, ours, |byte| byte.is_ascii_digit())
}

/// `f() { echo $(a;b); }; type f`: ours shows what was written, bash what it made of it.
fn printed_substitution(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let shows: [&[u8]; 4] = [b"type ", b"declare -f", b"-v", b"set -x"];
    let substitutes: [&[u8]; 4] = [b"$(", b"`", b"<(", b">("];
    let plain = |text: &[u8]| -> Vec<u8> {
        let text = replaced(&replaced(text, b"in \"$@\"", b""), b"function ", b"");
        text.into_iter().filter(|b| !b" \n\t;`$()".contains(b)).collect()
    };
    shows.iter().any(|word| contains(script, word))
        && substitutes.iter().any(|start| contains(script, start))
        && same_texts(bash, ours, |text| plain(text).into())
}

/// `declare -n r=m[k]; p ${#r}`: bash finds no variable for some expansions of such a reference.
fn element_references(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let refers = [&b"declare -n"[..], b"local -n"].iter().any(|words| {
        contains(script, words) && (contains(script, b"[k]") || contains(script, b"[1]"))
    });
    refers && contains(script, b"${") && bash.status == ours.status
}

/// `set -o posix; p ${!#}`: ours reads it by the mode in force where the script is read.
fn read_in_posix_mode(script: &[u8], _: &Outcome, _: &Outcome) -> bool {
    contains(script, b"posix") && (contains(script, b"${!#}") || contains(script, b">{"))
}

/// Returns whether the two did the same, but for bytes that are `ignored`.
fn same_but(bash: &Outcome, ours: &Outcome, ignored: impl Fn(u8) -> bool) -> bool {
    let plain =
        |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|b| !ignored(*b)).collect() };
    same_texts(bash, ours, |text| plain(text).into())
}

/// Returns whether the two did the same in the lines that are `kept`.
fn same_lines(bash: &Outcome, ours: &Outcome, kept: impl Fn(&&[u8]) -> bool) -> bool {
    same_texts(bash, ours, |text| {
        let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').filter(&kept).collect();
        lines.join(&b'\n').into()
    })
}

fn same_texts(bash: &Outcome, ours: &Outcome, plain: impl Fn(&[u8]) -> Cow<'_, [u8]>) -> bool {
    let files = bash.files.len() == ours.files.len()
        && bash.files.iter().all(|(name, text)| {
            ours.files.get(name).is_some_and(|other| plain(text) == plain(other))
        });
    files && bash.status == ours.status && plain(&bash.stdout) == plain(&ours.stdout)
}

#[cfg(test)]
mod tests {
    use super::super::outcome;
    use super::{MOST, reason};
    use crate::run::Outcome;

    fn rule(script: &str, bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
        reason(script.as_bytes(), bash, ours)
    }

    fn failed(stdout: &str, stderr: &str, status: i32) -> Outcome {
        Outcome { status: Some(status), ..outcome(stdout, stderr) }
    }

    #[test]
    fn each_rule_explains_its_example_only() {
        let bad = "s.sh: line 1: ${a@}: bad substitution\n";
        let fine = outcome("", "");
        assert_eq!(
            rule("${a@}", &fine, &failed("", bad, 1)),
            Some("operators after `@` that there are not")
        );
        assert!(rule("${@@Z}", &fine, &failed("", bad, 1)).is_some_and(|r| r.contains("`@`")));
        let unclosed = "s.sh: line 1: unexpected EOF while looking for matching `)'\n";
        let open = failed("a\n", unclosed, 2);
        let status = Some("the status of a text that does not parse");
        assert_eq!(rule("a=((", &failed("a\n", unclosed, 1), &open), status);
        assert_eq!(rule("a=((", &failed("b\n", unclosed, 1), &open), None);
        let number = "s.sh: line 1: 08: value too great for base (error token is \"08\")\n";
        assert!(rule("n=08", &failed("", number, 1), &failed("", number, 127)).is_some());
        let traced = |text: &str| outcome(text, "");
        let shown = "set -x; export a=1";
        assert!(rule(shown, &traced("+ export a=1\n+ a=1\n"), &traced("+ export a=1\n")).is_some());
        assert_eq!(rule(shown, &traced("+ export a=1\n1\n"), &traced("+ export a=1\n")), None);
        assert!(rule("p \"$@${a[*]%b}\"", &traced("[1][y]\n"), &traced("[1][ y]\n")).is_some());
        assert_eq!(rule("p \"$@${a[*]%b}\"", &traced("[1][y]\n"), &traced("[1][x]\n")), None);
        assert_eq!(rule("p \"$*\"", &traced("[1][y]\n"), &traced("[1][ y]\n")), None);
        assert!(rule("p ${a:+{}{c,}", &traced("{c,}\n"), &traced("c\n")).is_some());
        assert_eq!(rule("p ${a:+b} {c,d}", &traced("{c,}\n"), &traced("c\n")), None);
        let element = "declare -n r=m[k]; p ${#r}";
        assert!(rule(element, &traced("0\n"), &traced("4\n")).is_some());
        let braces = "arr=([2]={,b} c); declare -p arr";
        assert!(rule(braces, &traced("[2]=b\n"), &traced("{,b}\n")).is_some());
        let posix = "set -o posix; p \"${!#}\"";
        assert!(rule(posix, &traced("[1][]\n"), &traced("[1][s]\n")).is_some());
        assert!(rule("p {Y..b}", &traced("Y]\n"), &traced("Y\\]\n")).is_some());
        let (shown, text) = ("type f", traced("echo $(a;\nb)\n"));
        assert!(rule("f() { echo $(a;b); }; type f", &text, &traced("echo $(a;b)\n")).is_some());
        assert_eq!(rule(shown, &text, &traced("echo $(a;b)\n")), None);
        assert!(rule("p ${a/[!]]/x}", &traced("}\n"), &traced("x\n")).is_some());
        assert!(rule("echo $$", &traced("12\n"), &traced("13\n")).is_some());
        assert_eq!(rule("echo a", &traced("12\n"), &traced("13\n")), None);
    }

    #[test]
    fn long_scripts_have_no_such_reason() {
        let script = format!("echo $$\n{}", ":\n".repeat(MOST));
        assert_eq!(rule(&script, &outcome("1\n", ""), &outcome("2\n", "")), None);
    }
}
