//! Options of `diff`, as written and as meant.

use box_applet::Ctx;
use box_applet::opts::{Opt, Parsed, Spec};
use box_sys::strerror;
use box_text::glob::{self, Pattern};
use box_text::regex::{Options as RegexOptions, Regex, Syntax};

use super::merged::{Formats, Written, is_too_wide};
use super::{Equality, Form, Options};

/// Most columns of `-W` and `--tabsize`.
const WIDEST: usize = 100_000;

/// Most conditions of a format, which may lie in each other.
const MOST_CONDITIONS: usize = 200;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
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
    Rcs,
    ForwardEd,
    IfDef,
    LineFormat,
    OldLineFormat,
    NewLineFormat,
    UnchangedLineFormat,
    OldGroupFormat,
    NewGroupFormat,
    UnchangedGroupFormat,
    ChangedGroupFormat,
    SuppressBlankEmpty,
    Paginate,
    IgnoreFileNameCase,
    NoIgnoreFileNameCase,
    StartingFile,
    FromFile,
    ToFile,
    Binary,
    Ignored,
    /// A digit of `-5`, the lines of context as they were once written.
    Digit(u8),
}

pub(super) const SPEC: Spec<Flag> = Spec::new(
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
        Opt::new(Flag::Rcs, 'n', "rcs").says("output an RCS format diff"),
        Opt::new(Flag::ForwardEd, 'f', "forward-ed")
            .says("output something like an ed script, in forward order"),
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
        Opt::long(Flag::SuppressBlankEmpty, "suppress-blank-empty")
            .says("leave out space or tab before empty output lines"),
        Opt::new(Flag::Paginate, 'l', "paginate").says("pass the output through 'pr'"),
        Opt::long(Flag::IgnoreFileNameCase, "ignore-file-name-case")
            .says("ignore case when comparing file names"),
        Opt::long(Flag::NoIgnoreFileNameCase, "no-ignore-file-name-case")
            .says("consider case when comparing file names"),
        Opt::new(Flag::StartingFile, 'S', "starting-file")
            .takes("FILE", "begin with FILE when comparing directories"),
        Opt::long(Flag::FromFile, "from-file").takes("FILE", "compare FILE to all operands"),
        Opt::long(Flag::ToFile, "to-file").takes("FILE", "compare all operands to FILE"),
        Opt::new(Flag::IfDef, 'D', "ifdef")
            .takes("NAME", "output both files in one, with '#ifdef NAME' around differences"),
        Opt::long(Flag::OldGroupFormat, "old-group-format")
            .takes("GFMT", "format lines of FILE1 alone with GFMT"),
        Opt::long(Flag::NewGroupFormat, "new-group-format").takes("GFMT", "... of FILE2 alone"),
        Opt::long(Flag::UnchangedGroupFormat, "unchanged-group-format")
            .takes("GFMT", "... common to both"),
        Opt::long(Flag::ChangedGroupFormat, "changed-group-format")
            .takes("GFMT", "... that differ"),
        Opt::long(Flag::LineFormat, "line-format").takes("LFMT", "format all lines with LFMT"),
        Opt::long(Flag::OldLineFormat, "old-line-format")
            .takes("LFMT", "... those of FILE1 alone"),
        Opt::long(Flag::NewLineFormat, "new-line-format")
            .takes("LFMT", "... those of FILE2 alone"),
        Opt::long(Flag::UnchangedLineFormat, "unchanged-line-format")
            .takes("LFMT", "... those common to both"),
        Opt::long(Flag::Binary, "binary").says("accepted and ignored"),
        Opt::new(Flag::Digit(0), '0', ""),
        Opt::new(Flag::Digit(1), '1', ""),
        Opt::new(Flag::Digit(2), '2', ""),
        Opt::new(Flag::Digit(3), '3', ""),
        Opt::new(Flag::Digit(4), '4', ""),
        Opt::new(Flag::Digit(5), '5', ""),
        Opt::new(Flag::Digit(6), '6', ""),
        Opt::new(Flag::Digit(7), '7', ""),
        Opt::new(Flag::Digit(8), '8', ""),
        Opt::new(Flag::Digit(9), '9', ""),
        Opt::new(Flag::Ignored, 'h', ""),
        Opt::new(Flag::Ignored, 'H', ""),
        Opt::long(Flag::HorizonLines, "horizon-lines").takes("NUM", "accepted and ignored"),
    ],
)
.after("GFMT may contain %<, %> and %= (lines of FILE1, of FILE2, common ones), %(A=B?T:E),\nand numbers as %dF, %5.3xl: first (F), last (L) line, count (N), E is F-1, M is L+1,\nin lower case of FILE1, in upper case of FILE2.  LFMT may contain %L (the line), %l\n(without newline) and %dn (its number).  Both may contain %%, %c'C' and %c'\\OOO'.\n\nFILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\nIf a FILE is '-', read standard input.\nExit status is 0 if inputs are the same, 1 if different, 2 if trouble.");

