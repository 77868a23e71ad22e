//! The command `printf` (POSIX XCU printf), which uses the format again while arguments are left.
//!
//! The shell's builtin and the applet of coreutils share this walk over the format. Each implements
//! [`PrintfHooks`] for the differences between bash and GNU: the escapes and conversions, the texts
//! of messages, and whether a problem ends the command.

use std::ops::ControlFlow::{self, Break, Continue};
use std::ops::Deref;

use super::{
    ConversionSpec, FieldCount, LongDouble, float::put_float, long_double, parse, put_signed,
    put_string, put_unsigned,
};
use crate::escape::{EscapeDialect, EscapeWarning, decode_escapes};
use crate::number::{parse_float, parse_integer, utf8_len};

/// The largest width and precision. More would only use up memory.
pub const MAX_WIDTH: usize = 1 << 26;

/// A problem, for a message.
#[derive(Debug)]
pub enum PrintfProblem<'p> {
    /// An argument of which only the first `used` bytes are a number, or whose number is out of
    /// range.
    Number {
        text: &'p [u8],
        used: usize,
        range: bool,
    },
    /// More text after the character of `'c`.
    Ignored(&'p [u8]),
    Escape(EscapeWarning),
    /// The `text` after a percent sign is not a conversion, because of its letter, or because it
    /// ends before one.
    Conversion {
        text: &'p [u8],
        letter: Option<u8>,
    },
    /// A time format's closing parenthesis is followed by this instead of `T`.
    Time(Option<u8>),
    /// The argument of a `*`, beyond C's `int`.
    Count {
        what: &'static str,
        n: i64,
    },
    /// A width or precision beyond [`MAX_WIDTH`] in the conversion `text`.
    Width(&'p [u8]),
    /// The format uses no arguments, but there are some, of which this is the first.
    Excess(&'p [u8]),
}

/// The consequence of a [`PrintfProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemVerdict {
    /// The command continues, and nothing has failed.
    Warned,
    /// The command continues, but has failed.
    Failed,
    /// The command has failed and ends.
    Ends,
}

/// The differences between bash and GNU. `out` is the output that is not yet written. A hook whose
/// message must come after that output writes it first.
pub trait PrintfHooks {
    /// The escapes of the format.
    const ESCAPES: EscapeDialect;
    /// The letters that begin conversions that C does not have: `q`, and bash's `Q`, `(` and `n`.
    const OWN: &'static [u8];

    /// Reports a problem.
    fn complain(&mut self, out: &mut Vec<u8>, problem: PrintfProblem<'_>) -> ProblemVerdict;

    /// Called when the format was used once and will be used again.
    fn passed(&mut self, out: &mut Vec<u8>) -> ControlFlow<()>;

    /// Returns an argument as shell input, for `%q` and `%Q`.
    fn quoted(&self, text: &[u8]) -> Vec<u8>;

    /// Returns whether floating point is C's `double`, as in POSIX, instead of `long double`.
    fn has_doubles(&self) -> bool {
        false
    }

    /// Returns a time for `%(format)T`; without an argument it is now.
    fn time(&mut self, _format: &[u8], _seconds: Option<i64>) -> Vec<u8> {
        Vec::new()
    }

    /// Assigns the number of bytes so far to a variable, for `%n`.
    fn count(&mut self, _out: &mut Vec<u8>, _name: &[u8]) -> ProblemVerdict {
        ProblemVerdict::Ends
    }
}

/// Prints the arguments. Returns the output that is left to write, and whether the command has
/// failed.
pub fn run<H: PrintfHooks, A: Deref<Target = Vec<u8>>>(
    host: &mut H,
    format: &[u8],
    args: &[A],
) -> (Vec<u8>, bool) {
    let mut p = PrintfPrinter { host, args, next: 0, out: Vec::new(), failed: false };
    loop {
        let before = p.next;
        if p.print_pass(format).is_break() || p.next >= args.len() {
            break;
        }
        if p.next == before {
            let _ = p.report_problem(PrintfProblem::Excess(&args[before]));
            break;
        }
        if p.host.passed(&mut p.out).is_break() {
            break;
        }
    }
    (p.out, p.failed)
}

struct PrintfPrinter<'p, H, A> {
    host: &'p mut H,
    args: &'p [A],
    next: usize,
    out: Vec<u8>,
    failed: bool,
}

impl<'p, H: PrintfHooks, A: Deref<Target = Vec<u8>>> PrintfPrinter<'p, H, A> {
    fn report_problem(&mut self, problem: PrintfProblem<'_>) -> ControlFlow<()> {
        let after = self.host.complain(&mut self.out, problem);
        self.act_on_verdict(after)
    }

    fn act_on_verdict(&mut self, after: ProblemVerdict) -> ControlFlow<()> {
        self.failed |= after != ProblemVerdict::Warned;
        if after == ProblemVerdict::Ends { Break(()) } else { Continue(()) }
    }

    /// Ends the command because of `\c`, successfully even after earlier problems.
    fn stop_output(&mut self) -> ControlFlow<()> {
        self.failed = false;
        Break(())
    }

    fn next_arg(&mut self) -> Option<&'p [u8]> {
        let arg = self.args.get(self.next)?;
        self.next += 1;
        Some(arg)
    }

    /// Prints the whole format once.
    fn print_pass(&mut self, format: &[u8]) -> ControlFlow<()> {
        let mut rest = format;
        while let Some(at) = memchr::memchr2(b'%', b'\\', rest) {
            self.out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            if rest[0] == b'\\' {
                // A backslash right before a percent sign escapes nothing.
                let end = memchr::memchr(b'%', rest).unwrap_or(rest.len());
                self.put_escapes(&rest[..end])?;
                rest = &rest[end..];
            } else if rest.get(1) == Some(&b'%') {
                self.out.push(b'%');
                rest = &rest[2..];
            } else {
                let used = self.print_conversion(&rest[1..])?;
                rest = &rest[1 + used..];
            }
        }
        self.out.extend_from_slice(rest);
        Continue(())
    }

    fn put_escapes(&mut self, text: &[u8]) -> ControlFlow<()> {
        let whole = decode_escapes(text, H::ESCAPES);
        if whole.warnings.is_empty() {
            self.out.extend_from_slice(&whole.bytes);
            return if whole.stop { self.stop_output() } else { Continue(()) };
        }
        // Decodes one escape at a time, so that each message comes after the output before its
        // escape.
        let mut rest = text;
        while !rest.is_empty() {
            let from = if rest[0] == b'\\' { 2.min(rest.len()) } else { 0 };
            let next = memchr::memchr(b'\\', &rest[from..]).map_or(rest.len(), |at| from + at);
            let one = decode_escapes(&rest[..next], H::ESCAPES);
            for warning in one.warnings {
                self.report_problem(PrintfProblem::Escape(warning))?;
            }
            self.out.extend_from_slice(&one.bytes);
            if one.stop {
                return self.stop_output();
            }
            rest = &rest[next..];
        }
        Continue(())
    }

    /// Prints a conversion, given the text after its percent sign; returns the number of bytes it
    /// used.
    fn print_conversion(&mut self, text: &[u8]) -> ControlFlow<(), usize> {
        let conversion = match read(text, H::OWN) {
            Ok(conversion) => conversion,
            Err(problem) => {
                self.report_problem(problem)?;
                // If the hook does not end the command, the percent sign is text.
                self.out.push(b'%');
                return Continue(0);
            }
        };
        let spec = self.read_spec(&conversion, text)?;
        let Conversion { long, letter, time, len, .. } = conversion;
        let own = H::OWN.contains(&letter);
        match letter {
            b'd' | b'i' => {
                let n = self.next_signed()?;
                put_signed(&mut self.out, &spec, n);
            }
            b'u' | b'o' | b'x' | b'X' => {
                let n = self.next_number(unsigned_integer, |code| code as u64)?;
                put_unsigned(&mut self.out, &spec, letter, n);
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                if self.host.has_doubles() && !long {
                    let n = self.next_number(parse_double, |code| code as f64)?;
                    put_float(&mut self.out, &spec, letter, n);
                } else {
                    let n = self.next_number(LongDouble::parse, LongDouble::from_i64)?;
                    long_double(&mut self.out, &spec, letter, &n);
                }
            }
            b's' | b'c' | b'b' => self.put_text(letter, spec)?,
            b'q' | b'Q' if own => self.put_text(letter, spec)?,
            b'(' if own => {
                let given = self.next < self.args.len();
                let seconds = if given { Some(self.next_signed()?) } else { None };
                let text = self.host.time(time, seconds);
                put_string(&mut self.out, &spec, &text);
            }
            b'n' if own => {
                if let Some(name) = self.next_arg().filter(|name| !name.is_empty()) {
                    let after = self.host.count(&mut self.out, name);
                    self.act_on_verdict(after)?;
                }
            }
            _ => {
                self.report_problem(PrintfProblem::Conversion {
                    text: &text[..len],
                    letter: Some(letter),
                })?;
            }
        }
        Continue(len)
    }

    /// Reads flags, width and precision, including those from arguments.
    fn read_spec(
        &mut self,
        conversion: &Conversion<'_>,
        text: &[u8],
    ) -> ControlFlow<(), ConversionSpec> {
        let mut spec = conversion.spec;
        if conversion.star_width {
            let n = self.read_star("field width", i64::from(i32::MIN))?;
            spec.set_width(n);
        }
        if conversion.star_precision {
            let n = self.read_star("precision", i64::MIN)?;
            spec.set_precision(n);
        }
        if spec.width > MAX_WIDTH || spec.precision.is_some_and(|p| p > MAX_WIDTH) {
            self.report_problem(PrintfProblem::Width(&text[..conversion.len]))?;
            (spec.width, spec.precision) = (0, None);
        }
        Continue(spec)
    }

    /// Reads the argument of a `*`, which should be at least `least` and fit C's `int`.
    fn read_star(&mut self, what: &'static str, least: i64) -> ControlFlow<(), i64> {
        let n = self.next_signed()?;
        if n < least || n > i64::from(i32::MAX) {
            self.report_problem(PrintfProblem::Count { what, n })?;
        }
        Continue(n)
    }

    fn next_signed(&mut self) -> ControlFlow<(), i64> {
        self.next_number(signed_integer, |code| code)
    }

    /// Returns the next argument as a number. `read` returns the number, its length in bytes, and
    /// whether it is out of range; `of` converts the code of a character, or 0 for a missing
    /// argument.
    fn next_number<T>(
        &mut self,
        read: impl Fn(&[u8]) -> (T, usize, bool),
        of: impl Fn(i64) -> T,
    ) -> ControlFlow<(), T> {
        let Some(text) = self.next_arg() else { return Continue(of(0)) };
        if let Some((code, behind)) = char_code(text) {
            if !behind.is_empty() {
                self.report_problem(PrintfProblem::Ignored(behind))?;
            }
            return Continue(of(code));
        }
        let (value, used, range) = read(text);
        if used < text.len() || range {
            self.report_problem(PrintfProblem::Number { text, used, range })?;
        }
        Continue(value)
    }

    /// Prints `%s`, `%c`, `%b`, `%q` and `%Q`.
    fn put_text(&mut self, letter: u8, spec: ConversionSpec) -> ControlFlow<()> {
        let text = self.next_arg().unwrap_or_default();
        let whole = ConversionSpec { precision: None, ..spec };
        match letter {
            // For an empty argument, it is the NUL at the argument's end.
            b'c' => put_string(&mut self.out, &whole, &[text.first().copied().unwrap_or(0)]),
            b'b' => {
                let decoded = decode_escapes(text, EscapeDialect::PrintfB);
                for warning in decoded.warnings {
                    self.report_problem(PrintfProblem::Escape(warning))?;
                }
                put_string(&mut self.out, &spec, &decoded.bytes);
                if decoded.stop {
                    return self.stop_output();
                }
            }
            b'q' => put_string(&mut self.out, &spec, &self.host.quoted(text)),
            b'Q' => {
                let cut = spec.precision.unwrap_or(text.len()).min(text.len());
                put_string(&mut self.out, &whole, &self.host.quoted(&text[..cut]));
            }
            _ => put_string(&mut self.out, &spec, text),
        }
        Continue(())
    }
}

