//! Options of `ls` to a plan.

mod chosen;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, clock};
use box_sys::Stat;
use box_text::glob::{Options as GlobOptions, Pattern};
use box_text::time::Zone;

use super::color::Colors;
use crate::common::number::{self, Scale};
use crate::common::quote::{self, Style};

use chosen::Chosen;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
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

pub(super) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE]...",
    "List information about the FILEs (the current directory by default).\nSort entries alphabetically if none of -cftuvSUX nor --sort is specified.",
    &[
        Opt::new(Flag::All, 'a', "all").says("do not ignore entries starting with ."),
        Opt::new(Flag::AlmostAll, 'A', "almost-all").says("do not list implied . and .."),
        Opt::long(Flag::Author, "author").says("with -l, print the author of each file"),
        Opt::new(Flag::Escape, 'b', "escape").says("print C-style escapes for nongraphic characters"),
        Opt::long(Flag::BlockSize, "block-size").takes("SIZE", "with -l, scale sizes by SIZE when printing them"),
        Opt::new(Flag::IgnoreBackups, 'B', "ignore-backups").says("do not list implied entries ending with ~"),
        Opt::new(Flag::Ctime, 'c', "").says("with -lt: sort by, and show, ctime; with -l: show ctime\nand sort by name; otherwise: sort by ctime, newest first"),
        Opt::new(Flag::Columns, 'C', "").says("list entries by columns"),
        Opt::long(Flag::Color, "color").may_take("WHEN", "color the output WHEN: always (default), auto, never"),
        Opt::new(Flag::Directory, 'd', "directory").says("list directories themselves, not their contents"),
        Opt::new(Flag::Dired, 'D', "dired").says("(ignored)"),
        Opt::new(Flag::Unordered, 'f', "").says("list all entries in directory order"),
        Opt::new(Flag::Classify, 'F', "").says("append indicator (one of */=>@|) to entries"),
        Opt::long(Flag::Classify, "classify").may_take("WHEN", "the same, WHEN: always (default), auto, never"),
        Opt::long(Flag::FileType, "file-type").says("likewise, except do not append '*'"),
        Opt::long(Flag::Format, "format").takes("WORD", "across -x, commas -m, horizontal -x, long -l,\nsingle-column -1, verbose -l, vertical -C"),
        Opt::long(Flag::FullTime, "full-time").says("like -l --time-style=full-iso"),
        Opt::new(Flag::LongWithoutOwner, 'g', "").says("like -l, but do not list owner"),
        Opt::long(Flag::GroupDirectoriesFirst, "group-directories-first").says("group directories before files"),
        Opt::new(Flag::NoGroup, 'G', "no-group").says("in a long listing, don't print group names"),
        Opt::new(Flag::HumanReadable, 'h', "human-readable").says("with -l and -s, print sizes like 1K 234M 2G etc."),
        Opt::long(Flag::Si, "si").says("likewise, but use powers of 1000 not 1024"),
        Opt::new(Flag::DereferenceCommandLine, 'H', "dereference-command-line").says("follow symbolic links listed on the command line"),
        Opt::long(Flag::DereferenceDirs, "dereference-command-line-symlink-to-dir").says("follow each command line symbolic link that\npoints to a directory"),
        Opt::long(Flag::Hide, "hide").takes("PATTERN", "do not list implied entries matching shell PATTERN\n(overridden by -a or -A)"),
        Opt::long(Flag::Hyperlink, "hyperlink").may_take("WHEN", "(ignored)"),
        Opt::long(Flag::IndicatorStyle, "indicator-style").takes("WORD", "append indicator with style WORD to entry names:\nnone (default), slash (-p), file-type, classify (-F)"),
        Opt::new(Flag::Inode, 'i', "inode").says("print the index number of each file"),
        Opt::new(Flag::Ignore, 'I', "ignore").takes("PATTERN", "do not list implied entries matching shell PATTERN"),
        Opt::new(Flag::Kibibytes, 'k', "kibibytes").says("default to 1024-byte blocks for disk usage"),
        Opt::new(Flag::Long, 'l', "").says("use a long listing format"),
        Opt::new(Flag::Dereference, 'L', "dereference").says("when showing file information for a symbolic link,\nshow information for the file the link references"),
        Opt::new(Flag::Commas, 'm', "").says("fill width with a comma separated list of entries"),
        Opt::new(Flag::NumericUidGid, 'n', "numeric-uid-gid").says("like -l, but list numeric user and group IDs"),
        Opt::new(Flag::Literal, 'N', "literal").says("print entry names without quoting"),
        Opt::new(Flag::LongWithoutGroup, 'o', "").says("like -l, but do not list group information"),
        Opt::new(Flag::Slash, 'p', "").says("append / indicator to directories"),
        Opt::new(Flag::HideControlChars, 'q', "hide-control-chars").says("print ? instead of nongraphic characters"),
        Opt::long(Flag::ShowControlChars, "show-control-chars").says("show nongraphic characters as-is"),
        Opt::new(Flag::QuoteName, 'Q', "quote-name").says("enclose entry names in double quotes"),
        Opt::long(Flag::QuotingStyle, "quoting-style").takes("WORD", "literal, locale, shell, shell-always,\nshell-escape, shell-escape-always, c, escape"),
        Opt::new(Flag::Reverse, 'r', "reverse").says("reverse order while sorting"),
        Opt::new(Flag::Recursive, 'R', "recursive").says("list subdirectories recursively"),
        Opt::new(Flag::Size, 's', "size").says("print the allocated size of each file, in blocks"),
        Opt::new(Flag::BySize, 'S', "").says("sort by file size, largest first"),
        Opt::long(Flag::Sort, "sort").takes("WORD", "none (-U), size (-S), time (-t), version (-v),\nextension (-X), width"),
        Opt::long(Flag::Time, "time").takes("WORD", "atime access use (-u), ctime status (-c),\nmtime modification (default), birth creation"),
        Opt::long(Flag::TimeStyle, "time-style").takes("STYLE", "full-iso, long-iso, iso, locale, or +FORMAT"),
        Opt::new(Flag::ByTime, 't', "").says("sort by time, newest first"),
        Opt::new(Flag::Tabsize, 'T', "tabsize").takes("COLS", "assume tab stops at each COLS instead of 8"),
        Opt::new(Flag::AccessTime, 'u', "").says("with -lt: sort by, and show, access time; with -l: show\naccess time and sort by name; otherwise: sort by access time"),
        Opt::new(Flag::Unsorted, 'U', "").says("do not sort; list entries in directory order"),
        Opt::new(Flag::ByVersion, 'v', "").says("natural sort of (version) numbers within text"),
        Opt::new(Flag::Width, 'w', "width").takes("COLS", "set output width to COLS.  0 means no limit"),
        Opt::new(Flag::Across, 'x', "").says("list entries by lines instead of by columns"),
        Opt::new(Flag::ByExtension, 'X', "").says("sort alphabetically by entry extension"),
        Opt::new(Flag::Context, 'Z', "context").says("print any security context of each file"),
        Opt::long(Flag::Zero, "zero").says("end each output line with NUL, not newline"),
        Opt::new(Flag::OnePerLine, '1', "").says("list one file per line"),
    ],
)
.after("Exit status:\n 0  if OK,\n 1  if minor problems (e.g., cannot access subdirectory),\n 2  if serious trouble (e.g., cannot access command-line argument).");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
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

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Never,
    Operands,
    /// Operands that point to directories.
    OperandDirs,
    Always,
}