/// Options that ask for a form of the output, with all that ask for the same one.
const FORMS: &[&[Flag]] = &[
    &[Flag::Normal],
    &[Flag::Copied, Flag::Context],
    &[Flag::UnifiedDefault, Flag::Unified],
    &[Flag::Ed],
    &[Flag::ForwardEd],
    &[Flag::Rcs],
    &[Flag::SideBySide],
    &[
        Flag::IfDef,
        Flag::LineFormat,
        Flag::OldLineFormat,
        Flag::NewLineFormat,
        Flag::UnchangedLineFormat,
        Flag::OldGroupFormat,
        Flag::NewGroupFormat,
        Flag::UnchangedGroupFormat,
        Flag::ChangedGroupFormat,
    ],
];

/// Why the options are refused.
pub(super) enum Refusal {
    /// With the hint at `--help`.
    Usage(String),
    Other(String),
}

/// The options as they stand in the heading of each file of a tree, quoted for the shell.
fn given(args: &[Vec<u8>]) -> String {
    let mut text = String::new();
    let mut rest = args.iter().take_while(|word| *word != b"--");
    while let Some(word) = rest.next() {
        if !word.starts_with(b"-") || word.len() == 1 {
            continue;
        }
        let value = if SPEC.takes_next(word) { rest.next() } else { None };
        for word in std::iter::once(word).chain(value) {
            let word = String::from_utf8_lossy(word);
            let is_special = |c: char| "!\"#$&'()*;<=>?[\\^`{|}~".contains(c) || c.is_whitespace();
            text.push(' ');
            if word.is_empty() || word.contains(is_special) {
                text.push_str(&format!("'{}'", word.replace('\'', "'\\''")));
            } else {
                text.push_str(&word);
            }
        }
    }
    text
}

/// What the options ask for; the error is the text to report.
pub(super) fn options(
    ctx: &Ctx<'_>,
    parsed: &Parsed<Flag>,
    args: &[Vec<u8>],
) -> Result<Options, Refusal> {
    let function = match (parsed.last(Flag::ShowFunctionLine), parsed.has(Flag::ShowCFunction)) {
        (Some(re), _) => Some(regex(re)?),
        (None, true) => Some(regex(b"^[[:alpha:]$_]")?),
        (None, false) => None,
    };
    let color = match parsed.last(Flag::Color) {
        Some(b"always") => true,
        Some(b"never" | b"auto") | None => false,
        Some(other) => {
            let shown = String::from_utf8_lossy(other);
            return Err(Refusal::Usage(format!("invalid color '{shown}'")));
        }
    };
    // Nothing depends on it here.
    number(parsed, Flag::HorizonLines, "horizon length", 0)?;
    Ok(Options {
        form: form(parsed)?,
        formats: Formats::new(formats(parsed)?),
        paginate: parsed.has(Flag::Paginate),
        suppress_blank_empty: parsed.has(Flag::SuppressBlankEmpty),
        ignore_name_case: parsed
            .choice(&[(Flag::IgnoreFileNameCase, true), (Flag::NoIgnoreFileNameCase, false)])
            .unwrap_or(false),
        starting_file: parsed.last(Flag::StartingFile).map(<[u8]>::to_vec),
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
        width: size(parsed, Flag::Width, "width", 130)?,
        tab: size(parsed, Flag::Tabsize, "tabsize", 8)?,
        left_column: parsed.has(Flag::LeftColumn),
        no_common: parsed.has(Flag::SuppressCommonLines),
        given: given(args),
    })
}

/// The form of the output; there may be only one.
fn form(parsed: &Parsed<Flag>) -> Result<Form, Refusal> {
    let mut asked = FORMS.iter().filter(|flags| flags.iter().any(|flag| parsed.has(*flag)));
    let first = asked.next().and_then(|flags| flags.first());
    if asked.next().is_some() {
        return Err(Refusal::Usage("conflicting output style options".into()));
    }
    if parsed.has(Flag::Brief) {
        return Ok(Form::Brief);
    }
    Ok(match first {
        Some(Flag::Copied) => Form::Context(context(parsed, Flag::Context)?),
        Some(Flag::UnifiedDefault) => Form::Unified(context(parsed, Flag::Unified)?),
        Some(Flag::Ed) => Form::Ed,
        Some(Flag::ForwardEd) => Form::ForwardEd,
        Some(Flag::Rcs) => Form::Rcs,
        Some(Flag::SideBySide) => Form::SideBySide,
        Some(Flag::IfDef) => Form::Merged,
        _ => Form::Normal,
    })
}

/// Lines of context: the most that any of the options asks for; digits count before the default.
fn context(parsed: &Parsed<Flag>, flag: Flag) -> Result<usize, Refusal> {
    let mut most = None;
    for (_, value) in parsed.options.iter().filter(|(id, _)| *id == flag) {
        let n = value.as_deref().map_or(Ok(3), |text| parse_number(text, "context length"))?;
        most = most.max(Some(n));
    }
    let digits = parsed.options.iter().filter_map(|(id, _)| match id {
        Flag::Digit(digit) => Some(usize::from(*digit)),
        _ => None,
    });
    let old = digits.fold(None, |n: Option<usize>, digit| {
        Some(n.unwrap_or(0).saturating_mul(10).saturating_add(digit))
    });
    let plain = [Flag::Copied, Flag::UnifiedDefault].iter().any(|flag| parsed.has(*flag));
    Ok(match (most, old) {
        (None, Some(old)) => old,
        (most, old) => most.max(old).max(plain.then_some(3)).unwrap_or(3),
    })
}

