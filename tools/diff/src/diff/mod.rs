//! `diff` (GNU diffutils 3.8 manual).
//!
//! Deviations: the `#ifdef`, RCS and group formats, `--paginate` and `sdiff` are absent.

mod columns;
pub mod compare;
mod format;
mod tree;

use box_text::time::Zone;
use std::io::{self, Read, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, Stat, meta, strerror};
use box_text::regex::{Options as RegexOptions, Regex, Syntax};

pub use compare::{Equality, lines};

/// Most columns of `-W` and `--tabsize`.
const WIDEST: usize = 100_000;

const SPEC: Spec = Spec {
    usage: "[OPTION]... FILES",
    about: "Compare FILES line by line.",
    options: &[
        Opt::flag('\u{1}', "normal", "output a normal diff (the default)").long_only(),
        Opt::flag('q', "brief", "report only when files differ"),
        Opt::flag('s', "report-identical-files", "report when two files are the same"),
        Opt::flag('c', "", "output 3 lines of copied context"),
        Opt::optional('C', "context", "NUM", "output NUM lines of copied context"),
        Opt::flag('u', "", "output 3 lines of unified context"),
        Opt::optional('U', "unified", "NUM", "output NUM lines of unified context"),
        Opt::flag('e', "ed", "output an ed script"),
        Opt::flag('y', "side-by-side", "output in two columns"),
        Opt::value('\u{9}', "tabsize", "NUM", "tab stops every NUM (default 8) print columns")
            .long_only(),
        Opt::value('W', "width", "NUM", "output at most NUM print columns"),
        Opt::flag('\u{2}', "left-column", "output only the left column of common lines")
            .long_only(),
        Opt::flag('\u{3}', "suppress-common-lines", "do not output common lines").long_only(),
        Opt::flag('p', "show-c-function", "show which C function each change is in"),
        Opt::value('F', "show-function-line", "RE", "show the most recent line matching RE"),
        Opt::value('L', "label", "LABEL", "use LABEL instead of file name and timestamp"),
        Opt::flag('t', "expand-tabs", "expand tabs to spaces in output"),
        Opt::flag('T', "initial-tab", "make tabs line up by prepending a tab"),
        Opt::flag('r', "recursive", "recursively compare any subdirectories found"),
        Opt::flag('\u{4}', "no-dereference", "don't follow symbolic links").long_only(),
        Opt::flag('N', "new-file", "treat absent files as empty"),
        Opt::flag('P', "unidirectional-new-file", "treat absent first files as empty"),
        Opt::value('x', "exclude", "PAT", "exclude files that match PAT"),
        Opt::value('X', "exclude-from", "FILE", "exclude files that match any pattern in FILE"),
        Opt::flag('i', "ignore-case", "ignore case differences in file contents"),
        Opt::flag('E', "ignore-tab-expansion", "ignore changes due to tab expansion"),
        Opt::flag('Z', "ignore-trailing-space", "ignore white space at line end"),
        Opt::flag('b', "ignore-space-change", "ignore changes in the amount of white space"),
        Opt::flag('w', "ignore-all-space", "ignore all white space"),
        Opt::flag('B', "ignore-blank-lines", "ignore changes where lines are all blank"),
        Opt::value('I', "ignore-matching-lines", "RE", "ignore changes where all lines match RE"),
        Opt::flag('a', "text", "treat all files as text"),
        Opt::flag('\u{5}', "strip-trailing-cr", "strip trailing carriage return on input")
            .long_only(),
        Opt::flag('d', "minimal", "try hard to find a smaller set of changes"),
        Opt::flag('\u{6}', "speed-large-files", "accepted and ignored").long_only(),
        Opt::optional('\u{7}', "color", "WHEN", "color output; WHEN is never, always or auto")
            .long_only(),
        Opt::value('\u{8}', "horizon-lines", "NUM", "accepted and ignored").long_only(),
    ],
    after: "FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\nIf a FILE is '-', read standard input.\nExit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
    posix_order: false,
};

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Normal,
    Unified(usize),
    Context(usize),
    Ed,
    SideBySide,
    Brief,
}

/// What a run compares and prints.
pub struct Options {
    pub form: Form,
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
    pub excludes: Vec<box_text::glob::Pattern>,
    pub labels: Vec<Vec<u8>>,
    /// For the times in headings.
    pub zone: Zone,
    pub function: Option<Regex>,
    pub color: bool,
    pub expand_tabs: bool,
    pub initial_tab: bool,
    pub width: usize,
    pub tab: usize,
    pub left_column: bool,
    pub no_common: bool,
    /// Options as given, for the `diff -r a b` line before each file of a tree.
    pub given: String,
}

/// A file to compare.
pub struct Side {
    pub name: Vec<u8>,
    /// `None` for standard input and for absent files.
    pub stat: Option<Stat>,
    pub data: Vec<u8>,
}

/// Statuses of `diff`: 0 same, 1 different, 2 trouble.
pub type Status = u8;

