//! Recognises deviations whose outcomes are equal except for the effect of the deviation. The
//! comment of a rule has an example and its effect.

use std::borrow::Cow;

use super::{numbers, says};
use crate::compare::{contains, position, replaced};
use crate::run::Outcome;

/// A rule: the name of a deviation, and whether it explains a difference. Line numbers have been
/// masked.
type Rule = (&'static str, fn(&[u8], &Outcome, &Outcome) -> bool);

const RULES: &[Rule] = &[
    ("line numbers", |_, bash, ours| bash.main() == ours.main()),
    ("the numbers that `{fd}` gets", descriptor_numbers),
    ("the text that a bad substitution shows", bad_substitution_text),
    ("a backquote that a brace range makes", backquote_of_range),
    ("lists of all variables", lists_of_variables),
    ("the source line shown for `((` that is no arithmetic", no_arithmetic),
    ("warnings about circular namerefs", circular_warnings),
    ("`$_` behind `unset` of an element", last_of_unset),
    ("bash's marks in texts", marks),
    ("lists within an assignment's substitution without `IFS`", joined_lists),
    ("the semicolon behind a printed here-document", semicolons),
    ("escaped quotes in a replacement in a here-document", document_quotes),
    ("the command that messages about numbers in pairs name", command_before),
    ("the name of the user", user_name),
    ("what two processes write at once", at_once),
    ("budgets", budgets),
    ("hints about commands that are not found", hints),
];

pub fn reason(script: &[u8], bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
    let (bash, ours) = (masked(script, bash), masked(script, ours));
    RULES.iter().find(|(_, rule)| rule(script, &bash, &ours)).map(|(name, _)| *name)
}

fn masked(script: &[u8], o: &Outcome) -> Outcome {
    let files = o.files.iter().map(|(name, text)| (name.clone(), numbers::masked(script, text)));
    Outcome {
        stdout: numbers::masked(script, &o.stdout),
        stderr: o.stderr.clone(),
        status: o.status,
        files: files.collect(),
    }
}

/// bash keeps replaced descriptors at 10 and above, our shell at other numbers.
fn descriptor_numbers(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"{fd}")
        && same(bash, ours, |line| {
            if contains(line, b" -ge 10 ']'") { b"trace"[..].into() } else { line.into() }
        })
}

fn bad_substitution_text(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const MARK: &[u8] = b"line N: ";
    const BAD: &[u8] = b"bad substitution";
    same(bash, ours, |line| match (position(line, MARK), position(line, BAD)) {
        (Some(at), Some(bad)) if at < bad => [&line[..at], BAD].concat().into(),
        _ => line.into(),
    })
}

/// `{Y..b}"`a`"`: bash searches the text that follows for the end of the range's backquote. If it
/// finds one, the command in the backquotes does not parse.
fn backquote_of_range(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const LOST: &[u8] = b"bad substitution: no closing \"`\" in ";
    const BROKEN: &[u8] = b": command substitution: line N: unexpected EOF while looking";
    let plain = |text: &[u8]| -> Vec<Vec<u8>> {
        let lines = text.split(|b| *b == b'\n').filter(|line| !contains(line, BROKEN));
        lines.map(|line| line[..position(line, LOST).unwrap_or(line.len())].to_vec()).collect()
    };
    let all = |o: &Outcome| -> (Option<i32>, Vec<Vec<u8>>, Vec<(String, Vec<Vec<u8>>)>) {
        let files = o.files.iter().map(|(name, text)| (name.clone(), plain(text)));
        (o.status, plain(&o.stdout), files.collect())
    };
    contains(script, b"..") && says(bash, LOST) && says(ours, LOST) && all(bash) == all(ours)
}

/// `((` that is not arithmetic: the message shows a different line after ``: ` ``.
fn no_arithmetic(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"((")
        && same(bash, ours, |line| match position(line, b"line N: `") {
            Some(at) if line.ends_with(b"'") => line[..at].into(),
            _ => line.into(),
        })
}

