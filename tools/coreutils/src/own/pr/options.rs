//! The command line, and the layout that follows from it.

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};

use crate::common::number::{self, BoundError, CountError};
use crate::common::quote;

/// An option of `pr`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PrFlag {
    Across,
    Columns,
    DateFormat,
    DoubleSpace,
    ExpandTabs,
    FirstLineNumber,
    FormFeed,
    Header,
    Indent,
    JoinLines,
    Length,
    Merge,
    NoFileWarnings,
    NumberLines,
    OmitHeader,
    OmitPagination,
    OutputTabs,
    PageWidth,
    Pages,
    SepString,
    Separator,
    ShowControlChars,
    ShowNonprinting,
    Width,
}

pub(super) const SPEC: Spec<PrFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Lay files out in pages and columns for printing.",
    &[
        Opt::long(PrFlag::Pages, "pages").with_argument(
            "FIRST[:LAST]",
            "Print pages FIRST to LAST; +FIRST before the files means the same",
        ),
        Opt::long(PrFlag::Columns, "columns").with_argument(
            "COLUMN",
            "Print COLUMN columns of equal length; -COLUMN is short for it",
        ),
        Opt::new(PrFlag::Across, 'a', "across").with_help("With columns: fill rows, not columns"),
        Opt::new(PrFlag::ShowControlChars, 'c', "show-control-chars")
            .with_help("Show control characters as ^G, others as octal escapes"),
        Opt::new(PrFlag::DoubleSpace, 'd', "double-space")
            .with_help("Put an empty line after each line"),
        Opt::new(PrFlag::DateFormat, 'D', "date-format")
            .with_argument("FORMAT", "Print the date in headers by FORMAT"),
        Opt::new(PrFlag::ExpandTabs, 'e', "expand-tabs")
            .may_take("CHAR[WIDTH]", "Expand tabs, or CHARs, to stops WIDTH apart (8)"),
        Opt::new(PrFlag::FormFeed, 'F', "form-feed")
            .with_help("End pages with a form feed instead of empty lines"),
        Opt::new(PrFlag::FormFeed, 'f', "").with_help(words::SAME),
        Opt::new(PrFlag::Header, 'h', "header")
            .with_argument("HEADER", "Print HEADER instead of the name of the file"),
        Opt::new(PrFlag::OutputTabs, 'i', "output-tabs").may_take(
            "CHAR[WIDTH]",
            "Write tabs, or CHARs, for spaces, with stops WIDTH apart (8)",
        ),
        Opt::new(PrFlag::JoinLines, 'J', "join-lines")
            .with_help("Do not cut or align the lines of columns"),
        Opt::new(PrFlag::Length, 'l', "length")
            .with_argument("LENGTH", "Number of lines in a page (66); headers need more than 10"),
        Opt::new(PrFlag::Merge, 'm', "merge")
            .with_help("Print the files side by side, each in a column"),
        Opt::new(PrFlag::NumberLines, 'n', "number-lines")
            .may_take("SEP[DIGITS]", "Number lines with DIGITS digits (5), then SEP (a tab)"),
        Opt::new(PrFlag::FirstLineNumber, 'N', "first-line-number")
            .with_argument("NUMBER", "Start counting at NUMBER"),
        Opt::new(PrFlag::Indent, 'o', "indent")
            .with_argument("MARGIN", "Indent lines by MARGIN spaces"),
        Opt::new(PrFlag::NoFileWarnings, 'r', "no-file-warnings")
            .with_help("Do not complain about files that cannot be opened"),
        Opt::new(PrFlag::Separator, 's', "separator").may_take(
            "CHAR",
            "Separate columns by CHAR (a tab, or nothing with -w); cut lines only with -w",
        ),
        Opt::new(PrFlag::SepString, 'S', "sep-string")
            .may_take("STRING", "Put STRING between columns"),
        Opt::new(PrFlag::OmitHeader, 't', "omit-header")
            .with_help("Print no headers, and do not fill up pages"),
        Opt::new(PrFlag::OmitPagination, 'T', "omit-pagination")
            .with_help("Like -t, and drop form feeds of the input"),
        Opt::new(PrFlag::ShowNonprinting, 'v', "show-nonprinting")
            .with_help("Show unprintable characters as octal escapes"),
        Opt::new(PrFlag::Width, 'w', "width")
            .with_argument("WIDTH", "Width of pages with several columns (72)"),
        Opt::new(PrFlag::PageWidth, 'W', "page-width").with_argument(
            "WIDTH",
            "Width of all pages (72): longer lines are cut, except with -J",
        ),
    ],
)
.reads_standard_input()
.with_examples(&[("pr -3 -t FILE", "Three columns, without headers")]);

