//! Parametrised strings (terminfo(5), "Parameterized Strings"), which a small stack machine
//! expands.

/// Returns the number of parameters that a text takes, which is the highest of its `%p1` to `%p9`.
pub(super) fn count_parameters(text: &[u8]) -> usize {
    let digits = text.windows(3).filter(|w| w[0] == b'%' && w[1] == b'p').map(|w| w[2]);
    digits.filter(u8::is_ascii_digit).map(|d| usize::from(d - b'0')).max().unwrap_or(0)
}

/// Returns a text with its parameters filled in. A parameter that is not a number counts as 0.
pub(super) fn fill_parameters(text: &[u8], given: &[Vec<u8>]) -> Vec<u8> {
    let mut machine = ParameterMachine {
        parameters: [0; 9],
        variables: [0; 52],
        stack: Vec::new(),
        rest: text,
        out: Vec::new(),
    };
    for (to, from) in machine.parameters.iter_mut().zip(given) {
        *to = std::str::from_utf8(from).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    }
    while let Some(c) = machine.next() {
        if c != b'%' {
            machine.out.push(c);
        } else if !machine.run_operator() {
            break;
        }
    }
    machine.out
}

struct ParameterMachine<'t> {
    parameters: [i64; 9],
    variables: [i64; 52],
    stack: Vec<i64>,
    rest: &'t [u8],
    out: Vec<u8>,
}

impl ParameterMachine<'_> {
    fn next(&mut self) -> Option<u8> {
        let (c, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*c)
    }

    fn pop(&mut self) -> i64 {
        self.stack.pop().unwrap_or(0)
    }

    /// Runs the operator after a `%`; returns false at the end of the text.
    fn run_operator(&mut self) -> bool {
        let before = self.rest;
        let Some(op) = self.next() else { return false };
        match op {
            b'%' => self.out.push(b'%'),
            b'i' => {
                self.parameters[0] += 1;
                self.parameters[1] += 1;
            }
            b'c' => {
                let c = self.pop() as u8;
                self.out.push(c);
            }
            b'p' | b'{' | b'\'' => self.push(op),
            b'P' | b'g' => self.run_variable(op),
            b'+' | b'-' | b'*' | b'/' | b'm' | b'&' | b'|' | b'^' | b'=' | b'<' | b'>' | b'A'
            | b'O' => {
                let (b, a) = (self.pop(), self.pop());
                self.stack.push(apply_binary(op, a, b));
            }
            b'!' => {
                let v = self.pop();
                self.stack.push(i64::from(v == 0));
            }
            b'~' => {
                let v = self.pop();
                self.stack.push(!v);
            }
            b'?' | b';' => {}
            b't' => {
                if self.pop() == 0 {
                    self.rest = skip_branch(self.rest, true);
                }
            }
            b'e' => self.rest = skip_branch(self.rest, false),
            _ => {
                // The format of a number has flags, a width, a precision, and the letter.
                let end = before.iter().position(|c| matches!(c, b'd' | b'o' | b'x' | b'X' | b's'));
                let Some(end) = end.filter(|e| *e < 8) else { return true };
                let value = self.pop();
                format_value(&before[..end], before[end], value, &mut self.out);
                self.rest = &before[end + 1..];
            }
        }
        true
    }

    /// Pushes the value of `%p1`, `%{12}` or `%'c'`.
    fn push(&mut self, op: u8) {
        let (value, used) = match op {
            b'p' => {
                let n = self.rest.first().map_or(0, |d| usize::from(d.wrapping_sub(b'1')));
                (self.parameters.get(n).copied(), 1)
            }
            b'{' => {
                let end = self.rest.iter().position(|c| *c == b'}').unwrap_or(self.rest.len());
                let digits = std::str::from_utf8(&self.rest[..end]).ok();
                (digits.and_then(|t| t.parse().ok()), end + 1)
            }
            _ => (self.rest.first().map(|c| i64::from(*c)), 2),
        };
        self.stack.push(value.unwrap_or(0));
        self.rest = self.rest.get(used..).unwrap_or_default();
    }

    /// Sets a variable (`%Pa`) or pushes its value (`%ga`).
    fn run_variable(&mut self, op: u8) {
        let slot = match self.next() {
            Some(c @ b'a'..=b'z') => usize::from(c - b'a'),
            Some(c @ b'A'..=b'Z') => usize::from(c - b'A') + 26,
            _ => 0,
        };
        if op == b'P' {
            self.variables[slot] = self.pop();
        } else {
            self.stack.push(self.variables[slot]);
        }
    }
}

fn apply_binary(op: u8, a: i64, b: i64) -> i64 {
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

/// Returns the text after the end of a branch, which is its `%;`, or with `to_else` also its `%e`.
fn skip_branch(mut rest: &[u8], to_else: bool) -> &[u8] {
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

fn format_value(flags: &[u8], letter: u8, value: i64, out: &mut Vec<u8>) {
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