/// The formats that are written.
fn formats(parsed: &Parsed<Flag>) -> Result<Written, Refusal> {
    let mut written = Written::default();
    for (flag, value) in &parsed.options {
        let value = value.clone().unwrap_or_default();
        let own = |text: &Vec<u8>| Written { old_line: Some(text.clone()), ..Written::default() };
        let (name, new) = match flag {
            Flag::IfDef => ("--ifdef", Formats::ifdef(&value)),
            Flag::LineFormat => {
                let line = Some(value.clone());
                let (old_line, new_line) = (line.clone(), line.clone());
                let lines =
                    Written { old_line, new_line, unchanged_line: line, ..Written::default() };
                ("--line-format", lines)
            }
            Flag::OldLineFormat => ("--old-line-format", own(&value)),
            Flag::NewLineFormat => (
                "--new-line-format",
                Written { new_line: Some(value.clone()), ..Written::default() },
            ),
            Flag::UnchangedLineFormat => (
                "--unchanged-line-format",
                Written { unchanged_line: Some(value.clone()), ..Written::default() },
            ),
            Flag::OldGroupFormat => (
                "--old-group-format",
                Written { old_group: Some(value.clone()), ..Written::default() },
            ),
            Flag::NewGroupFormat => (
                "--new-group-format",
                Written { new_group: Some(value.clone()), ..Written::default() },
            ),
            Flag::UnchangedGroupFormat => (
                "--unchanged-group-format",
                Written { unchanged_group: Some(value.clone()), ..Written::default() },
            ),
            Flag::ChangedGroupFormat => (
                "--changed-group-format",
                Written { changed_group: Some(value.clone()), ..Written::default() },
            ),
            _ => continue,
        };
        if value.windows(2).filter(|pair| pair == b"%(").count() > MOST_CONDITIONS {
            return Err(Refusal::Other(format!("too many conditions in the value of {name}")));
        }
        if is_too_wide(&value) {
            return Err(Refusal::Other(format!("number too large in the value of {name}")));
        }
        if !written.add(new) {
            let shown = String::from_utf8_lossy(&value);
            return Err(Refusal::Usage(format!("conflicting {name} option value '{shown}'")));
        }
    }
    Ok(written)
}

/// A number of columns, which is at least 1.
fn size(parsed: &Parsed<Flag>, flag: Flag, noun: &str, default: usize) -> Result<usize, Refusal> {
    let n = number(parsed, flag, noun, default)?;
    if n == 0 {
        return Err(Refusal::Usage(format!("invalid {noun} '0'")));
    }
    Ok(n.min(WIDEST))
}

/// A number that may be repeated with the same value only.
fn number(parsed: &Parsed<Flag>, flag: Flag, noun: &str, default: usize) -> Result<usize, Refusal> {
    let mut found = None;
    for text in parsed.all(flag) {
        let n = parse_number(text, noun)?;
        if flag != Flag::HorizonLines && found.is_some_and(|before| before != n) {
            return Err(Refusal::Other(format!("conflicting {noun} options")));
        }
        found = Some(n);
    }
    Ok(found.unwrap_or(default))
}

fn parse_number(text: &[u8], noun: &str) -> Result<usize, Refusal> {
    let n = box_text::number::strtoi(text, 10);
    if n.len == 0 || n.len < text.len() || n.negative {
        let shown = String::from_utf8_lossy(text);
        return Err(Refusal::Usage(format!("invalid {noun} '{shown}'")));
    }
    // More than there is room for is as good as all.
    Ok(if n.overflow { usize::MAX } else { usize::try_from(n.magnitude).unwrap_or(usize::MAX) })
}

fn regex(text: &[u8]) -> Result<Regex, Refusal> {
    Regex::new(text, &RegexOptions::new(Syntax::Grep))
        .map_err(|e| Refusal::Other(format!("{}: {e}", String::from_utf8_lossy(text))))
}

/// Patterns of files that are left out.
fn excludes(ctx: &Ctx<'_>, parsed: &Parsed<Flag>) -> Result<Vec<Pattern>, Refusal> {
    let pattern = |text: &[u8]| Pattern::new(text, glob::Options::default());
    let mut all: Vec<Pattern> = parsed.all(Flag::Exclude).map(pattern).collect();
    for file in parsed.all(Flag::ExcludeFrom) {
        let text = std::fs::read(ctx.path(file)).map_err(|e| {
            Refusal::Other(format!("{}: {}", String::from_utf8_lossy(file), strerror(&e)))
        })?;
        all.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(pattern));
    }
    Ok(all)
}
