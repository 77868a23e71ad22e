//! The command line: options in getopt order up to the first operand, program sources.

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Exit};
use box_sys::error_text;

use crate::lex::AwkSource;
use crate::vm::RunSettings;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwkFlag {
    File,
    FieldSeparator,
    Assign,
    Source,
    Exec,
    Include,
    NonDecimalData,
    Traditional,
    Posix,
    CharactersAsBytes,
    ReInterval,
    NoOptimize,
    Optimize,
    Bignum,
    UseLcNumeric,
    Sandbox,
    GenPot,
    LintOld,
    Lint,
    DumpVariables,
    PrettyPrint,
    Profile,
    LongOption,
    Load,
}

/// The options, once.
pub const SPEC: Spec<AwkFlag> = Spec::new(
    "[OPTION]... 'PROGRAM' [FILE]...\n[OPTION]... -f PROGFILE [FILE]...",
    "Run PROGRAM on each record of the FILEs: POSIX awk with gawk's extensions.",
    &[
        Opt::new(AwkFlag::File, 'f', "file")
            .with_argument("PROGFILE", "Read the program from PROGFILE"),
        Opt::new(AwkFlag::FieldSeparator, 'F', "field-separator")
            .with_argument("FS", "Split records at FS, a character or regular expression"),
        Opt::new(AwkFlag::Assign, 'v', "assign")
            .with_argument("VAR=VALUE", "Set a variable before the program starts"),
        Opt::new(AwkFlag::Source, 'e', "source")
            .with_argument("TEXT", "Take program text from the command line, besides -f"),
        Opt::new(AwkFlag::Exec, 'E', "exec")
            .with_argument("FILE", "Like -f, but accept no further options or assignments"),
        Opt::new(AwkFlag::Include, 'i', "include")
            .with_argument("FILE", "Load a library first; `inplace' edits files in place"),
        Opt::new(AwkFlag::NonDecimalData, 'n', "non-decimal-data")
            .with_help("Read octal and hexadecimal numbers in input, too"),
        Opt::new(AwkFlag::Traditional, 'c', "traditional")
            .with_help("Behave without gawk's extensions"),
        Opt::new(AwkFlag::Posix, 'P', "posix").with_help("Behave as POSIX says"),
        Opt::new(AwkFlag::CharactersAsBytes, 'b', "characters-as-bytes")
            .with_help("Count bytes, not characters"),
        Opt::new(AwkFlag::ReInterval, 'r', "re-interval")
            .with_help("Accepted: intervals are always on"),
        Opt::new(AwkFlag::NoOptimize, 's', "no-optimize").with_help(words::IGNORED),
        Opt::new(AwkFlag::Optimize, 'O', "optimize").with_help(words::IGNORED),
        Opt::new(AwkFlag::Bignum, 'M', "bignum").with_help(words::IGNORED),
        Opt::new(AwkFlag::UseLcNumeric, 'N', "use-lc-numeric").with_help(words::IGNORED),
        Opt::new(AwkFlag::Sandbox, 'S', "sandbox").with_help(words::IGNORED),
        Opt::new(AwkFlag::GenPot, 'g', "gen-pot").with_help(words::IGNORED),
        Opt::new(AwkFlag::LintOld, 't', "lint-old").with_help(words::IGNORED),
        Opt::new(AwkFlag::Lint, 'L', "lint")
            .may_take("WHAT", "Warn about functions that are never called or defined"),
        Opt::new(AwkFlag::DumpVariables, 'd', "dump-variables").may_take("FILE", words::IGNORED),
        Opt::new(AwkFlag::PrettyPrint, 'o', "pretty-print").may_take("FILE", words::IGNORED),
        Opt::new(AwkFlag::Profile, 'p', "profile").may_take("FILE", words::IGNORED),
        Opt::new(AwkFlag::LongOption, 'W', "")
            .with_argument("OPTION", "Give a long option after a letter: -W posix"),
        Opt::new(AwkFlag::Load, 'l', "load")
            .with_argument("LIBRARY", "Accepted for libraries that are built in"),
    ],
)
.with_examples(&[
    ("awk '{ print $1, $NF }' FILE", "First and last field of each line"),
    ("awk -F, '$3 > 100' FILE", "Lines of a CSV file whose third field is over 100"),
    (
        "awk '{ n[$1]++ } END { for (k in n) print n[k], k }' FILE",
        "Count how often each first field occurs",
    ),
])
.with_footer("The first operand is the program unless -f or -e is given.")
.posix_order();

/// The parsed command line.
pub struct AwkJob {
    pub sources: Vec<AwkSource>,
    pub settings: RunSettings,
    /// `--lint`: whether to warn of dubious constructs.
    pub lint: bool,
}

/// The maximum number of files that a program may include.
const MAX_INCLUDES: usize = 100;

