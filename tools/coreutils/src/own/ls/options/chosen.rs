//! Options that override each other: the last one applies.

use box_applet::Ctx;
use box_applet::opts::ParsedOptions;

use super::{Indicator, LsFlag, LsFollow, LsFormat, LsUsageError, Sort, bad_argument};
use crate::common::number::{CountError, SizeScale};
use crate::common::quote::QuoteStyle;

/// Parses the argument of an option that accepts one of several words.
fn parse_word<T: Copy>(value: &[u8], option: &str, words: &[(&str, T)]) -> Result<T, LsUsageError> {
    let found = words.iter().find(|(word, _)| word.as_bytes() == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| bad_argument(value, option))
}

/// Parses the argument of `--color` and `--classify`; returns whether the option is on.
fn parse_when(value: Option<&[u8]>, option: &str, terminal: bool) -> Result<bool, LsUsageError> {
    match value {
        None | Some(b"always" | b"yes" | b"force") => Ok(true),
        Some(b"never" | b"no" | b"none") => Ok(false),
        Some(b"auto" | b"tty" | b"if-tty") => Ok(terminal),
        Some(other) => Err(bad_argument(other, option)),
    }
}

/// The values of options that override each other: the last one applies.
pub(super) struct LsChoices {
    pub terminal: bool,
    pub format: LsFormat,
    pub owner: bool,
    pub group: bool,
    pub numeric: bool,
    pub all: bool,
    pub almost_all: bool,
    pub sort: Option<Sort>,
    /// `m`, `a` or `c`.
    pub time: Option<u8>,
    pub time_style: Option<Vec<u8>>,
    pub quoting: Option<QuoteStyle>,
    pub hide_control: bool,
    pub indicator: Indicator,
    pub scale: Option<SizeScale>,
    pub color: bool,
}

impl LsChoices {
    pub(super) fn from_options(
        ctx: &Ctx<'_>,
        p: &ParsedOptions<LsFlag>,
        default: Option<LsFormat>,
    ) -> Result<LsChoices, LsUsageError> {
        let terminal =
            matches!(ctx.stdout.sink(), box_applet::OutputSink::File(f) if box_sys::is_terminal(f));
        let mut chosen = LsChoices {
            terminal,
            format: default.unwrap_or(if terminal {
                LsFormat::Columns
            } else {
                LsFormat::OnePerLine
            }),
            owner: true,
            group: true,
            numeric: false,
            all: false,
            almost_all: false,
            sort: None,
            time: None,
            time_style: None,
            quoting: ctx.env.get(b"QUOTING_STYLE").and_then(QuoteStyle::parse),
            hide_control: terminal && default.is_none(),
            indicator: Indicator::None,
            scale: None,
            color: false,
        };
        for (flag, value) in &p.options {
            let value = value.as_deref();
            chosen.read_entries(*flag);
            chosen.read_format(*flag, value.unwrap_or_default())?;
            chosen.read_order(*flag, value.unwrap_or_default())?;
            chosen.read_names(*flag, value)?;
            chosen.read_looks(*flag, value)?;
        }
        Ok(chosen)
    }

    /// Reads the options that select the entries to list.
    fn read_entries(&mut self, flag: LsFlag) {
        match flag {
            LsFlag::All | LsFlag::Unordered => self.all = true,
            LsFlag::AlmostAll => (self.all, self.almost_all) = (false, true),
            _ => {}
        }
    }

    /// Reads the options that set the layout and the columns of a long listing.
    fn read_format(&mut self, flag: LsFlag, value: &[u8]) -> Result<(), LsUsageError> {
        const WORDS: [(&str, LsFormat); 7] = [
            ("long", LsFormat::Long),
            ("verbose", LsFormat::Long),
            ("commas", LsFormat::Commas),
            ("horizontal", LsFormat::Across),
            ("across", LsFormat::Across),
            ("vertical", LsFormat::Columns),
            ("single-column", LsFormat::OnePerLine),
        ];
        match flag {
            LsFlag::Long | LsFlag::FullTime => self.format = LsFormat::Long,
            LsFlag::LongWithoutOwner => (self.format, self.owner) = (LsFormat::Long, false),
            LsFlag::LongWithoutGroup => (self.format, self.group) = (LsFormat::Long, false),
            LsFlag::NumericUidGid => (self.format, self.numeric) = (LsFormat::Long, true),
            LsFlag::NoGroup => self.group = false,
            LsFlag::Columns => self.format = LsFormat::Columns,
            LsFlag::Across => self.format = LsFormat::Across,
            LsFlag::Commas => self.format = LsFormat::Commas,
            LsFlag::OnePerLine | LsFlag::Zero if self.format != LsFormat::Long => {
                self.format = LsFormat::OnePerLine;
            }
            LsFlag::Unordered if self.format == LsFormat::Long => {
                self.format = LsFormat::OnePerLine
            }
            LsFlag::Format => self.format = parse_word(value, "format", &WORDS)?,
            _ => {}
        }
        Ok(())
    }

