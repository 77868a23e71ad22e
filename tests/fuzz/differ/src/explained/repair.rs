//! Recognises deviations that change later output: the script is run again without the text that
//! bash reads differently. If the shells then agree, there was no other difference. The comment of
//! a rule's function has an example and its effect.

use super::repaired::{
    apart_behind_documents, names_apart, plain_ansi, quoted_tildes, trap_not_inherited,
    trap_of_main_shell, undeclared_reference, without_classes, without_quoted,
};
use super::{Rerun, agree, says};
use crate::compare::{contains, position, replaced};
use crate::run::Outcome;

/// A rule: the name of a deviation, whether it may explain a difference, and repaired scripts,
/// which lack the deviation.
struct Rule {
    name: &'static str,
    applies: fn(&[u8], &Outcome, &Outcome) -> bool,
    repairs: fn(&[u8], &Outcome) -> Vec<Vec<u8>>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "quoted special characters in `name=(...)` within a substitution",
        applies: quoted_in_compound,
        repairs: |script, _| vec![without_quoted(script, false), without_quoted(script, true)],
    },
    Rule {
        name: "reserved words after a syntax error in `eval` or `.`",
        applies: |_, bash, ours| after_syntax_error(bash, ours).is_some(),
        repairs: begun_anew,
    },
    Rule {
        name: "an alias after a syntax error in `eval` or `.`",
        applies: |script, bash, ours| {
            let first = |o: &Outcome| Some(line_of(&o.stderr, first_error(o)?)?.to_vec());
            contains(script, b"expand_aliases")
                && first(bash).is_some_and(|l| first(ours) == Some(l))
        },
        repairs: |script, bash| {
            const NEAR: usize = 12;
            let at = first_error(bash).and_then(|at| number_of(&bash.stderr, at)).unwrap_or(0);
            let near = at.saturating_sub(NEAR)..=at + NEAR;
            near.filter_map(|line| begun_at(script, line)).collect()
        },
    },
    Rule {
        name: "here-documents within substitutions whose delimiter has a blank",
        applies: |script, bash, ours| {
            let failed = |o: &Outcome| contains(&o.stderr, SUBSTITUTION);
            contains(script, b"<<\"E F\"") && failed(bash) && !failed(ours)
        },
        repairs: |script, _| {
            vec![replaced(&replaced(script, b"\"E F\"", b"\"EF\""), b"E F", b"EF")]
        },
    },
    Rule {
        name: "a NUL in `$'...'` within `name=(...)`",
        applies: |script, bash, ours| {
            contains(script, b"$'") && says(bash, ASSIGNMENT) && !says(ours, ASSIGNMENT)
        },
        repairs: |script, _| vec![plain_ansi(script)],
    },
    Rule {
        name: "a subshell that sources a file ending in a program",
        applies: |script, bash, ours| {
            bash.status == ours.status && sources(script) && contains(script, b"> f9; ")
        },
        // The repair adds another command at the end of the file. A command that now runs may show
        // process numbers.
        repairs: |script, _| {
            let goes_on = replaced(script, b"> f9; ", b"> f9; echo : >> f9; ");
            vec![replaced(&goes_on, b"$$", b"0"), goes_on]
        },
    },
    Rule {
        name: "quotes and NULs that `$'...'` makes within `${...}`",
        applies: ansi_in_braces,
        // A command that is no longer cut short may show process numbers.
        repairs: |script, _| {
            let plain = plain_ansi(script);
            vec![replaced(&plain, b"$$", b"0"), plain]
        },
    },
    Rule {
        name: "unbalanced quotes within `${...}`",
        applies: |_, bash, ours| says(bash, NO_BRACE) && !says(ours, NO_BRACE),
        repairs: |script, bash| without_command(script, bash, NO_BRACE),
    },
    Rule {
        name: "parentheses within `name=(...)` that bash reads once more",
        applies: |script, bash, ours| {
            contains(script, b"=(") && says(bash, NO_PARENTHESIS) && !says(ours, NO_PARENTHESIS)
        },
        repairs: |script, bash| without_command(script, bash, NO_PARENTHESIS),
    },
    Rule {
        name: "levels of loops behind a `select` without words",
        applies: |script, _, _| contains(script, b"select "),
        repairs: |script, _| {
            let level = replaced(script, b"break 2", b"break");
            vec![replaced(&level, b"continue 2", b"continue")]
        },
    },
    Rule {
        name: "here-documents that bash loses its way in",
        applies: nested_in_heredoc,
        repairs: |script, bash| {
            let texts = [NO_PARENTHESIS, SUBSTITUTION, LOST];
            texts.iter().flat_map(|text| without_command(script, bash, text)).collect()
        },
    },
    Rule {
        name: "the keys of an array beside a list without `IFS`",
        applies: |script, bash, ours| {
            let null = contains(script, b"IFS=''") || contains(script, b"IFS= ");
            null && bash.status == ours.status
        },
        repairs: |script, _| {
            let keys = replaced(script, b"${!m[*]}", b"${!m[@]}");
            vec![replaced(&keys, b"${!arr[*]}", b"${!arr[@]}")]
        },
    },
    Rule {
        name: "the numbers that `{fd}` gets",
        applies: |script, bash, ours| contains(script, b"{fd}>") && bash.status == ours.status,
        // If `IFS` splits the number, another number is another word, and the trace shows it.
        repairs: |script, _| {
            let quoted = replaced(script, b">&$fd;", b">&\"$fd\";");
            let untested = replaced(&quoted, b"[ $fd -ge 10 ]", b":");
            vec![replaced(&quoted, b"[ $fd ", b"[ \"$fd\" "), untested]
        },
    },
    Rule {
        name: "`$$(` in a word with braces",
        applies: |script, bash, ours| {
            contains(script, b"$$(") && says(bash, SUBSTITUTION) && !says(ours, SUBSTITUTION)
        },
        repairs: |script, _| vec![replaced(script, b"$$(", b"0(")],
    },
    Rule {
        name: "a tilde before a colon and an expansion",
        applies: |script, _, _| quoted_tildes(script) != script,
        repairs: |script, _| vec![quoted_tildes(script)],
    },
    Rule {
        name: "brackets that go on behind an equivalence class",
        applies: |script, _, _| contains(script, b"[="),
        repairs: |script, _| vec![without_classes(script)],
    },
    Rule {
        name: "extended patterns that bash reads once more without `extglob`",
        applies: |script, bash, ours| {
            contains(script, b"shopt -u extglob")
                && [ASSIGNMENT, SUBSTITUTION]
                    .iter()
                    .any(|text| says(bash, text) && !says(ours, text))
        },
        repairs: |script, _| vec![replaced(script, b"shopt -u extglob", b"shopt -s extglob")],
    },
    Rule {
        name: "references of functions to their own names",
        applies: |script, bash, ours| {
            contains(script, b"declare -n r=r;") && says(bash, CIRCULAR) && says(ours, CIRCULAR)
        },
        repairs: |script, _| vec![replaced(script, b"declare -n r=r;", b"declare -n r=word_;")],
    },
    Rule {
        name: "subshells in the action of an ERR trap that they inherit",
        applies: |script, bash, ours| {
            bash.status == ours.status && contains(script, b"set -E") && contains(script, b"' ERR")
        },
        repairs: |script, _| vec![trap_not_inherited(script)],
    },
    Rule {
        name: "the EXIT trap of a simple command's process that fails in an expansion",
        applies: |script, bash, ours| {
            const FAILED: &[&[u8]] = &[
                b"bad substitution",
                b"unbound variable",
                b"readonly variable",
                b"(error token",
                b": parameter null or not set",
            ];
            let failed = FAILED.iter().any(|text| says(bash, text) && says(ours, text));
            failed && bash.status == ours.status && contains(script, b"' EXIT")
        },
        repairs: |script, _| vec![trap_of_main_shell(script)],
    },
    Rule {
        name: "bash's marks in texts",
        applies: |script, _, _| contains(script, b"\\x01") || contains(script, b"\\cA"),
        // No other byte is a mark.
        repairs: |script, _| {
            let other = replaced(script, b"\\x01", b"\\x02");
            vec![replaced(&other, b"\\cA", b"\\cB")]
        },
    },
    Rule {
        name: "quotes in the single quotes of a quoted pattern in POSIX mode",
        applies: |script, _, _| contains(script, b"posix"),
        repairs: |script, _| {
            let hidden = [&b"'\"'"[..], b"'`'", b"'}'"];
            let letter = |text: Vec<u8>, quoted: &&[u8]| replaced(&text, quoted, b"'q'");
            vec![hidden.iter().fold(script.to_vec(), letter)]
        },
    },
    Rule {
        name: "the content of `/`",
        applies: |script, _, _| without_root(script) != script,
        repairs: |script, _| vec![without_root(script)],
    },
    Rule {
        name: "`${x@A}` of a list",
        applies: |script, _, _| contains(script, b"@A}"),
        repairs: |script, _| vec![replaced(script, b"@A}", b"@Q}")],
    },
    Rule {
        name: "elements that are appended to in a new list",
        applies: |script, _, _| contains(script, b"]+="),
        repairs: |script, _| vec![replaced(script, b"]+=", b"]=")],
    },
    Rule {
        name: "numbers in quotes that `IFS` splits",
        applies: |script, _, _| contains(script, b"IFS=0"),
        repairs: |script, _| vec![replaced(script, b"IFS=0", b"IFS=:")],
    },
    Rule {
        name: "an array of whose element a nameref is declared",
        applies: |script, _, _| contains(script, b"declare -n r="),
        repairs: |script, _| vec![undeclared_reference(script)],
    },
    Rule {
        name: "the parameters after a function nested too deeply",
        applies: |_, bash, ours| says(bash, TOO_DEEP) && says(ours, TOO_DEEP),
        repairs: |script, _| vec![replaced(script, b"FUNCNEST=9; rec ", b"FUNCNEST=9; : | rec ")],
    },
    Rule {
        name: "the semicolon behind a here-document in a substitution",
        applies: |script, _, _| apart_behind_documents(script) != script,
        repairs: |script, _| vec![apart_behind_documents(script)],
    },
    Rule {
        name: "a name before `$'...'` within a quoted `${...}`",
        applies: |script, bash, ours| bash.status == ours.status && names_apart(script) != script,
        repairs: |script, _| vec![names_apart(script)],
    },
    Rule {
        name: "what `set -v` shows of substitutions",
        applies: |script, bash, ours| contains(script, b"set -v") && bash.status == ours.status,
        repairs: |script, _| vec![replaced(script, b"set -v", b"set +v")],
    },
    Rule {
        name: "`LINENO` in words",
        applies: |script, _, _| contains(script, b"LINENO"),
        repairs: |script, _| {
            let expanded = replaced(script, b"$LINENO", b"$((LINENO*0))");
            vec![replaced(&expanded, b"((LINENO))", b"((LINENO*0))")]
        },
    },
    Rule {
        name: "quoted pattern characters behind a backslash that an expansion leaves",
        applies: |script, bash, ours| {
            let escaped = |line: &[u8]| {
                let at = position(line, NO_MATCH)?;
                contains(&line[at..], b"\\").then(|| line[at..].to_vec())
            };
            let mut found = bash.stderr.split(|b| *b == b'\n').filter_map(escaped);
            let failed =
                contains(script, b"failglob") && found.any(|message| !says(ours, &message));
            let removed = contains(script, b"-s nullglob") && contains(script, b"\\");
            failed || removed && bash.status == ours.status
        },
        repairs: |script, _| {
            let failing = replaced(script, b"-s failglob", b"-u failglob");
            vec![failing, replaced(script, b"-s nullglob", b"-u nullglob")]
        },
    },
];

