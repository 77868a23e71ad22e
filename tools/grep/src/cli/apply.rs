//! The effect of each option. Options about matching, about output and about the choice of files
//! have separate functions.

use box_applet::{Ctx, Exit};
use box_text::glob::GlobPattern;

use super::table::GrepFlag;
use super::{
    Modes, find_abbreviated, glob_options, invalid_argument, is_terminal, parse_number,
    print_usage, read_file, report_failure,
};
use crate::colors::GrepColors;
use crate::config::{BinaryMode, Directories, FileRule, GrepConfig, GrepMode, GrepSyntax};

/// Applies an option; the error is the exit status.
pub(super) fn apply_option(
    ctx: &mut Ctx<'_>,
    config: &mut GrepConfig,
    modes: &mut Modes,
    option: GrepFlag,
    value: &[u8],
) -> Result<(), Exit> {
    match option {
        GrepFlag::ExtendedRegexp => set_syntax(ctx, config, modes, GrepSyntax::Extended)?,
        GrepFlag::FixedStrings => set_syntax(ctx, config, modes, GrepSyntax::Fixed)?,
        GrepFlag::PerlRegexp => set_syntax(ctx, config, modes, GrepSyntax::Perl)?,
        GrepFlag::BasicRegexp => set_syntax(ctx, config, modes, GrepSyntax::Basic)?,
        GrepFlag::IgnoreCase => config.ignore_case = true,
        GrepFlag::NoIgnoreCase => config.ignore_case = false,
        GrepFlag::WordRegexp => config.words = true,
        GrepFlag::LineRegexp => config.whole_lines = true,
        GrepFlag::NullData => config.end = 0,
        GrepFlag::InvertMatch => config.invert = true,
        GrepFlag::MaxCount => match parse_number(value) {
            Some(n) => config.max_count = u64::try_from(n).ok(),
            None => return Err(report_failure(ctx, "invalid max count")),
        },
        GrepFlag::BinaryFiles => config.binary = parse_binary(ctx, value)?,
        GrepFlag::Text => config.binary = BinaryMode::Text,
        GrepFlag::WithoutMatch => config.binary = BinaryMode::WithoutMatch,
        GrepFlag::NoMessages => config.no_messages = true,
        _ => {
            apply_output_option(ctx, config, modes, option, value)?;
            apply_file_option(ctx, config, option, value)?;
        }
    }
    Ok(())
}

/// Applies an option about the output.
fn apply_output_option(
    ctx: &mut Ctx<'_>,
    config: &mut GrepConfig,
    modes: &mut Modes,
    option: GrepFlag,
    value: &[u8],
) -> Result<(), Exit> {
    match option {
        GrepFlag::ByteOffset => config.byte_offset = true,
        GrepFlag::LineNumber => config.line_number = true,
        GrepFlag::LineBuffered => config.line_buffered = true,
        GrepFlag::WithFilename => config.with_filename = Some(true),
        GrepFlag::NoFilename => config.with_filename = Some(false),
        GrepFlag::Label => config.label = value.to_vec(),
        GrepFlag::OnlyMatching => config.only_matching = true,
        GrepFlag::Quiet => modes.quiet = true,
        GrepFlag::FilesWithoutMatch => modes.list = Some(GrepMode::FilesWithout),
        GrepFlag::FilesWithMatches => modes.list = Some(GrepMode::FilesWith),
        GrepFlag::Count => modes.count = true,
        GrepFlag::InitialTab => config.initial_tab = true,
        GrepFlag::Null => config.null_after_name = true,
        GrepFlag::AfterContext => modes.after = Some(parse_context(ctx, value)?),
        GrepFlag::BeforeContext => modes.before = Some(parse_context(ctx, value)?),
        GrepFlag::Context => modes.both = Some(parse_context(ctx, value)?),
        GrepFlag::GroupSeparator => config.separator = Some(value.to_vec()),
        GrepFlag::NoGroupSeparator => config.separator = None,
        GrepFlag::Color => config.colors = parse_colors(ctx, value)?,
        _ => {}
    }
    Ok(())
}

