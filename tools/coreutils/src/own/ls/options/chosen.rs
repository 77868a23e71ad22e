//! Options that may overrule each other, the later ones the earlier ones.

use box_applet::Ctx;
use box_applet::opts::Parsed;

use super::{Flag, Follow, Format, Indicator, Sort, Wrong, bad, invalid};
use crate::common::number::Scale;
use crate::common::quote::Style;

/// The argument of an option that takes one of several words.
fn word<T: Copy>(value: &[u8], option: &str, words: &[(&str, T)]) -> Result<T, Wrong> {
    let found = words.iter().find(|(word, _)| word.as_bytes() == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| bad(value, option))
}

/// The argument of `--color` and `--classify`: whether that is on.
fn when(value: Option<&[u8]>, option: &str, terminal: bool) -> Result<bool, Wrong> {
    match value {
        None | Some(b"always" | b"yes" | b"force") => Ok(true),
        Some(b"never" | b"no" | b"none") => Ok(false),
        Some(b"auto" | b"tty" | b"if-tty") => Ok(terminal),
        Some(other) => Err(bad(other, option)),
    }
}

/// What options say that may overrule each other: the later ones do.
pub(super) struct Chosen {
    pub terminal: bool,
    pub format: Format,
    pub owner: bool,
    pub group: bool,
    pub numeric: bool,
    pub all: bool,
    pub almost_all: bool,
    pub sort: Option<Sort>,
    /// `m`, `a` or `c`.
    pub time: Option<u8>,
    pub time_style: Option<Vec<u8>>,
    pub quoting: Option<Style>,
    pub hide_control: bool,
    pub indicator: Indicator,
    pub scale: Option<Scale>,
    pub color: bool,
}