const UNCLOSED: &[u8] = b"unexpected EOF while looking for matching";
const UNEXPECTED: &[u8] = b"syntax error near unexpected token";
const SUBSTITUTION: &[u8] = b"command substitution: line ";
const NO_BRACE: &[u8] = b"bad substitution: no closing `}' in ";
const NO_PARENTHESIS: &[u8] = b"bad substitution: no closing `)' in ";
const ASSIGNMENT: &[u8] = b": array assign: line ";
const CIRCULAR: &[u8] = b"warning: r: circular name reference";
const TOO_DEEP: &[u8] = b": maximum function nesting level exceeded (";
const NO_MATCH: &[u8] = b": no match: ";
const LOST: &[u8] = b": can't read echo: No such file";

pub fn reason(
    script: &[u8],
    bash: &Outcome,
    ours: &Outcome,
    rerun: &mut Rerun<'_>,
) -> Option<&'static str> {
    let breaks_off = |o: &Outcome| {
        let texts = [UNEXPECTED, UNCLOSED, b"syntax error: unexpected end of file"];
        texts.iter().any(|text| says(o, text))
    };
    let mut repairs = |repaired: &[u8]| {
        if repaired == script {
            return false;
        }
        let Some((a, b)) = rerun(repaired) else { return false };
        // A script that is cut short shows nothing about its rest.
        let runs = a.status.is_some() && (breaks_off(bash) || !breaks_off(&a));
        runs && agree(repaired, &a, &b)
    };
    RULES
        .iter()
        .filter(|rule| (rule.applies)(script, bash, ours))
        .find(|rule| (rule.repairs)(script, bash).iter().any(|repaired| repairs(repaired)))
        .map(|rule| rule.name)
}

