//! Differences that docs/deviations.md names, each recognised as narrowly as possible.

use crate::compare::contains;
use crate::run::Outcome;

/// A rule: the deviation, and whether it is the one at hand.
type Rule = (&'static str, fn(&[u8], &Outcome, &Outcome) -> bool);

const RULES: &[Rule] = &[
    ("quoted special characters in `name=(...)` within a substitution", quoted_in_compound),
    ("reserved words after a syntax error in `eval` or `.`", after_syntax_error),
    ("here-documents within substitutions whose delimiter has a blank", blank_delimiter),
    ("a NUL in `$'...'` within `name=(...)`", nul_in_compound),
    ("a subshell that sources a file ending in a program", sourced_program),
    ("the numbers that `{fd}` gets", descriptor_numbers),
    ("the text that a bad substitution shows", bad_substitution_text),
    ("lists of all variables", lists_of_variables),
    ("here-documents that bash loses its way in", nested_in_heredoc),
    ("quotes and NULs that `$'...'` makes within `${...}`", ansi_in_braces),
    ("unbalanced quotes within `${...}`", unbalanced),
    ("budgets", budgets),
    ("a tilde before a colon and an expansion", tilde_and_colon),
    ("line numbers", line_numbers),
    ("the source line shown for `((` that is no arithmetic", no_arithmetic),
    ("warnings about circular namerefs", circular_warnings),
    ("brackets that go on behind an equivalence class", equivalence_class),
    ("`$_` behind `unset` of an element", last_of_unset),
    ("bash's marks in texts", marks),
    ("lists within an assignment's substitution without `IFS`", joined_lists),
];

/// The deviation that explains a difference.
pub fn reason(script: &[u8], bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
    RULES.iter().find(|(_, rule)| rule(script, bash, ours)).map(|(name, _)| *name)
}

const UNCLOSED: &[u8] = b"unexpected EOF while looking for matching";
const UNEXPECTED: &[u8] = b"syntax error near unexpected token";

/// bash forgets backslashes in `a=(\&)` between `$(` and `)`: the line is a syntax error then.
fn quoted_in_compound(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let complains = |o: &Outcome| contains(&o.stderr, UNCLOSED) || contains(&o.stderr, UNEXPECTED);
    let quoted = |pair: &[u8]| pair[0] == b'\\' && b"&'\"`|;<>()".contains(&pair[1]);
    let in_compound = |text: &[u8]| {
        let open = text.windows(2).position(|w| w == b"=(");
        open.is_some_and(|at| text[at..].windows(2).any(quoted))
    };
    let substitutes = contains(script, b"$(") || contains(script, b"<(");
    let open = |o: &Outcome| contains(&o.stderr, UNCLOSED);
    (complains(bash) && !complains(ours) || open(bash) && !open(ours))
        && substitutes
        && (script.split(|b| *b == b'\n').any(in_compound) || open(bash) && in_compound(script))
}

/// After `eval 'echo "'` bash does not know the first reserved word of the next command.
fn after_syntax_error(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let position = |o: &Outcome, what: &[u8]| o.stderr.windows(what.len()).position(|w| w == what);
    let first = |o: &Outcome| {
        let nested = contains(&o.stderr, b": eval: line ") || contains(&o.stderr, b"f9: line ");
        position(o, UNCLOSED).or(position(o, b"conditional")).filter(|_| nested)
    };
    let unknown = [UNEXPECTED, b" [[: command not found", b" case: command not found"];
    unknown.iter().any(|what| match (first(bash), position(bash, what)) {
        (Some(first_error), Some(second)) => {
            first_error < second && first(ours).is_some() && position(ours, what).is_none()
        }
        _ => false,
    })
}

/// bash prints a substitution anew before it runs it, but not so that it could read it.
fn blank_delimiter(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let failed = |o: &Outcome| contains(&o.stderr, b"command substitution: line ");
    contains(script, b"<<\"E F\"") && failed(bash) && !failed(ours)
}

fn nul_in_compound(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b": array assign: line ";
    contains(script, b"$'") && says(bash, text) && !says(ours, text)
}

/// Whether a shell said so, wherever its error output went.
fn says(o: &Outcome, text: &[u8]) -> bool {
    contains(&o.stderr, text)
        || contains(&o.stdout, text)
        || o.files.values().any(|file| contains(file, text))
}

/// Quotes and braces in `${...}` that do not balance: bash looks for the end in ways of its own.
fn unbalanced(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b"bad substitution: no closing `}' in ";
    says(bash, text) && !says(ours, text)
}

/// `${x:$((1))}` in a here-document: bash looks for the end of the substitution in a text that
/// lacks it. And a here-document within a substitution may be printed so that it cannot be read.
fn nested_in_heredoc(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b"bad substitution: no closing `)' in ";
    let failed = |o: &Outcome| {
        says(o, b"command substitution: line ") && (says(o, UNEXPECTED) || says(o, UNCLOSED))
    };
    contains(script, b"<<")
        && (says(bash, text) && !says(ours, text)
            || failed(bash) && !failed(ours)
            || says(bash, b": can't read echo: No such file"))
}

/// bash puts what `$'...'` means in its place before it looks for the end of the `${...}` around
/// it: a quote in it opens something there, a NUL ends the text.
fn ansi_in_braces(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const MAKERS: &[&[u8]] = &[b"\\'", b"\\\"", b"\\0", b"\\x0", b"\\400", b"\\`"];
    let mut quoted = script.split(|b| *b == b'$').filter(|piece| piece.starts_with(b"'"));
    let made = quoted.any(|piece| MAKERS.iter().any(|maker| contains(piece, maker)));
    let brace = b"bad substitution: no closing `}' in ";
    let cut = |o: &Outcome| says(o, b"command substitution: line ") && says(o, UNCLOSED);
    let bad = |o: &Outcome| says(o, b": bad substitution");
    made && contains(script, b"${")
        && (says(bash, brace) && !says(ours, brace)
            || cut(bash) && !cut(ours)
            || bad(ours) && !bad(bash))
}

fn budgets(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b": limit reached: ";
    says(ours, text) && !says(bash, text)
}

/// `~:$x` as an argument: ours leaves the tilde, bash the rest.
fn tilde_and_colon(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const WORDS: &[&[u8]] = &[b"~:$", b"~+:$", b"~-:$"];
    WORDS.iter().any(|word| contains(script, word))
        && pairwise(bash, ours, |bash, ours| contains(bash, b":$") && contains(ours, b":"))
}

/// Lines that differ in numbers only: those of messages, and `LINENO`'s.
fn line_numbers(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let named = contains(script, b"LINENO");
    let lines = script.split(|b| *b == b'\n').count() as u64 + 1;
    pairwise(bash, ours, |bash, ours| {
        let ((a, in_bash), (b, in_ours)) = (numbers(bash), numbers(ours));
        let near = |(a, b): (&u64, &u64)| a == b || *a <= lines && *b <= lines;
        let substitution = |line: &[u8]| contains(line, b"bad substitution");
        if substitution(bash) && substitution(ours) {
            return true;
        }
        (named || contains(bash, b"line ") || contains(bash, b"s.sh:"))
            && a == b
            && in_bash.iter().zip(&in_ours).all(near)
    })
}

/// A line with its numbers taken out, and the numbers.
fn numbers(line: &[u8]) -> (Vec<u8>, Vec<u64>) {
    let (mut rest, mut found) = (Vec::new(), Vec::new());
    let mut inside = false;
    for &byte in line {
        match (byte, found.last_mut()) {
            (b'0'..=b'9', Some(last)) if inside => {
                *last = u64::saturating_add(u64::saturating_mul(*last, 10), u64::from(byte - b'0'));
            }
            (b'0'..=b'9', _) => {
                found.push(u64::from(byte - b'0'));
                rest.push(b'#');
            }
            _ => rest.push(byte),
        }
        inside = byte.is_ascii_digit();
    }
    (rest, found)
}

fn no_arithmetic(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let shows = |line: &[u8]| contains(line, b"line ") && contains(line, b": `");
    contains(script, b"((") && pairwise(bash, ours, |bash, ours| shows(bash) && shows(ours))
}

/// How often bash looks a variable up is its own affair.
fn circular_warnings(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let text = b": circular name reference";
    let other = b": removing nameref attribute";
    let plain = |out: &[u8]| -> Vec<Vec<u8>> {
        out.split(|b| *b == b'\n')
            .filter(|l| !contains(l, text) && !contains(l, other))
            .map(<[u8]>::to_vec)
            .collect()
    };
    says(bash, text) && (says(ours, text) || says(ours, other)) && same(bash, ours, plain)
}

/// `[[=a=]b]`: where the class does not match, bash passes over the next character, even if it
/// closes the bracket.
fn equivalence_class(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let goes_on = |at: usize| {
        let rest = &script[at + 4..];
        let word = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        rest[..word].iter().filter(|b| **b == b']').count() > 1 || !rest.starts_with(b"]")
    };
    bash.status == ours.status
        && script.windows(5).enumerate().any(|(at, w)| {
            w.starts_with(b"[=") && w.ends_with(b"=]") && at + 4 < script.len() && goes_on(at)
        })
}

fn last_of_unset(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"unset ")
        && contains(script, b"$_")
        && pairwise(bash, ours, |bash, ours| ours.len() > bash.len() && contains(ours, b"["))
}

