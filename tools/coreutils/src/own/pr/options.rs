//! The command line, and the layout that follows from it.

use box_applet::opts::{Opt, Parsed, Spec};

use crate::common::{number, quote};

pub(super) const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Paginate or columnate FILE(s) for printing.\n\nWith no FILE, or when FILE is -, read standard input.\n+FIRST[:LAST] before the files and -COLUMN are short for --pages and --columns.",
    options: &[
        Opt::value(
            '\u{1}',
            "pages",
            "FIRST[:LAST]",
            "begin [stop] printing with page FIRST [LAST]",
        )
        .long_only(),
        Opt::value(
            '\u{2}',
            "columns",
            "COLUMN",
            "output COLUMN columns, down unless -a is used; columns are balanced",
        )
        .long_only(),
        Opt::flag('a', "across", "print columns across rather than down"),
        Opt::flag('c', "show-control-chars", "use hat notation (^G) and octal backslash notation"),
        Opt::flag('d', "double-space", "double space the output"),
        Opt::value('D', "date-format", "FORMAT", "use FORMAT for the header date"),
        Opt::optional(
            'e',
            "expand-tabs",
            "CHAR[WIDTH]",
            "expand input CHARs (TABs) to tab WIDTH (8)",
        ),
        Opt::flag('F', "form-feed", "use form feeds instead of newlines to separate pages"),
        Opt::flag('f', "", "the same"),
        Opt::value(
            'h',
            "header",
            "HEADER",
            "use a centered HEADER instead of the file's name in page headers",
        ),
        Opt::optional(
            'i',
            "output-tabs",
            "CHAR[WIDTH]",
            "replace spaces with CHARs (TABs) to tab WIDTH (8)",
        ),
        Opt::flag('J', "join-lines", "merge full lines, without truncation and alignment"),
        Opt::value('l', "length", "LENGTH", "lines of a page (66); implies -t if at most 10"),
        Opt::flag('m', "merge", "print all files in parallel, one in each column"),
        Opt::optional(
            'n',
            "number-lines",
            "SEP[DIGITS]",
            "number lines with DIGITS (5) digits, then SEP (TAB)",
        ),
        Opt::value(
            'N',
            "first-line-number",
            "NUMBER",
            "start counting with NUMBER at the first page printed",
        ),
        Opt::value('o', "indent", "MARGIN", "offset each line with MARGIN spaces"),
        Opt::flag('r', "no-file-warnings", "omit warning when a file cannot be opened"),
        Opt::optional(
            's',
            "separator",
            "CHAR",
            "separate columns by CHAR (TAB without -w, nothing with it); no truncation without -w",
        ),
        Opt::optional('S', "sep-string", "STRING", "separate columns by STRING"),
        Opt::flag('t', "omit-header", "omit page headers and trailers"),
        Opt::flag('T', "omit-pagination", "omit headers and trailers, and form feeds of the input"),
        Opt::flag('v', "show-nonprinting", "use octal backslash notation"),
        Opt::value('w', "width", "WIDTH", "page width (72) of columns; -s without -w turns it off"),
        Opt::value(
            'W',
            "page-width",
            "WIDTH",
            "page width (72); lines are always truncated, except with -J",
        ),
    ],
    after: "",
    posix_order: false,
};

/// How unprintable characters are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Raw,
    Hat,
    Octal,
}

/// A tab character and the distance of its stops.
pub(super) type Tab = (u8, usize);

/// Numbers of lines.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) separator: u8,
    pub(super) digits: usize,
    /// Given by `-N`: counts from the first page that is printed.
    pub(super) first: Option<i64>,
}

impl Numbers {
    /// Columns that number and separator take.
    pub(super) fn width(&self) -> usize {
        match self.separator {
            b'\t' => self.digits + 8 - self.digits % 8,
            _ => self.digits + 1,
        }
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) pages: (u64, u64),
    pub(super) columns: usize,
    pub(super) across: bool,
    pub(super) parallel: bool,
    pub(super) double: bool,
    pub(super) control: Control,
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
    /// `None` with a single column.
    pub(super) separator: Option<Vec<u8>>,
    /// Headers and trailers.
    pub(super) extremities: bool,
    /// Form feeds of the input are passed on.
    pub(super) keep_feeds: bool,
}

/// Turns `-12` into `--columns=12` (digits may stand among other letters, the last run of them counts) and
/// `+3:5` into `--pages=3:5`.
pub(super) fn modern(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut digits = Vec::new();
    let mut args = args.iter();
    let columns = |digits: &mut Vec<u8>, out: &mut Vec<Vec<u8>>| {
        if !digits.is_empty() {
            out.push([b"--columns=".as_slice(), &std::mem::take(digits)].concat());
        }
    };
    while let Some(a) = args.next() {
        if let Some(pages) = a.strip_prefix(b"+").filter(|p| self::pages(p).is_some()) {
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
                    // A value that must follow may look like an option.
                    if rest.is_empty() && b"DhlNowW".contains(c) {
                        out.extend(args.next().cloned());
                    }
                    break;
                }
            }
        }
    }
    columns(&mut digits, &mut out);
    out
}

/// `FIRST[:LAST]`
fn pages(text: &[u8]) -> Option<(u64, u64)> {
    let mut parts = text.splitn(2, |c| *c == b':');
    let first = number::decimal(parts.next()?).filter(|n| (1..u64::MAX).contains(n))?;
    let last = match parts.next() {
        Some(t) => number::decimal(t)?,
        None => u64::MAX,
    };
    (first <= last).then_some((first, last))
}

