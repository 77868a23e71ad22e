//! `tree` (the program by Steve Baker, with its common options): prints directory trees.
//!
//! | file | contents |
//! |---|---|
//! | `draw` | trees as drawings |
//! | `json` | trees as JSON |
//! | `list` | the entries of directories that are shown |

mod draw;
mod json;
mod list;

use std::collections::HashMap;
use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, meta};
use box_text::glob::{GlobOptions, GlobPattern};
use box_text::time::Zone;

use crate::common::{input, number};

/// An option of `tree`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TreeFlag {
    All,
    ByChange,
    ByTime,
    ByVersion,
    Charset,
    Classify,
    Date,
    Directories,
    Dirsfirst,
    Du,
    Filelimit,
    Filesfirst,
    FollowLinks,
    FullPath,
    Group,
    HumanSize,
    ThousandSize,
    Ignore,
    IgnoreCase,
    Ignored,
    Json,
    Level,
    Literal,
    Matchdirs,
    NoColor,
    NoIndent,
    Noreport,
    OneFileSystem,
    Output,
    Owner,
    Pattern,
    Protections,
    Prune,
    QuestionMarks,
    Quoted,
    Reverse,
    Size,
    Sort,
    Timefmt,
    Unsorted,
}

const SPEC: Spec<TreeFlag> = Spec::new(
    "[OPTION]... [DIRECTORY]...",
    "List directories as a tree.",
    &[
        Opt::new(TreeFlag::All, 'a', "").with_help("List names that begin with a dot, too"),
        Opt::new(TreeFlag::Directories, 'd', "").with_help("List only directories"),
        Opt::new(TreeFlag::FollowLinks, 'l', "").with_help("Follow links to directories"),
        Opt::new(TreeFlag::FullPath, 'f', "").with_help("Print whole paths"),
        Opt::new(TreeFlag::OneFileSystem, 'x', "").with_help(words::ONE_FILE_SYSTEM),
        Opt::new(TreeFlag::Level, 'L', "").with_argument("LEVEL", "Go down at most LEVEL levels"),
        Opt::new(TreeFlag::Pattern, 'P', "").with_argument("pattern", "List only files that match"),
        Opt::new(TreeFlag::Ignore, 'I', "").with_argument("pattern", "Leave out what matches"),
        Opt::long(TreeFlag::IgnoreCase, "ignore-case")
            .with_help("With -P and -I: take upper and lower case as equal"),
        Opt::long(TreeFlag::Matchdirs, "matchdirs").with_help("With -P: match directories, too"),
        Opt::long(TreeFlag::Noreport, "noreport").with_help("Print no counts at the end"),
        Opt::long(TreeFlag::Filelimit, "filelimit")
            .with_argument("N", "Do not enter directories of more than N entries"),
        Opt::long(TreeFlag::Dirsfirst, "dirsfirst").with_help("List directories first"),
        Opt::long(TreeFlag::Filesfirst, "filesfirst").with_help("List files first"),
        Opt::long(TreeFlag::Sort, "sort")
            .with_argument("TYPE", "Sort by name, version, size, mtime, ctime or none"),
        Opt::long(TreeFlag::Prune, "prune").with_help("Leave out empty directories"),
        Opt::long(TreeFlag::Charset, "charset").with_argument("X", "Draw with ASCII or UTF-8"),
        Opt::long(TreeFlag::Du, "du")
            .with_help("Print sizes; those of directories include their contents"),
        Opt::new(TreeFlag::Output, 'o', "").with_argument("filename", "Write to a file"),
        Opt::new(TreeFlag::QuestionMarks, 'q', "").with_help("Show unprintable characters as ?"),
        Opt::new(TreeFlag::Literal, 'N', "").with_help("Print unprintable characters as they are"),
        Opt::new(TreeFlag::Quoted, 'Q', "").with_help("Put names into double quotes"),
        Opt::new(TreeFlag::Protections, 'p', "").with_help("Print modes"),
        Opt::new(TreeFlag::Owner, 'u', "").with_help("Print owners"),
        Opt::new(TreeFlag::Group, 'g', "").with_help("Print groups"),
        Opt::new(TreeFlag::Size, 's', "").with_help("Print sizes in bytes"),
        Opt::long(TreeFlag::ThousandSize, "si").with_help(words::SI),
        Opt::new(TreeFlag::HumanSize, 'h', "").with_help(words::HUMAN),
        Opt::new(TreeFlag::Date, 'D', "").with_help("Print when files were modified last"),
        Opt::long(TreeFlag::Timefmt, "timefmt")
            .with_argument("FORMAT", "Print dates by FORMAT, as date does"),
        Opt::new(TreeFlag::Classify, 'F', "")
            .with_help("Mark kinds of files behind names, as ls -F does"),
        Opt::new(TreeFlag::ByVersion, 'v', "").with_help("Sort by version: file9 before file10"),
        Opt::new(TreeFlag::ByTime, 't', "").with_help("Sort by time of modification"),
        Opt::new(TreeFlag::ByChange, 'c', "").with_help("Sort by time of status change"),
        Opt::new(TreeFlag::Unsorted, 'U', "").with_help("Do not sort"),
        Opt::new(TreeFlag::Reverse, 'r', "").with_help("Sort the other way round"),
        Opt::new(TreeFlag::NoIndent, 'i', "").with_help("Draw no lines"),
        Opt::new(TreeFlag::NoColor, 'n', "").with_help("Do not color (default)"),
        Opt::new(TreeFlag::Ignored, 'C', "").with_help(words::IGNORED),
        Opt::new(TreeFlag::Ignored, 'A', "").with_help(words::IGNORED),
        Opt::new(TreeFlag::Ignored, 'S', "").with_help(words::IGNORED),
        Opt::new(TreeFlag::Json, 'J', "").with_help("Print JSON"),
    ],
)
.with_examples(&[
    ("tree -L 2 DIR", "Two levels"),
    ("tree -I 'node_modules|.git'", "Leave some names out"),
]);