/// A conversion of the format: one of C's, or one of [`PrintfHooks::OWN`].
struct Conversion<'f> {
    spec: ConversionSpec,
    star_width: bool,
    star_precision: bool,
    /// The modifier `L`.
    long: bool,
    /// The letter that ends the conversion, or `(` for `%(...)T`.
    letter: u8,
    /// The format of a time.
    time: &'f [u8],
    len: usize,
}

/// Reads a conversion after its percent sign.
fn read<'f>(text: &'f [u8], own: &[u8]) -> Result<Conversion<'f>, PrintfProblem<'f>> {
    let head = text.iter().take_while(|c| b"-+ #'0123456789.*".contains(c)).count();
    let behind = text.get(head + 1..).unwrap_or_default();
    // To C, these are modifiers or have no meaning.
    let own = match text.get(head).filter(|letter| own.contains(letter)) {
        Some(b'(') => {
            let time = time_format(behind).map_err(PrintfProblem::Time)?;
            Some((b'(', head + time.len() + 3, time))
        }
        Some(letter @ (b'q' | b'Q')) => Some((*letter, head + 1, [].as_slice())),
        _ => None,
    };
    let parsed = match own {
        Some(_) => parse(&[&text[..head], b"s"].concat()),
        None => parse(text),
    };
    let Some(d) = parsed else { return Err(PrintfProblem::Conversion { text, letter: None }) };
    // Neither bash nor GNU has `%1$s`.
    let letter = if d.position.is_some() { b'$' } else { d.conversion };
    let long = text.get(head..d.len).is_some_and(|modifiers| modifiers.contains(&b'L'));
    let (letter, len, time) = own.unwrap_or((letter, d.len, &[]));
    let star = |count: FieldCount| matches!(count, FieldCount::Star(_));
    let (star_width, star_precision) = (star(d.width), star(d.precision));
    Ok(Conversion { spec: d.spec, star_width, star_precision, long, letter, time, len })
}

