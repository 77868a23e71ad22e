//! Recognises deviations in scripts that were made as small as possible, so that each shows only
//! one deviation. A rule searches for words of the script and for messages, and compares outcomes
//! roughly. A whole script contains too much for that, so these rules apply to short scripts only.
//! Each is a row of docs/deviations.md; its comment has an example and its effect.

use std::borrow::Cow;

use super::says;
use crate::compare::{contains, replaced};
use crate::run::Outcome;

/// The maximum length in bytes of a short script.
const MOST: usize = 600;

/// A rule: the name of a deviation, and whether it explains a difference.
type Rule = (&'static str, fn(&[u8], &Outcome, &Outcome) -> bool);

const RULES: &[Rule] = &[
    ("the status of a text that does not parse", unparsed_text),
    ("what a failed expansion or assignment drops", failed_expansion),
    ("the message of `${x?word}`", message_of_parameter),
    ("subscripts that `${#a[...]}` of no array evaluates", length_of_no_array),
    ("what `set -x` shows of declarations", traced_declarations),
    ("`${x@A}` of a list", list_as_assignment),
    ("the short cut of `${x/pattern/text}`", replaced_patterns),
    ("lists beside others in a word", joined_lists),
    ("braces beside quotes and expansions", expanded_braces),
    ("process numbers", process_numbers),
    ("the text of a substitution in a function", printed_substitution),
    ("a nameref to an element", element_references),
    ("`${!#}` in POSIX mode", indirect_count_in_posix_mode),
    ("braces of redirections in POSIX mode", redirection_braces_in_posix_mode),
    ("lists of declarations, which are expanded late", late_lists),
    ("a backquote that a brace range makes", backquote_of_range),
    ("the quotes of GNU's messages", quoted_messages),
    ("the line of a syntax error under `set -e`", line_of_error),
];

/// Returns the deviation that explains a difference of a small script.
pub fn reason(script: &[u8], bash: &Outcome, ours: &Outcome) -> Option<&'static str> {
    let ends = bash.status.is_some() && ours.status.is_some();
    let small = script.len() <= MOST && ends;
    RULES.iter().filter(|_| small).find(|(_, rule)| rule(script, bash, ours)).map(|(name, _)| *name)
}

/// `[[ a b ]]`, `a=((`: bash continues after `a=(`, or has a different status, sometimes without a
/// message.
fn unparsed_text(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERRORS: &[&[u8]] = &[
        b"syntax error near unexpected token",
        b"syntax error: unexpected end of file",
        b"unexpected EOF while looking for matching",
        b"in conditional command",
        b"conditional binary operator expected",
        b"unexpected argument",
        b"syntax error in conditional expression",
        b"syntax error: no `))' behind `for (('",
        b"syntax error: arithmetic expression required",
    ];
    const OPEN: &[u8] = b"unexpected EOF while looking for matching";
    // Bash has separate rules for reading these.
    const READ_APART: &[&[u8]] = &[b"=(", b"[[", b"((", b"$(", b"`", b"<(", b">("];
    let read_apart = says(ours, OPEN) || READ_APART.iter().any(|start| contains(script, start));
    let fails = ERRORS.iter().any(|text| says(ours, text));
    let same = same_texts(&Outcome { status: ours.status, ..bash.clone() }, ours, |text| {
        without_messages(script, text).into()
    });
    let statuses = bash.status != ours.status && ours.status == Some(2);
    fails && read_apart && (same && statuses || did_more(script, bash, ours))
}

/// `set -e; (eval 'fi') 2>&1`: bash ends before it shows the line with the error.
fn line_of_error(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERROR: &[u8] = b"syntax error near unexpected token";
    let without = |text: &[u8]| -> Vec<u8> {
        let mut after_error = false;
        let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| {
            let is_shown = after_error && contains(line, b": `");
            after_error = contains(line, ERROR);
            !is_shown
        });
        lines.collect::<Vec<_>>().concat()
    };
    contains(script, b"set -e")
        && says(ours, ERROR)
        && bash.main() != ours.main()
        && same_texts(bash, ours, |text| without(text).into())
}