/// Returns the script with another folder in place of `/` where the folder is listed, as in `ls /`
/// and `echo /*`, because its contents differ.
fn without_root(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    for (at, byte) in script.iter().enumerate() {
        out.push(*byte);
        let begins = at == 0 || b" \t\n(;|&=\"".contains(&script[at - 1]);
        let lists = script.get(at + 1).is_none_or(|next| b" \n;|&)*?[".contains(next));
        if *byte == b'/' && begins && lists {
            out.extend_from_slice(b"usr/absent/");
        }
    }
    out
}

/// Between `$(` and `)`, bash forgets backslashes in `a=(\&)`, so the line is a syntax error.
fn quoted_in_compound(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    // Our shell may find other errors, here or further down.
    fn complaints(o: &Outcome) -> Vec<&[u8]> {
        let complains = |line: &&[u8]| contains(line, UNCLOSED) || contains(line, UNEXPECTED);
        o.stderr.split(|b| *b == b'\n').filter(complains).collect()
    }
    let substitutes = contains(script, b"$(") || contains(script, b"<(");
    let found = complaints(bash);
    // An escaped blank at the end of a word is lost without an error.
    let lost = contains(script, b"\\ ") && found == complaints(ours);
    let broken = !found.is_empty() && found != complaints(ours);
    (broken || lost) && substitutes && contains(script, b"=(")
}