pub(super) struct Plan {
    pub format: Format,
    pub sort: Sort,
    pub reverse: bool,
    pub dirs_first: bool,
    pub all: bool,
    almost_all: bool,
    ignore_backups: bool,
    ignore: Vec<Pattern>,
    hide: Vec<Pattern>,
    pub directory: bool,
    pub recursive: bool,
    pub follow: Follow,
    pub indicator: Indicator,
    pub quoting: Style,
    pub hide_control: bool,
    pub inode: bool,
    pub blocks: bool,
    pub block_scale: Scale,
    pub size_scale: Scale,
    pub owner: bool,
    pub group: bool,
    pub author: bool,
    pub context: bool,
    pub numeric: bool,
    pub width: usize,
    pub tab: usize,
    pub end: u8,
    pub colors: Option<Colors>,
    /// `m`, `a` or `c`: which time is shown and sorted by.
    time: u8,
    /// Formats of recent and of older times.
    pub time_formats: (Vec<u8>, Vec<u8>),
    pub zone: Zone,
    pub now: i64,
    pub needs_stat: bool,
    pub needs_target: bool,
    /// Whether it matters what symbolic links point to.
    pub checks_targets: bool,
}

/// What is wrong with the options, as a message.
pub(super) enum Wrong {
    /// A word that is none of those that an option takes.
    Word(Vec<u8>),
    Other(Vec<u8>),
}

fn bad(value: &[u8], option: &str) -> Wrong {
    let shown = quote::always(value);
    Wrong::Word([b"invalid argument ", &*shown, b" for '--", option.as_bytes(), b"'"].concat())
}

