//! `test` and `[` (POSIX XCU test; GNU). Up to four arguments by count as POSIX says, longer
//! expressions with `-a`, `-o`, `!` and parentheses by precedence.

use box_applet::{Ctx, Ended, Exit, Source};
use box_sys::{Kind, Stat, meta};

use crate::common::{paths, quote};

/// What is wrong with an expression.
struct Bad(Vec<u8>);

fn bad(parts: &[&[u8]]) -> Bad {
    Bad(parts.concat())
}

const HELP: &str = "Usage: test EXPRESSION
  or:  [ EXPRESSION ]
Exit with the status determined by EXPRESSION.

  ( EXPRESSION )               EXPRESSION is true
  ! EXPRESSION                 EXPRESSION is false
  EXPRESSION1 -a EXPRESSION2   both are true
  EXPRESSION1 -o EXPRESSION2   either is true
  -n STRING, -z STRING         the length of STRING is nonzero, zero
  STRING1 = STRING2, !=, <, >  the strings are equal, differ, sort before, after
  INTEGER1 -eq INTEGER2, -ne -lt -le -gt -ge   integers compare so
  FILE1 -ef FILE2, -nt, -ot    same file, newer than, older than
  -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x FILE   tests on a file
  -t FD                        file descriptor FD is opened on a terminal
";

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut args = args;
    if ctx.name == "[" {
        if let [only] = args
            && only == b"--help"
        {
            let _ = std::io::Write::write_all(&mut ctx.stdout, HELP.as_bytes());
            return Ok(Exit::SUCCESS);
        }
        match args.split_last() {
            Some((last, rest)) if last == b"]" => args = rest,
            _ => {
                ctx.error("missing ']'");
                return Ok(Exit::USAGE);
            }
        }
    }
    let words: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
    Ok(match by_count(ctx, &words) {
        Ok(true) => Exit::SUCCESS,
        Ok(false) => Exit::FAILURE,
        Err(Bad(m)) => {
            ctx.error_bytes(&[&m]);
            Exit::USAGE
        }
    })
}

fn by_count(ctx: &Ctx<'_>, w: &[&[u8]]) -> Result<bool, Bad> {
    match w {
        [] => Ok(false),
        [s] => Ok(!s.is_empty()),
        [b"!", s] => Ok(s.is_empty()),
        [op, arg] if is_unary(op) => unary(ctx, op, arg),
        [op, _] if op.starts_with(b"-") => {
            Err(bad(&[&quote::always(op), b": unary operator expected"]))
        }
        [_, last] => Err(bad(&[b"missing argument after ", &quote::always(last)])),
        [a, b"-a", b] => Ok(!a.is_empty() && !b.is_empty()),
        [a, b"-o", b] => Ok(!a.is_empty() || !b.is_empty()),
        [a, op, b] if is_binary(op) => binary(ctx, a, op, b),
        [b"!", rest @ ..] if rest.len() == 2 => by_count(ctx, rest).map(|t| !t),
        [b"(", s, b")"] => Ok(!s.is_empty()),
        [_, op, _] => Err(bad(&[&quote::always(op), b": binary operator expected"])),
        [b"!", rest @ ..] if rest.len() == 3 => by_count(ctx, rest).map(|t| !t),
        [b"(", rest @ .., b")"] if rest.len() == 2 => by_count(ctx, rest),
        _ => {
            let mut p = Parser { ctx, words: w, at: 0, depth: 0 };
            let value = p.or()?;
            match w.get(p.at) {
                None => Ok(value),
                Some(extra) => Err(bad(&[b"extra argument ", &quote::always(extra)])),
            }
        }
    }
}

struct Parser<'a, 'c> {
    ctx: &'a Ctx<'c>,
    words: &'a [&'a [u8]],
    at: usize,
    depth: usize,
}

/// Parentheses and `!` nest no deeper: the stack is not the user's.
const MAX_DEPTH: usize = 500;

impl<'a> Parser<'a, '_> {
    fn peek(&self, ahead: usize) -> Option<&'a [u8]> {
        self.words.get(self.at + ahead).copied()
    }

    fn or(&mut self) -> Result<bool, Bad> {
        let mut value = self.and()?;
        while self.peek(0) == Some(b"-o") {
            self.at += 1;
            value |= self.and()?;
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<bool, Bad> {
        let mut value = self.term()?;
        while self.peek(0) == Some(b"-a") {
            self.at += 1;
            value &= self.term()?;
        }
        Ok(value)
    }

    fn term(&mut self) -> Result<bool, Bad> {
        let mut negate = false;
        while self.peek(0) == Some(b"!") && self.peek(1).is_some() {
            // `! = x` compares strings.
            if self.peek(1).is_some_and(is_binary) && self.peek(2).is_some() {
                break;
            }
            negate = !negate;
            self.at += 1;
        }
        Ok(self.primary()? != negate)
    }

    fn primary(&mut self) -> Result<bool, Bad> {
        let Some(word) = self.peek(0) else {
            let last = self.words.last().copied().unwrap_or_default();
            return Err(bad(&[b"missing argument after ", &quote::always(last)]));
        };
        if let (Some(op), Some(right)) = (self.peek(1).filter(|o| is_binary(o)), self.peek(2)) {
            self.at += 3;
            return binary(self.ctx, word, op, right);
        }
        if word == b"(" && self.peek(1).is_some() {
            if self.depth >= MAX_DEPTH {
                return Err(bad(&[b"expression nested too deeply"]));
            }
            self.at += 1;
            self.depth += 1;
            let value = self.or()?;
            self.depth -= 1;
            if self.peek(0) != Some(b")") {
                return Err(bad(&[b"')' expected"]));
            }
            self.at += 1;
            return Ok(value);
        }
        if is_unary(word)
            && let Some(arg) = self.peek(1)
        {
            self.at += 2;
            return unary(self.ctx, word, arg);
        }
        self.at += 1;
        Ok(!word.is_empty())
    }
}

fn is_unary(op: &[u8]) -> bool {
    matches!(op, [b'-', c] if b"bcdefgGhkLnNOprsStuwxz".contains(c))
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
            | b"-ef"
            | b"-nt"
            | b"-ot"
    )
}

