//! `printf` (POSIX XCU, bash manual 4.2). Conversions are those of [`box_text::printf`]; here
//! are the arguments, the reuse of the format and bash's own `%b %q %Q %(...)T %n`.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use box_text::escape::{Decoded, Dialect, Warning, decode, printf_q};
use box_text::number::{strtod, strtoi, utf8_len};
use box_text::printf::{
    self, Count, LongDouble, Spec, float, long_double, signed, string, unsigned,
};
use sh_expand::Str;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_name, is_reference};
use crate::state::options::SetOpt;
use crate::state::vars::decimal;

/// Widths beyond this are refused: they are bombs.
const MAX_WIDTH: usize = 1 << 26;

/// A conversion of the format: what C has, with bash's own conversions beside it.
struct Directive {
    spec: Spec,
    star_width: bool,
    star_precision: bool,
    /// The modifier `L`.
    long: bool,
    conversion: u8,
    /// The time format of `%(...)T`.
    time: Vec<u8>,
    len: usize,
}

enum Malformed {
    /// The format ends within the directive.
    Missing(Vec<u8>),
    /// `%(...)` without `T`, and what stands there: text as it is.
    Time(Option<u8>),
}

/// Reads a conversion behind its `%`.
fn directive(text: &[u8]) -> Result<Directive, Malformed> {
    let head = text.iter().take_while(|c| b"-+ #'0123456789.*".contains(c)).count();
    let behind = text.get(head + 1..).unwrap_or_default();
    let own = match text.get(head) {
        Some(b'(') => {
            let time = time_format(behind)?;
            Some((b'T', head + time.len() + 3, time.to_vec()))
        }
        // To C a modifier.
        Some(letter @ (b'q' | b'Q')) => Some((*letter, head + 1, Vec::new())),
        _ => None,
    };
    let parsed = match own {
        Some(_) => printf::parse(&[&text[..head], b"s"].concat()),
        None => printf::parse(text),
    };
    let Some(d) = parsed else { return Err(Malformed::Missing(text.to_vec())) };
    // bash has no `%1$s`.
    let conversion = if d.position.is_some() { b'$' } else { d.conversion };
    let long = text.get(head..d.len).is_some_and(|modifiers| modifiers.contains(&b'L'));
    let (conversion, len, time) = own.unwrap_or((conversion, d.len, Vec::new()));
    let star = |count: Count| matches!(count, Count::Star(_));
    let (star_width, star_precision) = (star(d.width), star(d.precision));
    Ok(Directive { spec: d.spec, star_width, star_precision, long, conversion, time, len })
}

/// The format of a time, given what follows `%(`.
fn time_format(text: &[u8]) -> Result<&[u8], Malformed> {
    let mut depth = 1;
    for (at, c) in text.iter().enumerate() {
        match c {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return match text.get(at + 1) {
                Some(b'T') => Ok(&text[..at]),
                behind => Err(Malformed::Time(behind.copied())),
            };
        }
    }
    Err(Malformed::Time(None))
}

struct Printer<'s, 'a> {
    shell: &'s mut Shell<'a>,
    args: &'s [Str],
    next: usize,
    out: Vec<u8>,
    status: i32,
    /// `\c` was met.
    stop: bool,
    /// `-v`
    to_variable: bool,
    /// Bytes that went out already.
    flushed: usize,
}

impl Printer<'_, '_> {
    fn arg(&mut self) -> Option<Str> {
        let a = self.args.get(self.next).cloned();
        self.next += usize::from(a.is_some());
        a
    }

    /// Whole lines printed so far go out before a message, as bash's stream has line buffers.
    fn complain(&mut self, parts: &[&[u8]]) {
        if !self.to_variable
            && let Some(end) = memchr::memrchr(b'\n', &self.out)
        {
            let rest = self.out.split_off(end + 1);
            let lines = std::mem::replace(&mut self.out, rest);
            self.shell.out(&lines);
            self.flushed += lines.len();
        }
        self.shell.builtin_error(b"printf", parts);
    }

    fn check_number(&mut self, text: &[u8], used: usize, range: bool) {
        if used == 0 && !text.is_empty() || used < text.len() && used > 0 {
            let kind: &[u8] = match text {
                [b'0', b'x', ..] => b": invalid hex number",
                [b'0', d, ..] if d.is_ascii_digit() => b": invalid octal number",
                _ => b": invalid number",
            };
            self.complain(&[text, kind]);
            self.status = 1;
        } else if range {
            self.complain(&[b"warning: ", text, b": Numerical result out of range"]);
        }
    }

    /// `'x` and `"x` stand for the code of the character.
    fn quoted_code(text: &[u8]) -> Option<i64> {
        let rest = match text.first()? {
            b'\'' | b'"' => &text[1..],
            _ => return None,
        };
        let n = utf8_len(rest);
        Some(match std::str::from_utf8(rest.get(..n).unwrap_or_default()) {
            Ok(s) => s.chars().next().map_or(0, |c| i64::from(u32::from(c))),
            Err(_) => rest.first().map_or(0, |c| i64::from(*c)),
        })
    }