/// `((m['']))`, `typeset -i n=08`, `readonly a; a=1`: both shells report an error, but one of them
/// skips more of the surrounding code. The other one then does the same and more.
fn failed_expansion(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERRORS: &[&[u8]] = &[
        b"(error token is ",
        b": bad substitution",
        b": bad array subscript",
        b": readonly variable",
        b": invalid indirect expansion",
        b": invalid variable name",
        b": not a valid identifier",
        b": cannot assign list to array member",
        b": cannot convert ",
        b": cannot destroy array variables",
        b": reference variable cannot be an array",
        b": unbound variable",
        b": parameter null or not set",
        b": parameter not set",
        b": substring expression < 0",
        b": division by 0",
        b": must use subscript when assigning associative array",
    ];
    let fails = |o: &Outcome| ERRORS.iter().any(|text| says(o, text));
    fails(bash) && fails(ours) && (did_more(script, bash, ours) || did_more(script, ours, bash))
}

/// Returns whether `more` has all lines of `less` in the same order, in its output and in each
/// file. Messages and the statuses that a script shows are left out, because the failures have
/// different ones.
fn did_more(script: &[u8], more: &Outcome, less: &Outcome) -> bool {
    let holds = |more: &[u8], less: &[u8]| {
        let (more, less) = (without_messages(script, more), without_messages(script, less));
        let mut lines = more.split(|byte| *byte == b'\n');
        let (whole, last) = match less.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => (&less[..end], &less[end + 1..]),
            None => (&less[..0], &less[..]),
        };
        let mut found = |matches: &dyn Fn(&[u8]) -> bool| lines.any(matches);
        // Output may end within its last line.
        whole
            .split(|byte| *byte == b'\n')
            .all(|wanted| wanted.is_empty() || found(&|l| l == wanted))
            && (last.is_empty() || found(&|l| l.starts_with(last)))
    };
    holds(&more.stdout, &less.stdout)
        && less.files.iter().all(|(name, text)| {
            // A file that one of the shells has removed is not compared.
            more.files.get(name).is_none_or(|other| holds(other, text))
        })
}

/// Returns the text without the messages that scripts redirect into it, and with `N` in place of
/// each status that a script shows.
fn without_messages(script: &[u8], text: &[u8]) -> Vec<u8> {
    let shows_status = contains(script, b"$?") || contains(script, b"PIPESTATUS");
    let message = |line: &[u8]| contains(line, b"s.sh: ") || contains(line, b"bash: ");
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !message(line));
    let mut out = Vec::new();
    for line in lines {
        if !out.is_empty() {
            out.push(b'\n');
        }
        for (at, byte) in line.iter().enumerate() {
            let digit = shows_status && byte.is_ascii_digit();
            match digit {
                true if at > 0 && line[at - 1].is_ascii_digit() => {}
                true => out.push(b'N'),
                false => out.push(*byte),
            }
        }
    }
    out
}

/// `"${e?''}"`: bash reads the word again without the quotes around it.
fn message_of_parameter(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const MARK: &[u8] = b"s.sh: line ";
    let asks = |at: usize| {
        let inside = script.get(at..).and_then(|rest| rest.strip_prefix(b"${"));
        inside.is_some_and(|inside| {
            let name =
                inside.iter().take_while(|b| b.is_ascii_alphanumeric() || b"_@*[]".contains(b));
            let rest = &inside[name.count()..];
            rest.starts_with(b"?") || rest.starts_with(b":?")
        })
    };
    // This is the text before the word: `s.sh: line 1: e: `.
    let start = |line: &[u8]| -> Vec<u8> {
        let parts: Vec<&[u8]> = line.split(|byte| *byte == b':').take(3).collect();
        parts.join(&b':')
    };
    (0..script.len()).any(asks)
        && same_texts(bash, ours, |text| {
            let lines = text.split(|byte| *byte == b'\n');
            let plain =
                |line: &[u8]| if contains(line, MARK) { start(line) } else { line.to_vec() };
            lines.map(plain).collect::<Vec<_>>().join(&b'\n').into()
        })
}