/// After `eval 'echo "'`, bash does not recognise a reserved word at the beginning of the next
/// command. Returns the lines of the two errors.
fn after_syntax_error(bash: &Outcome, ours: &Outcome) -> Option<(usize, usize)> {
    const WORDS: &[&[u8]] = &[
        b"!",
        b"[[",
        b"{",
        b"case",
        b"coproc",
        b"for",
        b"function",
        b"if",
        b"select",
        b"time",
        b"until",
        b"while",
    ];
    let (first, _) = (first_error(bash)?, first_error(ours)?);
    let rest = &bash.stderr[first + 1..];
    let unknown = WORDS.iter().map(|word| [b": ", *word, b": command not found"].concat());
    let second = unknown
        .chain([UNEXPECTED.to_vec()])
        .filter(|text| position(&ours.stderr, text).is_none())
        .find_map(|text| position(rest, &text))?;
    let number = |at: usize| number_of(&bash.stderr, at);
    Some((number(first)?, number(first + 1 + second)?))
}

/// Returns the position of the first reported syntax error, if it is in an `eval` or a sourced
/// file.
fn first_error(o: &Outcome) -> Option<usize> {
    const FIRST: &[&[u8]] = &[UNCLOSED, b"conditional", b"unexpected token `"];
    let at = FIRST.iter().filter_map(|text| position(&o.stderr, text)).min()?;
    let line = line_of(&o.stderr, at)?;
    let nested = contains(line, b": eval: line ") || contains(line, b"f9: line ");
    nested.then_some(at)
}

