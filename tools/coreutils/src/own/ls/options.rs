//! Options of `ls` to a plan.

use box_applet::Ctx;
use box_applet::opts::{Opt, Parsed, Spec};
use box_sys::Stat;
use box_text::glob::{Options as GlobOptions, Pattern};

use super::color::Colors;
use crate::common::clock;
use crate::common::number::{self, Scale};
use crate::common::quote::{self, Style};
use box_text::time::Zone;

const BLOCK_SIZE: char = '\u{1}';
const COLOR: char = '\u{2}';
const FILE_TYPE: char = '\u{3}';
const FORMAT: char = '\u{4}';
const FULL_TIME: char = '\u{5}';
const DIRS_FIRST: char = '\u{6}';
const SI: char = '\u{7}';
const HIDE: char = '\u{e}';
const QUOTING: char = '\u{f}';
const SHOW_CONTROL: char = '\u{10}';
const SORT: char = '\u{11}';
const TIME: char = '\u{12}';
const TIME_STYLE: char = '\u{13}';
const AUTHOR: char = '\u{14}';
const DEREF_DIRS: char = '\u{15}';
const INDICATOR: char = '\u{16}';
const HYPERLINK: char = '\u{17}';
const ZERO: char = '\u{18}';

pub(super) const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "List information about the FILEs (the current directory by default).\nSort entries alphabetically if none of -cftuvSUX nor --sort is specified.",
    options: &[
        Opt::flag('a', "all", "do not ignore entries starting with ."),
        Opt::flag('A', "almost-all", "do not list implied . and .."),
        Opt::flag(AUTHOR, "author", "with -l, print the author of each file").long_only(),
        Opt::flag('b', "escape", "print C-style escapes for nongraphic characters"),
        Opt::value(BLOCK_SIZE, "block-size", "SIZE", "with -l, scale sizes by SIZE when printing them").long_only(),
        Opt::flag('B', "ignore-backups", "do not list implied entries ending with ~"),
        Opt::flag('c', "", "with -lt: sort by, and show, ctime; with -l: show ctime\nand sort by name; otherwise: sort by ctime, newest first"),
        Opt::flag('C', "", "list entries by columns"),
        Opt::optional(COLOR, "color", "WHEN", "color the output WHEN: always (default), auto, never").long_only(),
        Opt::flag('d', "directory", "list directories themselves, not their contents"),
        Opt::flag('D', "dired", "(ignored)"),
        Opt::flag('f', "", "list all entries in directory order"),
        Opt::optional('F', "classify", "WHEN", "append indicator (one of */=>@|) to entries"),
        Opt::flag(FILE_TYPE, "file-type", "likewise, except do not append '*'").long_only(),
        Opt::value(FORMAT, "format", "WORD", "across -x, commas -m, horizontal -x, long -l,\nsingle-column -1, verbose -l, vertical -C").long_only(),
        Opt::flag(FULL_TIME, "full-time", "like -l --time-style=full-iso").long_only(),
        Opt::flag('g', "", "like -l, but do not list owner"),
        Opt::flag(DIRS_FIRST, "group-directories-first", "group directories before files").long_only(),
        Opt::flag('G', "no-group", "in a long listing, don't print group names"),
        Opt::flag('h', "human-readable", "with -l and -s, print sizes like 1K 234M 2G etc."),
        Opt::flag(SI, "si", "likewise, but use powers of 1000 not 1024").long_only(),
        Opt::flag('H', "dereference-command-line", "follow symbolic links listed on the command line"),
        Opt::flag(DEREF_DIRS, "dereference-command-line-symlink-to-dir", "follow each command line symbolic link that\npoints to a directory").long_only(),
        Opt::value(HIDE, "hide", "PATTERN", "do not list implied entries matching shell PATTERN\n(overridden by -a or -A)").long_only(),
        Opt::optional(HYPERLINK, "hyperlink", "WHEN", "(ignored)").long_only(),
        Opt::value(INDICATOR, "indicator-style", "WORD", "append indicator with style WORD to entry names:\nnone (default), slash (-p), file-type, classify (-F)").long_only(),
        Opt::flag('i', "inode", "print the index number of each file"),
        Opt::value('I', "ignore", "PATTERN", "do not list implied entries matching shell PATTERN"),
        Opt::flag('k', "kibibytes", "default to 1024-byte blocks for disk usage"),
        Opt::flag('l', "", "use a long listing format"),
        Opt::flag('L', "dereference", "when showing file information for a symbolic link,\nshow information for the file the link references"),
        Opt::flag('m', "", "fill width with a comma separated list of entries"),
        Opt::flag('n', "numeric-uid-gid", "like -l, but list numeric user and group IDs"),
        Opt::flag('N', "literal", "print entry names without quoting"),
        Opt::flag('o', "", "like -l, but do not list group information"),
        Opt::flag('p', "", "append / indicator to directories"),
        Opt::flag('q', "hide-control-chars", "print ? instead of nongraphic characters"),
        Opt::flag(SHOW_CONTROL, "show-control-chars", "show nongraphic characters as-is").long_only(),
        Opt::flag('Q', "quote-name", "enclose entry names in double quotes"),
        Opt::value(QUOTING, "quoting-style", "WORD", "literal, locale, shell, shell-always,\nshell-escape, shell-escape-always, c, escape").long_only(),
        Opt::flag('r', "reverse", "reverse order while sorting"),
        Opt::flag('R', "recursive", "list subdirectories recursively"),
        Opt::flag('s', "size", "print the allocated size of each file, in blocks"),
        Opt::flag('S', "", "sort by file size, largest first"),
        Opt::value(SORT, "sort", "WORD", "none (-U), size (-S), time (-t), version (-v),\nextension (-X), width").long_only(),
        Opt::value(TIME, "time", "WORD", "atime access use (-u), ctime status (-c),\nmtime modification (default), birth creation").long_only(),
        Opt::value(TIME_STYLE, "time-style", "STYLE", "full-iso, long-iso, iso, locale, or +FORMAT").long_only(),
        Opt::flag('t', "", "sort by time, newest first"),
        Opt::value('T', "tabsize", "COLS", "assume tab stops at each COLS instead of 8"),
        Opt::flag('u', "", "with -lt: sort by, and show, access time; with -l: show\naccess time and sort by name; otherwise: sort by access time"),
        Opt::flag('U', "", "do not sort; list entries in directory order"),
        Opt::flag('v', "", "natural sort of (version) numbers within text"),
        Opt::value('w', "width", "COLS", "set output width to COLS.  0 means no limit"),
        Opt::flag('x', "", "list entries by lines instead of by columns"),
        Opt::flag('X', "", "sort alphabetically by entry extension"),
        Opt::flag('Z', "context", "print any security context of each file"),
        Opt::flag(ZERO, "zero", "end each output line with NUL, not newline").long_only(),
        Opt::flag('1', "", "list one file per line"),
    ],
    after: "Exit status:\n 0  if OK,\n 1  if minor problems (e.g., cannot access subdirectory),\n 2  if serious trouble (e.g., cannot access command-line argument).",
    posix_order: false,
};

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