/// `a=x/; echo ${#m[a]}`: bash does not evaluate the subscript if there is no array.
fn length_of_no_array(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const ERROR: &[u8] = b"(error token is ";
    let lengths = (0..script.len()).filter_map(|at| script[at..].strip_prefix(b"${#"));
    let of_element = |inside: &[u8]| {
        let name = inside.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        name > 0 && inside[name..].starts_with(b"[")
    };
    says(ours, ERROR)
        && !says(bash, ERROR)
        && lengths.into_iter().any(of_element)
        && did_more(script, bash, ours)
}

/// `set -x; export a=1`: bash also shows the assignment, and shows lists as it expanded them.
fn traced_declarations(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const DECLARES: &[&[u8]] = &[b"declare", b"typeset", b"local", b"export", b"readonly"];
    let traces = |line: &&[u8]| line.starts_with(b"+");
    contains(script, b"set -x")
        && DECLARES.iter().any(|word| contains(script, word))
        && same_lines(bash, ours, |line| !traces(line))
}

/// `"${@@A}"`: bash makes several words of it.
fn list_as_assignment(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let same = same_but(bash, ours, |b| b" '\"\\[]0123456789".contains(&b));
    contains(script, b"@A}") && (same || one_lacks_command(bash, ours))
}

/// `${x/[!]]/y}`: bash first uses another pattern to find out whether there is a match.
fn replaced_patterns(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const PATTERNS: &[&[u8]] = &[b"[]", b"[!]", b"[^]", b"!(", b"[["];
    let replaces = |at: usize| {
        let inside = script.get(at..).and_then(|rest| rest.strip_prefix(b"${"))?;
        let name =
            inside.iter().take_while(|b| b.is_ascii_alphanumeric() || b"_@*!#?$-".contains(b));
        let pattern = inside[name.count()..].strip_prefix(b"/")?;
        let end = pattern.iter().position(|b| b"\n}".contains(b)).unwrap_or(pattern.len());
        PATTERNS.iter().any(|part| contains(&pattern[..end], part)).then_some(())
    };
    (0..script.len()).any(|at| replaces(at).is_some()) && same_shape(script, bash, ours)
}

/// `"$@${a[*]%b}"`, `case $* in`: the elements are the same, but joined or separate.
fn joined_lists(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let lists: [&[u8]; 6] = [b"$*", b"${*", b"[*]", b"$@", b"${@", b"[@]"];
    let names = contains(script, b"${!") && (contains(script, b"@}") || contains(script, b"*}"));
    let found = lists.iter().map(|list| usize::from(contains(script, list))).sum::<usize>()
        + usize::from(names);
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
            // This is the value of an element in a list.
            || contains(word, b"]={");
        plain && quotes && (word.contains(&b',') || contains(word, b".."))
    };
    // An operand of `${...}` may have blanks in it.
    let operands = (0..script.len()).filter(|at| script[*at..].starts_with(b"${")).map(|at| {
        let mut depth = 0;
        let end = script[at..].iter().position(|byte| {
            depth += i32::from(*byte == b'{') - i32::from(*byte == b'}');
            depth == 0 && *byte == b'}'
        });
        &script[at..end.map_or(script.len(), |end| at + end)]
    });
    let mut words = script.split(|byte| b" \n;|&".contains(byte)).chain(operands);
    let fails = |o: &Outcome| o.status != Some(0);
    let ours_as_bash = Outcome { status: bash.status, ..ours.clone() };
    fails(bash) == fails(ours)
        && words.any(|word| special(&word))
        && same_number_of_lines(bash, &ours_as_bash)
}

/// `$''$`, which becomes `$$` if the text is read again.
fn process_numbers(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let number: [&[u8]; 4] = [b"$''$", b"$\"\"$", b"$$", b"BASHPID"];
    number.iter().any(|text| contains(script, text))
        && bash.status == ours.status
        && same_but(bash, ours, |byte| byte.is_ascii_digit())
}

