//! `nl` (POSIX XCU nl; GNU 9.1): numbers of any sign, styles by [`box_text::regex`].
//!
//! Lines are written as they are read, and a width is written as blanks in blocks, so that neither takes memory.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use crate::common::input::{self, CopyStop, write_output};
use crate::common::{number, quote};

/// An option of `nl`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NlFlag {
    Blanks,
    Body,
    Delimiter,
    Footer,
    Format,
    Header,
    Increment,
    NoReset,
    Separator,
    Start,
    Width,
}

const SPEC: Spec<NlFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print each FILE with a number before each line, or before some.",
    &[
        Opt::new(NlFlag::Body, 'b', "body-numbering")
            .with_argument("STYLE", "Number the lines of a body in this STYLE (t)"),
        Opt::new(NlFlag::Delimiter, 'd', "section-delimiter").with_argument(
            "CC",
            "Mark sections by these characters (\\:); a : follows a single one",
        ),
        Opt::new(NlFlag::Footer, 'f', "footer-numbering")
            .with_argument("STYLE", "Number the lines of a footer in this STYLE (n)"),
        Opt::new(NlFlag::Header, 'h', "header-numbering")
            .with_argument("STYLE", "Number the lines of a header in this STYLE (n)"),
        Opt::new(NlFlag::Increment, 'i', "line-increment")
            .with_argument("NUMBER", "Add NUMBER from line to line (1)"),
        Opt::new(NlFlag::Blanks, 'l', "join-blank-lines").with_argument(
            "NUMBER",
            "Number only the last of each NUMBER empty lines in a row (1)",
        ),
        Opt::new(NlFlag::Format, 'n', "number-format")
            .with_argument("FORMAT", "Write numbers in this FORMAT (rn)"),
        Opt::new(NlFlag::NoReset, 'p', "no-renumber")
            .with_help("Keep counting where a section begins"),
        Opt::new(NlFlag::Separator, 's', "number-separator")
            .with_argument("STRING", "Write STRING after each number (a tab)"),
        Opt::new(NlFlag::Start, 'v', "starting-line-number")
            .with_argument("NUMBER", "Begin each section with this NUMBER (1)"),
        Opt::new(NlFlag::Width, 'w', "number-width")
            .with_argument("NUMBER", "Write numbers in NUMBER columns (6)"),
    ],
)
.with_examples(&[("nl -ba FILE", "Number all lines, empty ones too")])
.reads_standard_input()
.with_footer(
    "A line that consists of CC begins a footer, of CCCC a body, of CCCCCC a header.

STYLE is a for all lines, t for those that are not empty, n for none, or
pREGEXP for those in which the basic regular expression matches.

FORMAT is ln (to the left), rn (to the right) or rz (to the right, with zeros).",
);

/// The choice of lines that are numbered.
enum NumberStyle {
    All,
    Filled,
    No,
    Matched(Box<Regex>),
}

/// The layout of a number within its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberLayout {
    Left,
    Right,
    Zeros,
}

/// The parts of a logical page, in the order of their delimiters' lengths.
#[derive(Clone, Copy)]
enum PageSection {
    Footer,
    Body,
    Header,
}

struct NlOptions {
    /// The numbering styles of footer, body and header.
    styles: [NumberStyle; 3],
    /// The pair of delimiter characters; empty if there are no sections.
    delimiter: Vec<u8>,
    increment: i64,
    blanks: i64,
    layout: NumberLayout,
    is_reset: bool,
    separator: Vec<u8>,
    start: i64,
    width: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let options = resolve_options(ctx, &p.options)?;
    let mut state = NlState::new(&options);
    let mut problem = None;
    let exit = input::for_each_file(ctx, &input::or_stdin(p.operands), |reader, out| {
        input::for_each_line(reader, b'\n', |line, _| match state.write_line(line, out) {
            Ok(()) => Ok(true),
            Err(NlStop::Output(stop)) => Err(stop),
            Err(NlStop::Problem(text)) => {
                problem = Some(text);
                // This stops the tool like a failed write.
                Err(CopyStop::Write)
            }
        })
    });
    if let Some(text) = problem {
        return Err(input::report_failure(ctx, &[text.as_bytes()]));
    }
    Ok(exit)
}

