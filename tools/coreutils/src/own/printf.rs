//! `printf` (POSIX XCU printf; GNU manual "printf invocation"): the format is reused until
//! the arguments are used up; numbers are 64-bit integers and x86 long doubles.

use std::io::Write;

use box_applet::{Ctx, Ended, Exit};
use box_text::escape::{Dialect, decode};
use box_text::number::strtoi;
use box_text::printf::{self, Count, LongDouble, Spec};

use crate::common::{input, quote};

const HELP: &str = "Usage: printf FORMAT [ARGUMENT]...
  or:  printf OPTION
Print ARGUMENT(s) according to FORMAT, or execute according to OPTION:

      --help     display this help and exit
      --version  output version information and exit

FORMAT controls the output as in C printf.  Interpreted sequences are:

  \\\"      double quote
  \\\\      backslash
  \\a \\b \\c \\e \\f \\n \\r \\t \\v   as in echo -e
  \\NNN    byte with octal value NNN (1 to 3 digits)
  \\xHH    byte with hexadecimal value HH (1 to 2 digits)
  \\uHHHH  Unicode character with hex value HHHH (4 digits)
  \\UHHHHHHHH  Unicode character with hex value HHHHHHHH (8 digits)
  %%      a single %
  %b      ARGUMENT as a string with '\\' escapes interpreted,
          except that octal escapes are of the form \\0 or \\0NNN
  %q      ARGUMENT is printed in a format that can be reused as shell input
and all C format specifications ending with one of diouxXfeEgGcs.
";

struct Run<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    args: &'a [Vec<u8>],
    next: usize,
    failed: bool,
    out: Vec<u8>,
}

/// Whether to go on.
#[derive(PartialEq)]
enum Go {
    On,
    Stop,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let args = match args {
        [first, ..] if first == b"--help" => {
            let _ = ctx.stdout.write_all(HELP.as_bytes());
            return Ok(Exit::SUCCESS);
        }
        [first, ..] if first == b"--version" => {
            let text = format!("printf (Wasibox) {}\n", env!("CARGO_PKG_VERSION"));
            let _ = ctx.stdout.write_all(text.as_bytes());
            return Ok(Exit::SUCCESS);
        }
        [first, rest @ ..] if first == b"--" => rest,
        all => all,
    };
    let Some((format, args)) = args.split_first() else {
        return Err(input::missing_operand(ctx, None));
    };
    let mut r = Run { ctx, args, next: 0, failed: false, out: Vec::new() };
    loop {
        let before = r.next;
        let go = r.pass(format);
        let written = r.ctx.stdout.write_all(&r.out);
        r.out.clear();
        if written.is_err() {
            return Ok(Exit::FAILURE);
        }
        if go == Go::Stop {
            break;
        }
        if r.next == before && r.next < args.len() {
            let shown = quote::always(&args[r.next]);
            r.ctx.error_bytes(&[b"warning: ignoring excess arguments, starting with ", &shown]);
            break;
        }
        if r.next >= args.len() {
            break;
        }
    }
    Ok(if r.failed { Exit::FAILURE } else { Exit::SUCCESS })
}

impl Run<'_, '_> {
    /// The whole format once.
    fn pass(&mut self, format: &[u8]) -> Go {
        let mut rest = format;
        while !rest.is_empty() {
            let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            if self.literal(&rest[..plain]) == Go::Stop {
                return Go::Stop;
            }
            rest = &rest[plain..];
            if rest.is_empty() {
                break;
            }
            if rest.get(1) == Some(&b'%') {
                self.out.push(b'%');
                rest = &rest[2..];
                continue;
            }
            if let Some(used) = self.quoted(&rest[1..]) {
                rest = &rest[1 + used..];
                continue;
            }
            let Some(d) = printf::parse(&rest[1..]) else {
                return self.bad_conversion(rest);
            };
            let text = &rest[..d.len + 1];
            rest = &rest[d.len + 1..];
            if self.directive(&d, text) == Go::Stop {
                return Go::Stop;
            }
        }
        Go::On
    }

    /// `%q`, which C takes for a length modifier; how much of the text it took.
    fn quoted(&mut self, text: &[u8]) -> Option<usize> {
        let n = text.iter().take_while(|c| b"-+ #0123456789.".contains(c)).count();
        if text.get(n) != Some(&b'q') {
            return None;
        }
        let spec = printf::parse(&[&text[..n], b"s"].concat())?.spec;
        let q = quote::quoted(self.arg().unwrap_or_default(), quote::Style::ShellEscape);
        printf::string(&mut self.out, &spec, &q);
        Some(n + 1)
    }

    /// Text between conversions; `\c` ends everything.
    fn literal(&mut self, text: &[u8]) -> Go {
        let mut end = text.len();
        let mut at = 0;
        while let Some(i) = memchr::memchr(b'\\', &text[at..]) {
            if text.get(at + i + 1) == Some(&b'c') {
                end = at + i;
                break;
            }
            at = (at + i + 2).min(text.len());
        }
        let d = decode(&text[..end], Dialect::Format);
        self.out.extend_from_slice(&d.bytes);
        if !d.warnings.is_empty() {
            self.flush();
            self.ctx.error("missing hexadecimal number in escape");
            self.failed = true;
            return Go::Stop;
        }
        if end < text.len() { Go::Stop } else { Go::On }
    }

