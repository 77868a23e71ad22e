//! `diff` (GNU diffutils 3.8 manual).
//!
//! Deviation: `sdiff` is absent.
//!
//! | file | contents |
//! |---|---|
//! | `compare` | lines, the rules by which they are equal, changes |
//! | `format` | the forms of the output |
//! | `columns` | two columns, for `-y` |
//! | `palette` | colours |
//! | `merged` | both files in one, by formats of groups and lines |
//! | `tree` | directories |
//! | `options` | options and their meanings |

mod columns;
pub mod compare;
mod format;
mod merged;
mod options;
mod palette;
mod tree;

use box_text::time::Zone;
use std::io::{self, Write};

use box_applet::command::{ChildCommand, ChildStream};
use box_applet::opts::UsageError;
use box_applet::{Ctx, Ended, Exit, InputSource};
use box_sys::{FileKind, Stat, meta, path};
use box_text::glob::GlobPattern;
use box_text::regex::Regex;

pub use compare::{Equality, split_lines};
use merged::Formats;
use options::{DiffFlag, DiffRefusal, SPEC};
use palette::Palette;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffForm {
    Normal,
    Unified(usize),
    Context(usize),
    Ed,
    ForwardEd,
    Rcs,
    SideBySide,
    Merged,
    Brief,
}

/// The settings of a run: comparison and output.
pub struct DiffOptions {
    pub form: DiffForm,
    /// For [`DiffForm::Merged`].
    pub formats: Formats,
    /// Whether each output goes through `pr`.
    pub paginate: bool,
    pub suppress_blank_empty: bool,
    pub ignore_name_case: bool,
    /// The first name to compare in directories; names before it are left out.
    pub starting_file: Option<Vec<u8>>,
    pub equality: Equality,
    pub ignore_blank: bool,
    pub ignore_lines: Vec<Regex>,
    pub minimal: bool,
    pub text: bool,
    pub report_same: bool,
    pub recursive: bool,
    pub new_file: bool,
    pub new_first: bool,
    pub no_dereference: bool,
    pub excludes: Vec<GlobPattern>,
    pub labels: Vec<Vec<u8>>,
    /// The time zone for the times in headings.
    pub zone: Zone,
    pub function: Option<Regex>,
    pub palette: Palette,
    pub expand_tabs: bool,
    pub initial_tab: bool,
    pub width: usize,
    pub tab: usize,
    pub left_column: bool,
    pub no_common: bool,
    /// Options as given, for the `diff -r a b` line before each file of a tree.
    pub given: String,
}

impl DiffOptions {
    /// Returns whether identical files are reported, too.
    fn prints_same(&self) -> bool {
        match self.form {
            DiffForm::SideBySide => !self.no_common,
            DiffForm::Merged => !self.formats.is_silent_of_same(),
            _ => false,
        }
    }
}

/// A file to compare.
pub struct DiffFile {
    pub name: Vec<u8>,
    /// `None` for standard input and for absent files.
    pub stat: Option<Stat>,
    pub data: Vec<u8>,
}

/// Statuses of `diff`: 0 same, 1 different, 2 trouble.
pub type Status = u8;

/// Runs `diff`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse(args).map_err(|wrong| match wrong {
        UsageError::Message(text) => usage_error(ctx, &[text.as_bytes()]),
        asked => SPEC.answer_usage(ctx, asked, Exit::USAGE),
    })?;
    let options = options::options(ctx, &parsed, args).map_err(|refusal| match refusal {
        DiffRefusal::Usage(text) => usage_error(ctx, &[text.as_bytes()]),
        DiffRefusal::Other(text) => {
            ctx.error(text);
            Exit::USAGE
        }
    })?;
    let operands = &parsed.operands;
    let pairs: Vec<(&[u8], &[u8])> =
        match (parsed.last_value(DiffFlag::FromFile), parsed.last_value(DiffFlag::ToFile)) {
            (Some(_), Some(_)) => {
                ctx.error("--from-file and --to-file both specified");
                return Ok(Exit::USAGE);
            }
            (Some(from), None) => operands.iter().map(|operand| (from, &operand[..])).collect(),
            (None, Some(to)) => operands.iter().map(|operand| (&operand[..], to)).collect(),
            (None, None) => match operands.as_slice() {
                [a, b] => vec![(a, b)],
                [] => return Err(usage_error(ctx, &[b"missing operand after 'diff'"])),
                [one] => return Err(usage_error(ctx, &[b"missing operand after '", one, b"'"])),
                [_, _, extra, ..] => {
                    return Err(usage_error(ctx, &[b"extra operand '", extra, b"'"]));
                }
            },
        };
    let mut status = 0;
    for (a, b) in pairs {
        match compare_pair(ctx, &options, a, b) {
            Ok(found) => status = status.max(found),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::SIGPIPE),
            Err(_) => return Ok(Exit::USAGE),
        }
    }
    Ok(Exit(status))
}