    fn signed_arg(&mut self) -> i64 {
        let Some(text) = self.arg() else { return 0 };
        if let Some(c) = Self::quoted_code(&text) {
            return c;
        }
        let n = strtoi(&text, 0);
        let (value, range) = n.signed();
        self.check_number(&text, n.len, range);
        value
    }

    fn unsigned_arg(&mut self) -> u64 {
        let Some(text) = self.arg() else { return 0 };
        if let Some(c) = Self::quoted_code(&text) {
            return c as u64;
        }
        let n = strtoi(&text, 0);
        let (value, range) = n.unsigned();
        self.check_number(&text, n.len, range);
        value
    }

    fn float_arg(&mut self) -> LongDouble {
        let Some(text) = self.arg() else { return LongDouble::from_i64(0) };
        if let Some(c) = Self::quoted_code(&text) {
            return LongDouble::from_i64(c);
        }
        let (value, used, range) = LongDouble::parse(&text);
        self.check_number(&text, used, range);
        value
    }

    /// As POSIX asks for: a `double`.
    fn double_arg(&mut self) -> f64 {
        let Some(text) = self.arg() else { return 0.0 };
        if let Some(c) = Self::quoted_code(&text) {
            return c as f64;
        }
        let (value, used) = strtod(&text);
        let (exact, ..) = LongDouble::parse(&text);
        let tiny = value.abs() < f64::MIN_POSITIVE && exact != LongDouble::from_f64(value);
        let range = value.is_infinite() && exact.is_finite() || tiny;
        self.check_number(&text, used, range);
        value
    }

    /// One pass over the format; whether it used any argument.
    fn pass(&mut self, format: &[u8]) -> Result<(), ()> {
        let mut rest = format;
        while let Some(at) = memchr::memchr2(b'%', b'\\', rest) {
            self.out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            if rest[0] == b'\\' {
                let end = memchr::memchr(b'%', rest).unwrap_or(rest.len());
                // A backslash before the percent sign escapes nothing, but `\%` keeps its own.
                let d = decode(&rest[..end], Dialect::Format);
                if d.warnings.is_empty() {
                    self.out.extend_from_slice(&d.bytes);
                } else {
                    self.warned_escapes(&rest[..end]);
                }
                rest = &rest[end..];
                continue;
            }
            if rest.get(1) == Some(&b'%') {
                self.out.push(b'%');
                rest = &rest[2..];
                continue;
            }
            match directive(&rest[1..]) {
                Ok(d) => {
                    rest = &rest[1 + d.len..];
                    self.convert(d)?;
                    if self.stop {
                        return Ok(());
                    }
                }
                Err(Malformed::Missing(text)) => {
                    self.complain(&[b"`%", &text, b"': missing format character"]);
                    self.status = 1;
                    return Err(());
                }
                Err(Malformed::Time(behind)) => {
                    let behind = behind.as_slice();
                    self.complain(&[
                        b"warning: `",
                        behind,
                        b"': invalid time format specification",
                    ]);
                    self.out.push(b'%');
                    rest = &rest[1..];
                }
            }
        }
        self.out.extend_from_slice(rest);
        Ok(())
    }