fn integer(text: &[u8]) -> Result<(bool, Vec<u8>), Bad> {
    // Blanks around are allowed; the number may be of any length.
    let t = text.trim_ascii();
    let (negative, digits) = match t.split_first() {
        Some((b'-', d)) => (true, d),
        Some((b'+', d)) => (false, d),
        _ => (false, t),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(bad(&[b"invalid integer ", &quote::always(text)]));
    }
    let from = digits.iter().position(|d| *d != b'0').unwrap_or(digits.len());
    let digits = digits[from..].to_vec();
    Ok((negative && !digits.is_empty(), digits))
}

fn compare(a: &[u8], b: &[u8]) -> Result<std::cmp::Ordering, Bad> {
    let (x, y) = (integer(a)?, integer(b)?);
    let size = |n: &(bool, Vec<u8>), m: &(bool, Vec<u8>)| {
        n.1.len().cmp(&m.1.len()).then_with(|| n.1.cmp(&m.1))
    };
    Ok(match (x.0, y.0) {
        (false, true) => std::cmp::Ordering::Greater,
        (true, false) => std::cmp::Ordering::Less,
        (false, false) => size(&x, &y),
        (true, true) => size(&y, &x),
    })
}

fn binary(ctx: &Ctx<'_>, a: &[u8], op: &[u8], b: &[u8]) -> Result<bool, Bad> {
    let time = |f: &[u8]| meta::stat(&ctx.path(f), true).ok().map(|s| s.mtime);
    // `-l STRING` stands for its length.
    Ok(match op {
        b"=" | b"==" => a == b,
        b"!=" => a != b,
        b"<" => a < b,
        b">" => a > b,
        b"-eq" => compare(a, b)?.is_eq(),
        b"-ne" => compare(a, b)?.is_ne(),
        b"-lt" => compare(a, b)?.is_lt(),
        b"-le" => compare(a, b)?.is_le(),
        b"-gt" => compare(a, b)?.is_gt(),
        b"-ge" => compare(a, b)?.is_ge(),
        b"-ef" => !a.is_empty() && !b.is_empty() && paths::same_file(&ctx.path(a), &ctx.path(b)),
        b"-nt" => time(a) > time(b),
        _ => match (time(a), time(b)) {
            (Some(x), Some(y)) => x < y,
            (None, Some(_)) => true,
            _ => false,
        },
    })
}

fn unary(ctx: &Ctx<'_>, op: &[u8], arg: &[u8]) -> Result<bool, Bad> {
    let letter = op.get(1).copied().unwrap_or_default();
    let stat = |follow: bool| -> Option<Stat> {
        if arg.is_empty() { None } else { meta::stat(&ctx.path(arg), follow).ok() }
    };
    let kind = |k: Kind| stat(true).is_some_and(|s| s.kind == k);
    let mode = |bits: u16| stat(true).is_some_and(|s| s.mode & bits != 0);
    let may = |want: u16| stat(true).is_some_and(|s| meta::may(&s, want));
    let (uid, gid) = meta::ids();
    Ok(match letter {
        b'n' => !arg.is_empty(),
        b'z' => arg.is_empty(),
        b'b' => kind(Kind::BlockDevice),
        b'c' => kind(Kind::CharDevice),
        b'd' => kind(Kind::Dir),
        b'f' => kind(Kind::File),
        b'p' => kind(Kind::Fifo),
        b'S' => kind(Kind::Socket),
        b'h' | b'L' => stat(false).is_some_and(|s| s.kind == Kind::Symlink),
        b'e' => stat(true).is_some(),
        b's' => stat(true).is_some_and(|s| s.size > 0),
        b'g' => mode(0o2000),
        b'k' => mode(0o1000),
        b'u' => mode(0o4000),
        b'r' => may(4),
        b'w' => may(2),
        b'x' => may(1),
        b'O' => stat(true).is_some_and(|s| s.uid == uid),
        b'G' => stat(true).is_some_and(|s| s.gid == gid),
        b'N' => stat(true).is_some_and(|s| s.mtime > s.atime),
        _ => {
            let (_, digits) = integer(arg)?;
            let n = std::str::from_utf8(&digits)
                .ok()
                .and_then(|d| if d.is_empty() { Some(0) } else { d.parse::<u32>().ok() });
            is_terminal(ctx, n)
        }
    })
}

fn is_terminal(ctx: &Ctx<'_>, fd: Option<u32>) -> bool {
    let sink = |s: &box_applet::Sink| match s {
        box_applet::Sink::File(f) => box_sys::is_terminal(f),
        _ => false,
    };
    match fd {
        Some(0) => match ctx.stdin.source() {
            Source::File(f) => box_sys::is_terminal(f),
            _ => false,
        },
        Some(1) => sink(ctx.stdout.sink()),
        Some(2) => sink(ctx.stderr.sink()),
        Some(n) => ctx.extra_fds.iter().any(|(k, f)| *k == n && box_sys::is_terminal(f)),
        None => false,
    }
}