/// `[CHAR][NUMBER]` with the defaults.
fn char_and_number(text: &[u8], default: (u8, usize)) -> Option<(u8, usize)> {
    let (c, digits) = match text.split_first() {
        Some((c, rest)) if !c.is_ascii_digit() => (*c, rest),
        _ => (default.0, text),
    };
    if digits.is_empty() {
        return Some((c, default.1));
    }
    let n = number::decimal(digits).and_then(|n| usize::try_from(n).ok());
    Some((c, n.filter(|n| (1..1 << 20).contains(n))?))
}

impl Options {
    /// The options for so many operands, or a message.
    pub(super) fn of(p: &Parsed, operands: usize) -> Result<Options, Vec<u8>> {
        let count = |id: char, what: &str, least: u64| -> Result<Option<usize>, Vec<u8>> {
            let Some(t) = p.last(id) else { return Ok(None) };
            match number::decimal(t).filter(|n| (least..1 << 20).contains(n)) {
                Some(n) => Ok(Some(n as usize)),
                None => Err([what.as_bytes(), b": ", &quote::always(t)].concat()),
            }
        };
        let extra = |id: char, what: &str, default: (u8, usize)| match p.last(id) {
            _ if !p.has(id) => Ok(None),
            None => Ok(Some(default)),
            Some(t) => match char_and_number(t, default) {
                Some(v) => Ok(Some(v)),
                None => Err([
                    b"'-".as_slice(),
                    what.as_bytes(),
                    b"' extra characters or invalid number in the argument: ",
                    &quote::always(t),
                ]
                .concat()),
            },
        };
        let explicit = count('\u{2}', "invalid number of columns", 1)?;
        let parallel = p.has('m');
        if parallel && explicit.is_some() {
            return Err(b"cannot specify number of columns when printing in parallel".to_vec());
        }
        if parallel && p.has('a') {
            return Err(b"cannot specify both printing across and printing in parallel".to_vec());
        }
        let pages = match p.last('\u{1}') {
            None => (1, u64::MAX),
            Some(t) => match pages(t) {
                Some(v) => v,
                None => return Err([b"invalid page range ".as_slice(), &quote::always(t)].concat()),
            },
        };
        let width = count('w', "'-w PAGE_WIDTH' invalid number of characters", 1)?;
        let page_width = count('W', "'-W PAGE_WIDTH' invalid number of characters", 1)?;
        let columns = if parallel { operands.max(1) } else { explicit.unwrap_or(1) };
        let mut truncate = page_width.is_some();
        let mut join = p.has('J');
        let mut separator = p.has('S').then(|| p.last('S').unwrap_or(b"").to_vec());
        let old_separator = p.has('s') && separator.is_none();
        let old_text = || p.last('s').unwrap_or(b"").to_vec();
        let several = parallel || explicit.is_some();
        if width.is_some() && page_width.is_none() {
            if several {
                truncate = true;
                if old_separator {
                    separator = Some(old_text());
                }
            } else {
                join = true;
            }
        } else if old_separator && several {
            if truncate {
                separator = Some(old_text());
            } else {
                join = true;
                separator = Some(old_text()).filter(|t| !t.is_empty());
            }
        }
        let tab = (b'\t', 8);
        let mut input_tab = extra('e', "e", tab)?;
        let mut output_tab = extra('i', "i", tab)?;
        if columns > 1 {
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
        let first = match p.last('N') {
            None => None,
            Some(t) => match std::str::from_utf8(t).ok().and_then(|t| t.parse().ok()) {
                Some(n) => Some(n),
                None => {
                    let what = b"'-N NUMBER' invalid starting line number: ".as_slice();
                    return Err([what, &quote::always(t)].concat());
                }
            },
        };
        let numbers = extra('n', "n", (b'\t', 5))?.map(|(separator, digits)| Numbers {
            separator,
            digits,
            first,
        });
        let form_feeds = p.has('F') || p.has('f');
        let length = count('l', "'-l PAGE_LENGTH' invalid number of lines", 1)?.unwrap_or(66);
        let bare = p.has('t') || p.has('T');
        let short = length <= 10;
        Ok(Options {
            pages,
            columns,
            across: p.has('a') && columns > 1,
            parallel,
            double: p.has('d'),
            control: match (p.has('v'), p.has('c')) {
                (true, _) => Control::Octal,
                (_, true) => Control::Hat,
                _ => Control::Raw,
            },
            date_format: p.last('D').unwrap_or(b"%Y-%m-%d %H:%M").to_vec(),
            input_tab,
            output_tab,
            form_feeds,
            header: p.last('h').map(<[u8]>::to_vec),
            length,
            width: page_width.or(width).unwrap_or(72),
            truncate: truncate && !join,
            numbers,
            margin: count('o', "'-o MARGIN' invalid line offset", 0)?.unwrap_or(0),
            quiet: p.has('r'),
            separator,
            extremities: !bare && !short,
            keep_feeds: short || bare && !p.has('T'),
        })
    }

    /// Lines of text on a page.
    pub(super) fn body(&self) -> usize {
        let all = if self.extremities { self.length - 10 } else { self.length };
        if self.double { (all / 2).max(1) } else { all }
    }

    /// Width of a column; `None` if it has none.
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
