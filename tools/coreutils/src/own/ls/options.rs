//! Resolves the options of `ls` to a plan.

mod chosen;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, clock};
use box_sys::Stat;
use box_text::glob::{GlobOptions, GlobPattern};
use box_text::time::Zone;

use super::color::LsColors;
use crate::common::number::{self, SizeScale};
use crate::common::quote::{self, QuoteStyle};

use chosen::LsChoices;

/// An option of `ls`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LsFlag {
    AccessTime,
    Across,
    All,
    AlmostAll,
    Author,
    BlockSize,
    ByExtension,
    BySize,
    ByTime,
    ByVersion,
    Classify,
    Color,
    Columns,
    Commas,
    Context,
    Ctime,
    Dereference,
    DereferenceCommandLine,
    DereferenceDirs,
    Directory,
    Dired,
    Escape,
    FileType,
    Format,
    FullTime,
    GroupDirectoriesFirst,
    Hide,
    HideControlChars,
    HumanReadable,
    Hyperlink,
    Ignore,
    IgnoreBackups,
    IndicatorStyle,
    Inode,
    Kibibytes,
    Literal,
    Long,
    LongWithoutGroup,
    LongWithoutOwner,
    NoGroup,
    NumericUidGid,
    OnePerLine,
    QuoteName,
    QuotingStyle,
    Recursive,
    Reverse,
    ShowControlChars,
    Si,
    Size,
    Slash,
    Sort,
    Tabsize,
    Time,
    TimeStyle,
    Unordered,
    Unsorted,
    Width,
    Zero,
}