/// `f() { echo $(a;b); }; type f`: our shell prints the source text, bash its own form of it.
fn printed_substitution(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let shows: [&[u8]; 4] = [b"type ", b"declare -f", b"set -v", b"set -x"];
    let substitutes: [&[u8]; 4] = [b"$(", b"`", b"<(", b">("];
    // A comment is part of the text. If it spans lines, bash also counts them differently.
    let uncommented = |line: &[u8]| -> Vec<u8> {
        let end = line.windows(2).position(|w| w == b" #").unwrap_or(line.len());
        line[..end].to_vec()
    };
    let plain = |text: &[u8]| -> Vec<u8> {
        let text = super::numbers::masked(script, text);
        let lines: Vec<Vec<u8>> = text.split(|b| *b == b'\n').map(uncommented).collect();
        let text = replaced(&replaced(&lines.concat(), b"in \"$@\"", b""), b"function ", b"");
        text.into_iter().filter(|b| !b" \n\t;`$()".contains(b)).collect()
    };
    shows.iter().any(|word| contains(script, word))
        && substitutes.iter().any(|start| contains(script, start))
        && same_texts(bash, ours, |text| plain(text).into())
}

/// `declare -n r=m[k]; p ${#r}`: for some expansions of such a reference, bash finds no variable.
fn element_references(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let name = |rest: &[u8]| -> Option<Vec<u8>> {
        let end = rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_')?;
        let target = rest[end..].strip_prefix(b"=")?;
        let word = target.split(|b| b" ;\n".contains(b)).next()?;
        // This also finds a nameref to a whole array.
        (!word.is_empty()).then(|| rest[..end].to_vec())
    };
    let declared =
        [&b"declare -n "[..], b"local -n ", b"typeset -n "].into_iter().flat_map(|start| {
            (0..script.len())
                .filter_map(move |at| script[at..].strip_prefix(start))
                .filter_map(name)
        });
    // `$r` and `${r}` are the same as in bash, except for lists.
    let differs = |name: Vec<u8>| {
        let starts = [&b"${"[..], b"${#", b"${!"].map(|start| [start, &name].concat());
        starts.iter().any(|start| contains(script, start))
    };
    // For `${!r[0]}`, one of the shells finds no name to follow.
    const NO_NAME: &[u8] = b"invalid indirect expansion";
    if says(bash, NO_NAME) != says(ours, NO_NAME) {
        return contains(script, b" -n ") && did_more(script, bash, ours);
    }
    declared.into_iter().any(differs) && same_shape(script, bash, ours)
}

/// `set -o posix; p ${!#}`: our shell reads it by the mode in force where the script is read.
fn indirect_count_in_posix_mode(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    contains(script, b"posix") && contains(script, b"${!#}") && same_number_of_lines(bash, ours)
}

/// `set -o posix; echo >{a,b}`: our shell writes to one file of that name.
fn redirection_braces_in_posix_mode(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const MESSAGE: &[u8] = b": ambiguous redirect";
    contains(script, b"posix")
        && [&b">{"[..], b"> {"].iter().any(|start| contains(script, start))
        && (says(bash, MESSAGE) != says(ours, MESSAGE) || !bash.files.keys().eq(ours.files.keys()))
}

/// `local a=("$((^))")` outside a function: our shell reports the builtin's error first.
fn late_lists(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const REFUSED: &[u8] = b": can only be used in a function";
    contains(script, b"local ")
        && contains(script, b"=(")
        && says(ours, REFUSED)
        && !says(bash, REFUSED)
        && did_more(script, ours, bash)
}

/// `{Y..b}""`: bash reads the backquote between `Z` and `a` again and fails.
fn backquote_of_range(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    const LOST: &[u8] = b"bad substitution: no closing \"`\" in ";
    contains(script, b"..") && says(bash, LOST) && !says(ours, LOST) && did_more(script, ours, bash)
}

/// `tr a 2>&1`: GNU's tools quote depending on the locale.
fn quoted_messages(_: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let plain = |text: &[u8]| {
        replaced(&replaced(text, "\u{2018}".as_bytes(), b"'"), "\u{2019}".as_bytes(), b"'")
    };
    same_texts(bash, ours, |text| plain(text).into())
}