/// `x=$(IFS=; p ${arr[*]})`: to bash the list still stands in the assignment, and is not split.
fn joined_lists(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let without = |line: &[u8]| -> Vec<u8> {
        line.iter().copied().filter(|b| !matches!(b, b'[' | b']' | b'0'..=b'9')).collect()
    };
    let null = contains(script, b"IFS=''") || contains(script, b"IFS= ");
    null && contains(script, b"=$(")
        && pairwise(bash, ours, |bash, ours| {
            let shorter = bash.len() < ours.len() && bash.starts_with(b"[");
            shorter && without(bash) == without(ours)
        })
}

/// Bytes 1 and 127, which bash keeps among the text while it expands.
fn marks(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let plain = |text: &[u8]| -> Vec<Vec<u8>> {
        let kept = text.iter().copied().filter(|b| !matches!(b, 1 | 127));
        vec![kept.collect()]
    };
    same(bash, ours, plain)
}

/// Whether the two did the same but for lines of standard output and files that pass the test,
/// bash's line and ours.
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

/// In a subshell bash replaces itself by the program that a sourced file ends in, so that what
/// follows is lost.
fn sourced_program(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let mut ours = ours.stdout.split(|b| *b == b'\n');
    (contains(script, b". ./f9") || contains(script, b"source ./f9"))
        && [&b"; cat "[..], b"; printenv ", b"bash -c "].iter().any(|p| contains(script, p))
        && bash.stdout.split(|b| *b == b'\n').all(|line| ours.any(|other| other == line))
}