/// Reports an error in the command line, with the hint at `--help`; returns the status to end with.
fn usage_error(ctx: &mut Ctx<'_>, parts: &[&[u8]]) -> Exit {
    ctx.error_bytes(parts);
    let _ = ctx.stderr.write_all(b"diff: Try 'diff --help' for more information.\n");
    Exit::USAGE
}

/// Compares two operands: files, directories, or one of each.
fn compare_pair(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    a: &[u8],
    b: &[u8],
) -> io::Result<Status> {
    let mut names = [a.to_vec(), b.to_vec()];
    let mut stats = [stat_operand(ctx, options, a), stat_operand(ctx, options, b)];
    let is_dir = |s: &io::Result<Option<Stat>>| matches!(s, Ok(Some(s)) if s.kind == FileKind::Dir);
    // `diff DIR FILE` compares `DIR/FILE` with `FILE`.
    for (dir, file) in [(0, 1), (1, 0)] {
        if is_dir(&stats[dir]) && !is_dir(&stats[file]) && stats[file].is_ok() {
            if names[file] == b"-" {
                ctx.error("cannot compare '-' to a directory");
                return Ok(2);
            }
            names[dir] = path::join_path(&names[dir], path::base_name(&names[file]));
            stats[dir] = stat_operand(ctx, options, &names[dir]);
        }
    }
    let [sa, sb] = stats;
    let missing =
        |s: &io::Result<Option<Stat>>| matches!(s, Err(e) if e.kind() == io::ErrorKind::NotFound);
    let fill = (missing(&sa) && options.new_first && sb.is_ok())
        || (missing(&sb) && options.new_file && sa.is_ok());
    let mut found = Vec::new();
    let mut trouble = false;
    for (name, s) in names.iter().zip([sa, sb]) {
        match s {
            Ok(s) => found.push(s),
            Err(_) if fill => found.push(None),
            Err(e) => {
                ctx.io_error(name, &e);
                trouble = true;
            }
        }
    }
    let [sa, sb] = found.as_slice() else { return Ok(2) };
    if trouble {
        return Ok(2);
    }
    if let (Some(x), Some(y)) = (sa, sb)
        && x.kind == FileKind::Dir
        && y.kind == FileKind::Dir
    {
        return tree::compare_trees(ctx, options, &names[0], &names[1], 0);
    }
    compare_files(ctx, options, (&names[0], *sa), (&names[1], *sb), fill)
}

/// Returns the status of an operand; `None` for standard input.
fn stat_operand(ctx: &Ctx<'_>, options: &DiffOptions, name: &[u8]) -> io::Result<Option<Stat>> {
    if name == b"-" {
        return Ok(None);
    }
    meta::stat(&ctx.path(name), !options.no_dereference).map(Some)
}

/// Compares two files if at least one of them is a symbolic link that is not followed. Two links
/// are compared by their targets; a link and a file of another kind always differ. Returns `None`
/// if there is no such link.
fn compare_links(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    a: (&[u8], Option<Stat>),
    b: (&[u8], Option<Stat>),
) -> io::Result<Option<Status>> {
    let is_link = |stat: Option<Stat>| stat.is_some_and(|s| s.kind == FileKind::Symlink);
    if !options.no_dereference || !is_link(a.1) && !is_link(b.1) {
        return Ok(None);
    }
    let stat_of = |ctx: &Ctx<'_>, (name, stat): (&[u8], Option<Stat>)| match ctx.stdin.source() {
        InputSource::File(f) if name == b"-" => meta::of_file(f).ok(),
        _ => stat,
    };
    let (Some(x), Some(y)) = (stat_of(ctx, a), stat_of(ctx, b)) else { return Ok(None) };
    if x.kind != y.kind {
        ctx.stdout.write_all(&kinds_text((a.0, &x), (b.0, &y)))?;
        return Ok(Some(1));
    }
    let mut targets = Vec::new();
    for (name, _) in [a, b] {
        match std::fs::read_link(ctx.path(name)) {
            Ok(target) => targets.push(target),
            Err(e) => {
                ctx.io_error(name, &e);
                return Ok(Some(2));
            }
        }
    }
    if targets[0] != targets[1] {
        let text = [b"Symbolic links ", a.0, b" and ", b.0, b" differ\n"];
        ctx.stdout.write_all(&text.concat())?;
        return Ok(Some(1));
    }
    if options.report_same {
        let text = [b"Files ", a.0, b" and ", b.0, b" are identical\n"];
        ctx.stdout.write_all(&text.concat())?;
    }
    Ok(Some(0))
}