/// Returns whether the outcomes are equal without the bytes that are `ignored`.
fn same_but(bash: &Outcome, ours: &Outcome, ignored: impl Fn(u8) -> bool) -> bool {
    let plain =
        |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|b| !ignored(*b)).collect() };
    same_texts(bash, ours, |text| plain(text).into())
}

/// Returns whether the outcomes are equal in the lines that are `kept`.
fn same_lines(bash: &Outcome, ours: &Outcome, kept: impl Fn(&&[u8]) -> bool) -> bool {
    same_texts(bash, ours, |text| {
        let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').filter(&kept).collect();
        lines.join(&b'\n').into()
    })
}

/// Returns whether only one of the shells did not find a command, because the value that differs is
/// the name of a command.
fn one_lacks_command(bash: &Outcome, ours: &Outcome) -> bool {
    const NO_COMMAND: &[u8] = b": command not found";
    let count =
        |o: &Outcome| o.stderr.windows(NO_COMMAND.len()).filter(|w| *w == NO_COMMAND).count();
    count(bash) != count(ours)
}

/// Returns whether the shells wrote the same number of lines, or the value that differs is the name
/// of a command that one of them ran.
fn same_shape(script: &[u8], bash: &Outcome, ours: &Outcome) -> bool {
    let ran_one = || did_more(script, bash, ours) || did_more(script, ours, bash);
    same_number_of_lines(bash, ours) || one_lacks_command(bash, ours) && ran_one()
}