/// The form in which unprintable characters are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrControl {
    Raw,
    Hat,
    Octal,
}

/// A tab character, and the distance of its tab stops.
pub(super) type Tab = (u8, usize);

/// The settings of line numbers.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) separator: u8,
    pub(super) digits: usize,
    /// The first number, by `-N`, which is given to the first line that is printed.
    pub(super) first: Option<i64>,
}

impl Numbers {
    /// Returns the number of columns of the number and the separator.
    pub(super) fn width(&self) -> usize {
        match self.separator {
            b'\t' => self.digits + 8 - self.digits % 8,
            _ => self.digits + 1,
        }
    }
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub(super) struct PrOptions {
    pub(super) pages: (u64, u64),
    pub(super) columns: usize,
    pub(super) across: bool,
    pub(super) parallel: bool,
    pub(super) double: bool,
    pub(super) control: PrControl,
    pub(super) date_format: Vec<u8>,
    pub(super) input_tab: Option<Tab>,
    pub(super) output_tab: Option<Tab>,
    pub(super) form_feeds: bool,
    pub(super) header: Option<Vec<u8>>,
    pub(super) length: usize,
    pub(super) width: usize,
    pub(super) truncate: bool,
    pub(super) numbers: Option<Numbers>,
    pub(super) margin: usize,
    pub(super) quiet: bool,
    /// The separator; `None` if there is only one column.
    pub(super) separator: Option<Vec<u8>>,
    /// Whether pages have headers and trailers.
    pub(super) extremities: bool,
    /// Whether form feeds of the input are copied.
    pub(super) keep_feeds: bool,
}

/// Turns `-12` into `--columns=12` (the digits may be between other letters; the last run of digits
/// counts) and `+3:5` into `--pages=3:5`.
///
/// # Errors
/// Returns a message about a `+` that is not followed by a range of pages.
pub(super) fn modern_options(args: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Vec<u8>> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut digits = Vec::new();
    let mut has_pages = false;
    let mut args = args.iter();
    let columns = |digits: &mut Vec<u8>, out: &mut Vec<Vec<u8>>| {
        if !digits.is_empty() {
            out.push([b"--columns=".as_slice(), &std::mem::take(digits)].concat());
        }
    };
    while let Some(a) = args.next() {
        let pages = a.strip_prefix(b"+").filter(|_| !has_pages);
        let parsed = pages.map(|pages| parse_pages(pages, "+")).transpose()?;
        if let Some(pages) = pages.filter(|_| parsed.flatten().is_some()) {
            has_pages = true;
            out.push([b"--pages=", pages].concat());
        } else if a.len() < 2 || !a.starts_with(b"-") || a.starts_with(b"--") {
            columns(&mut digits, &mut out);
            out.push(a.clone());
            if a == b"--" {
                out.extend(args.by_ref().cloned());
            }
        } else {
            for (i, c) in a.iter().enumerate().skip(1) {
                if c.is_ascii_digit() {
                    digits.push(*c);
                    continue;
                }
                columns(&mut digits, &mut out);
                let takes = b"DehilnNosSwW".contains(c);
                let rest = if takes { &a[i + 1..] } else { &[] };
                out.push([b"-", &[*c][..], rest].concat());
                if takes {
                    // The next word is the value, even if it looks like an option.
                    if rest.is_empty() && b"DhlNowW".contains(c) {
                        out.extend(args.next().cloned());
                    }
                    break;
                }
            }
        }
    }
    columns(&mut digits, &mut out);
    Ok(out)
}

/// Parses `FIRST[:LAST]`, for example `2:5`; `None` if the numbers are not a range of pages.
///
/// # Errors
/// A message that says which part of the option's argument is not a number or is too large.
fn parse_pages(text: &[u8], option: &str) -> Result<Option<(u64, u64)>, Vec<u8>> {
    let wrong = |e: CountError| e.message(option, text);
    let (first, rest) = number::leading(text).ok_or_else(|| wrong(CountError::Invalid))?;
    let first = first.map_err(wrong)?;
    let last = match rest.strip_prefix(b":") {
        None if rest.is_empty() => u64::MAX,
        None => return Ok(None),
        Some(last) => number::count(last).map_err(wrong)?,
    };
    Ok((first > 0 && first <= last).then_some((first, last)))
}

/// Parses `[CHAR][NUMBER]`, with defaults for both.
fn char_and_number(text: &[u8], default: (u8, usize)) -> Option<(u8, usize)> {
    let (c, digits) = match text.split_first() {
        Some((c, rest)) if !c.is_ascii_digit() => (*c, rest),
        _ => (default.0, text),
    };
    if digits.is_empty() {
        return Some((c, default.1));
    }
    let n = number::count(digits).ok().and_then(|n| usize::try_from(n).ok());
    Some((c, n.filter(|n| (1..1 << 20).contains(n))?))
}

/// Parses a number of at least `least`. The error is the message `what` about a wrong number.
fn parse_count(
    p: &ParsedOptions<PrFlag>,
    flag: PrFlag,
    what: &str,
    least: i64,
) -> Result<Option<usize>, Vec<u8>> {
    let Some(t) = p.last_value(flag) else { return Ok(None) };
    let parsed = number::parse_bounded(t, (least, i64::from(i32::MAX))).and_then(|n| {
        // Pages and lines are held in memory.
        usize::try_from(n).ok().filter(|n| *n < 1 << 20).ok_or(BoundError::TooLarge)
    });
    match parsed {
        Ok(n) => Ok(Some(n)),
        Err(e) => Err([what.as_bytes(), b": ", &quote::quote_in_sentence(t), e.suffix()].concat()),
    }
}

/// Parses the argument of `-e`, `-i` and `-n`: a character and a number, both with defaults.
fn parse_extra(
    p: &ParsedOptions<PrFlag>,
    flag: PrFlag,
    letter: &str,
    default: (u8, usize),
) -> Result<Option<(u8, usize)>, Vec<u8>> {
    let Some(text) = p.last_value(flag) else { return Ok(p.has_option(flag).then_some(default)) };
    char_and_number(text, default).map(Some).ok_or_else(|| {
        let what = b"' extra characters or invalid number in the argument: ";
        [b"'-", letter.as_bytes(), what, &quote::quote_in_sentence(text)].concat()
    })
}

struct PrColumns {
    count: usize,
    /// Whether each column shows one file.
    parallel: bool,
    /// Whether the number of columns was given.
    explicit: bool,
}

fn parse_columns(p: &ParsedOptions<PrFlag>, operands: usize) -> Result<PrColumns, Vec<u8>> {
    let explicit = parse_count(p, PrFlag::Columns, "invalid number of columns", 1)?;
    let parallel = p.has_option(PrFlag::Merge);
    if parallel && explicit.is_some() {
        return Err(b"cannot specify number of columns when printing in parallel".to_vec());
    }
    if parallel && p.has_option(PrFlag::Across) {
        return Err(b"cannot specify both printing across and printing in parallel".to_vec());
    }
    let count = if parallel { operands.max(1) } else { explicit.unwrap_or(1) };
    Ok(PrColumns { count, parallel, explicit: explicit.is_some() })
}

/// The gap between columns, and the width of a page.
struct ColumnGap {
    separator: Option<Vec<u8>>,
    truncate: bool,
    width: usize,
    input_tab: Option<Tab>,
    output_tab: Option<Tab>,
}

impl ColumnGap {
    fn from_options(p: &ParsedOptions<PrFlag>, columns: &PrColumns) -> Result<ColumnGap, Vec<u8>> {
        let width =
            parse_count(p, PrFlag::Width, "'-w PAGE_WIDTH' invalid number of characters", 1)?;
        let page_width =
            parse_count(p, PrFlag::PageWidth, "'-W PAGE_WIDTH' invalid number of characters", 1)?;
        let mut truncate = page_width.is_some();
        let mut join = p.has_option(PrFlag::JoinLines);
        let text_of =
            |flag: PrFlag| p.has_option(flag).then(|| p.last_value(flag).unwrap_or(b"").to_vec());
        let mut separator = text_of(PrFlag::SepString);
        // `-s` only applies if `-S` is not given.
        let old_separator = text_of(PrFlag::Separator).filter(|_| separator.is_none());
        let several = columns.parallel || columns.explicit;
        if width.is_some() && page_width.is_none() {
            if several {
                truncate = true;
                separator = old_separator.or(separator);
            } else {
                join = true;
            }
        } else if let Some(text) = old_separator.filter(|_| several) {
            if truncate {
                separator = Some(text);
            } else {
                join = true;
                separator = Some(text).filter(|t| !t.is_empty());
            }
        }
        let tab = (b'\t', 8);
        let mut input_tab = parse_extra(p, PrFlag::ExpandTabs, "e", tab)?;
        let mut output_tab = parse_extra(p, PrFlag::OutputTabs, "i", tab)?;
        if columns.count > 1 {
            let s = separator.get_or_insert(if join { b"\t".to_vec() } else { b" ".to_vec() });
            if !join && s == b"\t" {
                *s = b" ".to_vec();
            }
            truncate = true;
            if s != b"\t" {
                input_tab.get_or_insert(tab);
            }
            output_tab.get_or_insert(tab);
        } else {
            separator = None;
        }
        let width = page_width.or(width).unwrap_or(72);
        Ok(ColumnGap { separator, truncate: truncate && !join, width, input_tab, output_tab })
    }
}

fn parse_numbers(p: &ParsedOptions<PrFlag>) -> Result<Option<Numbers>, Vec<u8>> {
    let first = match p.last_value(PrFlag::FirstLineNumber) {
        None => None,
        Some(t) => {
            let bounds = (i64::from(i32::MIN), i64::from(i32::MAX));
            Some(number::parse_bounded(t, bounds).map_err(|e| {
                let what = b"'-N NUMBER' invalid starting line number: ";
                [&what[..], &quote::quote_in_sentence(t), e.suffix()].concat()
            })?)
        }
    };
    let numbers = parse_extra(p, PrFlag::NumberLines, "n", (b'\t', 5))?;
    Ok(numbers.map(|(separator, digits)| Numbers { separator, digits, first }))
}

impl PrOptions {
    /// Resolves the options for this number of files. The error is a message.
    pub(super) fn from_options(
        p: &ParsedOptions<PrFlag>,
        operands: usize,
    ) -> Result<PrOptions, Vec<u8>> {
        let columns = parse_columns(p, operands)?;
        let pages = match p.last_value(PrFlag::Pages) {
            None => (1, u64::MAX),
            Some(t) => parse_pages(t, "--pages")?
                .ok_or_else(|| [b"invalid page range ", &*quote::quote_in_sentence(t)].concat())?,
        };
        let gap = ColumnGap::from_options(p, &columns)?;
        let numbers = parse_numbers(p)?;
        let length = parse_count(p, PrFlag::Length, "'-l PAGE_LENGTH' invalid number of lines", 1)?;
        let length = length.unwrap_or(66);
        let bare = p.has_option(PrFlag::OmitHeader) || p.has_option(PrFlag::OmitPagination);
        let short = length <= 10;
        let controls = [
            (PrFlag::ShowNonprinting, PrControl::Octal),
            (PrFlag::ShowControlChars, PrControl::Hat),
        ];
        let control =
            controls.into_iter().find(|(flag, _)| p.has_option(*flag)).map(|(_, how)| how);
        Ok(PrOptions {
            pages,
            columns: columns.count,
            across: p.has_option(PrFlag::Across) && columns.count > 1,
            parallel: columns.parallel,
            double: p.has_option(PrFlag::DoubleSpace),
            control: control.unwrap_or(PrControl::Raw),
            date_format: p.last_value(PrFlag::DateFormat).unwrap_or(b"%Y-%m-%d %H:%M").to_vec(),
            input_tab: gap.input_tab,
            output_tab: gap.output_tab,
            form_feeds: p.has_option(PrFlag::FormFeed),
            header: p.last_value(PrFlag::Header).map(<[u8]>::to_vec),
            length,
            width: gap.width,
            truncate: gap.truncate,
            numbers,
            margin: parse_count(p, PrFlag::Indent, "'-o MARGIN' invalid line offset", 0)?
                .unwrap_or(0),
            quiet: p.has_option(PrFlag::NoFileWarnings),
            separator: gap.separator,
            extremities: !bare && !short,
            keep_feeds: short || bare && !p.has_option(PrFlag::OmitPagination),
        })
    }

    /// Returns the number of lines of text on a page.
    pub(super) fn body_lines(&self) -> usize {
        let all = if self.extremities { self.length - 10 } else { self.length };
        if self.double { (all / 2).max(1) } else { all }
    }

    /// Returns the width of a column; `None` if it has none.
    pub(super) fn column_width(&self) -> Result<usize, Vec<u8>> {
        let numbers = match &self.numbers {
            Some(n) if self.parallel => n.width(),
            _ => 0,
        };
        let each = self.separator.as_ref().map_or(0, Vec::len);
        let separators = (self.columns - 1).saturating_mul(each);
        let left = self.width.saturating_sub(numbers.saturating_add(separators));
        match left / self.columns {
            0 => Err(b"page width too narrow".to_vec()),
            n => Ok(n),
        }
    }
}
