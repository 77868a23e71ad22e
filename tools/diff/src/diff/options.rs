//! Options of `diff`, as written and as meant.

use box_applet::Ctx;
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_sys::error_text;
use box_text::glob::{self, GlobPattern};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use super::merged::{Formats, WrittenFormats, is_too_wide};
use super::palette::{Palette, PaletteFault};
use super::{DiffForm, DiffOptions, Equality};

/// The maximum number of columns of `-W` and `--tabsize`.
const WIDEST: usize = 100_000;

/// The maximum number of conditions in a format, which may be nested.
const MOST_CONDITIONS: usize = 200;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffFlag {
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
    Palette,
    IgnoreFileNameCase,
    NoIgnoreFileNameCase,
    StartingFile,
    FromFile,
    ToFile,
    Binary,
    Ignored,
    /// A digit of `-5`, the old spelling of the number of context lines.
    Digit(u8),
}

pub(super) const SPEC: Spec<DiffFlag> = Spec::new(
    "[OPTION]... FILES",
    "Show how two files, or the files of two directories, differ.",
    &[
        Opt::long(DiffFlag::Normal, "normal").with_help("Print changes without context (default)"),
        Opt::new(DiffFlag::Brief, 'q', "brief").with_help("Print only that files differ"),
        Opt::new(DiffFlag::ReportIdenticalFiles, 's', "report-identical-files")
            .with_help("Print that files are equal, too"),
        Opt::new(DiffFlag::Copied, 'c', "")
            .with_help("Print changes the old way, with 3 lines of context"),
        Opt::new(DiffFlag::Context, 'C', "").with_argument("NUM", "The same, with NUM lines"),
        Opt::long(DiffFlag::Context, "context").may_take("NUM", "The same, with NUM lines or 3"),
        Opt::new(DiffFlag::UnifiedDefault, 'u', "")
            .with_help("Print changes as a unified diff, with 3 lines of context"),
        Opt::new(DiffFlag::Unified, 'U', "").with_argument("NUM", "The same, with NUM lines"),
        Opt::long(DiffFlag::Unified, "unified").may_take("NUM", "The same, with NUM lines or 3"),
        Opt::new(DiffFlag::Ed, 'e', "ed").with_help("Print commands for ed"),
        Opt::new(DiffFlag::Rcs, 'n', "rcs").with_help("Print changes as RCS has them"),
        Opt::new(DiffFlag::ForwardEd, 'f', "forward-ed")
            .with_help("Print ed-like commands from top to bottom"),
        Opt::new(DiffFlag::SideBySide, 'y', "side-by-side")
            .with_help("Print both files side by side"),
        Opt::long(DiffFlag::Tabsize, "tabsize")
            .with_argument("NUM", "Take tab stops as NUM apart (8)"),
        Opt::new(DiffFlag::Width, 'W', "width")
            .with_argument("NUM", "With -y: lines of at most NUM characters (130)"),
        Opt::long(DiffFlag::LeftColumn, "left-column")
            .with_help("With -y: print common lines on the left only"),
        Opt::long(DiffFlag::SuppressCommonLines, "suppress-common-lines")
            .with_help("With -y: leave out common lines"),
        Opt::new(DiffFlag::ShowCFunction, 'p', "show-c-function")
            .with_help("Show the C function that each change is in"),
        Opt::new(DiffFlag::ShowFunctionLine, 'F', "show-function-line")
            .with_argument("RE", "Show the last line before each change that matches RE"),
        Opt::new(DiffFlag::Label, 'L', "label")
            .with_argument("LABEL", "Print LABEL instead of name and time; once for each file"),
        Opt::new(DiffFlag::ExpandTabs, 't', "expand-tabs").with_help("Write spaces for tabs"),
        Opt::new(DiffFlag::InitialTab, 'T', "initial-tab")
            .with_help("Begin lines with a tab, so that tabs in the text line up"),
        Opt::new(DiffFlag::Recursive, 'r', "recursive").with_help("Compare subdirectories, too"),
        Opt::long(DiffFlag::NoDereference, "no-dereference")
            .with_help("Compare symbolic links themselves"),
        Opt::new(DiffFlag::NewFile, 'N', "new-file").with_help("Treat missing files as empty"),
        Opt::new(DiffFlag::UnidirectionalNewFile, 'P', "unidirectional-new-file")
            .with_help("Treat missing files of the first directory as empty"),
        Opt::new(DiffFlag::Exclude, 'x', "exclude")
            .with_argument("PAT", "Leave out names that match PAT"),
        Opt::new(DiffFlag::ExcludeFrom, 'X', "exclude-from")
            .with_argument("FILE", "Leave out names that match a pattern in FILE"),
        Opt::new(DiffFlag::IgnoreCase, 'i', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(DiffFlag::IgnoreTabExpansion, 'E', "ignore-tab-expansion")
            .with_help("Treat a tab as equal to the spaces that it stands for"),
        Opt::new(DiffFlag::IgnoreTrailingSpace, 'Z', "ignore-trailing-space")
            .with_help("Ignore blanks at the ends of lines"),
        Opt::new(DiffFlag::IgnoreSpaceChange, 'b', "ignore-space-change")
            .with_help("Take all runs of blanks as equal"),
        Opt::new(DiffFlag::IgnoreAllSpace, 'w', "ignore-all-space")
            .with_help("Ignore blanks altogether"),
        Opt::new(DiffFlag::IgnoreBlankLines, 'B', "ignore-blank-lines")
            .with_help("Ignore changes of empty lines only"),
        Opt::new(DiffFlag::IgnoreMatchingLines, 'I', "ignore-matching-lines")
            .with_argument("RE", "Ignore changes of lines that all match RE"),
        Opt::new(DiffFlag::Text, 'a', "text").with_help("Compare as text, whatever the files hold"),
        Opt::long(DiffFlag::StripTrailingCr, "strip-trailing-cr")
            .with_help("Ignore a carriage return at the end of a line"),
        Opt::new(DiffFlag::Minimal, 'd', "minimal")
            .with_help("Look longer for a smaller set of changes"),
        Opt::long(DiffFlag::SpeedLargeFiles, "speed-large-files").with_help(words::IGNORED),
        Opt::long(DiffFlag::Color, "color")
            .may_take("WHEN", "Color the output: never, always or auto"),
        Opt::long(DiffFlag::Palette, "palette").with_argument(
            "PALETTE",
            "With --color: colors in pairs such as ad=32:de=31, for hd (headings), ln (line \
        numbers), ad, de and rs",
        ),
        Opt::long(DiffFlag::SuppressBlankEmpty, "suppress-blank-empty")
            .with_help("Leave out the blank of empty context lines"),
        Opt::new(DiffFlag::Paginate, 'l', "paginate")
            .with_help("Lay the output out in pages, as pr does"),
        Opt::long(DiffFlag::IgnoreFileNameCase, "ignore-file-name-case")
            .with_help("Take upper and lower case in names as equal"),
        Opt::long(DiffFlag::NoIgnoreFileNameCase, "no-ignore-file-name-case")
            .with_help("Distinguish upper and lower case in names (default)"),
        Opt::new(DiffFlag::StartingFile, 'S', "starting-file")
            .with_argument("FILE", "Begin with FILE in directories"),
        Opt::long(DiffFlag::FromFile, "from-file")
            .with_argument("FILE", "Compare FILE with each operand"),
        Opt::long(DiffFlag::ToFile, "to-file")
            .with_argument("FILE", "Compare each operand with FILE"),
        Opt::new(DiffFlag::IfDef, 'D', "ifdef")
            .with_argument("NAME", "Print both files merged, with '#ifdef NAME' around changes"),
        Opt::long(DiffFlag::OldGroupFormat, "old-group-format")
            .with_argument("GFMT", "Print groups of lines of FILE1 alone by GFMT"),
        Opt::long(DiffFlag::NewGroupFormat, "new-group-format")
            .with_argument("GFMT", "Print groups of lines of FILE2 alone by GFMT"),
        Opt::long(DiffFlag::UnchangedGroupFormat, "unchanged-group-format")
            .with_argument("GFMT", "Print groups of common lines by GFMT"),
        Opt::long(DiffFlag::ChangedGroupFormat, "changed-group-format")
            .with_argument("GFMT", "Print groups of changed lines by GFMT"),
        Opt::long(DiffFlag::LineFormat, "line-format")
            .with_argument("LFMT", "Print all lines by LFMT"),
        Opt::long(DiffFlag::OldLineFormat, "old-line-format")
            .with_argument("LFMT", "Print lines of FILE1 alone by LFMT"),
        Opt::long(DiffFlag::NewLineFormat, "new-line-format")
            .with_argument("LFMT", "Print lines of FILE2 alone by LFMT"),
        Opt::long(DiffFlag::UnchangedLineFormat, "unchanged-line-format")
            .with_argument("LFMT", "Print common lines by LFMT"),
        Opt::long(DiffFlag::Binary, "binary").with_help(words::IGNORED),
        Opt::new(DiffFlag::Digit(0), '0', ""),
        Opt::new(DiffFlag::Digit(1), '1', ""),
        Opt::new(DiffFlag::Digit(2), '2', ""),
        Opt::new(DiffFlag::Digit(3), '3', ""),
        Opt::new(DiffFlag::Digit(4), '4', ""),
        Opt::new(DiffFlag::Digit(5), '5', ""),
        Opt::new(DiffFlag::Digit(6), '6', ""),
        Opt::new(DiffFlag::Digit(7), '7', ""),
        Opt::new(DiffFlag::Digit(8), '8', ""),
        Opt::new(DiffFlag::Digit(9), '9', ""),
        Opt::new(DiffFlag::Ignored, 'h', ""),
        Opt::new(DiffFlag::Ignored, 'H', ""),
        Opt::long(DiffFlag::HorizonLines, "horizon-lines").with_argument("NUM", words::IGNORED),
    ],
)
.with_examples(&[
    ("diff -u OLD NEW > FILE.patch", "A patch for one file"),
    ("diff -ruN DIR1 DIR2", "All changes of a tree"),
    ("diff -rq DIR1 DIR2", "Which files differ"),
])
.with_footer(
    "GFMT may contain %<, %> and %= (lines of FILE1, of FILE2, common ones), %(A=B?T:E), \
        and numbers as %dF, %5.3xl: first (F), last (L) line, count (N), E is F-1, M is \
        L+1, in lower case of FILE1, in upper case of FILE2. LFMT may contain %L (the \
        line), %l (without newline) and %dn (its number). Both may contain %%, %c'C' and \
        %c'\\OOO'.\n\nStandard input is read for a FILE named -. Exit status: 0 if the \
        files are equal, 1 if they differ, 2 after an error.",
);

/// For each form of the output, the options that request it.
const FORMS: &[&[DiffFlag]] = &[
    &[DiffFlag::Normal],
    &[DiffFlag::Copied, DiffFlag::Context],
    &[DiffFlag::UnifiedDefault, DiffFlag::Unified],
    &[DiffFlag::Ed],
    &[DiffFlag::ForwardEd],
    &[DiffFlag::Rcs],
    &[DiffFlag::SideBySide],
    &[
        DiffFlag::IfDef,
        DiffFlag::LineFormat,
        DiffFlag::OldLineFormat,
        DiffFlag::NewLineFormat,
        DiffFlag::UnchangedLineFormat,
        DiffFlag::OldGroupFormat,
        DiffFlag::NewGroupFormat,
        DiffFlag::UnchangedGroupFormat,
        DiffFlag::ChangedGroupFormat,
    ],
];

/// The reason why the options are refused.
pub(super) enum DiffRefusal {
    /// A message with the hint at `--help`.
    Usage(String),
    Other(String),
}

/// Returns the options for the heading of each file of a tree, quoted for the shell.
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

/// Resolves the options to the settings of a run. The error is the message.
pub(super) fn options(
    ctx: &mut Ctx<'_>,
    parsed: &ParsedOptions<DiffFlag>,
    args: &[Vec<u8>],
) -> Result<DiffOptions, DiffRefusal> {
    let function = match (
        parsed.last_value(DiffFlag::ShowFunctionLine),
        parsed.has_option(DiffFlag::ShowCFunction),
    ) {
        (Some(re), _) => Some(regex(re)?),
        (None, true) => Some(regex(b"^[[:alpha:]$_]")?),
        (None, false) => None,
    };
    let palette = match parsed.last_value(DiffFlag::Color) {
        Some(b"always") => colors(ctx, parsed.last_value(DiffFlag::Palette)),
        Some(b"never" | b"auto") | None => Palette::default(),
        Some(other) => {
            let shown = String::from_utf8_lossy(other);
            return Err(DiffRefusal::Usage(format!("invalid color '{shown}'")));
        }
    };
    // The value is checked, but has no effect.
    number(parsed, DiffFlag::HorizonLines, "horizon length", 0)?;
    Ok(DiffOptions {
        form: form(parsed)?,
        formats: Formats::new(formats(parsed)?),
        paginate: parsed.has_option(DiffFlag::Paginate),
        suppress_blank_empty: parsed.has_option(DiffFlag::SuppressBlankEmpty),
        ignore_name_case: parsed
            .last_choice(&[
                (DiffFlag::IgnoreFileNameCase, true),
                (DiffFlag::NoIgnoreFileNameCase, false),
            ])
            .unwrap_or(false),
        starting_file: parsed.last_value(DiffFlag::StartingFile).map(<[u8]>::to_vec),
        zone: ctx.zone(),
        equality: Equality {
            case: parsed.has_option(DiffFlag::IgnoreCase),
            all_space: parsed.has_option(DiffFlag::IgnoreAllSpace),
            space_change: parsed.has_option(DiffFlag::IgnoreSpaceChange),
            trailing_space: parsed.has_option(DiffFlag::IgnoreTrailingSpace),
            tabs: parsed.has_option(DiffFlag::IgnoreTabExpansion),
            carriage_return: parsed.has_option(DiffFlag::StripTrailingCr),
        },
        ignore_blank: parsed.has_option(DiffFlag::IgnoreBlankLines),
        ignore_lines: parsed
            .all_values(DiffFlag::IgnoreMatchingLines)
            .map(regex)
            .collect::<Result<_, _>>()?,
        minimal: parsed.has_option(DiffFlag::Minimal),
        text: parsed.has_option(DiffFlag::Text),
        report_same: parsed.has_option(DiffFlag::ReportIdenticalFiles),
        recursive: parsed.has_option(DiffFlag::Recursive),
        new_file: parsed.has_option(DiffFlag::NewFile),
        new_first: parsed.has_option(DiffFlag::UnidirectionalNewFile)
            || parsed.has_option(DiffFlag::NewFile),
        no_dereference: parsed.has_option(DiffFlag::NoDereference),
        excludes: excludes(ctx, parsed)?,
        labels: parsed.all_values(DiffFlag::Label).map(<[u8]>::to_vec).collect(),
        function,
        palette,
        expand_tabs: parsed.has_option(DiffFlag::ExpandTabs),
        initial_tab: parsed.has_option(DiffFlag::InitialTab),
        width: size(parsed, DiffFlag::Width, "width", 130)?,
        tab: size(parsed, DiffFlag::Tabsize, "tabsize", 8)?,
        left_column: parsed.has_option(DiffFlag::LeftColumn),
        no_common: parsed.has_option(DiffFlag::SuppressCommonLines),
        given: given(args),
    })
}

/// Returns the colours of `--palette`. If the palette cannot be parsed, prints a message and
/// returns no colours.
fn colors(ctx: &mut Ctx<'_>, palette: Option<&[u8]>) -> Palette {
    let Some(text) = palette else { return Palette::standard() };
    Palette::parse(text).unwrap_or_else(|fault| {
        if let PaletteFault::UnknownPart(name) = fault {
            ctx.error(format_args!("unrecognized prefix: {name}"));
        }
        ctx.error("unparsable value for --palette");
        Palette::default()
    })
}

/// Returns the form of the output; there may be only one.
fn form(parsed: &ParsedOptions<DiffFlag>) -> Result<DiffForm, DiffRefusal> {
    let mut asked = FORMS.iter().filter(|flags| flags.iter().any(|flag| parsed.has_option(*flag)));
    let first = asked.next().and_then(|flags| flags.first());
    if asked.next().is_some() {
        return Err(DiffRefusal::Usage("conflicting output style options".into()));
    }
    if parsed.has_option(DiffFlag::Brief) {
        return Ok(DiffForm::Brief);
    }
    Ok(match first {
        Some(DiffFlag::Copied) => DiffForm::Context(context(parsed, DiffFlag::Context)?),
        Some(DiffFlag::UnifiedDefault) => DiffForm::Unified(context(parsed, DiffFlag::Unified)?),
        Some(DiffFlag::Ed) => DiffForm::Ed,
        Some(DiffFlag::ForwardEd) => DiffForm::ForwardEd,
        Some(DiffFlag::Rcs) => DiffForm::Rcs,
        Some(DiffFlag::SideBySide) => DiffForm::SideBySide,
        Some(DiffFlag::IfDef) => DiffForm::Merged,
        _ => DiffForm::Normal,
    })
}

/// Returns the number of context lines: the maximum that any option requests. Digits take
/// precedence over the default.
fn context(parsed: &ParsedOptions<DiffFlag>, flag: DiffFlag) -> Result<usize, DiffRefusal> {
    let mut most = None;
    for (_, value) in parsed.options.iter().filter(|(id, _)| *id == flag) {
        let n = value.as_deref().map_or(Ok(3), |text| parse_number(text, "context length"))?;
        most = most.max(Some(n));
    }
    let digits = parsed.options.iter().filter_map(|(id, _)| match id {
        DiffFlag::Digit(digit) => Some(usize::from(*digit)),
        _ => None,
    });
    let old = digits.fold(None, |n: Option<usize>, digit| {
        Some(n.unwrap_or(0).saturating_mul(10).saturating_add(digit))
    });
    let plain =
        [DiffFlag::Copied, DiffFlag::UnifiedDefault].iter().any(|flag| parsed.has_option(*flag));
    Ok(match (most, old) {
        (None, Some(old)) => old,
        (most, old) => most.max(old).max(plain.then_some(3)).unwrap_or(3),
    })
}

/// Returns the formats that the options request.
fn formats(parsed: &ParsedOptions<DiffFlag>) -> Result<WrittenFormats, DiffRefusal> {
    let mut written = WrittenFormats::default();
    for (flag, value) in &parsed.options {
        let value = value.clone().unwrap_or_default();
        let own = |text: &Vec<u8>| WrittenFormats {
            old_line: Some(text.clone()),
            ..WrittenFormats::default()
        };
        let (name, new) = match flag {
            DiffFlag::IfDef => ("--ifdef", Formats::ifdef(&value)),
            DiffFlag::LineFormat => {
                let line = Some(value.clone());
                let (old_line, new_line) = (line.clone(), line.clone());
                let lines = WrittenFormats {
                    old_line,
                    new_line,
                    unchanged_line: line,
                    ..WrittenFormats::default()
                };
                ("--line-format", lines)
            }
            DiffFlag::OldLineFormat => ("--old-line-format", own(&value)),
            DiffFlag::NewLineFormat => (
                "--new-line-format",
                WrittenFormats { new_line: Some(value.clone()), ..WrittenFormats::default() },
            ),
            DiffFlag::UnchangedLineFormat => (
                "--unchanged-line-format",
                WrittenFormats { unchanged_line: Some(value.clone()), ..WrittenFormats::default() },
            ),
            DiffFlag::OldGroupFormat => (
                "--old-group-format",
                WrittenFormats { old_group: Some(value.clone()), ..WrittenFormats::default() },
            ),
            DiffFlag::NewGroupFormat => (
                "--new-group-format",
                WrittenFormats { new_group: Some(value.clone()), ..WrittenFormats::default() },
            ),
            DiffFlag::UnchangedGroupFormat => (
                "--unchanged-group-format",
                WrittenFormats {
                    unchanged_group: Some(value.clone()),
                    ..WrittenFormats::default()
                },
            ),
            DiffFlag::ChangedGroupFormat => (
                "--changed-group-format",
                WrittenFormats { changed_group: Some(value.clone()), ..WrittenFormats::default() },
            ),
            _ => continue,
        };
        if value.windows(2).filter(|pair| pair == b"%(").count() > MOST_CONDITIONS {
            return Err(DiffRefusal::Other(format!("too many conditions in the value of {name}")));
        }
        if is_too_wide(&value) {
            return Err(DiffRefusal::Other(format!("number too large in the value of {name}")));
        }
        if !written.add(new) {
            let shown = String::from_utf8_lossy(&value);
            return Err(DiffRefusal::Usage(format!("conflicting {name} option value '{shown}'")));
        }
    }
    Ok(written)
}

/// Parses a number of columns, which is at least 1.
fn size(
    parsed: &ParsedOptions<DiffFlag>,
    flag: DiffFlag,
    noun: &str,
    default: usize,
) -> Result<usize, DiffRefusal> {
    let n = number(parsed, flag, noun, default)?;
    if n == 0 {
        return Err(DiffRefusal::Usage(format!("invalid {noun} '0'")));
    }
    Ok(n.min(WIDEST))
}

/// Parses a number whose option may be repeated only with the same value.
fn number(
    parsed: &ParsedOptions<DiffFlag>,
    flag: DiffFlag,
    noun: &str,
    default: usize,
) -> Result<usize, DiffRefusal> {
    let mut found = None;
    for text in parsed.all_values(flag) {
        let n = parse_number(text, noun)?;
        if flag != DiffFlag::HorizonLines && found.is_some_and(|before| before != n) {
            return Err(DiffRefusal::Other(format!("conflicting {noun} options")));
        }
        found = Some(n);
    }
    Ok(found.unwrap_or(default))
}

fn parse_number(text: &[u8], noun: &str) -> Result<usize, DiffRefusal> {
    let n = box_text::number::parse_integer(text, 10);
    if n.len == 0 || n.len < text.len() || n.negative {
        let shown = String::from_utf8_lossy(text);
        return Err(DiffRefusal::Usage(format!("invalid {noun} '{shown}'")));
    }
    // A number that is too large means all lines.
    Ok(if n.overflow { usize::MAX } else { usize::try_from(n.magnitude).unwrap_or(usize::MAX) })
}

fn regex(text: &[u8]) -> Result<Regex, DiffRefusal> {
    Regex::new(text, &RegexOptions::new(RegexSyntax::Grep))
        .map_err(|e| DiffRefusal::Other(format!("{}: {e}", String::from_utf8_lossy(text))))
}

/// Returns the patterns of files that are left out.
fn excludes(
    ctx: &Ctx<'_>,
    parsed: &ParsedOptions<DiffFlag>,
) -> Result<Vec<GlobPattern>, DiffRefusal> {
    let pattern = |text: &[u8]| GlobPattern::new(text, glob::GlobOptions::default());
    let mut all: Vec<GlobPattern> = parsed.all_values(DiffFlag::Exclude).map(pattern).collect();
    for file in parsed.all_values(DiffFlag::ExcludeFrom) {
        let text = std::fs::read(ctx.path(file)).map_err(|e| {
            DiffRefusal::Other(format!("{}: {}", String::from_utf8_lossy(file), error_text(&e)))
        })?;
        all.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(pattern));
    }
    Ok(all)
}