impl Chosen {
    pub(super) fn of(
        ctx: &Ctx<'_>,
        p: &Parsed<Flag>,
        default: Option<Format>,
    ) -> Result<Chosen, Wrong> {
        let terminal =
            matches!(ctx.stdout.sink(), box_applet::Sink::File(f) if box_sys::is_terminal(f));
        let mut chosen = Chosen {
            terminal,
            format: default.unwrap_or(match terminal {
                true => Format::Columns,
                false => Format::OnePerLine,
            }),
            owner: true,
            group: true,
            numeric: false,
            all: false,
            almost_all: false,
            sort: None,
            time: None,
            time_style: None,
            quoting: ctx.env.get(b"QUOTING_STYLE").and_then(Style::parse),
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

    /// Which entries are listed.
    fn read_entries(&mut self, flag: Flag) {
        match flag {
            Flag::All | Flag::Unordered => self.all = true,
            Flag::AlmostAll => (self.all, self.almost_all) = (false, true),
            _ => {}
        }
    }

    /// The layout, and the columns of a long listing.
    fn read_format(&mut self, flag: Flag, value: &[u8]) -> Result<(), Wrong> {
        const WORDS: [(&str, Format); 7] = [
            ("long", Format::Long),
            ("verbose", Format::Long),
            ("commas", Format::Commas),
            ("horizontal", Format::Across),
            ("across", Format::Across),
            ("vertical", Format::Columns),
            ("single-column", Format::OnePerLine),
        ];
        match flag {
            Flag::Long | Flag::FullTime => self.format = Format::Long,
            Flag::LongWithoutOwner => (self.format, self.owner) = (Format::Long, false),
            Flag::LongWithoutGroup => (self.format, self.group) = (Format::Long, false),
            Flag::NumericUidGid => (self.format, self.numeric) = (Format::Long, true),
            Flag::NoGroup => self.group = false,
            Flag::Columns => self.format = Format::Columns,
            Flag::Across => self.format = Format::Across,
            Flag::Commas => self.format = Format::Commas,
            Flag::OnePerLine | Flag::Zero if self.format != Format::Long => {
                self.format = Format::OnePerLine;
            }
            Flag::Unordered if self.format == Format::Long => self.format = Format::OnePerLine,
            Flag::Format => self.format = word(value, "format", &WORDS)?,
            _ => {}
        }
        Ok(())
    }

    /// What entries are sorted by, and which time is meant.
    fn read_order(&mut self, flag: Flag, value: &[u8]) -> Result<(), Wrong> {
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
            Flag::Unsorted | Flag::Unordered => self.sort = Some(Sort::None),
            Flag::ByTime => self.sort = Some(Sort::Time),
            Flag::BySize => self.sort = Some(Sort::Size),
            Flag::ByExtension => self.sort = Some(Sort::Extension),
            Flag::ByVersion => self.sort = Some(Sort::Version),
            Flag::Sort => self.sort = Some(word(value, "sort", &WORDS)?),
            Flag::Ctime => self.time = Some(b'c'),
            Flag::AccessTime => self.time = Some(b'a'),
            Flag::Time => self.time = Some(word(value, "time", &TIMES)?),
            Flag::FullTime => self.time_style = Some(b"full-iso".to_vec()),
            Flag::TimeStyle => self.time_style = Some(value.to_vec()),
            _ => {}
        }
        Ok(())
    }

    /// How names are quoted, and what stands behind them.
    fn read_names(&mut self, flag: Flag, value: Option<&[u8]>) -> Result<(), Wrong> {
        const INDICATORS: [(&str, Indicator); 4] = [
            ("none", Indicator::None),
            ("slash", Indicator::Slash),
            ("file-type", Indicator::FileType),
            ("classify", Indicator::Classify),
        ];
        let text = value.unwrap_or_default();
        match flag {
            Flag::Escape => self.quoting = Some(Style::Escape),
            Flag::QuoteName => self.quoting = Some(Style::C),
            Flag::Literal => self.quoting = Some(Style::Literal),
            Flag::QuotingStyle => {
                let style = Style::parse(text).ok_or_else(|| bad(text, "quoting-style"))?;
                self.quoting = Some(style);
            }
            Flag::Zero => (self.quoting, self.hide_control) = (Some(Style::Literal), false),
            Flag::HideControlChars => self.hide_control = true,
            Flag::ShowControlChars => self.hide_control = false,
            Flag::Classify if when(value, "classify", self.terminal)? => {
                self.indicator = Indicator::Classify;
            }
            Flag::Slash => self.indicator = Indicator::Slash,
            Flag::FileType => self.indicator = Indicator::FileType,
            Flag::IndicatorStyle => self.indicator = word(text, "indicator-style", &INDICATORS)?,
            _ => {}
        }
        Ok(())
    }

    /// Sizes and colours.
    fn read_looks(&mut self, flag: Flag, value: Option<&[u8]>) -> Result<(), Wrong> {
        match flag {
            Flag::HumanReadable => self.scale = Some(Scale::Human(1024)),
            Flag::Si => self.scale = Some(Scale::Human(1000)),
            Flag::BlockSize => {
                let text = value.unwrap_or_default();
                let what = b"invalid --block-size argument ";
                self.scale = Some(Scale::parse(text).ok_or_else(|| invalid(what, text))?);
            }
            Flag::Unordered => self.color = false,
            Flag::Color => self.color = when(value, "color", self.terminal)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn quoting(&self, default: Option<Format>) -> Style {
        self.quoting.unwrap_or(match default {
            Some(_) => Style::Escape,
            None if self.terminal => Style::ShellEscape,
            None => Style::Literal,
        })
    }

    /// `-c` and `-u` without `-l` sort by that time.
    pub(super) fn sort(&self) -> Sort {
        let by_time = self.time.is_some() && self.format != Format::Long;
        self.sort.unwrap_or(if by_time { Sort::Time } else { Sort::Name })
    }

    pub(super) fn follow(&self, p: &Parsed<Flag>) -> Follow {
        let given = p.choice(&[
            (Flag::Dereference, Follow::Always),
            (Flag::DereferenceCommandLine, Follow::Operands),
            (Flag::DereferenceDirs, Follow::OperandDirs),
        ]);
        let shows_links = p.has(Flag::Directory)
            || self.format == Format::Long
            || self.indicator == Indicator::Classify;
        given.unwrap_or(if shows_links { Follow::Never } else { Follow::OperandDirs })
    }
}
