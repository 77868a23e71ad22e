//! `test` and `[` (POSIX XCU, bash manual 6.4): the meaning depends on the number of
//! arguments, with a recursive grammar for more than four.

use box_sys::{Kind, meta};
use sh_expand::Str;

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};

/// Bound of parentheses and negations.
const MAX_DEPTH: u32 = 200;

enum Stop {
    /// A message for status 2.
    Message(Vec<u8>),
    Unwind(Unwind),
}

type Truth = Result<bool, Stop>;

fn fail(parts: &[&[u8]]) -> Stop {
    Stop::Message(parts.concat())
}

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut args = call.args();
    if call.name() == b"[" {
        match args.split_last() {
            Some((last, rest)) if last.as_slice() == b"]" => args = rest,
            _ => {
                shell.builtin_error(call.name(), &[b"missing `]'"]);
                return Ok(2);
            }
        }
    }
    let mut parser = Parser { shell, args, at: 0, depth: 0 };
    match parser.by_count() {
        Ok(b) => Ok(i32::from(!b)),
        Err(Stop::Message(m)) => {
            shell.builtin_error(call.name(), &[&m]);
            Ok(2)
        }
        Err(Stop::Unwind(u)) => Err(u),
    }
}

struct Parser<'s, 'a> {
    shell: &'s mut Shell<'a>,
    args: &'s [Str],
    at: usize,
    depth: u32,
}