/// Returns whether the shells ended with the same status, wrote the same number of lines to their
/// output, and the same number to the same files.
fn same_number_of_lines(bash: &Outcome, ours: &Outcome) -> bool {
    let count = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
    let numbers = |o: &Outcome| -> Vec<(String, usize)> {
        o.files.iter().map(|(name, text)| (name.clone(), count(text))).collect()
    };
    bash.status == ours.status
        && count(&bash.stdout) == count(&ours.stdout)
        && numbers(bash) == numbers(ours)
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

    fn wrote(stdout: &str) -> Outcome {
        outcome(stdout, "")
    }

    #[test]
    fn a_text_that_does_not_parse_is_recognised() {
        let unclosed = "s.sh: line 1: unexpected EOF while looking for matching `)'\n";
        let open = failed("a\n", unclosed, 2);
        let status = Some("the status of a text that does not parse");
        assert_eq!(rule("a=((", &failed("a\n", unclosed, 1), &open), status);
        assert_eq!(rule("a=((", &failed("a\nb\n", unclosed, 0), &open), status);
        // The outputs differ, one shell stops earlier, bash has no separate rules for the text, or
        // there is no error.
        assert_eq!(rule("a=((", &failed("b\n", unclosed, 1), &open), None);
        assert_eq!(rule("a=((", &failed("", unclosed, 2), &open), None);
        assert_eq!(rule("'", &failed("a\n", unclosed, 1), &open), status);
        let end = "s.sh: line 2: syntax error: unexpected end of file\n";
        assert_eq!(rule("if", &failed("a\n", end, 1), &failed("a\n", end, 2)), None);
        assert_eq!(rule("a=((", &failed("a\n", unclosed, 1), &failed("a\n", "", 2)), None);
    }

    #[test]
    fn a_failed_expansion_is_recognised() {
        let number = "s.sh: line 1: 08: value too great for base (error token is \"08\")\n";
        let failure = Some("what a failed expansion or assignment drops");
        assert_eq!(rule("n=08", &failed("", number, 1), &failed("", number, 127)), failure);
        let (less, more) = (failed("a\n", number, 1), failed("a\nb\n", number, 0));
        assert_eq!(rule("n=08", &less, &more), failure);
        assert_eq!(rule("n=08", &more, &less), failure);
        let shown = [failed("1\nb\n", number, 0), failed("127\nb\n", number, 0)];
        assert_eq!(rule("echo $?", &shown[0], &shown[1]), failure);
        // A status is not shown, values differ, or only one shell reports an error.
        assert_eq!(rule("n=08", &shown[0], &shown[1]), None);
        assert_eq!(rule("n=08", &failed("c\n", number, 1), &more), None);
        assert_eq!(rule("n=08", &failed("a\n", "", 1), &more), None);
    }

    #[test]
    fn each_rule_explains_its_example_only() {
        let shown = "set -x; export a=1";
        assert!(rule(shown, &wrote("+ export a=1\n+ a=1\n"), &wrote("+ export a=1\n")).is_some());
        assert_eq!(rule(shown, &wrote("+ export a=1\n1\n"), &wrote("+ export a=1\n")), None);
        assert!(rule("p \"$@${a[*]%b}\"", &wrote("[1][y]\n"), &wrote("[1][ y]\n")).is_some());
        assert_eq!(rule("p \"$@${a[*]%b}\"", &wrote("[1][y]\n"), &wrote("[1][x]\n")), None);
        assert_eq!(rule("p \"$*\"", &wrote("[1][y]\n"), &wrote("[1][ y]\n")), None);
        let error = "s.sh: eval: line 2: syntax error near unexpected token `fi'\n";
        let shown = format!("{error}s.sh: eval: line 2: `fi'\n");
        let script = "set -e; (eval 'fi') 2>&1";
        assert!(rule(script, &wrote(error), &wrote(&shown)).is_some());
        assert_eq!(rule("(eval 'fi') 2>&1", &wrote(error), &wrote(&shown)), None);
        assert_eq!(rule(script, &wrote(error), &wrote(&format!("{error}a\n"))), None);
        let names = "IFS=:; p ${b+${!a@}}";
        assert!(rule(names, &wrote("[1][a ab]\n"), &wrote("[2][a][ab]\n")).is_some());
        assert_eq!(rule(names, &wrote("[1][a ab]\n"), &wrote("[2][a][b]\n")), None);
        assert!(rule("p ${a:+{}{c,}", &wrote("{c,}\n"), &wrote("c\n")).is_some());
        assert_eq!(rule("p ${a:+b} {c,d}", &wrote("{c,}\n"), &wrote("c\n")), None);
        assert_eq!(rule("p ${a:+{}{c,}", &wrote("{c,}\n"), &wrote("c\nd\n")), None);
        let braces = "arr=([2]={,b} c); declare -p arr";
        assert!(rule(braces, &wrote("[2]=b\n"), &wrote("{,b}\n")).is_some());
        assert!(rule("p ${a-$ {b}{c,d}}", &wrote("{b{c,d}}$\n"), &wrote("{bc}$\n")).is_some());
        assert!(rule("p {Y..b}", &wrote("Y]\n"), &wrote("Y\\]\n")).is_some());
        let (shown, text) = ("type f", wrote("echo $(a;\nb)\n"));
        assert!(rule("f() { echo $(a;b); }; type f", &text, &wrote("echo $(a;b)\n")).is_some());
        assert_eq!(rule(shown, &text, &wrote("echo $(a;b)\n")), None);
        let comment = "f() { echo $(a # b\n); }; type f";
        assert!(rule(comment, &wrote("echo $(a)\n"), &wrote("echo $(a # b\n)\n")).is_some());
        assert_eq!(rule(comment, &wrote("echo $(a)\n"), &wrote("echo $(a # b\nc)\n")), None);
        assert_eq!(rule("test -v $(a)", &text, &wrote("echo $(a;b)\n")), None);
        assert!(rule("echo $$", &wrote("12\n"), &wrote("13\n")).is_some());
        assert_eq!(rule("echo a", &wrote("12\n"), &wrote("13\n")), None);
    }

    #[test]
    fn replacements_are_recognised_by_their_patterns() {
        assert!(rule("p ${a/[!]]/x}", &wrote("}\n"), &wrote("x\n")).is_some());
        let missing = failed("", "s.sh: line 1: 1: command not found\n", 127);
        assert!(rule("${a/[!]]/x}", &missing, &wrote("}\n")).is_some());
        assert_eq!(rule("p ${a/b/x}", &missing, &wrote("}\n")), None);
        assert_eq!(rule("p ${a/b/x} [!]]", &wrote("}\n"), &wrote("x\n")), None);
        assert_eq!(rule("p ${a#[!]]} /", &wrote("}\n"), &wrote("x\n")), None);
        assert_eq!(rule("p ${a/[!]]/x}", &wrote("}\n"), &wrote("")), None);
        assert_eq!(rule("p ${a/[!]]/x}", &wrote("}\n"), &failed("x\n", "", 1)), None);
    }

    #[test]
    fn references_to_elements_are_recognised_by_their_names() {
        let element = "declare -n r=m[k]; p ${#r}";
        assert!(rule(element, &wrote("0\n"), &wrote("4\n")).is_some());
        assert_eq!(rule(element, &wrote("0\n"), &wrote("4\n5\n")), None);
        assert_eq!(rule("declare -n r=m[k]; p ${#s}", &wrote("0\n"), &wrote("4\n")), None);
        assert_eq!(rule("declare -n r=m; p $r", &wrote("0\n"), &wrote("4\n")), None);
    }

    #[test]
    fn messages_of_parameters_differ_in_the_word_only() {
        let script = "{ : \"${e?''}\"; } 2>&1";
        let message = |word: &str| wrote(&format!("s.sh: line 1: e: {word}\na\n"));
        assert!(rule(script, &message(""), &message("''")).is_some());
        assert_eq!(rule("echo e", &message(""), &message("''")), None);
        let other = wrote("s.sh: line 1: f: ''\na\n");
        assert_eq!(rule(script, &message(""), &other), None);
        assert_eq!(rule(script, &message(""), &wrote("s.sh: line 1: e: ''\nb\n")), None);
        let (length, error) = ("a=+; p ${#m[a]}", failed("", "a: (error token is \"+\")\n", 1));
        assert!(rule(length, &wrote("0\n"), &error).is_some());
        assert_eq!(rule("a=+; p ${m[a]}", &wrote("0\n"), &error), None);
        assert_eq!(
            rule(length, &wrote("0\n"), &failed("1\n", "(error token is \"+\")\n", 1)),
            None
        );
    }

    #[test]
    fn posix_mode_explains_two_constructs() {
        let posix = "set -o posix; p \"${!#}\"";
        assert!(rule(posix, &wrote("[1][]\n"), &wrote("[1][s]\n")).is_some());
        assert_eq!(rule(posix, &wrote("[1][]\n"), &wrote("")), None);
        assert_eq!(rule("p \"${!#}\"", &wrote("[1][]\n"), &wrote("[1][s]\n")), None);
        let braces = "set -o posix; echo >{a,b}";
        let refused = failed("", "s.sh: line 1: {a,b}: ambiguous redirect\n", 1);
        assert!(rule(braces, &refused, &wrote("")).is_some());
        assert_eq!(rule(braces, &wrote("a\n"), &wrote("b\n")), None);
    }

    #[test]
    fn messages_of_one_shell_are_recognised_by_their_cause() {
        let script = "{ local a=(\"$((^))\"); p n; }";
        let late = failed("n\n", "s.sh: line 1: local: can only be used in a function\n", 0);
        let early = failed("", "s.sh: line 1: ^: syntax error\n", 1);
        assert!(rule(script, &early, &late).is_some());
        assert_eq!(rule(script, &failed("m\n", "", 1), &late), None);
        assert_eq!(rule("p n", &early, &late), None);
        let lost = failed("", "s.sh: bad substitution: no closing \"`\" in `\"\"\n", 0);
        assert!(rule("p {Y..b}\"\"", &lost, &wrote("n\n")).is_some());
        assert_eq!(rule("p \"\"", &lost, &wrote("n\n")), None);
        assert!(rule("tr a", &wrote("\u{2018}a\u{2019}\n"), &wrote("'a'\n")).is_some());
        assert_eq!(rule("tr a", &wrote("\u{2018}a\u{2019}\n"), &wrote("'b'\n")), None);
    }

    #[test]
    fn long_scripts_have_no_such_reason() {
        let script = format!("echo $$\n{}", ":\n".repeat(MOST));
        assert_eq!(rule(&script, &outcome("1\n", ""), &outcome("2\n", "")), None);
    }
}