    /// Text with a bad escape: each one complains behind what comes before it.
    fn warned_escapes(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            let from = if rest[0] == b'\\' { 2.min(rest.len()) } else { 0 };
            let next = memchr::memchr(b'\\', &rest[from..]).map_or(rest.len(), |at| from + at);
            let d = decode(&rest[..next], Dialect::Format);
            self.escape_warnings(&d);
            self.out.extend_from_slice(&d.bytes);
            rest = &rest[next..];
        }
    }

    fn escape_warnings(&mut self, d: &Decoded) {
        for w in &d.warnings {
            match w {
                Warning::MissingHexDigit => self.complain(&[b"missing hex digit for \\x"]),
                Warning::MissingUnicodeDigit(c) => {
                    self.complain(&[b"missing unicode digit for \\", &[*c]]);
                }
            }
        }
    }

    /// Refuses a width that is a bomb.
    fn bound(&mut self, width: &mut usize) {
        if *width > MAX_WIDTH {
            *width = 0;
            self.shell.budget.hit("printf width too large");
        }
    }

    fn convert(&mut self, d: Directive) -> Result<(), ()> {
        let mut spec = d.spec;
        if d.star_width {
            let n = self.signed_arg();
            spec.set_width(n);
        }
        if d.star_precision {
            let n = self.signed_arg();
            spec.set_precision(n);
        }
        // Widths in the format itself are bounded here, too.
        if d.conversion != b'n' {
            self.bound(&mut spec.width);
            if let Some(p) = &mut spec.precision {
                self.bound(p);
            }
        }
        match d.conversion {
            b's' | b'c' | b'b' | b'q' | b'Q' => self.text(d.conversion, spec),
            b'd' | b'i' => {
                let n = self.signed_arg();
                signed(&mut self.out, &spec, n);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let n = self.unsigned_arg();
                unsigned(&mut self.out, &spec, d.conversion, n);
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                if self.shell.state.options.has(SetOpt::Posix) && !d.long {
                    let n = self.double_arg();
                    float(&mut self.out, &spec, d.conversion, n);
                } else {
                    let n = self.float_arg();
                    long_double(&mut self.out, &spec, d.conversion, &n);
                }
            }
            b'T' => self.time(&d.time, &spec),
            b'n' => return self.count(),
            other => {
                self.complain(&[b"`", &[other], b"': invalid format character"]);
                self.status = 1;
                return Err(());
            }
        }
        Ok(())
    }

    /// `%s`, `%c`, `%b`, `%q` and `%Q`
    fn text(&mut self, conversion: u8, spec: Spec) {
        let text = self.arg().unwrap_or_default();
        let whole = Spec { precision: None, ..spec };
        match conversion {
            // bash prints a NUL for an empty argument.
            b'c' => string(&mut self.out, &whole, &[text.first().copied().unwrap_or(0)]),
            b'b' => {
                let decoded = decode(&text, Dialect::PrintfB);
                self.escape_warnings(&decoded);
                string(&mut self.out, &spec, &decoded.bytes);
                if decoded.stop {
                    self.stop = true;
                    self.status = 0;
                }
            }
            b'q' => string(&mut self.out, &spec, &printf_q(&text)),
            b'Q' => {
                let cut = spec.precision.unwrap_or(text.len()).min(text.len());
                string(&mut self.out, &whole, &printf_q(&text[..cut]));
            }
            _ => string(&mut self.out, &spec, &text),
        }
    }

    /// `%(format)T`: -1 is now, -2 when the shell started.
    fn time(&mut self, format: &[u8], spec: &Spec) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        let time = match self.args.get(self.next) {
            None => now,
            Some(_) => match self.signed_arg() {
                -1 => now,
                -2 => now - self.shell.state.seconds.elapsed(),
                t => t,
            },
        };
        let format = if format.is_empty() { b"%X".as_slice() } else { format };
        let mut text = self.shell.strftime(format, time);
        // bash formats into 128 bytes; what does not fit is nothing.
        if text.len() >= 128 {
            text.clear();
        }
        string(&mut self.out, spec, &text);
    }

    /// `%n`: a variable gets the number of bytes so far.
    fn count(&mut self) -> Result<(), ()> {
        let Some(name) = self.arg().filter(|name| !name.is_empty()) else { return Ok(()) };
        if !is_name(&name) {
            self.complain(&[b"`", &name, b"': not a valid identifier"]);
            self.status = 1;
            return Err(());
        }
        let count = Rc::new(decimal((self.flushed + self.out.len()) as i64));
        if let Err(e) = self.shell.assign_reference(&name, count) {
            // It is no failure.
            self.shell.error(&[&e.message()]);
        }
        Ok(())
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = shell.options(call, "v:")?;
    let var = p.value(b'v').cloned();
    if let Some(v) = var.as_ref().filter(|v| !is_reference(v)) {
        shell.builtin_error(call.name(), &[b"`", v, b"': not a valid identifier"]);
        return Ok(2);
    }
    let Some((format, args)) = p.operands.split_first() else {
        return Err(shell.usage(call.name()));
    };
    let mut printer = Printer {
        shell,
        args,
        next: 0,
        out: Vec::new(),
        status: 0,
        stop: false,
        to_variable: var.is_some(),
        flushed: 0,
    };
    loop {
        let before = printer.next;
        let r = printer.pass(format);
        if r.is_err() || printer.stop || printer.next >= args.len() || printer.next == before {
            break;
        }
        if printer.out.len() > 1 << 16 && var.is_none() {
            let out = std::mem::take(&mut printer.out);
            printer.flushed += out.len();
            printer.shell.out(&out);
        }
    }
    let (mut out, status) = (printer.out, printer.status);
    match var {
        None => shell.out(&out),
        Some(v) => {
            // A variable holds no NUL.
            if let Some(end) = memchr::memchr(0, &out) {
                out.truncate(end);
            }
            if let Err(e) = shell.assign_reference(&v, Rc::new(out)) {
                return shell.assignment_refused(call.name(), &e);
            }
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::directive;

    #[test]
    fn directives_end_where_they_should() {
        for (text, len, conversion) in [
            (&b"-08.3f|"[..], 6, b'f'),
            (b"(%Y)Tx", 5, b'T'),
            (b"*.*q", 4, b'q'),
            (b"lld", 3, b'd'),
        ] {
            let d = directive(text).unwrap_or_else(|_| panic!("{text:?}"));
            assert_eq!((d.len, d.conversion), (len, conversion));
        }
        assert!(directive(b"5").is_err());
    }
}