/// bash keeps what redirections replaced at 10 and above, ours elsewhere.
fn descriptor_numbers(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let plain = |text: &[u8]| -> Vec<Vec<u8>> {
        let line = |line: &[u8]| match contains(line, b" -ge 10 ']'") {
            true => b"trace".to_vec(),
            false => line.to_vec(),
        };
        text.split(|b| *b == b'\n').map(line).collect()
    };
    contains(script, b"{fd}") && same(bash, ours, plain)
}

fn bad_substitution_text(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let plain = |text: &[u8]| -> Vec<Vec<u8>> {
        let line = |line: &[u8]| match contains(line, b"bad substitution") {
            true => b"bad substitution".to_vec(),
            false => line.to_vec(),
        };
        text.split(|b| *b == b'\n').map(line).collect()
    };
    same(bash, ours, plain)
}

/// `set` and `declare -p` alone also show what the shells themselves keep in variables.
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
    ];
    let plain = |text: &[u8]| -> Vec<Vec<u8>> {
        let own = |line: &&[u8]| {
            let name = match line.strip_prefix(b"declare -") {
                Some(rest) => rest.split(|b| *b == b' ').nth(1).unwrap_or_default(),
                None => line,
            };
            OWN.iter().any(|start| name.starts_with(start))
        };
        text.split(|b| *b == b'\n').filter(|line| !own(line)).map(<[u8]>::to_vec).collect()
    };
    let listed = |o: &Outcome| says(o, b"BASH_VERSINFO=(") || says(o, b"BASH_CMDS=(");
    listed(bash) && listed(ours) && same(bash, ours, plain)
}

/// Whether the two did the same but for what `plain` takes away.
fn same(bash: &Outcome, ours: &Outcome, plain: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> bool {
    let files = |o: &Outcome| -> Vec<_> {
        o.files.iter().map(|(name, text)| (name.clone(), plain(text))).collect()
    };
    bash.status == ours.status
        && plain(&bash.stdout) == plain(&ours.stdout)
        && files(bash) == files(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str) -> Outcome {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        Outcome { stdout, stderr, status: Some(0), ..Outcome::default() }
    }

    #[test]
    fn rules_are_narrow() {
        let error = outcome("", "s.sh: line 1: syntax error near unexpected token `&'\n");
        let fine = outcome("&\n", "");
        assert!(reason(b"echo $(a=(\\&); echo $a)", &error, &fine).is_some());
        assert!(reason(b"echo $(a=(x); echo $a)", &error, &fine).is_none());
        let (eleven, ten) =
            (outcome("+ '[' 11 -ge 10 ']'\n", ""), outcome("+ '[' 10 -ge 10 ']'\n", ""));
        assert!(reason(b"exec {fd}> o1", &eleven, &ten).is_some());
        assert!(reason(b"exec {fd}> o1", &outcome("11\n", ""), &outcome("10\n", "")).is_none());
    }
}