/// Ignores the number of warnings about circular references, because it depends on how often bash
/// looks a variable up.
fn circular_warnings(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b": circular name reference";
    let other = b": removing nameref attribute";
    let plain = |o: &Outcome| {
        let lines = |out: &[u8]| -> Vec<Vec<u8>> {
            out.split(|b| *b == b'\n')
                .filter(|l| !l.ends_with(text) && !l.ends_with(other))
                .map(<[u8]>::to_vec)
                .collect()
        };
        let files: Vec<_> =
            o.files.iter().map(|(name, text)| (name.clone(), lines(text))).collect();
        (o.status, lines(&o.stdout), files)
    };
    says(bash, text) && (says(ours, text) || says(ours, other)) && plain(bash) == plain(ours)
}

/// ``unset a[1]; p $_``: our shell has the whole operand, bash has it without the subscript.
fn last_of_unset(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let lacks_subscript = |bash: &[u8], ours: &[u8]| {
        let Some(length) = ours.len().checked_sub(bash.len()) else { return false };
        (0..=bash.len()).any(|at| {
            let subscript = &ours[at..at + length];
            subscript.starts_with(b"[")
                && subscript.ends_with(b"]")
                && [&ours[..at], &ours[at + length..]].concat() == bash
        })
    };
    contains(script, b"unset ") && contains(script, b"$_") && pairwise(bash, ours, lacks_subscript)
}

/// `x=$(IFS=; p ${arr[*]})`: bash treats the list as part of the assignment and does not split it.
fn joined_lists(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let without = |line: &[u8]| -> Vec<u8> {
        line.iter().copied().filter(|b| !matches!(b, b'[' | b']' | b' ' | b'0'..=b'9')).collect()
    };
    let null = contains(script, b"IFS=''") || contains(script, b"IFS= ");
    null && contains(script, b"=$(")
        && pairwise(bash, ours, |bash, ours| {
            bash.len() < ours.len() && without(bash) == without(ours)
        })
}

/// Bytes 1 and 127, which bash keeps in the text while it expands. A trace may have a backslash
/// before them.
fn marks(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let mark = |byte: Option<&u8>| matches!(byte, Some(1 | 127));
    same(bash, ours, |line| {
        let kept = |&at: &usize| {
            let escape = line[at] == b'\\' && mark(line.get(at + 1));
            !escape && !mark(line.get(at))
        };
        (0..line.len()).filter(kept).map(|at| line[at]).collect::<Vec<u8>>().into()
    })
}

/// In a substitution bash prints a list after a here-document without its semicolon.
fn semicolons(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ENDS: &[&[u8]] = &[b"done", b"fi", b"esac", b"}", b")"];
    contains(script, b"<<")
        && same(bash, ours, |line| {
            let text = line.trim_ascii_start();
            let end = ENDS.iter().find(|end| text.starts_with(end)).map_or(0, |end| end.len());
            match text[end..].strip_prefix(b"; ").filter(|_| end > 0) {
                Some(rest) => [&text[..end], b" ", rest].concat().into(),
                None => text.to_vec().into(),
            }
        })
}

/// `while read ...; done < <(...)`, `p & p`: both commands write to one place, so the order of
/// their output varies.
fn at_once(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let sorted = |text: &[u8]| {
        let mut bytes = text.to_vec();
        bytes.sort_unstable();
        bytes
    };
    let same = bash.status == ours.status && bash.files == ours.files;
    let merged = contains(script, b"< <(") && contains(script, b"2>&1");
    let beside = script
        .windows(3)
        .any(|w| !b"&<>|".contains(&w[0]) && w[1] == b'&' && !b"&>".contains(&w[2]));
    (merged || beside) && same && sorted(&bash.stdout) == sorted(&ours.stdout)
}