/// Resolves the options in their order, because the first one that is refused stops the tool. Wrong
/// styles and formats are all reported before that.
fn resolve_options(
    ctx: &mut Ctx<'_>,
    written: &[(NlFlag, Option<Vec<u8>>)],
) -> Result<NlOptions, Exit> {
    let mut o = NlOptions {
        styles: [NumberStyle::No, NumberStyle::Filled, NumberStyle::No],
        delimiter: b"\\:".to_vec(),
        increment: 1,
        blanks: 1,
        layout: NumberLayout::Right,
        is_reset: true,
        separator: b"\t".to_vec(),
        start: 1,
        width: 6,
    };
    let mut is_usage = false;
    for (flag, value) in written {
        let value = value.as_deref().unwrap_or_default();
        let (any, above_zero) = ((i64::MIN, i64::MAX), (1, i64::MAX));
        match flag {
            NlFlag::Body => is_usage |= !set_style(ctx, &mut o, PageSection::Body, value)?,
            NlFlag::Header => is_usage |= !set_style(ctx, &mut o, PageSection::Header, value)?,
            NlFlag::Footer => is_usage |= !set_style(ctx, &mut o, PageSection::Footer, value)?,
            NlFlag::Delimiter => {
                o.delimiter = value.to_vec();
                if value.len() == 1 {
                    o.delimiter.push(b':');
                }
            }
            NlFlag::Increment => {
                o.increment = number_or_exit(ctx, "line number increment", value, any)?;
            }
            NlFlag::Blanks => {
                o.blanks = number_or_exit(ctx, "line number of blank lines", value, above_zero)?;
            }
            NlFlag::Format => match value {
                b"ln" => o.layout = NumberLayout::Left,
                b"rn" => o.layout = NumberLayout::Right,
                b"rz" => o.layout = NumberLayout::Zeros,
                other => {
                    let shown = quote::quote_in_sentence(other);
                    ctx.error_bytes(&[b"invalid line numbering format: ", &shown]);
                    is_usage = true;
                }
            },
            NlFlag::NoReset => o.is_reset = false,
            NlFlag::Separator => o.separator = value.to_vec(),
            NlFlag::Start => o.start = number_or_exit(ctx, "starting line number", value, any)?,
            NlFlag::Width => {
                let bounds = (1, i64::from(i32::MAX));
                let width = number_or_exit(ctx, "line number field width", value, bounds)?;
                o.width = usize::try_from(width).unwrap_or(usize::MAX);
            }
        }
    }
    if is_usage { Err(input::usage_hint(ctx)) } else { Ok(o) }
}

fn number_or_exit(
    ctx: &mut Ctx<'_>,
    noun: &str,
    value: &[u8],
    bounds: (i64, i64),
) -> Result<i64, Exit> {
    number::parse_bounded(value, bounds).map_err(|e| {
        let shown = quote::quote_in_sentence(value);
        input::report_failure(ctx, &[format!("invalid {noun}: ").as_bytes(), &shown, e.suffix()])
    })
}

/// Sets the style of a section; returns false for an unknown style.
fn set_style(
    ctx: &mut Ctx<'_>,
    options: &mut NlOptions,
    section: PageSection,
    text: &[u8],
) -> Result<bool, Exit> {
    let style = match text {
        [b'a', ..] => NumberStyle::All,
        [b't', ..] => NumberStyle::Filled,
        [b'n', ..] => NumberStyle::No,
        [b'p', pattern @ ..] => {
            let options = RegexOptions::new(RegexSyntax::Expr).utf8(ctx.env.is_utf8());
            match Regex::new(pattern, &options) {
                Ok(regex) => NumberStyle::Matched(Box::new(regex)),
                Err(e) => return Err(input::report_failure(ctx, &[e.to_string().as_bytes()])),
            }
        }
        other => {
            let name = match section {
                PageSection::Footer => "footer",
                PageSection::Body => "body",
                PageSection::Header => "header",
            };
            let text = format!("invalid {name} numbering style: ");
            ctx.error_bytes(&[text.as_bytes(), &quote::quote_in_sentence(other)]);
            return Ok(false);
        }
    };
    options.styles[section as usize] = style;
    Ok(true)
}