pub(super) const SPEC: Spec<LsFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "List files, and what is in directories; by name, unless an option says otherwise.",
    &[
        Opt::new(LsFlag::All, 'a', "all").with_help("List names that begin with a dot, too"),
        Opt::new(LsFlag::AlmostAll, 'A', "almost-all").with_help("Like -a, without . and .."),
        Opt::long(LsFlag::Author, "author").with_help("With -l: add the author, who is the owner"),
        Opt::new(LsFlag::Escape, 'b', "escape")
            .with_help("Show unprintable characters as \\n, \\033 and so on"),
        Opt::long(LsFlag::BlockSize, "block-size").with_argument("SIZE", words::BLOCK_SIZE),
        Opt::new(LsFlag::IgnoreBackups, 'B', "ignore-backups")
            .with_help("Leave out names that end with ~"),
        Opt::new(LsFlag::Ctime, 'c', "")
            .with_help("Sort by the time of the last status change; with -l, show it"),
        Opt::new(LsFlag::Columns, 'C', "").with_help("Fill columns from top to bottom"),
        Opt::long(LsFlag::Color, "color")
            .may_take("WHEN", "Color names: always (default), auto or never"),
        Opt::new(LsFlag::Directory, 'd', "directory")
            .with_help("List a directory itself, not what is in it"),
        Opt::new(LsFlag::Dired, 'D', "dired").with_help(words::IGNORED),
        Opt::new(LsFlag::Unordered, 'f', "").with_help("List everything, unsorted"),
        Opt::new(LsFlag::Classify, 'F', "")
            .with_help("Append one of */=>@| to names, by the kind of file"),
        Opt::long(LsFlag::Classify, "classify")
            .may_take("WHEN", "Like -F: always (default), auto or never"),
        Opt::long(LsFlag::FileType, "file-type").with_help("Like -F, without the * of programs"),
        Opt::long(LsFlag::Format, "format").with_argument(
            "WORD",
            "Lay out as across (-x), commas (-m), horizontal (-x), long (-l), single-column (-1), verbose \
        (-l) or vertical (-C)",
        ),
        Opt::long(LsFlag::FullTime, "full-time").with_help("Print like -l, with times in full"),
        Opt::new(LsFlag::LongWithoutOwner, 'g', "").with_help("Print like -l, without owners"),
        Opt::long(LsFlag::GroupDirectoriesFirst, "group-directories-first")
            .with_help("List directories first"),
        Opt::new(LsFlag::NoGroup, 'G', "no-group").with_help("With -l: leave out groups"),
        Opt::new(LsFlag::HumanReadable, 'h', "human-readable").with_help(words::HUMAN),
        Opt::long(LsFlag::Si, "si").with_help(words::SI),
        Opt::new(LsFlag::DereferenceCommandLine, 'H', "dereference-command-line")
            .with_help("Follow symbolic links that are operands"),
        Opt::long(LsFlag::DereferenceDirs, "dereference-command-line-symlink-to-dir")
            .with_help("Follow operands that link to directories"),
        Opt::long(LsFlag::Hide, "hide").with_argument(
            "PATTERN",
            "Leave out names that match PATTERN, unless -a or -A is given",
        ),
        Opt::long(LsFlag::Hyperlink, "hyperlink").may_take("WHEN", words::IGNORED),
        Opt::long(LsFlag::IndicatorStyle, "indicator-style").with_argument(
            "WORD",
            "Mark kinds of files: none (default), slash (-p), file-type, classify (-F)",
        ),
        Opt::new(LsFlag::Inode, 'i', "inode").with_help("Put the inode number first"),
        Opt::new(LsFlag::Ignore, 'I', "ignore")
            .with_argument("PATTERN", "Leave out names that match PATTERN"),
        Opt::new(LsFlag::Kibibytes, 'k', "kibibytes").with_help("Count blocks of 1024 bytes"),
        Opt::new(LsFlag::Long, 'l', "")
            .with_help("Print mode, links, owner, group, size and time, too"),
        Opt::new(LsFlag::Dereference, 'L', "dereference")
            .with_help("Describe what links point to, not the links"),
        Opt::new(LsFlag::Commas, 'm', "").with_help("Separate names by commas"),
        Opt::new(LsFlag::NumericUidGid, 'n', "numeric-uid-gid")
            .with_help("Print like -l, with numbers for owner and group"),
        Opt::new(LsFlag::Literal, 'N', "literal").with_help("Print names as they are"),
        Opt::new(LsFlag::LongWithoutGroup, 'o', "").with_help("Print like -l, without groups"),
        Opt::new(LsFlag::Slash, 'p', "").with_help("Mark directories with /"),
        Opt::new(LsFlag::HideControlChars, 'q', "hide-control-chars")
            .with_help("Show unprintable characters as ?"),
        Opt::long(LsFlag::ShowControlChars, "show-control-chars")
            .with_help("Print unprintable characters as they are"),
        Opt::new(LsFlag::QuoteName, 'Q', "quote-name").with_help("Put names into double quotes"),
        Opt::long(LsFlag::QuotingStyle, "quoting-style").with_argument(
            "WORD",
            "Quote names: literal, locale, shell, shell-always, shell-escape, \
        shell-escape-always, c or escape",
        ),
        Opt::new(LsFlag::Reverse, 'r', "reverse").with_help("Sort the other way round"),
        Opt::new(LsFlag::Recursive, 'R', "recursive")
            .with_help("List all levels of subdirectories"),
        Opt::new(LsFlag::Size, 's', "size").with_help("Put the size in blocks first"),
        Opt::new(LsFlag::BySize, 'S', "").with_help("Sort by size, largest first"),
        Opt::long(LsFlag::Sort, "sort").with_argument(
            "WORD",
            "Sort by WORD: none (-U), size (-S), time (-t), version (-v), extension (-X) or width",
        ),
        Opt::long(LsFlag::Time, "time").with_argument(
            "WORD",
            "Use another time: atime, access, use (-u); ctime, status (-c); mtime, modification; \
        birth, creation",
        ),
        Opt::long(LsFlag::TimeStyle, "time-style")
            .with_argument("STYLE", "Print times as full-iso, long-iso, iso, locale or +FORMAT"),
        Opt::new(LsFlag::ByTime, 't', "").with_help("Sort by time, newest first"),
        Opt::new(LsFlag::Tabsize, 'T', "tabsize")
            .with_argument("COLS", "Assume tab stops every COLS columns (8)"),
        Opt::new(LsFlag::AccessTime, 'u', "")
            .with_help("Sort by the time of the last access; with -l, show it"),
        Opt::new(LsFlag::Unsorted, 'U', "").with_help("Do not sort"),
        Opt::new(LsFlag::ByVersion, 'v', "").with_help("Sort by version: file9 before file10"),
        Opt::new(LsFlag::Width, 'w', "width")
            .with_argument("COLS", "Fill lines of COLS characters; 0 sets no limit"),
        Opt::new(LsFlag::Across, 'x', "").with_help("Fill rows from left to right"),
        Opt::new(LsFlag::ByExtension, 'X', "").with_help("Sort by the suffix after the last dot"),
        Opt::new(LsFlag::Context, 'Z', "context")
            .with_help("Print ?: there are no security contexts here"),
        Opt::long(LsFlag::Zero, "zero").with_help(words::NUL_OUT),
        Opt::new(LsFlag::OnePerLine, '1', "").with_help("Print one name in each line"),
    ],
)
.with_examples(&[("ls -la", "Everything here, in detail"), ("ls -lt | head", "Newest files first")])
.with_footer(
    "Exit status: 0 if all went well, 1 if something in a directory could not be read, 2 \
        if an operand could not.",
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LsFormat {
    OnePerLine,
    Columns,
    Across,
    Commas,
    Long,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    None,
    Name,
    Time,
    Size,
    Extension,
    Version,
    Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

/// The symbolic links that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LsFollow {
    Never,
    Operands,
    /// Operands that point to directories.
    OperandDirs,
    Always,
}

pub(super) struct LsPlan {
    pub format: LsFormat,
    pub sort: Sort,
    pub reverse: bool,
    pub dirs_first: bool,
    pub all: bool,
    almost_all: bool,
    ignore_backups: bool,
    ignore: Vec<GlobPattern>,
    hide: Vec<GlobPattern>,
    pub directory: bool,
    pub recursive: bool,
    pub follow: LsFollow,
    pub indicator: Indicator,
    pub quoting: QuoteStyle,
    pub hide_control: bool,
    pub inode: bool,
    pub blocks: bool,
    pub block_scale: SizeScale,
    pub size_scale: SizeScale,
    pub owner: bool,
    pub group: bool,
    pub author: bool,
    pub context: bool,
    pub numeric: bool,
    pub width: usize,
    pub tab: usize,
    pub end: u8,
    pub colors: Option<LsColors>,
    /// The time that is shown and sorted by: `m`, `a` or `c`.
    time: u8,
    /// The formats of recent and of older times.
    pub time_formats: (Vec<u8>, Vec<u8>),
    pub zone: Zone,
    pub now: i64,
    pub needs_stat: bool,
    pub needs_target: bool,
    /// Whether the targets of symbolic links must be looked up.
    pub checks_targets: bool,
}

/// An error in the options, as a message.
pub(super) enum LsUsageError {
    /// A word that the option does not accept.
    Word(Vec<u8>),
    Other(Vec<u8>),
}

fn bad_argument(value: &[u8], option: &str) -> LsUsageError {
    let shown = quote::quote_in_sentence(value);
    LsUsageError::Word(
        [b"invalid argument ", &*shown, b" for '--", option.as_bytes(), b"'"].concat(),
    )
}

/// Returns the error about an invalid value of an option.
fn invalid_value(what: &[u8], value: &[u8]) -> LsUsageError {
    LsUsageError::Other([what, &*quote::quote_in_sentence(value)].concat())
}

/// Parses the number in an option, in any base; `what` is the message about an invalid one. There are no lines of
/// more than 2^63 columns: a larger width is endless, and no tab stops are so far apart.
fn parse_count(
    p: &ParsedOptions<LsFlag>,
    flag: LsFlag,
    what: &[u8],
    default: u64,
) -> Result<u64, LsUsageError> {
    let Some(text) = p.last_value(flag) else { return Ok(default) };
    let n = box_text::number::parse_integer(text, 0);
    if n.len == 0 || n.len != text.len() || n.negative {
        return Err(invalid_value(what, text));
    }
    match i64::try_from(n.magnitude) {
        Ok(_) => Ok(n.magnitude),
        Err(_) if flag == LsFlag::Width => Ok(0),
        Err(_) => {
            let shown = quote::quote_in_sentence(text);
            let why = number::error_suffix(number::NumberError::Overflow);
            Err(LsUsageError::Other([what, &shown, why].concat()))
        }
    }
}

impl LsPlan {
    /// Resolves the options to a plan for a command whose default format is `default`. The error is
    /// a message.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        p: &ParsedOptions<LsFlag>,
        default: Option<LsFormat>,
    ) -> Result<LsPlan, LsUsageError> {
        let chosen = LsChoices::from_options(ctx, p, default)?;
        let (quoting, sort, follow) =
            (chosen.quoting_style(default), chosen.sort_order(), chosen.follow_policy(p));
        let columns = ctx.env.get(b"COLUMNS").and_then(number::parse_decimal).filter(|n| *n > 0);
        let width = parse_count(p, LsFlag::Width, b"invalid line width: ", columns.unwrap_or(80))?;
        let tab = parse_count(p, LsFlag::Tabsize, b"invalid tab size: ", 8)?;
        let patterns = |flag: LsFlag| -> Vec<GlobPattern> {
            let options = GlobOptions { period: true, ..GlobOptions::default() };
            p.all_values(flag).map(|t| GlobPattern::new(t, options)).collect()
        };
        let block_env = [&b"LS_BLOCK_SIZE"[..], b"BLOCK_SIZE"]
            .iter()
            .find_map(|n| ctx.env.get(n))
            .and_then(|text| SizeScale::parse(text).ok());
        let style = chosen.time_style.as_deref().or_else(|| ctx.env.get(b"TIME_STYLE"));
        let colors = chosen.color.then(|| LsColors::new(ctx.env.get(b"LS_COLORS")));
        let dirs_first = p.has_option(LsFlag::GroupDirectoriesFirst);
        let shows_types = matches!(chosen.indicator, Indicator::FileType | Indicator::Classify);
        let needs_target = chosen.format == LsFormat::Long || colors.is_some() || dirs_first;
        Ok(LsPlan {
            format: chosen.format,
            sort,
            reverse: p.has_option(LsFlag::Reverse),
            dirs_first,
            all: chosen.all,
            almost_all: chosen.almost_all || chosen.all,
            ignore_backups: p.has_option(LsFlag::IgnoreBackups),
            ignore: patterns(LsFlag::Ignore),
            hide: patterns(LsFlag::Hide),
            directory: p.has_option(LsFlag::Directory),
            recursive: p.has_option(LsFlag::Recursive) && !p.has_option(LsFlag::Directory),
            follow,
            indicator: chosen.indicator,
            quoting,
            hide_control: chosen.hide_control
                && matches!(
                    quoting,
                    QuoteStyle::Literal | QuoteStyle::Shell | QuoteStyle::ShellAlways
                ),
            inode: p.has_option(LsFlag::Inode),
            blocks: p.has_option(LsFlag::Size),
            block_scale: chosen.scale.or(block_env).unwrap_or(SizeScale::Units(1024, "")),
            size_scale: chosen.scale.unwrap_or(SizeScale::Units(1, "")),
            owner: chosen.owner,
            group: chosen.group,
            author: p.has_option(LsFlag::Author),
            context: p.has_option(LsFlag::Context),
            numeric: chosen.numeric,
            width: usize::try_from(width).unwrap_or(usize::MAX),
            tab: usize::try_from(tab).unwrap_or(8),
            end: if p.has_option(LsFlag::Zero) { 0 } else { b'\n' },
            needs_stat: needs_target
                || matches!(sort, Sort::Time | Sort::Size)
                || p.has_option(LsFlag::Inode)
                || p.has_option(LsFlag::Size)
                || shows_types
                || follow == LsFollow::Always,
            needs_target,
            checks_targets: shows_types
                || dirs_first
                || colors.as_ref().is_some_and(LsColors::marks_broken_links),
            colors,
            time: chosen.time.unwrap_or(b'm'),
            time_formats: time_formats(style)?,
            zone: ctx.zone(),
            now: clock::current_time().0,
        })
    }

    /// Returns whether an entry of a directory is listed.
    pub(super) fn is_shown(&self, name: &[u8]) -> bool {
        if !self.almost_all && name.starts_with(b".") {
            return false;
        }
        if self.ignore_backups && name.ends_with(b"~") {
            return false;
        }
        if !self.almost_all && self.hide.iter().any(|p| p.is_match(name)) {
            return false;
        }
        !self.ignore.iter().any(|p| p.is_match(name))
    }

    /// Returns the time of a file that is shown and sorted by.
    pub(super) fn time_of(&self, s: &Stat) -> u64 {
        match self.time {
            b'a' => s.atime,
            b'c' => s.ctime,
            _ => s.mtime,
        }
    }
}

fn time_formats(style: Option<&[u8]>) -> Result<(Vec<u8>, Vec<u8>), LsUsageError> {
    let style = style.unwrap_or(b"locale");
    let plain = style.strip_prefix(b"posix-").unwrap_or(style);
    let both = |f: &[u8]| (f.to_vec(), f.to_vec());
    Ok(match plain {
        b"full-iso" => both(b"%Y-%m-%d %H:%M:%S.%N %z"),
        b"long-iso" => both(b"%Y-%m-%d %H:%M"),
        b"iso" => (b"%m-%d %H:%M".to_vec(), b"%Y-%m-%d ".to_vec()),
        b"locale" => (b"%b %e %H:%M".to_vec(), b"%b %e  %Y".to_vec()),
        [b'+', f @ ..] => match f.iter().position(|c| *c == b'\n') {
            // There are two formats: one for older and one for recent times.
            Some(i) => (f[i + 1..].to_vec(), f[..i].to_vec()),
            None => both(f),
        },
        _ => return Err(bad_argument(style, "time-style")),
    })
}
