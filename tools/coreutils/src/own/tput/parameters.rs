//! Parametrised strings (terminfo(5), "Parameterized Strings"): a small machine with a stack.

/// How many parameters a text takes: the highest of its `%p1` to `%p9`.
pub(super) fn count(text: &[u8]) -> usize {
    let digits = text.windows(3).filter(|w| w[0] == b'%' && w[1] == b'p').map(|w| w[2]);
    digits.filter(u8::is_ascii_digit).map(|d| usize::from(d - b'0')).max().unwrap_or(0)
}

/// The text with its parameters put in. What is no number counts as 0.
pub(super) fn fill(text: &[u8], given: &[Vec<u8>]) -> Vec<u8> {
    let mut parameters = [0i64; 9];
    for (to, from) in parameters.iter_mut().zip(given) {
        *to = std::str::from_utf8(from).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    }
    let mut out = Vec::new();
    let mut stack: Vec<i64> = Vec::new();
    let mut variables = [0i64; 52];
    let mut rest = text;
    while let Some((c, tail)) = rest.split_first() {
        rest = tail;
        if *c != b'%' {
            out.push(*c);
            continue;
        }
        let Some((op, tail)) = rest.split_first() else { break };
        let before = rest;
        rest = tail;
        let mut pop = || stack.pop().unwrap_or(0);
        match op {
            b'%' => out.push(b'%'),
            b'i' => {
                parameters[0] += 1;
                parameters[1] += 1;
            }
            b'c' => out.push(pop() as u8),
            b'p' => {
                let n = rest.first().map_or(0, |d| usize::from(d.wrapping_sub(b'1')));
                stack.push(parameters.get(n).copied().unwrap_or(0));
                rest = rest.get(1..).unwrap_or_default();
            }
            b'{' => {
                let end = rest.iter().position(|c| *c == b'}').unwrap_or(rest.len());
                let number = std::str::from_utf8(&rest[..end]).ok().and_then(|t| t.parse().ok());
                stack.push(number.unwrap_or(0));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            b'\'' => {
                stack.push(rest.first().map_or(0, |c| i64::from(*c)));
                rest = rest.get(2..).unwrap_or_default();
            }
            b'P' | b'g' => {
                let slot = match rest.first() {
                    Some(c @ b'a'..=b'z') => usize::from(c - b'a'),
                    Some(c @ b'A'..=b'Z') => usize::from(c - b'A') + 26,
                    _ => 0,
                };
                rest = rest.get(1..).unwrap_or_default();
                if *op == b'P' {
                    variables[slot] = pop();
                } else {
                    stack.push(variables[slot]);
                }
            }
            b'+' | b'-' | b'*' | b'/' | b'm' | b'&' | b'|' | b'^' | b'=' | b'<' | b'>' | b'A'
            | b'O' => {
                let (b, a) = (pop(), pop());
                stack.push(binary(*op, a, b));
            }
            b'!' => {
                let v = pop();
                stack.push(i64::from(v == 0));
            }
            b'~' => {
                let v = pop();
                stack.push(!v);
            }
            b'?' | b';' => {}
            b't' => {
                if pop() == 0 {
                    rest = skip(rest, true);
                }
            }
            b'e' => rest = skip(rest, false),
            _ => {
                // A number's format: flags, width, precision, and the letter.
                let end = before.iter().position(|c| matches!(c, b'd' | b'o' | b'x' | b'X' | b's'));
                let Some(end) = end.filter(|e| *e < 8) else { continue };
                format(&before[..end], before[end], pop(), &mut out);
                rest = &before[end + 1..];
            }
        }
    }
    out
}

fn binary(op: u8, a: i64, b: i64) -> i64 {
    match op {
        b'+' => a.wrapping_add(b),
        b'-' => a.wrapping_sub(b),
        b'*' => a.wrapping_mul(b),
        b'/' => a.checked_div(b).unwrap_or(0),
        b'm' => a.checked_rem(b).unwrap_or(0),
        b'&' => a & b,
        b'|' => a | b,
        b'^' => a ^ b,
        b'=' => i64::from(a == b),
        b'<' => i64::from(a < b),
        b'>' => i64::from(a > b),
        b'A' => i64::from(a != 0 && b != 0),
        _ => i64::from(a != 0 || b != 0),
    }
}

/// Behind the end of a branch: its `%;`, or its `%e` if that counts.
fn skip(mut rest: &[u8], to_else: bool) -> &[u8] {
    let mut depth = 0;
    while let Some(at) = rest.windows(2).position(|w| w[0] == b'%') {
        let op = rest[at + 1];
        rest = &rest[at + 2..];
        match op {
            b'?' => depth += 1,
            b';' if depth == 0 => return rest,
            b';' => depth -= 1,
            b'e' if depth == 0 && to_else => return rest,
            _ => {}
        }
    }
    &[]
}

fn format(flags: &[u8], letter: u8, value: i64, out: &mut Vec<u8>) {
    let text = match letter {
        b'o' => format!("{value:o}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let digits: String =
        flags.iter().filter(|c| c.is_ascii_digit()).map(|c| char::from(*c)).collect();
    let zeros = digits.starts_with('0');
    let width: usize = digits.parse().unwrap_or(0).min(64);
    let text = if zeros { format!("{text:0>width$}") } else { format!("{text:>width$}") };
    out.extend_from_slice(text.as_bytes());
}