    /// Reads the options that set the sort key and the kind of time.
    fn read_order(&mut self, flag: LsFlag, value: &[u8]) -> Result<(), LsUsageError> {
        const WORDS: [(&str, Sort); 7] = [
            ("none", Sort::None),
            ("name", Sort::Name),
            ("size", Sort::Size),
            ("time", Sort::Time),
            ("version", Sort::Version),
            ("extension", Sort::Extension),
            ("width", Sort::Width),
        ];
        const TIMES: [(&str, u8); 9] = [
            ("atime", b'a'),
            ("access", b'a'),
            ("use", b'a'),
            ("ctime", b'c'),
            ("status", b'c'),
            ("mtime", b'm'),
            ("modification", b'm'),
            ("birth", b'm'),
            ("creation", b'm'),
        ];
        match flag {
            LsFlag::Unsorted | LsFlag::Unordered => self.sort = Some(Sort::None),
            LsFlag::ByTime => self.sort = Some(Sort::Time),
            LsFlag::BySize => self.sort = Some(Sort::Size),
            LsFlag::ByExtension => self.sort = Some(Sort::Extension),
            LsFlag::ByVersion => self.sort = Some(Sort::Version),
            LsFlag::Sort => self.sort = Some(parse_word(value, "sort", &WORDS)?),
            LsFlag::Ctime => self.time = Some(b'c'),
            LsFlag::AccessTime => self.time = Some(b'a'),
            LsFlag::Time => self.time = Some(parse_word(value, "time", &TIMES)?),
            LsFlag::FullTime => self.time_style = Some(b"full-iso".to_vec()),
            LsFlag::TimeStyle => self.time_style = Some(value.to_vec()),
            _ => {}
        }
        Ok(())
    }

    /// Reads the options that set the quoting of names and the indicator after them.
    fn read_names(&mut self, flag: LsFlag, value: Option<&[u8]>) -> Result<(), LsUsageError> {
        const INDICATORS: [(&str, Indicator); 4] = [
            ("none", Indicator::None),
            ("slash", Indicator::Slash),
            ("file-type", Indicator::FileType),
            ("classify", Indicator::Classify),
        ];
        let text = value.unwrap_or_default();
        match flag {
            LsFlag::Escape => self.quoting = Some(QuoteStyle::Escape),
            LsFlag::QuoteName => self.quoting = Some(QuoteStyle::C),
            LsFlag::Literal => self.quoting = Some(QuoteStyle::Literal),
            LsFlag::QuotingStyle => {
                let style =
                    QuoteStyle::parse(text).ok_or_else(|| bad_argument(text, "quoting-style"))?;
                self.quoting = Some(style);
            }
            LsFlag::Zero => (self.quoting, self.hide_control) = (Some(QuoteStyle::Literal), false),
            LsFlag::HideControlChars => self.hide_control = true,
            LsFlag::ShowControlChars => self.hide_control = false,
            LsFlag::Classify if parse_when(value, "classify", self.terminal)? => {
                self.indicator = Indicator::Classify;
            }
            LsFlag::Slash => self.indicator = Indicator::Slash,
            LsFlag::FileType => self.indicator = Indicator::FileType,
            LsFlag::IndicatorStyle => {
                self.indicator = parse_word(text, "indicator-style", &INDICATORS)?
            }
            _ => {}
        }
        Ok(())
    }

    /// Sizes and colours.
    fn read_looks(&mut self, flag: LsFlag, value: Option<&[u8]>) -> Result<(), LsUsageError> {
        match flag {
            LsFlag::HumanReadable => self.scale = Some(SizeScale::Human(1024)),
            LsFlag::Si => self.scale = Some(SizeScale::Human(1000)),
            LsFlag::BlockSize => {
                let text = value.unwrap_or_default();
                let scale = SizeScale::parse(text);
                let wrong = |e: CountError| LsUsageError::Other(e.message("--block-size", text));
                self.scale = Some(scale.map_err(wrong)?);
            }
            LsFlag::Unordered => self.color = false,
            LsFlag::Color => self.color = parse_when(value, "color", self.terminal)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn quoting_style(&self, default: Option<LsFormat>) -> QuoteStyle {
        self.quoting.unwrap_or(match default {
            Some(_) => QuoteStyle::Escape,
            None if self.terminal => QuoteStyle::ShellEscape,
            None => QuoteStyle::Literal,
        })
    }

    /// Returns the sort order. Without `-l`, the options `-c` and `-u` sort by their time.
    pub(super) fn sort_order(&self) -> Sort {
        let by_time = self.time.is_some() && self.format != LsFormat::Long;
        self.sort.unwrap_or(if by_time { Sort::Time } else { Sort::Name })
    }

    pub(super) fn follow_policy(&self, p: &ParsedOptions<LsFlag>) -> LsFollow {
        let given = p.last_choice(&[
            (LsFlag::Dereference, LsFollow::Always),
            (LsFlag::DereferenceCommandLine, LsFollow::Operands),
            (LsFlag::DereferenceDirs, LsFollow::OperandDirs),
        ]);
        let shows_links = p.has_option(LsFlag::Directory)
            || self.format == LsFormat::Long
            || self.indicator == Indicator::Classify;
        given.unwrap_or(if shows_links { LsFollow::Never } else { LsFollow::OperandDirs })
    }
}