/// Returns the line about two files that are not compared, because they are of different kinds.
fn kinds_text((a, x): (&[u8], &Stat), (b, y): (&[u8], &Stat)) -> Vec<u8> {
    let (x, y) = (x.kind_name().as_bytes(), y.kind_name().as_bytes());
    [b"File ", a, b" is a ", x, b" while file ", b, b" is a ", y, b"\n"].concat()
}

/// Compares two files and prints their difference.
fn compare_files(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    a: (&[u8], Option<Stat>),
    b: (&[u8], Option<Stat>),
    fill: bool,
) -> io::Result<Status> {
    if let Some(status) = compare_links(ctx, options, a, b)? {
        return Ok(status);
    }
    let whole = options.prints_same();
    if a.0 == b"-" && b.0 == b"-" && !whole {
        // Both operands are the same file. It is not read, so that the next reader gets its
        // contents.
        if options.report_same {
            ctx.stdout.write_all(b"Files - and - are identical\n")?;
        }
        return Ok(0);
    }
    let mut sides: Vec<DiffFile> = Vec::new();
    for (name, stat) in [a, b] {
        let data = match stat {
            None if name == b"-" && sides.first().is_some_and(|s| s.name == b"-") => {
                Ok(sides[0].data.clone())
            }
            None if fill && name != b"-" => Ok(Vec::new()),
            _ => ctx.read(name),
        };
        match data {
            Ok(data) => sides.push(DiffFile { name: name.to_vec(), stat, data }),
            Err(e) => {
                ctx.io_error(name, &e);
                return Ok(2);
            }
        }
    }
    let [x, y] = sides.as_slice() else { return Ok(2) };
    let same_bytes = x.data == y.data;
    let binary = |s: &DiffFile| !options.text && s.data[..s.data.len().min(8000)].contains(&0);
    let verdict = |ctx: &mut Ctx<'_>, same: bool, what: &[u8]| -> io::Result<Status> {
        if same {
            if options.report_same {
                let text = [b"Files ", &x.name[..], b" and ", &y.name, b" are identical\n"];
                ctx.stdout.write_all(&text.concat())?;
            }
            return Ok(0);
        }
        ctx.stdout.write_all(&[what, &x.name, b" and ", &y.name, b" differ\n"].concat())?;
        Ok(1)
    };
    if same_bytes {
        if options.prints_same() && !x.data.is_empty() {
            let lines = compare::TextComparison::new(options, &x.data, &y.data);
            print(ctx, options, x, y, &lines)?;
        }
        return verdict(ctx, true, b"");
    }
    if binary(x) || binary(y) {
        let what: &[u8] =
            if options.form == DiffForm::Brief { b"Files " } else { b"Binary files " };
        return verdict(ctx, false, what)
            .map(|s| if options.form == DiffForm::Brief { s } else { 2.min(s + 1) });
    }
    let lines = compare::TextComparison::new(options, &x.data, &y.data);
    if lines.changes.is_empty() {
        if options.prints_same() {
            print(ctx, options, x, y, &lines)?;
        }
        return verdict(ctx, true, b"");
    }
    if options.form == DiffForm::Brief {
        return verdict(ctx, false, b"Files ");
    }
    print(ctx, options, x, y, &lines)?;
    Ok(1)
}

/// Prints the differences, through `pr` if the options ask for that.
fn print(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    a: &DiffFile,
    b: &DiffFile,
    lines: &compare::TextComparison<'_>,
) -> io::Result<()> {
    if !options.paginate {
        return format::print_changes(&mut ctx.stdout, options, a, b, lines);
    }
    let (text, mut spool) = box_sys::preview1::spool()?;
    format::print_changes(&mut spool, options, a, b, lines)?;
    drop(spool);
    let name = |at: usize, side: &DiffFile| options.labels.get(at).unwrap_or(&side.name).clone();
    let heading =
        [b"diff", options.given.as_bytes(), b" ", &name(0, a), b" ", &name(1, b)].concat();
    let mut command = ChildCommand::new(vec![b"pr".to_vec(), b"-h".to_vec(), heading]);
    command.stdin = ChildStream::File(std::rc::Rc::new(text));
    match command.run(ctx) {
        0 => Ok(()),
        141 => Err(io::ErrorKind::BrokenPipe.into()),
        _ => Err(io::ErrorKind::Other.into()),
    }
}