/// Returns scripts with an additional command before the command whose beginning bash did not
/// recognise.
fn begun_anew(script: &[u8], bash: &Outcome) -> Vec<Vec<u8>> {
    let Some((_, second)) =
        after_syntax_error(bash, &Outcome { stderr: bash_first(bash), ..Outcome::default() })
    else {
        return Vec::new();
    };
    let nearest = second.min(script.split(|b| *b == b'\n').count());
    let near = nearest.saturating_sub(20).max(1)..=nearest;
    near.rev().filter_map(|line| begun_at(script, line)).collect()
}

/// Returns the script with an additional command before this line. Its plain syntax error takes
/// bash out of a `[[` that was cut off.
fn begun_at(script: &[u8], before: usize) -> Option<Vec<u8>> {
    const AFRESH: &[u8] = b"eval ')' 2> /dev/null || :";
    let lines: Vec<&[u8]> = script.split(|b| *b == b'\n').collect();
    let (head, tail) = lines.split_at_checked(before.checked_sub(1)?)?;
    Some([head, &[AFRESH], tail].concat().join(&b'\n'))
}

/// Returns the output of a shell that recovers from the error, which is only the first error.
fn bash_first(bash: &Outcome) -> Vec<u8> {
    let nested = |line: &&[u8]| contains(line, b": eval: line ") || contains(line, b"f9: line ");
    bash.stderr.split(|b| *b == b'\n').find(nested).unwrap_or_default().to_vec()
}

fn sources(script: &[u8]) -> bool {
    let file = contains(script, b". ./f9") || contains(script, b"source ./f9");
    file && [&b"; cat "[..], b"; printenv ", b"bash -c "].iter().any(|p| contains(script, p))
}

/// bash inserts the value of `$'...'` before it searches for the end of the `${...}` around it. A
/// quote in the value then opens a string, and a NUL ends the text.
fn ansi_in_braces(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let cut = |o: &Outcome| says(o, SUBSTITUTION) && says(o, UNCLOSED);
    let bad = |o: &Outcome| says(o, b": bad substitution");
    contains(script, b"$'")
        && contains(script, b"${")
        && (says(bash, NO_BRACE) && !says(ours, NO_BRACE)
            || cut(bash) && !cut(ours)
            || bad(ours) != bad(bash)
            || bash.main() != ours.main() && plain_ansi(script) != script)
}

/// `${x:$((1))}` in a here-document: bash searches for the end of the substitution in a text that
/// lacks it. In addition, a here-document within a substitution may be printed in a form that
/// cannot be read, and a syntax error in a substitution of the body may give status 2 or end the
/// script.
fn nested_in_heredoc(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let failed = |o: &Outcome| says(o, SUBSTITUTION) && (says(o, UNEXPECTED) || says(o, UNCLOSED));
    contains(script, b"<<")
        && (says(bash, NO_PARENTHESIS) && !says(ours, NO_PARENTHESIS)
            || failed(bash)
            || says(bash, LOST))
}