/// `\u` in a prompt: bash runs as `nobody`, our shell as the image's user.
fn user_name(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"@P") && same(bash, ours, |line| replaced(line, b"nobody", b"user").into())
}

/// `${x/a/"b\"c"}` in a here-document: bash 5.2 loses the quote.
fn document_quotes(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let replaces = |line: &[u8]| contains(line, b"/\"") && contains(line, b"\\\"");
    contains(script, b"<<")
        && script.split(|b| *b == b'\n').any(replaces)
        && same(bash, ours, |line| {
            line.iter().copied().filter(|b| *b != b'"').collect::<Vec<u8>>().into()
        })
}

/// `f() { declare -Ai m=(k 1/0); }`: bash names `f` or the command that it ran last.
fn command_before(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const MARK: &[u8] = b"line N: ";
    let pairs = [&b" -Ai "[..], b" -iA "].iter().any(|option| contains(script, option));
    let named = |bash: &[u8], ours: &[u8]| {
        let Some(at) = position(ours, MARK).map(|at| at + MARK.len()) else { return false };
        let name = bash.strip_prefix(&ours[..at]).and_then(|rest| rest.strip_suffix(&ours[at..]));
        let name = name.and_then(|name| name.strip_suffix(b": "));
        contains(ours, b" (error token is \"") && name.is_some_and(|name| !name.contains(&b' '))
    };
    pairs && pairwise(bash, ours, named)
}

/// `nodex 2> o`: our shell adds a line about commands with similar names, or about a replacement.
fn hints(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let without = |text: &[u8]| -> Vec<u8> {
        let mut name: Option<Vec<u8>> = None;
        let lines = text.split_inclusive(|b| *b == b'\n').filter(|line| {
            let is_hint = name.as_ref().is_some_and(|start| line.starts_with(start));
            name = line.strip_suffix(b": command not found\n").map(|start| [start, b": "].concat());
            !is_hint
        });
        lines.collect::<Vec<_>>().concat()
    };
    let plain = |o: &Outcome| {
        let files: Vec<_> =
            o.files.iter().map(|(name, text)| (name.clone(), without(text))).collect();
        (o.status, without(&o.stdout), files)
    };
    says(ours, b": command not found\n") && plain(bash) == plain(ours)
}

/// Returns whether a limit ended our shell, which until then printed the same as bash.
fn budgets(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b": limit reached: ";
    says(ours, text) && !says(bash, text) && bash.stdout.starts_with(&ours.stdout)
}

/// `set`, `declare -p` and `declare -i` without operands also list the shells' own variables.
fn lists_of_variables(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const OWN: &[&[u8]] = &[
        b"BASH",
        b"DIRSTACK",
        b"FUNCNAME",
        b"GROUPS",
        b"HISTCMD",
        b"HOSTNAME",
        b"OPTERR",
        b"PIPESTATUS",
        b"PPID",
        b"RANDOM",
        b"SECONDS",
        b"SHELL",
        b"SRANDOM",
        b"EPOCH",
        b"_",
        b"EUID",
        b"UID",
    ];
    let own = |line: &&[u8]| {
        let name = match line.strip_prefix(b"declare -") {
            Some(rest) => rest.split(|b| *b == b' ').nth(1).unwrap_or_default(),
            None => line,
        };
        OWN.iter().any(|start| name.starts_with(start))
    };
    let plain = |o: &Outcome| {
        let lines = |text: &[u8]| -> Vec<Vec<u8>> {
            text.split(|b| *b == b'\n').filter(|line| !own(line)).map(<[u8]>::to_vec).collect()
        };
        let files: Vec<_> =
            o.files.iter().map(|(name, text)| (name.clone(), lines(text))).collect();
        (o.status, lines(&o.stdout), files)
    };
    const LISTED: &[&[u8]] = &[b"BASH_VERSINFO=(", b"BASH_CMDS=(", b"declare -ir EUID="];
    let listed = |o: &Outcome| LISTED.iter().any(|line| says(o, line));
    listed(bash) && listed(ours) && plain(bash) == plain(ours)
}