fn is_binary(op: &[u8]) -> bool {
    matches!(
        op,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

fn is_unary(op: &[u8]) -> bool {
    matches!(op, [b'-', c] if b"abcdefghknoprstuvwxzGLNORS".contains(c))
}

impl Parser<'_, '_> {
    /// POSIX's table by the number of arguments.
    fn by_count(&mut self) -> Truth {
        let args = self.args;
        match args {
            [] => Ok(false),
            [one] => Ok(!one.is_empty()),
            [a, b] => self.two(a, b),
            [a, b, c] => self.three(a, b, c),
            [a, b, c, d] => {
                if a.as_slice() == b"!" {
                    return self.three(b, c, d).map(|t| !t);
                }
                if a.as_slice() == b"(" && d.as_slice() == b")" {
                    return self.two(b, c);
                }
                self.whole()
            }
            _ => self.whole(),
        }
    }

    fn two(&mut self, a: &Str, b: &Str) -> Truth {
        if a.as_slice() == b"!" {
            return Ok(b.is_empty());
        }
        if is_unary(a) {
            return self.unary(a, b);
        }
        Err(fail(&[a, b": unary operator expected"]))
    }

    fn three(&mut self, a: &Str, b: &Str, c: &Str) -> Truth {
        if is_binary(b) {
            return self.binary(a, b, c);
        }
        match b.as_slice() {
            b"-a" => return Ok(!a.is_empty() && !c.is_empty()),
            b"-o" => return Ok(!a.is_empty() || !c.is_empty()),
            _ => {}
        }
        if a.as_slice() == b"!" {
            return self.two(b, c).map(|t| !t);
        }
        if a.as_slice() == b"(" && c.as_slice() == b")" {
            return Ok(!b.is_empty());
        }
        Err(fail(&[b, b": binary operator expected"]))
    }

    fn whole(&mut self) -> Truth {
        let t = self.or()?;
        match self.args.get(self.at) {
            None => Ok(t),
            Some(a) if a.starts_with(b"-") => Err(fail(&[b"syntax error: `", a, b"' unexpected"])),
            Some(_) => Err(fail(&[b"too many arguments"])),
        }
    }

    fn peek(&self) -> Option<&[u8]> {
        self.args.get(self.at).map(|a| a.as_slice())
    }

    fn or(&mut self) -> Truth {
        let mut t = self.and()?;
        while self.peek() == Some(b"-o") {
            self.at += 1;
            let r = self.and()?;
            t |= r;
        }
        Ok(t)
    }

    fn and(&mut self) -> Truth {
        let mut t = self.term()?;
        while self.peek() == Some(b"-a") {
            self.at += 1;
            let r = self.term()?;
            t &= r;
        }
        Ok(t)
    }

    fn term(&mut self) -> Truth {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(fail(&[b"expression too deeply nested"]));
        }
        let r = self.term_inner();
        self.depth -= 1;
        r
    }

    fn term_inner(&mut self) -> Truth {
        let args = self.args;
        let Some(first) = args.get(self.at) else { return Err(fail(&[b"argument expected"])) };
        if first.as_slice() == b"!" {
            self.at += 1;
            return self.term().map(|t| !t);
        }
        if first.as_slice() == b"(" {
            self.at += 1;
            let t = self.or()?;
            if self.peek() != Some(b")") {
                return Err(match self.peek() {
                    None => fail(&[b"`)' expected"]),
                    Some(p) => fail(&[b"`)' expected, found ", p]),
                });
            }
            self.at += 1;
            return Ok(t);
        }
        if let (Some(op), Some(right)) = (args.get(self.at + 1), args.get(self.at + 2))
            && is_binary(op)
        {
            self.at += 3;
            return self.binary(first, op, right);
        }
        if is_unary(first)
            && let Some(operand) = args.get(self.at + 1)
        {
            if first.as_slice() == b"-t" && integer(operand).is_none() {
                // As it once was: without a number it is about standard output.
                self.at += 1;
                return Ok(self.shell.fd_is_terminal(1));
            }
            self.at += 2;
            return self.unary(first, operand);
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn unary(&mut self, op: &[u8], operand: &Str) -> Truth {
        let letter = op[1];
        match letter {
            b'v' | b'R' => match self.shell.variable_test(letter, operand, false) {
                Ok(b) => Ok(b),
                Err(e) => Err(Stop::Unwind(self.shell.expansion_failed(e))),
            },
            _ => match unary(self.shell, letter, operand) {
                Some(b) => Ok(b),
                None => Err(fail(&[op, b": unary operator expected"])),
            },
        }
    }

    fn binary(&mut self, a: &Str, op: &[u8], b: &Str) -> Truth {
        Ok(match op {
            b"=" | b"==" => a == b,
            b"!=" => a != b,
            b"<" => a < b,
            b">" => a > b,
            b"-nt" | b"-ot" | b"-ef" => binary_files(self.shell, op, a, b),
            _ => {
                let number = |t: &Str| {
                    integer(t).ok_or_else(|| fail(&[t, b": integer expression expected"]))
                };
                let (x, y) = (number(a)?, number(b)?);
                match op {
                    b"-eq" => x == y,
                    b"-ne" => x != y,
                    b"-lt" => x < y,
                    b"-le" => x <= y,
                    b"-gt" => x > y,
                    _ => x >= y,
                }
            }
        })
    }
}

/// A unary operator on a file or string; `None` if there is no such operator.
pub(crate) fn unary(shell: &mut Shell<'_>, op: u8, operand: &[u8]) -> Option<bool> {
    match op {
        b'n' => return Some(!operand.is_empty()),
        b'z' => return Some(operand.is_empty()),
        b'o' => {
            let on = crate::state::options::set_option(operand);
            return Some(on.is_some_and(|o| shell.state.options.has(o)));
        }
        b't' => {
            let fd = integer(operand).and_then(|n| u32::try_from(n).ok());
            return Some(fd.is_some_and(|n| shell.fd_is_terminal(n)));
        }
        _ => {}
    }
    if !b"abcdefghkprsuwxGLNOS".contains(&op) {
        return None;
    }
    shell.about_to_look();
    if operand.is_empty() {
        return Some(false);
    }
    if let Some(desc) = shell.open_virtual(operand) {
        if matches!(op, b'e' | b'a' | b'r' | b'w') {
            return Some(desc.is_some());
        }
        if desc.is_none() {
            return Some(false);
        }
        if op == b'p' {
            return Some(
                !matches!(desc, Some(crate::io::Desc::File(f)) if f.is_seekable() || f.is_terminal()),
            );
        }
    }
    let follow = !matches!(op, b'h' | b'L');
    let Ok(s) = meta::stat(&shell.path(operand), follow) else { return Some(false) };
    Some(match op {
        b'a' | b'e' => true,
        b'b' => s.kind == Kind::BlockDevice,
        b'c' => s.kind == Kind::CharDevice,
        b'd' => s.kind == Kind::Dir,
        b'f' => s.kind == Kind::File,
        b'g' => s.mode & 0o2000 != 0,
        b'h' | b'L' => s.kind == Kind::Symlink,
        b'k' => s.mode & 0o1000 != 0,
        b'p' => s.kind == Kind::Fifo,
        b'r' => meta::may(&s, 4) || meta::ids().0 == 0,
        b's' => s.size > 0,
        b'u' => s.mode & 0o4000 != 0,
        b'w' => meta::may(&s, 2),
        b'x' => meta::may(&s, 1),
        b'G' => s.gid == meta::ids().1,
        b'N' => s.mtime > s.atime,
        b'O' => s.uid == meta::ids().0,
        _ => s.kind == Kind::Socket,
    })
}

/// `-nt`, `-ot`, `-ef`.
pub(crate) fn binary_files(shell: &mut Shell<'_>, op: &[u8], a: &[u8], b: &[u8]) -> bool {
    shell.about_to_look();
    // An empty name is no file.
    let stat = |name: &[u8]| match name.is_empty() {
        true => Err(std::io::ErrorKind::NotFound.into()),
        false => meta::stat(&shell.path(name), true),
    };
    let (x, y) = (stat(a), stat(b));
    match (op, x, y) {
        (b"-ef", Ok(x), Ok(y)) => (x.dev, x.ino) == (y.dev, y.ino),
        (b"-nt", Ok(x), Ok(y)) => x.mtime > y.mtime,
        (b"-nt", Ok(_), Err(_)) => true,
        (b"-ot", Ok(x), Ok(y)) => x.mtime < y.mtime,
        (b"-ot", Err(_), Ok(_)) => true,
        _ => false,
    }
}
