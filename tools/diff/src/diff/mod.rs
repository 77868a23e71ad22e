//! `diff` (GNU diffutils 3.8 manual).
//!
//! Deviations: the `#ifdef`, RCS and group formats, `--paginate` and `sdiff` are absent.

mod columns;
pub mod compare;
mod format;
mod tree;

use box_text::time::Zone;
use std::io::{self, Write};

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{Kind, Stat, meta, path, strerror};
use box_text::glob::{self, Pattern};
use box_text::regex::{Options as RegexOptions, Regex, Syntax};

pub use compare::{Equality, lines};

/// Most columns of `-W` and `--tabsize`.
const WIDEST: usize = 100_000;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Normal,
    Brief,
    ReportIdenticalFiles,
    Copied,
    Context,
    UnifiedDefault,
    Unified,
    Ed,
    SideBySide,
    Tabsize,
    Width,
    LeftColumn,
    SuppressCommonLines,
    ShowCFunction,
    ShowFunctionLine,
    Label,
    ExpandTabs,
    InitialTab,
    Recursive,
    NoDereference,
    NewFile,
    UnidirectionalNewFile,
    Exclude,
    ExcludeFrom,
    IgnoreCase,
    IgnoreTabExpansion,
    IgnoreTrailingSpace,
    IgnoreSpaceChange,
    IgnoreAllSpace,
    IgnoreBlankLines,
    IgnoreMatchingLines,
    Text,
    StripTrailingCr,
    Minimal,
    SpeedLargeFiles,
    Color,
    HorizonLines,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... FILES",
    "Compare FILES line by line.",
    &[
        Opt::long(Flag::Normal, "normal").says("output a normal diff (the default)"),
        Opt::new(Flag::Brief, 'q', "brief").says("report only when files differ"),
        Opt::new(Flag::ReportIdenticalFiles, 's', "report-identical-files")
            .says("report when two files are the same"),
        Opt::new(Flag::Copied, 'c', "").says("output 3 lines of copied context"),
        Opt::new(Flag::Context, 'C', "").takes("NUM", "output NUM lines of copied context"),
        Opt::long(Flag::Context, "context").may_take("NUM", "the same, 3 lines without NUM"),
        Opt::new(Flag::UnifiedDefault, 'u', "").says("output 3 lines of unified context"),
        Opt::new(Flag::Unified, 'U', "").takes("NUM", "output NUM lines of unified context"),
        Opt::long(Flag::Unified, "unified").may_take("NUM", "the same, 3 lines without NUM"),
        Opt::new(Flag::Ed, 'e', "ed").says("output an ed script"),
        Opt::new(Flag::SideBySide, 'y', "side-by-side").says("output in two columns"),
        Opt::long(Flag::Tabsize, "tabsize")
            .takes("NUM", "tab stops every NUM (default 8) print columns"),
        Opt::new(Flag::Width, 'W', "width").takes("NUM", "output at most NUM print columns"),
        Opt::long(Flag::LeftColumn, "left-column")
            .says("output only the left column of common lines"),
        Opt::long(Flag::SuppressCommonLines, "suppress-common-lines")
            .says("do not output common lines"),
        Opt::new(Flag::ShowCFunction, 'p', "show-c-function")
            .says("show which C function each change is in"),
        Opt::new(Flag::ShowFunctionLine, 'F', "show-function-line")
            .takes("RE", "show the most recent line matching RE"),
        Opt::new(Flag::Label, 'L', "label")
            .takes("LABEL", "use LABEL instead of file name and timestamp"),
        Opt::new(Flag::ExpandTabs, 't', "expand-tabs").says("expand tabs to spaces in output"),
        Opt::new(Flag::InitialTab, 'T', "initial-tab")
            .says("make tabs line up by prepending a tab"),
        Opt::new(Flag::Recursive, 'r', "recursive")
            .says("recursively compare any subdirectories found"),
        Opt::long(Flag::NoDereference, "no-dereference").says("don't follow symbolic links"),
        Opt::new(Flag::NewFile, 'N', "new-file").says("treat absent files as empty"),
        Opt::new(Flag::UnidirectionalNewFile, 'P', "unidirectional-new-file")
            .says("treat absent first files as empty"),
        Opt::new(Flag::Exclude, 'x', "exclude").takes("PAT", "exclude files that match PAT"),
        Opt::new(Flag::ExcludeFrom, 'X', "exclude-from")
            .takes("FILE", "exclude files that match any pattern in FILE"),
        Opt::new(Flag::IgnoreCase, 'i', "ignore-case")
            .says("ignore case differences in file contents"),
        Opt::new(Flag::IgnoreTabExpansion, 'E', "ignore-tab-expansion")
            .says("ignore changes due to tab expansion"),
        Opt::new(Flag::IgnoreTrailingSpace, 'Z', "ignore-trailing-space")
            .says("ignore white space at line end"),
        Opt::new(Flag::IgnoreSpaceChange, 'b', "ignore-space-change")
            .says("ignore changes in the amount of white space"),
        Opt::new(Flag::IgnoreAllSpace, 'w', "ignore-all-space").says("ignore all white space"),
        Opt::new(Flag::IgnoreBlankLines, 'B', "ignore-blank-lines")
            .says("ignore changes where lines are all blank"),
        Opt::new(Flag::IgnoreMatchingLines, 'I', "ignore-matching-lines")
            .takes("RE", "ignore changes where all lines match RE"),
        Opt::new(Flag::Text, 'a', "text").says("treat all files as text"),
        Opt::long(Flag::StripTrailingCr, "strip-trailing-cr")
            .says("strip trailing carriage return on input"),
        Opt::new(Flag::Minimal, 'd', "minimal").says("try hard to find a smaller set of changes"),
        Opt::long(Flag::SpeedLargeFiles, "speed-large-files").says("accepted and ignored"),
        Opt::long(Flag::Color, "color")
            .may_take("WHEN", "color output; WHEN is never, always or auto"),
        Opt::long(Flag::HorizonLines, "horizon-lines").takes("NUM", "accepted and ignored"),
    ],
)
.after("FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\nIf a FILE is '-', read standard input.\nExit status is 0 if inputs are the same, 1 if different, 2 if trouble.");