/// Runs `diff`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let args = numeric_context(args);
    let parsed = match SPEC.parse_or_exit(ctx, &args, Exit::USAGE) {
        Ok(p) => p,
        Err(exit) => return exit,
    };
    let options = match options(ctx, &parsed, &args) {
        Ok(o) => o,
        Err(message) => {
            ctx.error(message);
            return Exit::USAGE;
        }
    };
    let (a, b) = match parsed.operands.as_slice() {
        [a, b] => (a.clone(), b.clone()),
        few => {
            match few {
                [] => ctx.error("missing operand after 'diff'"),
                [one] => ctx.error_bytes(&[b"missing operand after '", one, b"'"]),
                [_, _, extra, ..] => ctx.error_bytes(&[b"extra operand '", extra, b"'"]),
                _ => {}
            }
            let _ = ctx.stderr.write_all(b"diff: Try 'diff --help' for more information.\n");
            return Exit::USAGE;
        }
    };
    match pair(ctx, &options, &a, &b) {
        Ok(status) => Exit(status),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Exit::SIGPIPE,
        Err(_) => Exit::USAGE,
    }
}

/// `-5` and `-u5` are old spellings of `-U5`.
fn numeric_context(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let digits = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut args = args.iter();
    while let Some(a) = args.next() {
        match a.as_slice() {
            b"--" => {
                out.push(a.clone());
                out.extend(args.by_ref().cloned());
            }
            // -U and -C take their number as the next argument, too.
            b"-U" | b"-C" => {
                let n = args.next().cloned().unwrap_or_default();
                out.push([a.as_slice(), &n].concat());
            }
            [b'-', n @ ..] if digits(n) => out.push([b"-U", n].concat()),
            [b'-', c @ (b'u' | b'c'), n @ ..] if digits(n) => {
                out.push([b"-", &[c.to_ascii_uppercase()][..], n].concat());
            }
            _ => out.push(a.clone()),
        }
    }
    out
}

fn options(
    ctx: &Ctx<'_>,
    parsed: &box_applet::opts::Parsed,
    args: &[Vec<u8>],
) -> Result<Options, String> {
    let number = |id: char, default: usize| -> Result<usize, String> {
        match parsed.last(id) {
            None => Ok(default),
            Some(t) => std::str::from_utf8(t)
                .ok()
                .and_then(|t| t.parse().ok())
                .ok_or_else(|| format!("invalid context length '{}'", String::from_utf8_lossy(t))),
        }
    };
    let form = match parsed.last_of(&['\u{1}', 'c', 'C', 'u', 'U', 'e', 'y', 'q']) {
        _ if parsed.has('q') => Form::Brief,
        Some('c' | 'C') => Form::Context(number('C', 3)?),
        Some('u' | 'U') => Form::Unified(number('U', 3)?),
        Some('e') => Form::Ed,
        Some('y') => Form::SideBySide,
        _ => Form::Normal,
    };
    let regex = |t: &[u8]| {
        Regex::new(t, &RegexOptions::new(Syntax::Grep))
            .map_err(|e| format!("{}: {e}", String::from_utf8_lossy(t)))
    };
    let function = match (parsed.last('F'), parsed.has('p')) {
        (Some(re), _) => Some(regex(re)?),
        (None, true) => Some(regex(b"^[[:alpha:]$_]")?),
        (None, false) => None,
    };
    let mut excludes = Vec::new();
    let mut exclude = |p: &[u8]| {
        excludes.push(box_text::glob::Pattern::new(p, box_text::glob::Options::default()))
    };
    parsed.all('x').for_each(&mut exclude);
    for file in parsed.all('X') {
        let text = std::fs::read(ctx.path(file))
            .map_err(|e| format!("{}: {}", String::from_utf8_lossy(file), strerror(&e)))?;
        text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).for_each(&mut exclude);
    }
    let color = match parsed.last('\u{7}') {
        Some(b"always") => true,
        Some(b"never" | b"auto") => false,
        Some(other) => return Err(format!("invalid color '{}'", String::from_utf8_lossy(other))),
        None => false,
    };
    let given: Vec<String> = args
        .iter()
        .take_while(|a| *a != b"--")
        .filter(|a| a.starts_with(b"-") && a.len() > 1)
        .map(|a| format!(" {}", String::from_utf8_lossy(a)))
        .collect();
    Ok(Options {
        form,
        zone: Zone::from_env(ctx.env.get(b"TZ"), |path| std::fs::read(path).ok()),
        equality: Equality {
            case: parsed.has('i'),
            all_space: parsed.has('w'),
            space_change: parsed.has('b'),
            trailing_space: parsed.has('Z'),
            tabs: parsed.has('E'),
            carriage_return: parsed.has('\u{5}'),
        },
        ignore_blank: parsed.has('B'),
        ignore_lines: parsed.all('I').map(regex).collect::<Result<_, _>>()?,
        minimal: parsed.has('d'),
        text: parsed.has('a'),
        report_same: parsed.has('s'),
        recursive: parsed.has('r'),
        new_file: parsed.has('N'),
        new_first: parsed.has('P') || parsed.has('N'),
        no_dereference: parsed.has('\u{4}'),
        excludes,
        labels: parsed.all('L').map(<[u8]>::to_vec).collect(),
        function,
        color,
        expand_tabs: parsed.has('t'),
        initial_tab: parsed.has('T'),
        width: number('W', 130)?.clamp(1, WIDEST),
        tab: number('\u{9}', 8)?.clamp(1, WIDEST),
        left_column: parsed.has('\u{2}'),
        no_common: parsed.has('\u{3}'),
        given: given.concat(),
    })
}

