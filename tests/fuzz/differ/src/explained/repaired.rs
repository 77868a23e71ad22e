//! Replaces text of a script that bash reads differently, for the rules of `repair`.

use crate::compare::position;

/// Replaces each quoted special character in `=(...)` by a letter. With `comments`, parentheses in
/// anything that looks like a comment there are not counted.
pub fn without_quoted(script: &[u8], comments: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    let mut depth = 0usize;
    while let Some(&byte) = rest.first() {
        let inside = depth > 0;
        let quoted = rest.get(1).filter(|_| byte == b'\\');
        let special = quoted.is_some_and(|next| b"&'\"`|;<>() ".contains(next));
        let taken = match () {
            () if inside && rest.starts_with(b"'\\''") => 4,
            () if inside && special => 2,
            () => 0,
        };
        if taken > 0 {
            out.push(b'x');
            rest = &rest[taken..];
            continue;
        }
        let comment = comments && inside && byte == b'#' && out.ends_with(b" ");
        if comment {
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            out.extend_from_slice(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        match byte {
            b'(' if inside || out.ends_with(b"=") => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let length = if quoted.is_some() { 2 } else { 1 };
        out.extend_from_slice(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Replaces each quote and NUL in a `$'...'` by a letter.
pub fn plain_ansi(script: &[u8]) -> Vec<u8> {
    const MAKERS: &[&[u8]] = &[
        b"\\'", b"\\\"", b"\\`", b"\"", b"`", b"\\x00", b"\\x0", b"\\000", b"\\00", b"\\0",
        b"\\400",
    ];
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    let mut inside = false;
    while let Some(&byte) = rest.first() {
        if !inside && rest.starts_with(b"$'") {
            inside = true;
            out.extend_from_slice(b"$'");
            rest = &rest[2..];
            continue;
        }
        let maker = MAKERS.iter().find(|maker| inside && rest.starts_with(maker));
        match maker {
            Some(maker) => {
                out.push(b'q');
                rest = &rest[maker.len()..];
            }
            None if inside && byte == b'\\' && rest.len() > 1 => {
                out.extend_from_slice(&rest[..2]);
                rest = &rest[2..];
            }
            None => {
                inside &= byte != b'\'';
                out.push(byte);
                rest = &rest[1..];
            }
        }
    }
    out
}

/// Replaces each `[=a=]` by `a`.
pub fn without_classes(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = position(rest, b"[=") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 2..];
        match position(rest, b"=]").filter(|end| (1..=4).contains(end)) {
            Some(end) => {
                out.extend_from_slice(&rest[..end]);
                rest = &rest[end + 2..];
            }
            None => out.extend_from_slice(b"[="),
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Switches `-E` off around each ERR action. Otherwise, with `set -E; trap '(false)' ERR`, bash 5.2
/// runs the action again in the action's own subshell, and so on.
pub fn trap_not_inherited(script: &[u8]) -> Vec<u8> {
    with_actions(script, b"' ERR", b"set +E; ", b"; set -E")
}

/// Makes each EXIT action check that it runs in the main shell. Otherwise, with `trap 'echo' EXIT;
/// : "${}" | cat`, bash also runs the action when the expansion of a simple command fails in a
/// pipeline or in the background.
pub fn trap_of_main_shell(script: &[u8]) -> Vec<u8> {
    with_actions(script, b"' EXIT", b"case $BASHPID in $$) ", b";; esac")
}

/// Puts commands around the quoted action of each trap whose text ends with `end`.
fn with_actions(script: &[u8], end: &[u8], before: &[u8], behind: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = position(rest, b"trap '") {
        let (head, action) = rest.split_at(at + b"trap '".len());
        let Some(length) = position(action, end).filter(|n| !action[..*n].contains(&b'\n')) else {
            out.extend_from_slice(head);
            rest = action;
            continue;
        };
        out.extend([head, before, &action[..length], behind, end].concat());
        rest = &action[length + end.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Replaces `~:a$x` by `\~:a$x`; does the same for `~+` and `~-`.
pub fn quoted_tildes(script: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(script.len());
    for (at, byte) in script.iter().enumerate() {
        if *byte == b'~' && !out.ends_with(b"\\") {
            let rest = &script[at + 1..];
            let rest = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"-")).unwrap_or(rest);
            // `~{:a$x,b}`
            let rest = rest.strip_prefix(b"{").unwrap_or(rest);
            let plain = |b: &&u8| !b" \t\n'\"\\/$`".contains(b);
            let length = rest.iter().take_while(plain).count();
            if rest.starts_with(b":") && matches!(rest.get(length), Some(b'$' | b'`')) {
                out.push(b'\\');
            }
        }
        out.push(*byte);
    }
    out
}

/// Replaces the first `; ` after each here-document by a newline, because bash loses it when it
/// prints a substitution.
pub fn apart_behind_documents(script: &[u8]) -> Vec<u8> {
    const COMMANDS: &[&[u8]] = &[b"; echo", b"; p ", b"; cat"];
    let mut out = Vec::with_capacity(script.len());
    let mut behind = false;
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let next = COMMANDS.iter().filter_map(|command| position(line, command)).min();
        match next.filter(|_| behind) {
            Some(at) => {
                behind = false;
                out.extend_from_slice(&line[..at]);
                out.push(b'\n');
                out.extend_from_slice(&line[at + 2..]);
            }
            None => out.extend_from_slice(line),
        }
        behind |= matches!(line.trim_ascii(), b"EOF" | b"E F");
    }
    out
}

/// Puts braces around each name before a `$'...'`, because in quoted operands bash joins the value
/// of the `$'...'` to the name.
pub fn names_apart(script: &[u8]) -> Vec<u8> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = position(rest, b"$") {
        let (before, name) = (&rest[..at], &rest[at + 1..]);
        let length = name.iter().take_while(|byte| is_name(byte)).count();
        out.extend_from_slice(before);
        if length > 0 && name[length..].starts_with(b"$'") {
            out.extend_from_slice(&[b"${", &name[..length], b"}"].concat())
        } else {
            out.extend_from_slice(&rest[at..at + 1 + length])
        }
        rest = &name[length..];
    }
    out.extend_from_slice(rest);
    out
}

/// Replaces `declare r` without a value by `: r`.
pub fn undeclared_reference(script: &[u8]) -> Vec<u8> {
    const DECLARES: &[&[u8]] = &[b"declare r", b"declare - r"];
    let mut out = Vec::with_capacity(script.len());
    let mut rest = script;
    while let Some(&byte) = rest.first() {
        let declares = DECLARES.iter().find(|words| rest.starts_with(words)).filter(|words| {
            let behind = rest.get(words.len());
            behind.is_none_or(|c| !c.is_ascii_alphanumeric() && !b"_=+[".contains(c))
        });
        match declares {
            Some(words) => {
                out.extend_from_slice(b": r");
                rest = &rest[words.len()..];
            }
            None => {
                out.push(byte);
                rest = &rest[1..];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_replaced() {
        assert_eq!(plain_ansi(b"$'a\\'\"b\\n\\0' '\\0'"), b"$'aqqb\\nq' '\\0'");
        assert_eq!(without_quoted(b"a=(\\&\\  'x'\\''y' \\n)", false), b"a=(xx 'xxy' \\n)");
        let commented = b"a=(#\\&) \\&\nb=(a #\\&)\n\\&)\\&";
        assert_eq!(without_quoted(commented, true), b"a=(#x) \\&\nb=(a #\\&)\nx)\\&");
        assert_eq!(without_quoted(commented, false), b"a=(#x) \\&\nb=(a #x)\n\\&)\\&");
        assert_eq!(
            without_quoted(b"IFS='\\' \\&; a=(\\\\)\\'", false),
            b"IFS='\\' \\&; a=(\\\\)\\'"
        );
        assert_eq!(
            trap_not_inherited(b"set -E; trap '(a)' ERR; trap b EXIT\ntrap '' 0\n"),
            b"set -E; trap 'set +E; (a); set -E' ERR; trap b EXIT\ntrap '' 0\n"
        );
        assert_eq!(
            trap_of_main_shell(b"trap 'a; b' EXIT; trap c EXIT"),
            b"trap 'case $BASHPID in $$) a; b;; esac' EXIT; trap c EXIT"
        );
        assert_eq!(quoted_tildes(b"~:$x ~+{:a`b`,c} ~:a ~/:$x"), b"\\~:$x \\~+{:a`b`,c} ~:a ~/:$x");
        assert_eq!(names_apart(b"$r$'a' $r'a' $$'a' $r$s$'b'"), b"${r}$'a' $r'a' $$'a' $r${s}$'b'");
        assert_eq!(
            apart_behind_documents(b"a; echo\ncat <<EOF\n\tEOF\nx\ny; echo a; echo b\nc; p x\n"),
            b"a; echo\ncat <<EOF\n\tEOF\nx\ny\necho a; echo b\nc; p x\n"
        );
        let declared = b"declare r; declare - r|declare r=1; declare re";
        assert_eq!(undeclared_reference(declared), b": r; : r|declare r=1; declare re");
        assert_eq!(without_classes(b"[[=a=]b] [=] [[=.=]]"), b"[ab] [=] [.]");
    }
}
