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
    let in_compound = |line: &[u8]| {
        let open = line.windows(2).position(|w| w == b"=(");
        open.is_some_and(|at| line[at..].windows(2).any(quoted))
    };
    let substitutes = contains(script, b"$(") || contains(script, b"<(");
    complains(bash)
        && !complains(ours)
        && substitutes
        && script.split(|b| *b == b'\n').any(in_compound)
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

fn nul_in_compound(script: &[u8], bash: &Outcome, _: &Outcome) -> bool {
    contains(script, b"$'") && contains(&bash.stderr, b": array assign: line ")
}

/// In a subshell bash replaces itself by the program that a sourced file ends in, so that what
/// follows is lost.
fn sourced_program(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let mut ours = ours.stdout.split(|b| *b == b'\n');
    (contains(script, b". ./f9") || contains(script, b"source ./f9"))
        && (contains(script, b"; cat ") || contains(script, b"; printenv "))
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
    let listed = |o: &Outcome| {
        contains(&o.stdout, b"BASH_VERSINFO=(")
            || o.files.values().any(|text| contains(text, b"BASH_VERSINFO=("))
    };
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
