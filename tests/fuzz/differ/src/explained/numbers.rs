//! Masks line numbers where both shells print one but the numbers may differ. After abandoning a
//! command of several lines, bash continues to count from the line of the error, and for some
//! commands it reports the first or the last line.

use crate::compare::contains;

/// Returns the output with `N` in place of each line number. A number counts as a line number if it
/// follows the word `line` and precedes a colon, or if the script got it from `LINENO` or `caller`.
pub fn masked(script: &[u8], text: &[u8]) -> Vec<u8> {
    // Bash may count the lines of a command more than once: at its beginning, and when its content
    // is read again.
    let lines = 3 * script.split(|b| *b == b'\n').count() as u64;
    // If `IFS` splits a message at colons, its number is a separate word.
    let split = contains(script, b"IFS=");
    let text = in_messages(text, lines, split);
    if contains(script, b"LINENO") || contains(script, b"caller") {
        from_variable(script, &text, lines)
    } else {
        text
    }
}

fn in_messages(text: &[u8], lines: u64, split: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut word: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        if byte.is_ascii_alphabetic() {
            let end = run(text, at, u8::is_ascii_alphabetic);
            word = text[at..end].to_ascii_lowercase();
            out.extend_from_slice(&text[at..end]);
            at = end;
        } else if byte.is_ascii_digit() {
            let end = run(text, at, u8::is_ascii_digit);
            let apart = [&b"[line]["[..], b" line "].iter().any(|t| text[..at].ends_with(t));
            let alone = split && apart && text.get(end) == Some(&b']');
            let is_number = word == b"line" && (text.get(end) == Some(&b':') || alone);
            if is_number && is_line(&text[at..end], lines) {
                out.push(b'N');
                word.clear();
            } else {
                out.extend_from_slice(&text[at..end]);
            }
            at = end;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    out
}

/// Finds numbers in the ways in which generated scripts print `LINENO`: `echo T:$?:$LINENO`, `echo
/// ${BASH_VERSINFO[0]} $BASH_SUBSHELL $LINENO`, `echo $((LINENO)) ${#BASH_LINENO[@]}`, and the
/// output of `caller`.
fn from_variable(script: &[u8], text: &[u8], lines: u64) -> Vec<u8> {
    let calls = contains(script, b"echo $((LINENO)) ${#BASH_LINENO[@]}");
    let levels = contains(script, b"$BASH_SUBSHELL $LINENO");
    let traps = contains(script, b"echo T:$?:$LINENO");
    let caller = contains(script, b"caller");
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let apart = at == 0 || !text[at - 1].is_ascii_alphanumeric();
        let rest = &text[at..];
        let found = match () {
            // `printf %d x` may have left digits before it.
            () if traps && rest.starts_with(b"T:") => shape(rest, b"T:#:", b""),
            // The number comes from a substitution with any text around it, or it was read as two
            // words.
            () if levels && rest[0] == b'5' && !behind_digit(text, at) => {
                begun(rest, b"5 # ").or_else(|| begun(rest, b"5][# "))
            }
            () if !apart => None,
            () if !rest[0].is_ascii_digit() => None,
            () => {
                let without_line = caller.then(|| shape(rest, b"", b" ../s.sh"));
                let counted = || shape(rest, b"", b" #").or_else(|| shape(rest, b"", b"][1]"));
                without_line.flatten().or_else(|| calls.then(counted).flatten())
            }
        };
        match found.filter(|(start, end, _)| is_line(&rest[*start..*end], lines)) {
            Some((start, end, whole)) => {
                out.extend_from_slice(&rest[..start]);
                out.push(b'N');
                out.extend_from_slice(&rest[end..whole]);
                at += whole;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Returns the start and the end of a number between `before` and `after`, and the end of `after`.
/// A `#` in `before` or `after` stands for any number. No letter or digit may follow.
fn shape(text: &[u8], before: &[u8], after: &[u8]) -> Option<(usize, usize, usize)> {
    let (start, end, _) = begun(text, before)?;
    let whole = pass(text, end, after)?;
    let goes_on = text.get(whole).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on).then_some((start, end, whole))
}

/// Does the same as [`shape`], but accepts any text after the number.
fn begun(text: &[u8], before: &[u8]) -> Option<(usize, usize, usize)> {
    let start = pass(text, 0, before)?;
    let end = pass(text, start, b"#")?;
    Some((start, end, end))
}

fn behind_digit(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1].is_ascii_digit()
}

fn pass(text: &[u8], mut at: usize, pattern: &[u8]) -> Option<usize> {
    for byte in pattern {
        at = match byte {
            b'#' => Some(run(text, at, u8::is_ascii_digit)).filter(|end| *end > at)?,
            byte => (text.get(at) == Some(byte)).then_some(at + 1)?,
        };
    }
    Some(at)
}

fn run(text: &[u8], from: usize, class: fn(&u8) -> bool) -> usize {
    text[from..].iter().position(|b| !class(b)).map_or(text.len(), |n| from + n)
}

fn is_line(digits: &[u8], lines: u64) -> bool {
    let number = std::str::from_utf8(digits).ok().and_then(|d| d.parse::<u64>().ok());
    number.is_some_and(|n| n <= lines)
}

#[cfg(test)]
mod tests {
    use super::masked;

    fn same(script: &str, a: &str, b: &str) -> bool {
        masked(script.as_bytes(), a.as_bytes()) == masked(script.as_bytes(), b.as_bytes())
    }

    #[test]
    fn numbers_of_lines_only() {
        let script = "1\n2\n3\n4\n5\n";
        assert!(same(script, "s.sh: line 2: x: y\n", "s.sh: line 5: x: y\n"));
        assert!(same(script, "[s.sh:][line][2:][x]\n", "[s.sh:][line][4:][x]\n"));
        assert!(same(script, "S.SH: LINE 2: X\n", "S.SH: LINE 4: X\n"));
        assert!(same(script, "[1][line]\n[1][2:]\n", "[1][line]\n[1][3:]\n"));
        let split = "IFS=:\n2\n3\n4\n5\n";
        assert!(same(split, "[s.sh][line][2][x]\n", "[s.sh][line][4][x]\n"));
        assert!(same(split, "[s.sh][ line 2][ x]\n", "[s.sh][ line 4][ x]\n"));
        assert!(!same(script, "[s.sh][ line 2][ x]\n", "[s.sh][ line 4][ x]\n"));
        assert!(!same(split, "[s.sh][lines][2][x]\n", "[s.sh][lines][4][x]\n"));
        assert!(!same(script, "[s.sh][line][2][x]\n", "[s.sh][line][4][x]\n"));
        // The line numbers are too large, the numbers are not line numbers, or the text differs.
        assert!(!same(script, "line 2: x\n", "line 20: x\n"));
        assert!(!same(script, "line 2: 1\n", "line 2: 2\n"));
        assert!(!same(script, "line 2: x\n", "line 3: y\n"));
        assert!(!same(script, "line one\n2\n", "line one\n3\n"));
        assert!(!same(script, "line\n[2][a]\n", "line\n[3][a]\n"));
        assert!(!same(script, "1\n", "2\n"));
    }

    #[test]
    fn numbers_of_the_variable() {
        let calls = "\n\n\necho $((LINENO)) ${#BASH_LINENO[@]}\n";
        assert!(same(calls, "2 1\n", "3 1\n"));
        assert!(same(calls, "[2][2][1]\n", "[2][3][1]\n"));
        assert!(!same(calls, "2 1\n", "2 2\n"));
        assert!(!same(calls, "2\n", "3\n"));
        let levels = "\n\n\necho ${BASH_VERSINFO[0]} $BASH_SUBSHELL $LINENO\n";
        assert!(same(levels, "5 0 2\n", "5 0 4\n"));
        assert!(!same(levels, "5 0 2\n", "5 1 2\n"));
        assert!(same(levels, "x5 0 2a\n", "x5 0 4a\n"));
        assert!(same(levels, "[2][5][1 2]\n", "[2][5][1 4]\n"));
        assert!(!same(levels, "[2][5][1 2]\n", "[2][5][2 2]\n"));
        assert!(!same(levels, "15 0 2\n", "15 0 4\n"));
        let trap = "\n\ntrap 'echo T:$?:$LINENO' EXIT\n";
        assert!(same(trap, "T:0:1\n", "T:0:3\n"));
        assert!(same(trap, "000T:0:1\n", "000T:0:3\n"));
        assert!(!same(trap, "T:0:1\n", "T:1:1\n"));
        assert!(!same("\n\n\n", "T:0:1\n", "T:0:3\n"));
        let caller = "f() {\n caller\n}\n\nf\n";
        assert!(same(caller, "3 ../s.sh\n", "5 ../s.sh\n"));
        assert!(!same(caller, "3 f ../s.sh\n", "5 ../s.sh\n"));
        assert!(!same(caller, "[1][3]\n", "[1][5]\n"));
        assert!(!same("\n\n\n", "1 ../s.sh\n", "3 ../s.sh\n"));
    }
}