/// Returns the format of a time, given the text after `%(`. The error is the byte that is in the
/// place of the `T`.
fn time_format(text: &[u8]) -> Result<&[u8], Option<u8>> {
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
                behind => Err(behind.copied()),
            };
        }
    }
    Err(None)
}

/// Returns the code of the character in `'x` and `"x`, and the text after it.
fn char_code(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'\'' | b'"', rest @ ..] = text else { return None };
    let first = *rest.first()?;
    let (character, behind) = rest.split_at(utf8_len(rest));
    let decoded = std::str::from_utf8(character).ok().and_then(|c| c.chars().next());
    Some((decoded.map_or(i64::from(first), |c| i64::from(u32::from(c))), behind))
}

/// Parses an integer; returns it, its length in bytes, and whether it is out of range.
fn signed_integer(text: &[u8]) -> (i64, usize, bool) {
    let n = parse_integer(text, 0);
    let (value, range) = n.signed();
    (value, n.len, range)
}

/// Reads an integer without a sign; a negative one counts from the upper end of the range.
fn unsigned_integer(text: &[u8]) -> (u64, usize, bool) {
    let n = parse_integer(text, 0);
    let (value, range) = n.unsigned();
    (value, n.len, range)
}

/// Parses a `double`; returns it, its length in bytes, and whether it is too large or too small.
fn parse_double(text: &[u8]) -> (f64, usize, bool) {
    let (value, used) = parse_float(text);
    let (exact, ..) = LongDouble::parse(text);
    let tiny = value.abs() < f64::MIN_POSITIVE && exact != LongDouble::from_f64(value);
    (value, used, value.is_infinite() && exact.is_finite() || tiny)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hooks with bash's conversions, which record a word for every problem. Problems with numbers
    /// do not end the command; all others do.
    struct Words(Vec<String>);

    impl PrintfHooks for Words {
        const ESCAPES: EscapeDialect = EscapeDialect::Format;
        const OWN: &'static [u8] = b"qQ(n";

        fn complain(&mut self, _: &mut Vec<u8>, problem: PrintfProblem<'_>) -> ProblemVerdict {
            self.0.push(format!("{problem:?}").split([' ', '(']).next().unwrap_or("").to_owned());
            match problem {
                PrintfProblem::Number { .. } => ProblemVerdict::Failed,
                PrintfProblem::Time(_) | PrintfProblem::Ignored(_) => ProblemVerdict::Warned,
                _ => ProblemVerdict::Ends,
            }
        }

        fn passed(&mut self, _: &mut Vec<u8>) -> ControlFlow<()> {
            Continue(())
        }

        fn quoted(&self, text: &[u8]) -> Vec<u8> {
            crate::escape::printf_q(text)
        }

        fn time(&mut self, format: &[u8], seconds: Option<i64>) -> Vec<u8> {
            format!("<{} {seconds:?}>", String::from_utf8_lossy(format)).into_bytes()
        }
    }

    fn printed(format: &str, args: &[&str]) -> (String, bool, Vec<String>) {
        let args: Vec<Vec<u8>> = args.iter().map(|a| a.as_bytes().to_vec()).collect();
        let args: Vec<&Vec<u8>> = args.iter().collect();
        let mut host = Words(Vec::new());
        let (out, failed) = run(&mut host, format.as_bytes(), &args);
        (String::from_utf8_lossy(&out).into_owned(), failed, host.0)
    }

    /// The values are those of `printf` in bash 5.2.
    #[test]
    fn prints_as_bash() {
        for (format, args, expected) in [
            ("%s-%d|", &["a", "1", "b"][..], "a-1|b-0|"),
            ("%5.2s|%-4c|%04d", &["abc", "xyz", "7"], "   ab|x   |0007"),
            ("%*d|%-*d|%.*f", &["4", "1", "3", "2", "1", "0.25"], "   1|2  |0.2"),
            ("%d %d %d", &["'A", "\"\u{e4}", "0x1f"], "65 228 31"),
            ("%b|", &[r"a\tb", r"c\cd"], "a\tb|c"),
            ("%q %.3Q", &["a b", "a b c"], r"a\ b a\ b"),
            (r"\x41\101\d%%\%%", &[], r"AA\d%\%"),
            ("%(%Y (x))T %()T", &["5"], "<%Y (x) Some(5)> < None>"),
            ("", &[], ""),
        ] {
            assert_eq!(printed(format, args).0, expected, "{format}");
        }
    }

    #[test]
    fn problems_are_reported_in_order() {
        for (format, args, expected, failed, problems) in [
            ("%d,", &["1x", "2"][..], "1,2,", true, &["Number"][..]),
            ("%d%b", &["x", r"a\c"], "0a", false, &["Number"]),
            ("%u", &["99999999999999999999"], "18446744073709551615", true, &["Number"]),
            ("%d", &[""], "0", false, &[]),
            ("a%5", &[], "a", true, &["Conversion"]),
            ("a%yb", &[], "a", true, &["Conversion"]),
            ("%1$s", &["a"], "", true, &["Conversion"]),
            ("%T", &["5"], "", true, &["Conversion"]),
            ("%(a", &[], "%(a", false, &["Time"]),
            ("%d", &["'ab"], "97", false, &["Ignored"]),
            (r"a\xg", &[], "a", true, &["Escape"]),
            ("%99999999999d", &["1"], "", true, &["Width"]),
            ("%*d", &["99999999999", "1"], "", true, &["Count"]),
            ("a", &["b"], "a", true, &["Excess"]),
        ] {
            let (out, has_failed, reported) = printed(format, args);
            assert_eq!((out.as_str(), has_failed), (expected, failed), "{format}");
            assert_eq!(reported, problems, "{format}");
        }
    }
}
