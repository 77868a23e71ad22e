//! Deviations that are proved by another spelling of the script: bash makes its mistake with the
//! original, but not with the other spelling, which means the same. Such a deviation explains a
//! difference if the difference disappears and our shell does the same with both spellings. The
//! comment of a rewrite has an example and the mistake.

use crate::compare::{contains, position, replaced};

/// The name of a deviation, and a function that rewrites a script to avoid it, or returns the
/// script unchanged.
type Rewrite = (&'static str, fn(&[u8]) -> Vec<u8>);

const REWRITES: &[Rewrite] = &[
    ("a newline behind nested parentheses written `((`", blank_behind_nested),
    ("a list behind a here-document in a group in a pipeline", newline_for_semicolon),
    ("an escaped ampersand at the end of a command in a substitution", quoted_ampersands),
    ("a quote in the name of a file behind `>&`", both_outputs),
    ("`$$` before a brace or parenthesis in quotes", braced_process_number),
    ("a comparison with a parenthesis in a substring's bounds", blank_behind_comparison),
    ("reserved words after a syntax error in `eval` or `.`", text_in_subshell),
    ("reserved words after a syntax error in `eval` or `.`", eval_in_subshell),
    ("`[[ ${x[@]^} ]]` of a scalar without blanks in `IFS`", scalars_in_conditions),
    ("`${y#${x[*]^}}` of a scalar without blanks in `IFS`", scalars_as_lists),
    ("lists within a text's substitution without `IFS`", at_for_star),
    ("lists without `IFS` behind an error in a condition", at_behind_error),
    ("backslashes in `IFS` and in quotes or a here-document with a list", doubled_backslashes),
    ("backslashes in `IFS` and in quotes or a here-document with a list", other_separator),
    ("an associative array that `declare -g` assigns a list to", global_assoc),
    ("bash's marks in texts", no_empty_quotes),
    ("bash's marks in texts", words_from_variables),
    ("bash's marks in texts", quotes_before_operators),
];

/// Returns the scripts to try, each with the deviation it avoids.
pub fn spellings(script: &[u8]) -> impl Iterator<Item = (&'static str, Vec<u8>)> + '_ {
    let made = REWRITES.iter().map(|(name, rewrite)| (*name, rewrite(script)));
    made.filter(move |(_, other)| other != script)
}

/// `((a)` and a newline: bash 5.2 loses the first word of the next line.
fn blank_behind_nested(script: &[u8]) -> Vec<u8> {
    let mut out = script.to_vec();
    let opens: Vec<usize> =
        (0..script.len()).filter(|&at| script[at..].starts_with(b"((")).collect();
    for open in opens.into_iter().rev() {
        let mut depth = 0usize;
        let close = script[open + 1..].iter().position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        if let Some(close) = close.map(|length| open + 1 + length + 1)
            && script.get(close) == Some(&b'\n')
        {
            out.insert(close, b' ');
        }
    }
    out
}

/// `$({ cat <<E` ... `} | cat; p)`: before bash 5.2 runs this text it prints it, without the
/// semicolon.
fn newline_for_semicolon(script: &[u8]) -> Vec<u8> {
    const BEHIND: &[&[u8]] = &[b"; p \"$", b"; echo $?", b"; cat; fi"];
    let mut out = script.to_vec();
    if !contains(script, b"<<") {
        return out;
    }
    for at in 0..script.len() {
        if BEHIND.iter().any(|what| script[at..].starts_with(what)) {
            out[at] = b'\n';
        }
    }
    out
}

/// `$({ p \&; })`: before bash 5.2 runs this text it prints it, without the semicolon, as after a
/// `&`.
fn quoted_ampersands(script: &[u8]) -> Vec<u8> {
    const ENDS: &[&[u8]] = &[b"\n", b";", b" ;", b" |", b" >", b" <", b" 2>"];
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = position(rest, b"\\&") {
        let (before, behind) = (&rest[..at], &rest[at + 2..]);
        let last = ENDS.iter().any(|end| behind.starts_with(end));
        out.extend_from_slice(before);
        out.extend_from_slice(if last { b"'&'" } else { b"\\&" });
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// `>&\'`: bash 5.2 removes quotes twice, but not with `&>`.
fn both_outputs(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = position(rest, b">&") {
        let behind = &rest[at + 2..];
        let escaped = behind.first().is_some_and(|c| b"\\'\"".contains(c));
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(if escaped { b"&>" } else { b">&" });
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// `"$${b"`: while expanding words, bash 5.2 takes the second `$` for the beginning of an expansion
/// and searches for its end after the quotes.
fn braced_process_number(script: &[u8]) -> Vec<u8> {
    let braced = replaced(script, b"$${", b"${$}{");
    replaced(&braced, b"$$(", b"${$}(")
}

/// `${x:3>(#)}`: bash 5.2 takes `>(` for a process substitution while it searches for the brace.
fn blank_behind_comparison(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    for (at, byte) in script.iter().enumerate() {
        let number = out.last().is_some_and(|last: &u8| last.is_ascii_alphanumeric());
        out.push(*byte);
        if matches!(byte, b'<' | b'>') && number && script.get(at + 1) == Some(&b'(') {
            out.push(b' ');
        }
    }
    out
}

/// `x=$(IFS=; p $*)`, `"${x/a/$(p $*)}"`: bash 5.2 treats the list as part of the surrounding text,
/// where nothing is split, so it is one word.
fn at_for_star(script: &[u8]) -> Vec<u8> {
    with_at(script, |line| {
        let from = [position(line, b"$("), position(line, b"`"), position(line, b"<(")];
        from.into_iter().flatten().min()
    })
}

/// `[[ ${x:1/0} ]]`, then `p $*`: after such an error bash 5.2 still assumes that texts are not
/// split.
fn at_behind_error(script: &[u8]) -> Vec<u8> {
    with_at(script, |_| Some(0))
}

/// Returns the script with `$@` in place of each unquoted `$*` after a blank (and the same for
/// arrays), if `IFS` is null. In each line, only the text after the position that `from` returns is
/// changed.
fn with_at(script: &[u8], from: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
    // The last of these is within the text of an `eval`.
    const NULL: &[&[u8]] =
        &[b"IFS=''", b"IFS=\"\"", b"IFS= ", b"IFS=;", b"IFS=\n", b"IFS='\\'''\\''"];
    if !NULL.iter().any(|null| contains(script, null)) {
        return script.to_vec();
    }
    let mut out = Vec::with_capacity(script.len());
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let (before, inside) = line.split_at(from(line).unwrap_or(line.len()));
        out.extend_from_slice(before);
        for word in inside.split_inclusive(|byte| *byte == b' ') {
            let name = word.iter().skip(2).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let star = match word {
                [b'$', b'*', ..] => Some(1),
                [b'$', b'{', b'*', ..] => Some(2),
                [b'$', b'{', ..] if word[2 + name..].starts_with(b"[*]") => Some(3 + name),
                _ => None,
            };
            out.extend_from_slice(word);
            if let Some(star) = star {
                let from = out.len() - word.len();
                out[from + star] = b'@';
            }
        }
    }
    out
}

/// `IFS='\'; cat <<E` and `\"$@`, or `"\}$@"`: bash 5.2 splits such a document at its backslashes,
/// except at doubled ones.
fn doubled_backslashes(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut end: Option<Vec<u8>> = None;
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        match &end {
            Some(delimiter) if line.strip_suffix(b"\n").unwrap_or(line) == &delimiter[..] => {
                end = None;
                out.extend_from_slice(line);
            }
            Some(_) => double_literal(line, b"\\$`\n", &mut out),
            None => {
                let behind = position(line, b"<<").map(|at| &line[at + 2..]);
                let word = behind.map(|text| {
                    text.iter().copied().take_while(u8::is_ascii_alphabetic).collect::<Vec<u8>>()
                });
                end = word.filter(|word| !word.is_empty() && contains(script, b"IFS="));
                if contains(script, b"IFS=") && contains(line, b"@") {
                    double_quoted(line, &mut out)
                } else {
                    out.extend_from_slice(line)
                }
            }
        }
    }
    out
}

/// Doubles backslashes of text in double quotes.
fn double_quoted(line: &[u8], out: &mut Vec<u8>) {
    let quote = |at: usize| line[at] == b'"' && (at == 0 || line[at - 1] != b'\\');
    let quotes: Vec<usize> = (0..line.len()).filter(|&at| quote(at)).collect();
    let mut from = 0;
    for pair in quotes.chunks_exact(2) {
        out.extend_from_slice(&line[from..=pair[0]]);
        double_literal(&line[pair[0] + 1..pair[1]], b"\\$`\"\n", out);
        from = pair[1];
    }
    out.extend_from_slice(&line[from..]);
}

/// Adds the text to `out`, and doubles each backslash that is literal because none of `special`
/// follows.
fn double_literal(line: &[u8], special: &[u8], out: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((byte, behind)) = rest.split_first() {
        out.push(*byte);
        rest = behind;
        match behind.first() {
            Some(next) if *byte == b'\\' && special.contains(next) => {
                out.push(*next);
                rest = &behind[1..];
            }
            _ if *byte == b'\\' => out.push(b'\\'),
            _ => {}
        }
    }
}

/// If backslashes cannot be doubled, as in `"$@${n:-\'}"`, removes the backslash from `IFS`.
fn other_separator(script: &[u8]) -> Vec<u8> {
    if contains(script, b"@") { replaced(script, b"IFS='\\'", b"IFS='%'") } else { script.to_vec() }
}

/// `case ${x-$n""} in`: bash 5.2 leaves a mark of the quotes in the word.
fn no_empty_quotes(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        out.extend_from_slice(&if line.starts_with(b"case ") {
            replaced(&replaced(line, b"\"\"", b""), b"''", b"")
        } else {
            line.to_vec()
        });
    }
    out
}

/// `case "${e^}"x in`: bash 5.2 leaves the same mark for the empty result of an operator. An
/// assignment leaves none.
fn words_from_variables(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let (before, rest) = line.split_at(position(line, b"case ").unwrap_or(line.len()));
        let word = rest.strip_prefix(b"case ").and_then(|rest| rest.strip_suffix(b" in\n"));
        out.extend_from_slice(&match word.filter(|word| contains(word, b"\"${")) {
            Some(word) => [before, b"word_=", word, b"; case $word_ in\n"].concat(),
            None => line.to_vec(),
        });
    }
    out
}

/// `f() { declare -g m=(a); }`: bash 5.2 creates an indexed array, with quotes in its elements.
fn global_assoc(script: &[u8]) -> Vec<u8> {
    replaced(script, b"declare -g m=(", b"declare -gA m=(")
}

/// After a syntax error in `eval '[[ a =~ ('`, bash 5.2 does not recognise the next reserved words.
/// Text in a subshell does not affect the parser outside.
fn text_in_subshell(script: &[u8]) -> Vec<u8> {
    in_subshell(script, &[b"eval '", b". ./f9;", b"source ./f9 "])
}

/// Does the same for `eval` alone, because a sourced file changes state, which a subshell would
/// keep to itself.
fn eval_in_subshell(script: &[u8]) -> Vec<u8> {
    in_subshell(script, &[b"eval '"])
}

fn in_subshell(script: &[u8], starts: &[&[u8]]) -> Vec<u8> {
    const BEHIND: &[&[u8]] = &[b"; echo $?", b"\n"];
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(byte) = rest.first() {
        let begins = starts.iter().any(|start| rest.starts_with(start));
        let alone = |end: &usize| BEHIND.iter().any(|behind| rest[*end..].starts_with(behind));
        match command_end(rest).filter(|end| begins && alone(end)) {
            Some(end) => {
                out.extend_from_slice(b"( ");
                out.extend_from_slice(&rest[..end]);
                out.extend_from_slice(b" )");
                rest = &rest[end..];
            }
            None => {
                out.push(*byte);
                rest = &rest[1..];
            }
        }
    }
    out
}

/// Returns the position of the semicolon outside single quotes that ends the first command of a
/// text.
fn command_end(text: &[u8]) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    text.iter().position(|byte| {
        let free = !std::mem::take(&mut escaped);
        match byte {
            b'\'' if free => quoted = !quoted,
            b'\\' if free && !quoted => escaped = true,
            _ => {}
        }
        matches!(byte, b';' | b'\n') && free && !quoted
    })
}

/// `[[ a == ${x[@]^} ]]`: if a scalar is written as a list and `IFS` has no blank, bash 5.2 treats
/// the result of an operator on it as empty.
fn scalars_in_conditions(script: &[u8]) -> Vec<u8> {
    const LIST: &[u8] = b"[@]";
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    let mut inside = false;
    while let Some(byte) = rest.first() {
        inside = rest.starts_with(b"[[ ") || inside && !rest.starts_with(b" ]]");
        if inside && rest.starts_with(LIST) {
            rest = &rest[LIST.len()..];
            continue;
        }
        out.push(*byte);
        rest = &rest[1..];
    }
    out
}

/// `${y#${x[*]^}}`: bash 5.2 makes the same mistake in patterns. Writes the generator's scalars
/// without a list.
fn scalars_as_lists(script: &[u8]) -> Vec<u8> {
    let lists: [(&[u8], &[u8]); 3] = [(b"{e[*]", b"{e"), (b"{a[@]", b"{a"), (b"{u[@]", b"{u")];
    lists.iter().fold(script.to_vec(), |text, (list, plain)| replaced(&text, list, plain))
}

/// `case 0 in 0"${x/a/b}")`: if the result is null, bash 5.2 leaves a mark of the quotes in the
/// pattern, but not in `0""${x/a/b}`. That means the same as long as the value has nothing to
/// match.
fn quotes_before_operators(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut inside = false;
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let pattern = inside && !line.starts_with(b";");
        inside |= contains(line, b"case ") && line.ends_with(b" in\n");
        inside &= !line.starts_with(b"esac");
        let mut rest = line;
        while let Some(at) = position(rest, b"\"${").filter(|_| pattern) {
            let close = closing_brace(&rest[at + 1..]).map(|length| at + 1 + length);
            let name =
                rest[at + 3..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let behind = &rest[at + 3 + name..];
            let element = position(behind, b"]").filter(|_| behind.starts_with(b"["));
            let operator = behind.get(element.map_or(0, |end| end + 1));
            let operator = operator.is_some_and(|byte| b"/:^,~@".contains(byte));
            match close.filter(|close| operator && rest.get(*close) == Some(&b'"')) {
                Some(close) => {
                    out.extend_from_slice(&rest[..at]);
                    out.extend_from_slice(b"\"\"");
                    out.extend_from_slice(&rest[at + 1..close]);
                    rest = &rest[close + 1..];
                }
                None => {
                    out.extend_from_slice(&rest[..at + 3]);
                    rest = &rest[at + 3..];
                }
            }
        }
        out.extend_from_slice(rest);
    }
    out
}

/// Returns the length of the `${...}` with which a text begins.
fn closing_brace(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    text.iter()
        .position(|byte| {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            *byte == b'}' && depth == 0
        })
        .map(|last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings() {
        let names = |script: &[u8]| spellings(script).count();
        assert_eq!(blank_behind_nested(b"((a)\n b); (c)\n"), b"((a) \n b); (c)\n");
        assert_eq!(blank_behind_nested(b"(((a) )\n)\n"), b"(((a) ) \n)\n");
        assert_eq!(blank_behind_nested(b"((a) ; (b)\n)\n"), b"((a) ; (b)\n)\n");
        assert_eq!(
            newline_for_semicolon(b"<<E; p \"${PIPESTATUS[@]}\""),
            b"<<E\n p \"${PIPESTATUS[@]}\""
        );
        assert_eq!(blank_behind_comparison(b"${x:3>(#)} < <(a)"), b"${x:3> (#)} < <(a)");
        assert_eq!(
            braced_process_number(b"\"$${b:?\"${n:=~}\"$$\"$$(a)"),
            b"\"${$}{b:?\"${n:=~}\"$$\"${$}(a)"
        );
        assert_eq!(both_outputs(b"a >&\\' 2>&1"), b"a &>\\' 2>&1");
        assert_eq!(
            at_for_star(b"IFS=\np $* \"${a/x/$(p $* ${*^} ${a[*]#b} a$* ${b*})}\"\n"),
            b"IFS=\np $* \"${a/x/$(p $@ ${@^} ${a[@]#b} a$* ${b*})}\"\n"
        );
        assert_eq!(at_behind_error(b"IFS=\np $* \"$*\"\n"), b"IFS=\np $@ \"$*\"\n");
        assert_eq!(at_for_star(b"IFS=\np $*\n"), b"IFS=\np $*\n");
        assert_eq!(at_for_star(b"x=$(p $* b)"), b"x=$(p $* b)");
        assert_eq!(quoted_ampersands(b"$({ p \\& \\&; })"), b"$({ p \\& '&'; })");
        assert_eq!(
            text_in_subshell(b"{ eval '[[; '\\'' echo $?'; echo $?\n. ./f9; echo $?; eval x"),
            b"{ ( eval '[[; '\\'' echo $?' ); echo $?\n( . ./f9 ); echo $?; eval x"
        );
        assert_eq!(
            eval_in_subshell(b"eval '[['; echo $?\n. ./f9; echo $?"),
            b"( eval '[[' ); echo $?\n. ./f9; echo $?"
        );
        assert_eq!(
            text_in_subshell(b"eval 'z y'\neval 'z'; p\n"),
            b"( eval 'z y' )\neval 'z'; p\n"
        );
        assert_eq!(
            scalars_in_conditions(b"[[ a < ${x[@]^} ]]; ${x[@]}"),
            b"[[ a < ${x^} ]]; ${x[@]}"
        );
        assert_eq!(
            words_from_variables(b"do case \"${e^}\"x in\ncase x in\n"),
            b"do word_=\"${e^}\"x; case $word_ in\ncase x in\n"
        );
        assert_eq!(global_assoc(b"f() { declare -g m=(a); }"), b"f() { declare -gA m=(a); }");
        assert_eq!(scalars_as_lists(b"${e[*]#${e[*]^}} ${#a[@]}"), b"${e#${e^}} ${#a[@]}");
        assert_eq!(
            quotes_before_operators(
                b"{ case 0 in\n0\"${b/%\"$a\"/x}\" | \"$b\") p \"$c\"\n;;\n\"${b[0]:1}${a[1]}\") \n;;\nesac\n"
            ),
            b"{ case 0 in\n0\"\"${b/%\"$a\"/x} | \"$b\") p \"$c\"\n;;\n\"${b[0]:1}${a[1]}\") \n;;\nesac\n"
        );
        assert_eq!(
            quotes_before_operators(b"case a in\na\"${e[*]:0}\") c\nesac\n"),
            b"case a in\na\"\"${e[*]:0}) c\nesac\n"
        );
        assert_eq!(
            doubled_backslashes(b"IFS='\\'\ncat <<E; a\n\\\"$@ \\$ \\\\ \\x\nE\n\\x\n"),
            b"IFS='\\'\ncat <<E; a\n\\\\\"$@ \\$ \\\\ \\\\x\nE\n\\x\n"
        );
        assert_eq!(other_separator(b"IFS='\\'; p \"$@\\'\""), b"IFS='%'; p \"$@\\'\"");
        assert_eq!(names(b"a; p \"${PIPESTATUS[@]}\"; (a)\n"), 0);
    }
}