/// Applies an option about the files to search.
fn apply_file_option(
    ctx: &mut Ctx<'_>,
    config: &mut GrepConfig,
    option: GrepFlag,
    value: &[u8],
) -> Result<(), Exit> {
    let mut rule = |pattern: &[u8], include: bool| {
        let pattern = GlobPattern::new(pattern, glob_options());
        config.file_rules.push(FileRule { pattern, include });
    };
    match option {
        GrepFlag::Include => rule(value, true),
        GrepFlag::Exclude => rule(value, false),
        GrepFlag::ExcludeFrom => {
            let text = read_file(ctx, value)?;
            text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).for_each(|l| rule(l, false));
        }
        GrepFlag::ExcludeDir => {
            let mut value = value;
            while let [head @ .., b'/'] = value
                && !head.is_empty()
            {
                value = head;
            }
            config.exclude_dirs.push(GlobPattern::new(value, glob_options()));
        }
        GrepFlag::Directories => {
            config.directories = parse_directories(ctx, value)?;
            config.follow = false;
        }
        GrepFlag::Devices => {
            config.skip_devices = match value {
                b"read" => Some(false),
                b"skip" => Some(true),
                _ => return Err(report_failure(ctx, "unknown devices method")),
            }
        }
        GrepFlag::Recursive | GrepFlag::DereferenceRecursive => {
            config.directories = Directories::Recurse;
            config.follow = option == GrepFlag::DereferenceRecursive;
        }
        _ => {}
    }
    Ok(())
}

fn set_syntax(
    ctx: &mut Ctx<'_>,
    config: &mut GrepConfig,
    modes: &mut Modes,
    syntax: GrepSyntax,
) -> Result<(), Exit> {
    if modes.matcher.is_some_and(|m| m != syntax) {
        return Err(report_failure(ctx, "conflicting matchers specified"));
    }
    modes.matcher = Some(syntax);
    config.syntax = syntax;
    Ok(())
}

fn parse_binary(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<BinaryMode, Exit> {
    match value {
        b"binary" => Ok(BinaryMode::Report),
        b"text" => Ok(BinaryMode::Text),
        b"without-match" => Ok(BinaryMode::WithoutMatch),
        _ => Err(report_failure(ctx, "unknown binary-files type")),
    }
}

fn parse_directories(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<Directories, Exit> {
    let valid = ["read", "recurse", "skip"];
    match find_abbreviated(value, &valid) {
        Some("read") => Ok(Directories::Read),
        Some("skip") => Ok(Directories::Skip),
        Some(_) => Ok(Directories::Recurse),
        None => Err(invalid_argument(ctx, value, "--directories", &valid)),
    }
}

/// Parses a number of lines.
fn parse_context(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<u64, Exit> {
    parse_number(value).and_then(|n| u64::try_from(n).ok()).ok_or_else(|| {
        let shown = String::from_utf8_lossy(value);
        report_failure(ctx, &format!("{shown}: invalid context length argument"))
    })
}

/// Parses the option about colours; `None` if there are to be no colours.
fn parse_colors(ctx: &mut Ctx<'_>, when: &[u8]) -> Result<Option<GrepColors>, Exit> {
    let on = match when {
        b"always" | b"yes" | b"force" => true,
        b"never" | b"no" | b"none" => false,
        b"auto" | b"tty" | b"if-tty" | b"" => {
            let term = ctx.env.get(b"TERM");
            is_terminal(ctx) && term.is_some_and(|t| t != b"dumb" && !t.is_empty())
        }
        _ => {
            print_usage(ctx);
            return Err(Exit::USAGE);
        }
    };
    if on && let Some(old) = ctx.env.get(b"GREP_COLOR").filter(|v| !v.is_empty()) {
        let old = String::from_utf8_lossy(old).into_owned();
        ctx.error(format_args!(
            "warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'"
        ));
    }
    let env = |name| ctx.env.get(name);
    Ok(on.then(|| GrepColors::new(env(b"GREP_COLOR"), env(b"GREP_COLORS"))))
}