/// Returns scripts without the lines around the one that bash's message names. If bash reads only
/// one command differently, other differences remain visible.
fn without_command(script: &[u8], bash: &Outcome, message: &[u8]) -> Vec<Vec<u8>> {
    const AROUND: usize = 12;
    let texts = [&bash.stderr, &bash.stdout].into_iter().chain(bash.files.values());
    let mut named = texts.filter_map(|text| number_of(text, position(text, message)?));
    let Some(line) = named.next() else { return Vec::new() };
    let lines: Vec<&[u8]> = script.split(|b| *b == b'\n').collect();
    let line = line.clamp(1, lines.len());
    let mut ranges: Vec<(usize, usize)> = (line.saturating_sub(AROUND).max(1)..=line)
        .flat_map(|from| (line..=lines.len().min(line + AROUND)).map(move |to| (from, to)))
        .collect();
    // Each single line further down is removed, too, because it may belong to a here-document whose
    // command also begins a loop.
    ranges.extend((line + 1..=lines.len().min(line + AROUND)).map(|only| (only, only)));
    ranges.sort_by_key(|(from, to)| to - from);
    let without = |(from, to): (usize, usize)| {
        [&lines[..from - 1], &[b":"], &lines[to..]].concat().join(&b'\n')
    };
    ranges.into_iter().map(without).collect()
}

/// Returns the line of the text that contains this position.
fn line_of(text: &[u8], at: usize) -> Option<&[u8]> {
    let start = text.get(..at)?.iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    text[start..].split(|b| *b == b'\n').next()
}