/// Options that ask for a form of the output.
const FORMS: &[Flag] = &[
    Flag::Normal,
    Flag::Copied,
    Flag::Context,
    Flag::UnifiedDefault,
    Flag::Unified,
    Flag::Ed,
    Flag::SideBySide,
];

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
    pub excludes: Vec<Pattern>,
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
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let args = numeric_context(args);
    let parsed = SPEC.parse_or_exit(ctx, &args, Exit::USAGE)?;
    let options = match options(ctx, &parsed, &args) {
        Ok(o) => o,
        Err(message) => {
            ctx.error(message);
            return Ok(Exit::USAGE);
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
            return Ok(Exit::USAGE);
        }
    };
    Ok(match pair(ctx, &options, &a, &b) {
        Ok(status) => Exit(status),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Exit::SIGPIPE,
        Err(_) => Exit::USAGE,
    })
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

/// What the options ask for; the error is the text to report.
fn options(ctx: &Ctx<'_>, parsed: &Parsed<Flag>, args: &[Vec<u8>]) -> Result<Options, String> {
    let function = match (parsed.last(Flag::ShowFunctionLine), parsed.has(Flag::ShowCFunction)) {
        (Some(re), _) => Some(regex(re)?),
        (None, true) => Some(regex(b"^[[:alpha:]$_]")?),
        (None, false) => None,
    };
    let color = match parsed.last(Flag::Color) {
        Some(b"always") => true,
        Some(b"never" | b"auto") | None => false,
        Some(other) => return Err(format!("invalid color '{}'", String::from_utf8_lossy(other))),
    };
    let given: Vec<String> = args
        .iter()
        .take_while(|a| *a != b"--")
        .filter(|a| a.starts_with(b"-") && a.len() > 1)
        .map(|a| format!(" {}", String::from_utf8_lossy(a)))
        .collect();
    Ok(Options {
        form: form(parsed)?,
        zone: ctx.zone(),
        equality: Equality {
            case: parsed.has(Flag::IgnoreCase),
            all_space: parsed.has(Flag::IgnoreAllSpace),
            space_change: parsed.has(Flag::IgnoreSpaceChange),
            trailing_space: parsed.has(Flag::IgnoreTrailingSpace),
            tabs: parsed.has(Flag::IgnoreTabExpansion),
            carriage_return: parsed.has(Flag::StripTrailingCr),
        },
        ignore_blank: parsed.has(Flag::IgnoreBlankLines),
        ignore_lines: parsed.all(Flag::IgnoreMatchingLines).map(regex).collect::<Result<_, _>>()?,
        minimal: parsed.has(Flag::Minimal),
        text: parsed.has(Flag::Text),
        report_same: parsed.has(Flag::ReportIdenticalFiles),
        recursive: parsed.has(Flag::Recursive),
        new_file: parsed.has(Flag::NewFile),
        new_first: parsed.has(Flag::UnidirectionalNewFile) || parsed.has(Flag::NewFile),
        no_dereference: parsed.has(Flag::NoDereference),
        excludes: excludes(ctx, parsed)?,
        labels: parsed.all(Flag::Label).map(<[u8]>::to_vec).collect(),
        function,
        color,
        expand_tabs: parsed.has(Flag::ExpandTabs),
        initial_tab: parsed.has(Flag::InitialTab),
        width: number(parsed, Flag::Width, 130)?.clamp(1, WIDEST),
        tab: number(parsed, Flag::Tabsize, 8)?.clamp(1, WIDEST),
        left_column: parsed.has(Flag::LeftColumn),
        no_common: parsed.has(Flag::SuppressCommonLines),
        given: given.concat(),
    })
}