/// Returns whether the outcomes are equal when each line is passed through `plain`.
fn same(bash: &Outcome, ours: &Outcome, plain: impl Fn(&[u8]) -> Cow<'_, [u8]>) -> bool {
    pairwise(bash, ours, |a, b| plain(a) == plain(b))
}

/// Returns whether the outcomes are equal except for lines of standard output and files for which
/// `test` holds, with bash's line and ours.
fn pairwise(bash: &Outcome, ours: &Outcome, test: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    let agree = |a: &[u8], b: &[u8]| {
        let (a, b): (Vec<_>, Vec<_>) =
            (a.split(|b| *b == b'\n').collect(), b.split(|b| *b == b'\n').collect());
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || test(a, b))
    };
    bash.status == ours.status
        && agree(&bash.stdout, &ours.stdout)
        && bash.files.len() == ours.files.len()
        && bash.files.iter().all(|(name, text)| match ours.files.get(name) {
            Some(other) => agree(text, other),
            None => false,
        })
}

#[cfg(test)]
mod tests {
    use super::super::outcome;
    use super::reason;

    /// Returns the rule for two standard outputs.
    fn rule(script: &str, bash: &str, ours: &str) -> Option<&'static str> {
        reason(script.as_bytes(), &outcome(bash, ""), &outcome(ours, ""))
    }

    /// Checks that the rule explains these outputs, but not if one has an additional line.
    fn explains(name: &str, script: &str, bash: &str, ours: &str) {
        assert_eq!(rule(script, bash, ours), Some(name));
        assert_eq!(rule(script, &format!("{bash}0\n"), &format!("{ours}1\n")), None);
        assert_eq!(rule(script, &format!("{bash}0\n"), ours), None);
        let (a, b) = (outcome(bash, ""), outcome(ours, ""));
        let b = crate::run::Outcome { status: Some(1), ..b };
        assert_eq!(reason(script.as_bytes(), &a, &b), None);
    }

    #[test]
    fn each_rule_explains_its_example_only() {
        let m = "s.sh: line";
        explains("line numbers", "\n\n", &format!("{m} 1: x\n"), &format!("{m} 2: x\n"));
        let (fd, trace) = ("exec {fd}> o1", "the numbers that `{fd}` gets");
        explains(trace, fd, "+ '[' 11 -ge 10 ']'\n", "+ '[' 10 -ge 10 ']'\n");
        assert_eq!(rule(fd, "11\n", "10\n"), None);
        let text = "the text that a bad substitution shows";
        let (a, b) = ("line 1: ${x: bad substitution\n", "line 1: y${x: bad substitution\n");
        explains(text, "", a, b);
        assert_eq!(rule("", "${x: bad substitution\n", "${y: bad substitution\n"), None);
        let range = "echo {Y..b}\"`a`\"";
        let lost = |rest: &str| format!("{m} 2: bad substitution: no closing \"`\" in `{rest}\n");
        let broken = format!("{m} 2: command substitution: line 2: unexpected EOF while looking\n");
        let broken = broken.replace("s.sh: line 2: command", "s.sh: command");
        let (a, b) = (format!("{broken}{}", lost("")), lost("\"`a`\""));
        explains("a backquote that a brace range makes", range, &a, &b);
        assert_eq!(rule("", &a, &b), None);
        let list = "declare -ir BASHPID=\"1\"\ndeclare -ar BASH_VERSINFO=()\n";
        explains("lists of all variables", "", list, "declare -ar BASH_VERSINFO=(1)\n");
        let arithmetic = "the source line shown for `((` that is no arithmetic";
        explains(arithmetic, "((", "line 1: `((a'\n", "line 1: `( (a'\n");
        assert_eq!(rule("((", "line 1: x: `a'\n", "line 1: x: `b'\n"), None);
        let warning = "s.sh: line 1: warning: q: circular name reference\n";
        let twice = format!("{warning}{warning}");
        explains("warnings about circular namerefs", "", &twice, warning);
        let unset = "unset 'a[1]'; p $_";
        explains("`$_` behind `unset` of an element", unset, "[1][a]\n", "[1][a[1]]\n");
        assert_eq!(rule(unset, "[1][a]\n", "[1][b[1]]\n"), None);
        explains("bash's marks in texts", "", "a\u{1}b\n", "ab\n");
        explains("bash's marks in texts", "", "a\u{1}b\n", "a\\\u{1}b\n");
        let semicolons = "the semicolon behind a printed here-document";
        explains(semicolons, "f() { cat <<E", "done echo a);\n", "done; echo a);\n");
        assert_eq!(rule("f() { cat <<E", "done echo a);\n", "done; echo b);\n"), None);
        let quotes = "escaped quotes in a replacement in a here-document";
        explains(quotes, "cat <<E\n${x/a/\"b\\\"c\"}\nE\n", "bc\n", "b\"c\n");
        let named = "the command that messages about numbers in pairs name";
        let (error, pairs) = (": syntax error (error token is \"'\")\n", "declare -Ai m=(k \\')");
        explains(named, pairs, &format!("{m} 1: f: '{error}"), &format!("{m} 1: '{error}"));
        assert_eq!(rule(pairs, &format!("{m} 1: f: \"{error}"), &format!("{m} 1: '{error}")), None);
        assert_eq!(rule("", &format!("{m} 1: f: '{error}"), &format!("{m} 1: '{error}")), None);
        let at_once = "what two processes write at once";
        let script = "(while read l; do echo $l; done < <(select v in a; do echo b; done)) 2>&1";
        explains(at_once, script, "1) a\n[b]\n#? ", "1) a\n#? [b]\n");
        assert_eq!(rule(script, "1) a\n[b]\n#? ", "1) a\n#? [c]\n"), None);
        explains(at_once, "p a & p b", "[a]\n[b]\n", "[b]\n[a]\n");
        explains(at_once, "p a,& p b", "[a]\n[b]\n", "[b]\n[a]\n");
        for other in ["p a && p b", "p a >&2; p b", "p a |& p b", "p a &> b"] {
            assert_eq!(rule(other, "[a]\n[b]\n", "[b]\n[a]\n"), None, "{other}");
        }
        explains("the name of the user", "echo ${a@P}", "a nobody\n", "a user\n");
        let lists = "lists within an assignment's substitution without `IFS`";
        explains(lists, "x=$(IFS=''; p ${arr[*]})", "[1][ab]\n", "[2][a][b]\n");
        assert_eq!(rule("x=$(IFS=''; p ${arr[*]})", "[1][ab]\n", "[2][a][c]\n"), None);
        explains(lists, "IFS=''; x=$(echo ${arr[*]})", "[1][ab]\n", "[1][a b]\n");
        let missing = format!("{m} 1: nodex: command not found\n");
        let hinted = format!("{missing}{m} 1: nodex: similar: node\n");
        let hints = "hints about commands that are not found";
        explains(hints, "nodex 2>&1", &missing, &hinted);
        assert_eq!(rule("", &missing, &format!("{missing}{m} 1: other: similar: node\n")), None);
        assert_eq!(rule("", "", &format!("{m} 1: nodex: similar: node\n")), None);
    }

    #[test]
    fn a_limit_ends_ours_only() {
        let (bash, ours) = (outcome("a\nb\n", ""), outcome("a\n", "s.sh: limit reached: time\n"));
        assert_eq!(reason(b"", &bash, &ours), Some("budgets"));
        let ours = outcome("c\n", "s.sh: limit reached: time\n");
        assert_eq!(reason(b"", &bash, &ours), None);
    }
}