/// Returns the line number in the message at this position.
fn number_of(text: &[u8], at: usize) -> Option<usize> {
    let message = line_of(text, at)?;
    let digits = &message[position(message, b"line ")? + 5..];
    let end = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod root_tests {
    use super::without_root;

    #[test]
    fn only_lists_of_the_root_are_replaced() {
        let replaced = |script: &str| String::from_utf8(without_root(script.as_bytes())).unwrap();
        assert_eq!(replaced("ls /; p /*"), "ls /usr/absent/; p /usr/absent/*");
        assert_eq!(replaced("a=(/?)"), "a=(/usr/absent/?)");
        assert_eq!(replaced("ls /usr; p a/* ${x/*}"), "ls /usr; p a/* ${x/*}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outcome, reason};
    use crate::run::Outcome;

    /// Returns the rule that explains these outcomes of a script. After the repair the shells agree
    /// if `agree` is true.
    fn rule(script: &str, bash: &Outcome, ours: &Outcome, agree: bool) -> Option<&'static str> {
        let mut rerun = |repaired: &[u8]| {
            assert_ne!(repaired, script.as_bytes());
            Some((outcome("a\n", ""), outcome(if agree { "a\n" } else { "b\n" }, "")))
        };
        reason(script.as_bytes(), bash, ours, &mut rerun)
    }

    #[test]
    fn each_rule_explains_its_example_only() {
        let fine = outcome("&\n", "");
        let eval = "s.sh: eval: line 1: unexpected EOF while looking for matching `\"'\n";
        let lost = format!("{eval}s.sh: line 2: !: command not found\n");
        for (script, bash, ours) in [
            (
                "echo $(a=(\\&); echo $a)",
                "s.sh: line 1: syntax error near unexpected token `&'\n",
                "",
            ),
            ("eval '\"'\n! true", lost.as_str(), eval),
            (
                "eval '[['\n'' ]]",
                "s.sh: eval: line 2: unexpected token `EOF' in conditional command\n\
                 s.sh: line 2: syntax error near unexpected token `]]'\n",
                "s.sh: eval: line 2: unexpected token `EOF' in conditional command\n\
                 s.sh: line 2: : command not found\n",
            ),
            ("shopt -s expand_aliases; alias a=:\neval '\"'\na", eval, eval),
            ("x=$(cat <<\"E F\"\nE F\n)", "s.sh: command substitution: line 1: x\n", ""),
            ("a=($'\\0')", "s.sh: array assign: line 1: x\n", ""),
            ("(echo '{ :; } > f; cat f' > f9; . ./f9; echo a)", "", ""),
            ("echo ${x-$'\\''}", "s.sh: line 1: bad substitution: no closing `}' in ${x\n", ""),
            ("echo ${x-\"'\"}", "s.sh: line 1: bad substitution: no closing `}' in ${x\n", ""),
            (
                "cat <<E\n${x:$((1))}\nE",
                "s.sh: line 1: bad substitution: no closing `)' in ${x\n",
                "",
            ),
            (
                "a=(x$((! #)))",
                "s.sh: line 1: bad substitution: no closing `)' in x$((! #))\n",
                "s.sh: line 1: ! #: syntax error\n",
            ),
            ("select v in $u; do :; done; for i in 1; do break 2; done", "", ""),
            ("IFS=0; exec {fd}> o1; p x >&$fd; cat o1", "", ""),
            ("IFS=''; p x${!m[*]}$@", "", ""),
            ("echo ~:$x", "", ""),
            ("echo \"$$(if)\"{a,b}", "s.sh: command substitution: line 1: x\n", ""),
            ("case x in [[=a=]]) ;; esac", "", ""),
            (
                "declare -n r=a; f() { declare -n r=r; r=b; }; f",
                "s.sh: line 1: warning: r: circular name reference\n",
                "s.sh: line 1: warning: r: circular name reference\n",
            ),
            (
                "f() { shopt -u extglob; arr=(@(a)); }; f",
                "s.sh: array assign: line 1: syntax error near unexpected token `('\n",
                "",
            ),
            ("set -E; trap '(false)' ERR; false", "", ""),
            (
                "trap 'echo a' EXIT; : \"${}\" | cat",
                "s.sh: line 1: ${}: bad substitution\n",
                "s.sh: line 1: ${}: bad substitution\n",
            ),
            (
                "a=$'\\x01'; echo $((m[$a]))",
                "s.sh: line 1: m[]: bad array subscript\n",
                "s.sh: line 1: \x01: syntax error: operand expected (error token is \"\x01\")\n",
            ),
            ("arr=(\"${2-$'\\cA'}\"); p ${#arr}", "", ""),
            ("set -o posix; (p \"${n/'\"'}\"})", "", ""),
            ("declare -n r=m[k]; declare - r; echo ${m[0]}", "", ""),
            (
                "rec() { rec x; }; FUNCNEST=9; rec 3\necho $1",
                "s.sh: line 1: rec: maximum function nesting level exceeded (9)\n",
                "s.sh: line 1: rec: maximum function nesting level exceeded (9)\n",
            ),
            ("x=$(cat <<EOF\nEOF\necho a; echo b)", "", ""),
            ("p a\"$LINENO\"", "", ""),
            ("set -v; x=$(cat <<E\na\nE\n)", "", ""),
            ("p \"${x-$r$'a'}\"", "", ""),
            ("shopt -s nullglob; b='\\'; echo $b\"*\"", "", ""),
            ("shopt -s failglob; echo $b\"*\"", "s.sh: line 1: no match: \\*\n", ""),
        ] {
            let (bash, ours) = (outcome("", bash), Outcome { stderr: ours.into(), ..fine.clone() });
            assert!(rule(script, &bash, &ours, true).is_some(), "{script}");
            assert_eq!(rule(script, &bash, &ours, false), None, "{script}");
        }
        let error = outcome("", "s.sh: line 1: syntax error near unexpected token `&'\n");
        assert_eq!(rule("echo $(a=(x); echo $a)", &error, &fine, true), None);
        assert_eq!(rule("echo a", &outcome("a\n", ""), &outcome("b\n", ""), true), None);
    }

    #[test]
    fn what_breaks_off_says_nothing() {
        let script = b"echo ~:$x";
        let broken = outcome("", "s.sh: line 1: syntax error near unexpected token `)'\n");
        let mut rerun = |_: &[u8]| Some((broken.clone(), broken.clone()));
        assert_eq!(reason(script, &outcome("a\n", ""), &outcome("b\n", ""), &mut rerun), None);
    }
}