    fn flush(&mut self) {
        let _ = self.ctx.stdout.write_all(&self.out);
        self.out.clear();
    }

    fn bad_conversion(&mut self, text: &[u8]) -> Go {
        self.flush();
        self.ctx.error_bytes(&[text, b": invalid conversion specification"]);
        self.failed = true;
        Go::Stop
    }

    fn arg(&mut self) -> Option<&[u8]> {
        let a = self.args.get(self.next).map(Vec::as_slice);
        self.next += usize::from(a.is_some());
        a
    }

    fn directive(&mut self, d: &printf::Directive, text: &[u8]) -> Go {
        let mut spec = d.spec;
        let integers = b"diouxX".contains(&d.conversion);
        let floats = b"aAeEfFgG".contains(&d.conversion);
        if !integers && !floats && !b"csb".contains(&d.conversion) || d.position.is_some() {
            return self.bad_conversion(text);
        }
        if matches!(d.width, Count::Star(_)) {
            let n = self.integer().0;
            if i32::try_from(n).is_err() {
                return self.out_of_range("field width", n);
            }
            spec.set_width(n);
        }
        if matches!(d.precision, Count::Star(_)) {
            let n = self.integer().0;
            if i32::try_from(n.max(-1)).is_err() {
                return self.out_of_range("precision", n);
            }
            spec.set_precision(n);
        }
        const LIMIT: usize = 1 << 26;
        if spec.width > LIMIT || spec.precision.is_some_and(|p| p > LIMIT) {
            return self.bad_conversion(text);
        }
        match d.conversion {
            b'd' | b'i' => {
                let (n, _) = self.integer();
                printf::signed(&mut self.out, &spec, n);
            }
            b'o' | b'u' | b'x' | b'X' => {
                let (_, n) = self.integer();
                printf::unsigned(&mut self.out, &spec, d.conversion, n);
            }
            b'c' => {
                let c: Vec<u8> =
                    self.arg().and_then(|a| a.first()).map(|c| vec![*c]).unwrap_or_default();
                printf::string(&mut self.out, &Spec { precision: None, ..spec }, &c);
            }
            b's' => {
                let s = self.args.get(self.next).map(Vec::as_slice).unwrap_or_default();
                self.next += usize::from(self.next < self.args.len());
                printf::string(&mut self.out, &spec, s);
            }
            b'b' => {
                let decoded = decode(self.arg().unwrap_or_default(), Dialect::PrintfB);
                printf::string(&mut self.out, &spec, &decoded.bytes);
                if decoded.stop {
                    return Go::Stop;
                }
            }
            conversion => {
                let value = self.float();
                printf::long_double(&mut self.out, &spec, conversion, &value);
            }
        }
        Go::On
    }

    fn out_of_range(&mut self, what: &str, n: i64) -> Go {
        self.flush();
        self.ctx.error(format_args!("invalid {what}: '{n}'"));
        self.failed = true;
        Go::Stop
    }

    /// `'c`: the code of a character, with a warning if more follows.
    fn character(&mut self, arg: &[u8]) -> Option<u64> {
        let (b'\'' | b'"', rest) = arg.split_first()? else { return None };
        if rest.is_empty() {
            return None;
        }
        let len = box_text::number::utf8_len(rest);
        let code = match std::str::from_utf8(&rest[..len]).ok().and_then(|s| s.chars().next()) {
            Some(c) => u64::from(u32::from(c)),
            None => u64::from(rest[0]),
        };
        if rest.len() > len {
            self.flush();
            let text = "warning: ";
            let tail = b": character(s) following character constant have been ignored";
            self.ctx.error_bytes(&[text.as_bytes(), &rest[len..], tail]);
        }
        Some(code)
    }

    fn complain(&mut self, arg: &[u8], used: usize, range: bool) {
        let shown = quote::always(arg);
        let why: &[u8] = if used == 0 {
            b": expected a numeric value"
        } else if range {
            b": Numerical result out of range"
        } else if used < arg.len() {
            b": value not completely converted"
        } else {
            return;
        };
        self.flush();
        self.ctx.error_bytes(&[&shown, why]);
        self.failed = true;
    }

    /// The next argument as a signed and as an unsigned integer.
    fn integer(&mut self) -> (i64, u64) {
        let args = self.args;
        let Some(arg) = args.get(self.next) else { return (0, 0) };
        self.next += 1;
        if let Some(c) = self.character(arg) {
            return (c as i64, c);
        }
        let n = strtoi(arg, 0);
        let (signed, signed_range) = n.signed();
        let (unsigned, unsigned_range) = n.unsigned();
        // Both views of one text: a value beyond i64 is only an error for `%d`; telling them
        // apart is left to the caller's conversion, so range is what neither can hold.
        self.complain(arg, n.len, unsigned_range || signed_range && n.negative);
        (signed, unsigned)
    }

    fn float(&mut self) -> LongDouble {
        let args = self.args;
        let Some(arg) = args.get(self.next) else { return LongDouble::from_u64(0) };
        self.next += 1;
        if let Some(c) = self.character(arg) {
            return LongDouble::from_u64(c);
        }
        let (value, used, range) = LongDouble::parse(arg);
        self.complain(arg, used, range);
        value
    }
}