/// The form of the output: the last one that is asked for, but `-q` before all others.
fn form(parsed: &Parsed<Flag>) -> Result<Form, String> {
    if parsed.has(Flag::Brief) {
        return Ok(Form::Brief);
    }
    Ok(match parsed.last_of(FORMS) {
        Some(Flag::Copied | Flag::Context) => Form::Context(number(parsed, Flag::Context, 3)?),
        Some(Flag::UnifiedDefault | Flag::Unified) => {
            Form::Unified(number(parsed, Flag::Unified, 3)?)
        }
        Some(Flag::Ed) => Form::Ed,
        Some(Flag::SideBySide) => Form::SideBySide,
        _ => Form::Normal,
    })
}

fn number(parsed: &Parsed<Flag>, flag: Flag, default: usize) -> Result<usize, String> {
    let Some(text) = parsed.last(flag) else { return Ok(default) };
    std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.parse().ok())
        .ok_or_else(|| format!("invalid context length '{}'", String::from_utf8_lossy(text)))
}

fn regex(text: &[u8]) -> Result<Regex, String> {
    Regex::new(text, &RegexOptions::new(Syntax::Grep))
        .map_err(|e| format!("{}: {e}", String::from_utf8_lossy(text)))
}

/// Patterns of files that are left out.
fn excludes(ctx: &Ctx<'_>, parsed: &Parsed<Flag>) -> Result<Vec<Pattern>, String> {
    let pattern = |text: &[u8]| Pattern::new(text, glob::Options::default());
    let mut all: Vec<Pattern> = parsed.all(Flag::Exclude).map(pattern).collect();
    for file in parsed.all(Flag::ExcludeFrom) {
        let text = std::fs::read(ctx.path(file))
            .map_err(|e| format!("{}: {}", String::from_utf8_lossy(file), strerror(&e)))?;
        all.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(pattern));
    }
    Ok(all)
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
            names[dir] = path::join(&names[dir], path::base_name(&names[file]));
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
            None if fill && name != b"-" => Ok(Vec::new()),
            _ => ctx.read(name),
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
                let text = [b"Files ", &x.name[..], b" and ", &y.name, b" are identical\n"];
                ctx.stdout.write_all(&text.concat())?;
            }
            return Ok(0);
        }
        ctx.stdout.write_all(&[what, &x.name, b" and ", &y.name, b" differ\n"].concat())?;
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