/// Another thing that is no value of an option.
fn invalid(what: &[u8], value: &[u8]) -> Wrong {
    Wrong::Other([what, &*quote::always(value)].concat())
}

/// A number in an option; `what` is said of one that is none.
fn count(p: &Parsed<Flag>, flag: Flag, what: &[u8], default: u64) -> Result<u64, Wrong> {
    match p.last(flag) {
        None => Ok(default),
        Some(text) => number::decimal(text).ok_or_else(|| invalid(what, text)),
    }
}

impl Plan {
    /// What the options mean together, for a command whose format is `default`; or a message.
    pub(super) fn new(
        ctx: &Ctx<'_>,
        p: &Parsed<Flag>,
        default: Option<Format>,
    ) -> Result<Plan, Wrong> {
        let chosen = Chosen::of(ctx, p, default)?;
        let (quoting, sort, follow) = (chosen.quoting(default), chosen.sort(), chosen.follow(p));
        let columns = ctx.env.get(b"COLUMNS").and_then(number::decimal).filter(|n| *n > 0);
        let width = count(p, Flag::Width, b"invalid line width: ", columns.unwrap_or(80))?;
        let tab = count(p, Flag::Tabsize, b"invalid tab size: ", 8)?;
        let patterns = |flag: Flag| -> Vec<Pattern> {
            let options = GlobOptions { period: true, ..GlobOptions::default() };
            p.all(flag).map(|t| Pattern::new(t, options)).collect()
        };
        let block_env = [&b"LS_BLOCK_SIZE"[..], b"BLOCK_SIZE"]
            .iter()
            .find_map(|n| ctx.env.get(n))
            .and_then(Scale::parse);
        let style = chosen.time_style.as_deref().or_else(|| ctx.env.get(b"TIME_STYLE"));
        let colors = chosen.color.then(|| Colors::new(ctx.env.get(b"LS_COLORS")));
        let dirs_first = p.has(Flag::GroupDirectoriesFirst);
        let shows_types = matches!(chosen.indicator, Indicator::FileType | Indicator::Classify);
        let needs_target = chosen.format == Format::Long || colors.is_some() || dirs_first;
        Ok(Plan {
            format: chosen.format,
            sort,
            reverse: p.has(Flag::Reverse),
            dirs_first,
            all: chosen.all,
            almost_all: chosen.almost_all || chosen.all,
            ignore_backups: p.has(Flag::IgnoreBackups),
            ignore: patterns(Flag::Ignore),
            hide: patterns(Flag::Hide),
            directory: p.has(Flag::Directory),
            recursive: p.has(Flag::Recursive) && !p.has(Flag::Directory),
            follow,
            indicator: chosen.indicator,
            quoting,
            hide_control: chosen.hide_control
                && matches!(quoting, Style::Literal | Style::Shell | Style::ShellAlways),
            inode: p.has(Flag::Inode),
            blocks: p.has(Flag::Size),
            block_scale: chosen.scale.or(block_env).unwrap_or(Scale::Units(1024, "")),
            size_scale: chosen.scale.unwrap_or(Scale::Units(1, "")),
            owner: chosen.owner,
            group: chosen.group,
            author: p.has(Flag::Author),
            context: p.has(Flag::Context),
            numeric: chosen.numeric,
            width: usize::try_from(width).unwrap_or(usize::MAX),
            tab: usize::try_from(tab).unwrap_or(8),
            end: if p.has(Flag::Zero) { 0 } else { b'\n' },
            needs_stat: needs_target
                || matches!(sort, Sort::Time | Sort::Size)
                || p.has(Flag::Inode)
                || p.has(Flag::Size)
                || shows_types
                || follow == Follow::Always,
            needs_target,
            checks_targets: shows_types
                || dirs_first
                || colors.as_ref().is_some_and(Colors::marks_broken_links),
            colors,
            time: chosen.time.unwrap_or(b'm'),
            time_formats: time_formats(style)?,
            zone: ctx.zone(),
            now: clock::now().0,
        })
    }

    /// Whether an entry of a directory is listed.
    pub(super) fn shown(&self, name: &[u8]) -> bool {
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

    /// The time that is shown and sorted by.
    pub(super) fn time_of(&self, s: &Stat) -> u64 {
        match self.time {
            b'a' => s.atime,
            b'c' => s.ctime,
            _ => s.mtime,
        }
    }
}

fn time_formats(style: Option<&[u8]>) -> Result<(Vec<u8>, Vec<u8>), Wrong> {
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
        _ => return Err(bad(style, "time-style")),
    })
}