/// Parses the command line and reads the program files.
pub fn read(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<AwkJob, Exit> {
    let args = end_options(expand_w(args));
    let parsed = SPEC.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let mut operands = parsed.operands.clone().into_iter();
    let settings = parse_settings(ctx, &parsed)?;
    let mut job = AwkJob { sources: Vec::new(), settings, lint: parsed.has_option(AwkFlag::Lint) };
    let mut named = false;
    for (id, value) in &parsed.options {
        let value = value.clone().unwrap_or_default();
        match id {
            AwkFlag::File | AwkFlag::Exec => {
                named = true;
                let source = read_file(ctx, &value)?;
                job.sources.push(source);
            }
            AwkFlag::Source => {
                named = true;
                job.sources.push(AwkSource { name: None, text: value, namespace: Vec::new() });
            }
            AwkFlag::Load => job.sources.extend(library_source(&value)),
            AwkFlag::Include if value == b"inplace" => job.settings.inplace = true,
            AwkFlag::Include => {
                let source = find_include(ctx, &value)?;
                job.sources.push(source);
            }
            _ => {}
        }
    }
    if !named {
        match operands.next() {
            Some(text) => job.sources.push(AwkSource { name: None, text, namespace: Vec::new() }),
            None => {
                ctx.error("no program text at all!");
                ctx.hint();
                return Err(Exit::FAILURE);
            }
        }
    }
    job.sources = splice_includes(ctx, std::mem::take(&mut job.sources))?;
    job.settings.argv = std::iter::once(ctx.name.clone().into_bytes()).chain(operands).collect();
    Ok(job)
}

/// Replaces `-W posix` by `--posix`.
fn expand_w(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(args.len());
    let mut args = args.iter();
    while let Some(a) = args.next() {
        if a == b"--" || !a.starts_with(b"-") || a == b"-" {
            out.push(a.clone());
            out.extend(args.cloned());
            break;
        }
        if let Some(word) = a.strip_prefix(b"-W") {
            let word = if word.is_empty() {
                args.next().cloned().unwrap_or_default()
            } else {
                word.to_vec()
            };
            out.push([b"--", word.as_slice()].concat());
            continue;
        }
        out.push(a.clone());
        // Arguments of options are not options.
        if matches!(a.as_slice(), b"-f" | b"-v" | b"-F" | b"-e" | b"-i" | b"-E" | b"-l") {
            out.extend(args.next().cloned());
        }
    }
    out
}

/// Inserts `--` before the first word that is not an option of awk, if an earlier option already
/// gave the program, because that word and all words after it are then arguments of the program
/// (gawk manual, "Options").
fn end_options(mut args: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let (mut at, mut named) = (0, false);
    while let Some(word) = args.get(at) {
        let ids: Option<Vec<AwkFlag>> = match word.as_slice() {
            b"--" | b"-" => return args,
            [b'-', b'-', long @ ..] => {
                let name = long.split(|c| *c == b'=').next().unwrap_or_default();
                let help = name == b"help" || name == b"version";
                if help {
                    Some(Vec::new())
                } else {
                    SPEC.find_long(name).ok().map(|(id, _)| vec![id])
                }
            }
            [b'-', letters @ ..] => {
                let known = SPEC.match_letters(letters).ok();
                known.map(|known| known.into_iter().map(|(id, ..)| id).collect())
            }
            _ => return args,
        };
        match ids {
            Some(ids) => {
                named |= ids
                    .iter()
                    .any(|id| matches!(id, AwkFlag::File | AwkFlag::Exec | AwkFlag::Source));
            }
            None if named => {
                args.insert(at, b"--".to_vec());
                return args;
            }
            None => return args,
        }
        at += 1 + usize::from(SPEC.takes_next(word));
    }
    args
}

fn parse_settings(ctx: &mut Ctx<'_>, parsed: &ParsedOptions<AwkFlag>) -> Result<RunSettings, Exit> {
    let mut assignments = Vec::new();
    let posix = parsed.has_option(AwkFlag::Posix);
    for (id, value) in &parsed.options {
        let value = value.clone().unwrap_or_default();
        match id {
            AwkFlag::Assign => match crate::vm::assignment_position(&value) {
                Some(eq) => assignments.push((value[..eq].to_vec(), value[eq + 1..].to_vec())),
                None => {
                    let shown = String::from_utf8_lossy(&value).into_owned();
                    ctx.error(format_args!(
                        "fatal: `{shown}' argument to `-v' not in `var=value' form"
                    ));
                    return Err(Exit::USAGE);
                }
            },
            AwkFlag::FieldSeparator => {
                // In old awks, `-Ft` means a tab.
                let fs = if value == b"t" && parsed.has_option(AwkFlag::Traditional) {
                    b"\\t".to_vec()
                } else {
                    value
                };
                assignments.push((b"FS".to_vec(), fs));
            }
            _ => {}
        }
    }
    Ok(RunSettings {
        traditional: parsed.has_option(AwkFlag::Traditional) || posix,
        utf8: !parsed.has_option(AwkFlag::CharactersAsBytes) && ctx.env.is_utf8(),
        non_decimal: parsed.has_option(AwkFlag::NonDecimalData),
        inplace: false,
        inplace_suffix: assignments
            .iter()
            .filter(|(n, _)| matches!(n.as_slice(), b"inplace::suffix" | b"INPLACE_SUFFIX"))
            .cloned()
            .collect(),
        argv: Vec::new(),
        assignments,
    })
}

fn read_file(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<AwkSource, Exit> {
    let text = ctx.read(if name == b"/dev/stdin" { b"-" } else { name }).map_err(|e| {
        let (shown, why) = (String::from_utf8_lossy(name), error_text(&e));
        ctx.error(format_args!("fatal: cannot open source file `{shown}' for reading: {why}"));
        Exit::USAGE
    })?;
    // A `#!` line is a comment anyway.
    Ok(AwkSource { name: Some(name.to_vec()), text, namespace: Vec::new() })
}

/// Finds and reads an included file: as named, with `.awk`, or in AWKPATH.
fn find_include(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<AwkSource, Exit> {
    let with = [name, b".awk"].concat();
    let mut candidates: Vec<Vec<u8>> = vec![name.to_vec(), with.clone()];
    if let Some(path) = ctx.env.get(b"AWKPATH") {
        for dir in path.split(|c| *c == b':').filter(|d| !d.is_empty()) {
            candidates.push([dir, b"/", name].concat());
            candidates.push([dir, b"/", &with].concat());
        }
    }
    for c in &candidates {
        if ctx.path(c).is_file() {
            return read_file(ctx, c);
        }
    }
    read_file(ctx, name)
}

/// A line that begins with `@`.
enum AwkDirective {
    Include(Vec<u8>),
    Load(Vec<u8>),
    Namespace(Vec<u8>),
}

/// Replaces each `@include "file"` by the file's text, each file once, and splits sources at each
/// `@namespace`, which changes the meaning of the names after it.
fn splice_includes(ctx: &mut Ctx<'_>, sources: Vec<AwkSource>) -> Result<Vec<AwkSource>, Exit> {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut queue: std::collections::VecDeque<AwkSource> = sources.into();
    let mut out = Vec::new();
    while let Some(source) = queue.pop_front() {
        let Some((at, end, directive)) = find_directive(&source.text) else {
            out.push(source);
            continue;
        };
        // The text before the directive has no directives; the rest is queued after the included
        // file.
        let before = source.text[..at].to_vec();
        // The rest begins with as many newlines, so that it keeps its line numbers.
        let lines = before.iter().filter(|c| **c == b'\n').count();
        let mut rest = vec![b'\n'; lines];
        rest.extend_from_slice(&source.text[end..]);
        let mut namespace = source.namespace.clone();
        out.push(AwkSource {
            name: source.name.clone(),
            text: before,
            namespace: source.namespace,
        });
        if let AwkDirective::Namespace(name) = &directive {
            namespace = if name == b"awk" { Vec::new() } else { name.clone() };
        }
        queue.push_front(AwkSource { name: source.name, text: rest, namespace });
        if let AwkDirective::Load(name) = &directive
            && !seen.contains(name)
        {
            seen.push(name.clone());
            queue.extend(library_source(name));
        }
        if let AwkDirective::Include(name) = directive
            && !seen.contains(&name)
            && seen.len() < MAX_INCLUDES
        {
            seen.push(name.clone());
            let included = find_include(ctx, &name)?;
            queue.push_front(included);
        }
    }
    Ok(out)
}

/// The extension libraries of gawk that scripts use most, written in awk. The functions of the
/// others are missing.
const LIBRARIES: &[(&[u8], &[u8])] = &[(
    b"readfile",
    b"function readfile(file, _text, _rs, _more) {
    _rs = RS; RS = \"^$\"
    _more = (getline _text < file)
    if (_more >= 0) close(file)
    RS = _rs
    return _more > 0 ? _text : \"\"
}
",
)];

fn library_source(name: &[u8]) -> Option<AwkSource> {
    let (_, text) = LIBRARIES.iter().find(|(known, _)| *known == name)?;
    Some(AwkSource { name: Some(name.to_vec()), text: text.to_vec(), namespace: Vec::new() })
}

/// Returns the first `@include`, `@load` or `@namespace` line, and where it begins and ends.
fn find_directive(text: &[u8]) -> Option<(usize, usize, AwkDirective)> {
    let mut at = 0;
    for line in text.split_inclusive(|c| *c == b'\n') {
        let trimmed = line.trim_ascii();
        for word in [&b"@include"[..], b"@load", b"@namespace"] {
            if let Some(rest) = trimmed.strip_prefix(word) {
                let rest = rest.trim_ascii_start();
                if let Some(body) = rest.strip_prefix(b"\"") {
                    let end = body.iter().position(|c| *c == b'"').unwrap_or(body.len());
                    let name = body[..end].to_vec();
                    let directive = match word {
                        b"@include" => AwkDirective::Include(name),
                        b"@namespace" => AwkDirective::Namespace(name),
                        _ => AwkDirective::Load(name),
                    };
                    // The rest of the line stays.
                    let after = line.len() - line.trim_ascii_start().len() + trimmed.len()
                        - body.len()
                        + (end + 1).min(body.len());
                    return Some((at, at + after.min(line.len()), directive));
                }
            }
        }
        at += line.len();
    }
    None
}