fn bad(value: &[u8], option: &str) -> Vec<u8> {
    [b"invalid argument ", quote::always(value).as_slice(), b" for '--", option.as_bytes(), b"'"]
        .concat()
}

impl Plan {
    pub(super) fn new(ctx: &Ctx<'_>, p: &Parsed, default: Option<Format>) -> Result<Plan, Vec<u8>> {
        let terminal =
            matches!(ctx.stdout.sink(), box_applet::Sink::File(f) if box_sys::is_terminal(f));
        let mut format =
            default.unwrap_or(if terminal { Format::Columns } else { Format::OnePerLine });
        let mut sort = None;
        let mut time = None;
        let mut quoting = ctx.env.get(b"QUOTING_STYLE").and_then(Style::parse);
        let mut hide_control = terminal && default.is_none();
        let mut indicator = Indicator::None;
        let mut scale = None;
        let mut color = false;
        let (mut owner, mut group, mut numeric) = (true, true, false);
        let (mut all, mut almost) = (false, false);
        let mut style: Option<Vec<u8>> = None;
        for (id, value) in &p.options {
            let v = value.as_deref().unwrap_or_default();
            match *id {
                'a' => all = true,
                'A' => (all, almost) = (false, true),
                'l' => format = Format::Long,
                'g' => (format, owner) = (Format::Long, false),
                'o' => (format, group) = (Format::Long, false),
                'n' => (format, numeric) = (Format::Long, true),
                'G' => group = false,
                FULL_TIME => {
                    format = Format::Long;
                    style = Some(b"full-iso".to_vec());
                }
                'C' => format = Format::Columns,
                'x' => format = Format::Across,
                'm' => format = Format::Commas,
                '1' if format != Format::Long => format = Format::OnePerLine,
                ZERO => {
                    if format != Format::Long {
                        format = Format::OnePerLine;
                    }
                    quoting = Some(Style::Literal);
                    hide_control = false;
                }
                FORMAT => {
                    format = match v {
                        b"long" | b"verbose" => Format::Long,
                        b"commas" => Format::Commas,
                        b"horizontal" | b"across" => Format::Across,
                        b"vertical" => Format::Columns,
                        b"single-column" => Format::OnePerLine,
                        _ => return Err(bad(v, "format")),
                    }
                }
                'f' => {
                    all = true;
                    sort = Some(Sort::None);
                    if format == Format::Long {
                        format = Format::OnePerLine;
                    }
                    color = false;
                }
                't' => sort = Some(Sort::Time),
                'S' => sort = Some(Sort::Size),
                'X' => sort = Some(Sort::Extension),
                'v' => sort = Some(Sort::Version),
                'U' => sort = Some(Sort::None),
                SORT => {
                    sort = Some(match v {
                        b"none" => Sort::None,
                        b"name" => Sort::Name,
                        b"size" => Sort::Size,
                        b"time" => Sort::Time,
                        b"version" => Sort::Version,
                        b"extension" => Sort::Extension,
                        b"width" => Sort::Width,
                        _ => return Err(bad(v, "sort")),
                    });
                }
                'c' => time = Some(b'c'),
                'u' => time = Some(b'a'),
                TIME => {
                    time = Some(match v {
                        b"atime" | b"access" | b"use" => b'a',
                        b"ctime" | b"status" => b'c',
                        b"mtime" | b"modification" | b"birth" | b"creation" => b'm',
                        _ => return Err(bad(v, "time")),
                    });
                }
                TIME_STYLE => style = Some(v.to_vec()),
                'b' => quoting = Some(Style::Escape),
                'Q' => quoting = Some(Style::C),
                'N' => quoting = Some(Style::Literal),
                QUOTING => quoting = Some(Style::parse(v).ok_or_else(|| bad(v, "quoting-style"))?),
                'q' => hide_control = true,
                SHOW_CONTROL => hide_control = false,
                'F' => {
                    let on = match value.as_deref() {
                        None | Some(b"always" | b"yes" | b"force") => true,
                        Some(b"never" | b"no" | b"none") => false,
                        Some(b"auto" | b"tty" | b"if-tty") => terminal,
                        Some(_) => return Err(bad(v, "classify")),
                    };
                    if on {
                        indicator = Indicator::Classify;
                    }
                }
                'p' => indicator = Indicator::Slash,
                FILE_TYPE => indicator = Indicator::FileType,
                INDICATOR => {
                    indicator = match v {
                        b"none" => Indicator::None,
                        b"slash" => Indicator::Slash,
                        b"file-type" => Indicator::FileType,
                        b"classify" => Indicator::Classify,
                        _ => return Err(bad(v, "indicator-style")),
                    }
                }
                'h' => scale = Some(Scale::Human(1024)),
                SI => scale = Some(Scale::Human(1000)),
                BLOCK_SIZE => {
                    scale = Some(Scale::parse(v).ok_or_else(|| {
                        [b"invalid --block-size argument ", quote::always(v).as_slice()].concat()
                    })?)
                }
                COLOR => {
                    color = match value.as_deref() {
                        None | Some(b"always" | b"yes" | b"force") => true,
                        Some(b"never" | b"no" | b"none") => false,
                        Some(b"auto" | b"tty" | b"if-tty") => terminal,
                        Some(_) => return Err(bad(v, "color")),
                    };
                }
                _ => {}
            }
        }
        let quoting = quoting.unwrap_or(match default {
            Some(_) => Style::Escape,
            None if terminal => Style::ShellEscape,
            None => Style::Literal,
        });
        // `-c` and `-u` without `-l` sort by that time.
        let sort = sort.unwrap_or(if time.is_some() && format != Format::Long {
            Sort::Time
        } else {
            Sort::Name
        });
        let columns = ctx.env.get(b"COLUMNS").and_then(number::decimal).filter(|n| *n > 0);
        let width = match p.last('w') {
            Some(text) => match number::decimal(text) {
                Some(n) => n,
                None => {
                    return Err([b"invalid line width: ", quote::always(text).as_slice()].concat());
                }
            },
            None => columns.unwrap_or(80),
        };
        let tab = match p.last('T') {
            Some(text) => number::decimal(text)
                .ok_or_else(|| [b"invalid tab size: ", quote::always(text).as_slice()].concat())?,
            None => 8,
        };
        let follow = match p.last_of(&['L', 'H', DEREF_DIRS]) {
            Some('L') => Follow::Always,
            Some('H') => Follow::Operands,
            Some(_) => Follow::OperandDirs,
            None if p.has('d') || format == Format::Long || indicator == Indicator::Classify => {
                Follow::Never
            }
            None => Follow::OperandDirs,
        };
        let glob = |id| {
            p.all(id)
                .map(|t| Pattern::new(t, GlobOptions { period: true, ..GlobOptions::default() }))
                .collect::<Vec<_>>()
        };
        let block_env = [&b"LS_BLOCK_SIZE"[..], b"BLOCK_SIZE"]
            .iter()
            .find_map(|n| ctx.env.get(n))
            .and_then(Scale::parse);
        let colors = color.then(|| Colors::new(ctx.env.get(b"LS_COLORS")));
        let style = style.or_else(|| ctx.env.get(b"TIME_STYLE").map(<[u8]>::to_vec));
        let needs_target = format == Format::Long || colors.is_some() || p.has(DIRS_FIRST);
        let plan = Plan {
            format,
            sort,
            reverse: p.has('r'),
            dirs_first: p.has(DIRS_FIRST),
            all,
            almost_all: almost || all,
            ignore_backups: p.has('B'),
            ignore: glob('I'),
            hide: glob(HIDE),
            directory: p.has('d'),
            recursive: p.has('R') && !p.has('d'),
            follow,
            indicator,
            quoting,
            hide_control: hide_control
                && matches!(quoting, Style::Literal | Style::Shell | Style::ShellAlways),
            inode: p.has('i'),
            blocks: p.has('s'),
            block_scale: scale.or(block_env).unwrap_or(Scale::Units(1024, "")),
            size_scale: scale.unwrap_or(Scale::Units(1, "")),
            owner,
            group,
            author: p.has(AUTHOR),
            context: p.has('Z'),
            numeric,
            width: usize::try_from(width).unwrap_or(usize::MAX),
            tab: usize::try_from(tab).unwrap_or(8),
            end: if p.has(ZERO) { 0 } else { b'\n' },
            needs_stat: format == Format::Long
                || matches!(sort, Sort::Time | Sort::Size)
                || p.has('i')
                || p.has('s')
                || colors.is_some()
                || matches!(indicator, Indicator::FileType | Indicator::Classify)
                || follow == Follow::Always
                || p.has(DIRS_FIRST),
            needs_target,
            checks_targets: matches!(indicator, Indicator::FileType | Indicator::Classify)
                || p.has(DIRS_FIRST)
                || colors.as_ref().is_some_and(Colors::marks_broken_links),
            colors,
            time: time.unwrap_or(b'm'),
            time_formats: time_formats(style.as_deref())?,
            zone: clock::zone(ctx.env.get(b"TZ")),
            now: clock::now().0,
        };
        Ok(plan)
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

fn time_formats(style: Option<&[u8]>) -> Result<(Vec<u8>, Vec<u8>), Vec<u8>> {
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