/// Compares two operands: files, directories, or one of each.
fn pair(ctx: &mut Ctx<'_>, options: &Options, a: &[u8], b: &[u8]) -> io::Result<Status> {
    let mut names = [a.to_vec(), b.to_vec()];
    let mut stats = [stat(ctx, options, a), stat(ctx, options, b)];
    let is_dir = |s: &io::Result<Option<Stat>>| matches!(s, Ok(Some(s)) if s.kind == Kind::Dir);
    // DIR FILE means DIR/FILE FILE.
    for (dir, file) in [(0, 1), (1, 0)] {
        if is_dir(&stats[dir]) && !is_dir(&stats[file]) && stats[file].is_ok() {
            if names[file] == b"-" {
                ctx.error("cannot compare '-' to a directory");
                return Ok(2);
            }
            let base = names[file].rsplit(|c| *c == b'/').next().unwrap_or_default().to_vec();
            names[dir] = tree::join(&names[dir], &base);
            stats[dir] = stat(ctx, options, &names[dir]);
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
        && x.kind == Kind::Dir
        && y.kind == Kind::Dir
    {
        return tree::compare(ctx, options, &names[0], &names[1], 0);
    }
    files(ctx, options, (&names[0], *sa), (&names[1], *sb), fill)
}

/// `None` for standard input.
fn stat(ctx: &Ctx<'_>, options: &Options, name: &[u8]) -> io::Result<Option<Stat>> {
    if name == b"-" {
        return Ok(None);
    }
    meta::stat(&ctx.path(name), !options.no_dereference).map(Some)
}

/// Compares two files and prints their difference.
fn files(
    ctx: &mut Ctx<'_>,
    options: &Options,
    a: (&[u8], Option<Stat>),
    b: (&[u8], Option<Stat>),
    fill: bool,
) -> io::Result<Status> {
    let whole = options.form == Form::SideBySide && !options.no_common;
    if a.0 == b"-" && b.0 == b"-" && !whole {
        // One file twice: nothing to look at, and what it holds is left to the next reader.
        if options.report_same {
            ctx.stdout.write_all(b"Files - and - are identical\n")?;
        }
        return Ok(0);
    }
    let mut sides: Vec<Side> = Vec::new();
    for (name, stat) in [a, b] {
        let data = match stat {
            None if name == b"-" && sides.first().is_some_and(|s| s.name == b"-") => {
                Ok(sides[0].data.clone())
            }
            None if name == b"-" => {
                let mut data = Vec::new();
                ctx.stdin.read_to_end(&mut data).map(|_| data)
            }
            None if fill => Ok(Vec::new()),
            _ => std::fs::read(ctx.path(name)),
        };
        match data {
            Ok(data) => sides.push(Side { name: name.to_vec(), stat, data }),
            Err(e) => {
                ctx.io_error(name, &e);
                return Ok(2);
            }
        }
    }
    let [x, y] = sides.as_slice() else { return Ok(2) };
    let same_bytes = x.data == y.data;
    let binary = |s: &Side| !options.text && s.data[..s.data.len().min(8000)].contains(&0);
    let verdict = |ctx: &mut Ctx<'_>, same: bool, what: &[u8]| -> io::Result<Status> {
        if same {
            if options.report_same {
                for part in [b"Files ".as_slice(), &x.name, b" and ", &y.name, b" are identical\n"]
                {
                    ctx.stdout.write_all(part)?;
                }
            }
            return Ok(0);
        }
        for part in [what, &x.name, b" and ", &y.name, b" differ\n"] {
            ctx.stdout.write_all(part)?;
        }
        Ok(1)
    };
    if same_bytes {
        if options.form == Form::SideBySide && !options.no_common && !x.data.is_empty() {
            let lines = compare::Compared::new(options, &x.data, &y.data);
            format::print(ctx, options, x, y, &lines)?;
        }
        return verdict(ctx, true, b"");
    }
    if binary(x) || binary(y) {
        let what: &[u8] = if options.form == Form::Brief { b"Files " } else { b"Binary files " };
        return verdict(ctx, false, what)
            .map(|s| if options.form == Form::Brief { s } else { 2.min(s + 1) });
    }
    let lines = compare::Compared::new(options, &x.data, &y.data);
    if lines.changes.is_empty() {
        if options.form == Form::SideBySide && !options.no_common {
            format::print(ctx, options, x, y, &lines)?;
        }
        return verdict(ctx, true, b"");
    }
    if options.form == Form::Brief {
        return verdict(ctx, false, b"Files ");
    }
    format::print(ctx, options, x, y, &lines)?;
    Ok(1)
}