/// The reason why numbering stopped.
enum NlStop {
    Output(CopyStop),
    /// The message about a line that should get a number but cannot.
    Problem(&'static str),
}

impl From<CopyStop> for NlStop {
    fn from(stop: CopyStop) -> NlStop {
        NlStop::Output(stop)
    }
}

/// The position in the pages of the input; all files count as one input.
struct NlState<'o> {
    options: &'o NlOptions,
    section: PageSection,
    /// The next number; `None` if it is out of range.
    number: Option<i64>,
    /// The number of successive empty lines without a number.
    blanks: i64,
}

impl<'o> NlState<'o> {
    fn new(options: &'o NlOptions) -> NlState<'o> {
        let number = Some(options.start);
        NlState { options, section: PageSection::Body, number, blanks: 0 }
    }

    fn write_line(&mut self, line: &[u8], out: &mut OutStream) -> Result<(), NlStop> {
        if let Some(section) = self.delimited_section(line) {
            self.section = section;
            if self.options.is_reset {
                self.number = Some(self.options.start);
            }
            return Ok(write_output(out, b"\n")?);
        }
        if self.is_numbered(line)? {
            self.write_number(out)?;
        } else {
            write_blanks(out, self.options.width + self.options.separator.len(), b' ')?;
        }
        write_output(out, line)?;
        Ok(write_output(out, b"\n")?)
    }

    /// Returns the section that the line begins, if it is a delimiter.
    fn delimited_section(&self, line: &[u8]) -> Option<PageSection> {
        let pair = &self.options.delimiter;
        if pair.is_empty() || !line.len().is_multiple_of(pair.len()) {
            return None;
        }
        let section = match line.len() / pair.len() {
            1 => PageSection::Footer,
            2 => PageSection::Body,
            3 => PageSection::Header,
            _ => return None,
        };
        line.chunks(pair.len()).all(|part| part == pair).then_some(section)
    }

    fn is_numbered(&mut self, line: &[u8]) -> Result<bool, NlStop> {
        Ok(match &self.options.styles[self.section as usize] {
            NumberStyle::No => false,
            NumberStyle::Filled => !line.is_empty(),
            NumberStyle::Matched(regex) => {
                let is_match = regex.is_match(line);
                if regex.gave_up() {
                    return Err(NlStop::Problem("the pattern takes too long to match"));
                }
                is_match
            }
            NumberStyle::All if self.options.blanks == 1 => true,
            NumberStyle::All => {
                self.blanks += 1;
                let is_numbered = !line.is_empty() || self.blanks == self.options.blanks;
                if is_numbered {
                    self.blanks = 0;
                }
                is_numbered
            }
        })
    }

    fn write_number(&mut self, out: &mut OutStream) -> Result<(), NlStop> {
        let number = self.number.ok_or(NlStop::Problem("line number overflow"))?;
        let digits = number.unsigned_abs().to_string();
        let sign: &[u8] = if number < 0 { b"-" } else { b"" };
        let fill = self.options.width.saturating_sub(sign.len() + digits.len());
        let layout = self.options.layout;
        if layout == NumberLayout::Right {
            write_blanks(out, fill, b' ')?;
        }
        write_output(out, sign)?;
        if layout == NumberLayout::Zeros {
            write_blanks(out, fill, b'0')?;
        }
        write_output(out, digits.as_bytes())?;
        if layout == NumberLayout::Left {
            write_blanks(out, fill, b' ')?;
        }
        write_output(out, &self.options.separator)?;
        self.number = number.checked_add(self.options.increment);
        Ok(())
    }
}

/// Writes a byte a given number of times.
fn write_blanks(out: &mut impl Write, count: usize, byte: u8) -> Result<(), CopyStop> {
    let block = [byte; 256];
    let mut left = count;
    while left > 0 {
        let n = left.min(block.len());
        write_output(out, &block[..n])?;
        left -= n;
    }
    Ok(())
}