struct TreeOptions {
    p: ParsedOptions<TreeFlag>,
    level: usize,
    limit: Option<usize>,
    only: Vec<GlobPattern>,
    ignore: Vec<GlobPattern>,
    unicode: bool,
    zone: Zone,
    /// The size of each directory with its contents, by path (`--du`).
    sums: HashMap<Vec<u8>, u64>,
}

/// The numbers of entries shown so far.
#[derive(Default)]
struct TreeTotals {
    dirs: u64,
    files: u64,
}

/// A directory on the path to the current entry.
struct TreeLevel {
    path: Vec<u8>,
    entries: Vec<list::TreeItem>,
    next: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut options = parse_options(ctx, args)?;
    if options.p.has_option(TreeFlag::Du) {
        options.sums = list::sums(ctx, &options);
    }
    let (text, all_found) = if options.p.has_option(TreeFlag::Json) {
        json::json_trees(ctx, &options)
    } else {
        draw::draw_trees(ctx, &options)
    };
    if let Some(name) = options.p.last_value(TreeFlag::Output) {
        if let Err(e) = std::fs::write(ctx.path(name), &text) {
            return Ok(input::file_error(ctx, name, &e));
        }
    } else {
        let _ = ctx.stdout.write_all(&text);
    }
    Ok(if all_found { Exit::SUCCESS } else { Exit::USAGE })
}

fn parse_options(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TreeOptions, Exit> {
    let mut p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let level = match p.last_value(TreeFlag::Level).map(number::parse_decimal) {
        Some(None | Some(0)) => {
            return Err(input::report_failure(ctx, &[b"Invalid level, must be greater than 0."]));
        }
        Some(Some(n)) => usize::try_from(n).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    if p.operands.is_empty() {
        p.operands.push(b".".to_vec());
    }
    let glob =
        GlobOptions { ignore_case: p.has_option(TreeFlag::IgnoreCase), ..GlobOptions::default() };
    // `|` separates alternatives.
    let patterns = |flag: TreeFlag| -> Vec<GlobPattern> {
        p.all_values(flag)
            .flat_map(|t| t.split(|c| *c == b'|'))
            .map(|t| GlobPattern::new(t.strip_suffix(b"/").unwrap_or(t), glob))
            .collect()
    };
    let charset = p.last_value(TreeFlag::Charset);
    Ok(TreeOptions {
        level,
        limit: p
            .last_value(TreeFlag::Filelimit)
            .and_then(|text| number::leading(text)?.0.ok())
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n > 0),
        only: patterns(TreeFlag::Pattern),
        ignore: patterns(TreeFlag::Ignore),
        unicode: charset.is_none_or(|c| c.to_ascii_lowercase().starts_with(b"utf"))
            && ctx.env.is_utf8(),
        zone: ctx.zone(),
        sums: HashMap::new(),
        p,
    })
}

impl TreeOptions {
    /// Returns whether sizes are shown.
    fn shows_sizes(&self) -> bool {
        let sizes = [TreeFlag::Size, TreeFlag::HumanSize, TreeFlag::ThousandSize, TreeFlag::Du];
        sizes.iter().any(|flag| self.p.has_option(*flag))
    }

    /// Returns the size of all roots with their contents, or `None` without `--du`.
    fn total(&self) -> Option<u64> {
        let roots = self.p.operands.iter();
        self.p.has_option(TreeFlag::Du).then(|| roots.filter_map(|root| self.sums.get(root)).sum())
    }

    /// Formats a size, padded to its width.
    fn size(&self, bytes: u64) -> String {
        let base = match () {
            () if self.p.has_option(TreeFlag::ThousandSize) => 1000,
            () if self.p.has_option(TreeFlag::HumanSize) => 1024,
            () => return format!("{bytes:>11}"),
        };
        // Unlike in `ls`, sizes are rounded to the nearest unit.
        let units = if base == 1000 { " kMGTPE" } else { " KMGTPE" };
        let (mut size, mut power) = (bytes, usize::from(bytes >= base));
        while size >= base * base {
            size /= base;
            power += 1;
        }
        let unit = units.chars().nth(power).unwrap_or('?');
        match size as f64 / base as f64 {
            _ if power == 0 => format!("{bytes:>4}"),
            n if n >= 10.0 => format!("{n:>3.0}{unit}"),
            n => format!("{n:>3.1}{unit}"),
        }
    }
}

impl TreeTotals {
    fn add(&mut self, item: &list::TreeItem) {
        if item.stat.kind == FileKind::Dir || item.to_dir() {
            self.dirs += 1;
        } else {
            self.files += 1;
        }
    }

    /// Counts a root that is not a directory: as a file if it exists. Returns whether it exists.
    fn add_root(&mut self, ctx: &Ctx<'_>, root: &[u8]) -> bool {
        let is_there = meta::stat(&ctx.path(root), true).is_ok();
        self.files += u64::from(is_there);
        is_there
    }
}

/// Returns the status of a root, or `None` if it is not a directory.
fn directory_stat(ctx: &Ctx<'_>, root: &[u8]) -> Option<box_sys::Stat> {
    meta::stat(&ctx.path(root), true).ok().filter(|s| s.kind == FileKind::Dir)
}
