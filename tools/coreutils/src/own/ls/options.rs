//! Options of `ls` to a plan.

mod chosen;

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
    "List information about the FILEs (the current directory by default).\nSort entries alphabetically if none of -cftuvSUX nor --sort is specified.",
    &[
        Opt::new(LsFlag::All, 'a', "all").with_help("do not ignore entries starting with ."),
        Opt::new(LsFlag::AlmostAll, 'A', "almost-all").with_help("do not list implied . and .."),
        Opt::long(LsFlag::Author, "author").with_help("with -l, print the author of each file"),
        Opt::new(LsFlag::Escape, 'b', "escape").with_help("print C-style escapes for nongraphic characters"),
        Opt::long(LsFlag::BlockSize, "block-size").with_argument("SIZE", "with -l, scale sizes by SIZE when printing them"),
        Opt::new(LsFlag::IgnoreBackups, 'B', "ignore-backups").with_help("do not list implied entries ending with ~"),
        Opt::new(LsFlag::Ctime, 'c', "").with_help("with -lt: sort by, and show, ctime; with -l: show ctime\nand sort by name; otherwise: sort by ctime, newest first"),
        Opt::new(LsFlag::Columns, 'C', "").with_help("list entries by columns"),
        Opt::long(LsFlag::Color, "color").may_take("WHEN", "color the output WHEN: always (default), auto, never"),
        Opt::new(LsFlag::Directory, 'd', "directory").with_help("list directories themselves, not their contents"),
        Opt::new(LsFlag::Dired, 'D', "dired").with_help("(ignored)"),
        Opt::new(LsFlag::Unordered, 'f', "").with_help("list all entries in directory order"),
        Opt::new(LsFlag::Classify, 'F', "").with_help("append indicator (one of */=>@|) to entries"),
        Opt::long(LsFlag::Classify, "classify").may_take("WHEN", "the same, WHEN: always (default), auto, never"),
        Opt::long(LsFlag::FileType, "file-type").with_help("likewise, except do not append '*'"),
        Opt::long(LsFlag::Format, "format").with_argument("WORD", "across -x, commas -m, horizontal -x, long -l,\nsingle-column -1, verbose -l, vertical -C"),
        Opt::long(LsFlag::FullTime, "full-time").with_help("like -l --time-style=full-iso"),
        Opt::new(LsFlag::LongWithoutOwner, 'g', "").with_help("like -l, but do not list owner"),
        Opt::long(LsFlag::GroupDirectoriesFirst, "group-directories-first").with_help("group directories before files"),
        Opt::new(LsFlag::NoGroup, 'G', "no-group").with_help("in a long listing, don't print group names"),
        Opt::new(LsFlag::HumanReadable, 'h', "human-readable").with_help("with -l and -s, print sizes like 1K 234M 2G etc."),
        Opt::long(LsFlag::Si, "si").with_help("likewise, but use powers of 1000 not 1024"),
        Opt::new(LsFlag::DereferenceCommandLine, 'H', "dereference-command-line").with_help("follow symbolic links listed on the command line"),
        Opt::long(LsFlag::DereferenceDirs, "dereference-command-line-symlink-to-dir").with_help("follow each command line symbolic link that\npoints to a directory"),
        Opt::long(LsFlag::Hide, "hide").with_argument("PATTERN", "do not list implied entries matching shell PATTERN\n(overridden by -a or -A)"),
        Opt::long(LsFlag::Hyperlink, "hyperlink").may_take("WHEN", "(ignored)"),
        Opt::long(LsFlag::IndicatorStyle, "indicator-style").with_argument("WORD", "append indicator with style WORD to entry names:\nnone (default), slash (-p), file-type, classify (-F)"),
        Opt::new(LsFlag::Inode, 'i', "inode").with_help("print the index number of each file"),
        Opt::new(LsFlag::Ignore, 'I', "ignore").with_argument("PATTERN", "do not list implied entries matching shell PATTERN"),
        Opt::new(LsFlag::Kibibytes, 'k', "kibibytes").with_help("default to 1024-byte blocks for disk usage"),
        Opt::new(LsFlag::Long, 'l', "").with_help("use a long listing format"),
        Opt::new(LsFlag::Dereference, 'L', "dereference").with_help("when showing file information for a symbolic link,\nshow information for the file the link references"),
        Opt::new(LsFlag::Commas, 'm', "").with_help("fill width with a comma separated list of entries"),
        Opt::new(LsFlag::NumericUidGid, 'n', "numeric-uid-gid").with_help("like -l, but list numeric user and group IDs"),
        Opt::new(LsFlag::Literal, 'N', "literal").with_help("print entry names without quoting"),
        Opt::new(LsFlag::LongWithoutGroup, 'o', "").with_help("like -l, but do not list group information"),
        Opt::new(LsFlag::Slash, 'p', "").with_help("append / indicator to directories"),
        Opt::new(LsFlag::HideControlChars, 'q', "hide-control-chars").with_help("print ? instead of nongraphic characters"),
        Opt::long(LsFlag::ShowControlChars, "show-control-chars").with_help("show nongraphic characters as-is"),
        Opt::new(LsFlag::QuoteName, 'Q', "quote-name").with_help("enclose entry names in double quotes"),
        Opt::long(LsFlag::QuotingStyle, "quoting-style").with_argument("WORD", "literal, locale, shell, shell-always,\nshell-escape, shell-escape-always, c, escape"),
        Opt::new(LsFlag::Reverse, 'r', "reverse").with_help("reverse order while sorting"),
        Opt::new(LsFlag::Recursive, 'R', "recursive").with_help("list subdirectories recursively"),
        Opt::new(LsFlag::Size, 's', "size").with_help("print the allocated size of each file, in blocks"),
        Opt::new(LsFlag::BySize, 'S', "").with_help("sort by file size, largest first"),
        Opt::long(LsFlag::Sort, "sort").with_argument("WORD", "none (-U), size (-S), time (-t), version (-v),\nextension (-X), width"),
        Opt::long(LsFlag::Time, "time").with_argument("WORD", "atime access use (-u), ctime status (-c),\nmtime modification (default), birth creation"),
        Opt::long(LsFlag::TimeStyle, "time-style").with_argument("STYLE", "full-iso, long-iso, iso, locale, or +FORMAT"),
        Opt::new(LsFlag::ByTime, 't', "").with_help("sort by time, newest first"),
        Opt::new(LsFlag::Tabsize, 'T', "tabsize").with_argument("COLS", "assume tab stops at each COLS instead of 8"),
        Opt::new(LsFlag::AccessTime, 'u', "").with_help("with -lt: sort by, and show, access time; with -l: show\naccess time and sort by name; otherwise: sort by access time"),
        Opt::new(LsFlag::Unsorted, 'U', "").with_help("do not sort; list entries in directory order"),
        Opt::new(LsFlag::ByVersion, 'v', "").with_help("natural sort of (version) numbers within text"),
        Opt::new(LsFlag::Width, 'w', "width").with_argument("COLS", "set output width to COLS.  0 means no limit"),
        Opt::new(LsFlag::Across, 'x', "").with_help("list entries by lines instead of by columns"),
        Opt::new(LsFlag::ByExtension, 'X', "").with_help("sort alphabetically by entry extension"),
        Opt::new(LsFlag::Context, 'Z', "context").with_help("print any security context of each file"),
        Opt::long(LsFlag::Zero, "zero").with_help("end each output line with NUL, not newline"),
        Opt::new(LsFlag::OnePerLine, '1', "").with_help("list one file per line"),
    ],
)
.with_footer("Exit status:\n 0  if OK,\n 1  if minor problems (e.g., cannot access subdirectory),\n 2  if serious trouble (e.g., cannot access command-line argument).");

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
    /// `m`, `a` or `c`: which time is shown and sorted by.
    time: u8,
    /// Formats of recent and of older times.
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
    /// A word that the option does not take.
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

/// Parses the number in an option; `what` is the message about an invalid one.
fn parse_count(
    p: &ParsedOptions<LsFlag>,
    flag: LsFlag,
    what: &[u8],
    default: u64,
) -> Result<u64, LsUsageError> {
    match p.last_value(flag) {
        None => Ok(default),
        Some(text) => number::parse_decimal(text).ok_or_else(|| invalid_value(what, text)),
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
            .and_then(SizeScale::parse);
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

    /// Returns the time that is shown and sorted by.
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
            // Two formats: for older and for recent files.
            Some(i) => (f[i + 1..].to_vec(), f[..i].to_vec()),
            None => both(f),
        },
        _ => return Err(bad_argument(style, "time-style")),
    })
}
