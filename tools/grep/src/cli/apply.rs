//! What each option says. Which lines match, what is printed of them and which files are searched are apart.

use box_applet::{Ctx, Exit};
use box_text::glob::Pattern;

use super::table::Flag;
use super::{
    Modes, abbreviated, fail, glob_options, invalid_argument, is_terminal, number, read_file, usage,
};
use crate::colors::Colors;
use crate::config::{Binary, Config, Directories, FileRule, Mode, Syntax};

/// Does as an option says; `Err` holds the status to end with.
pub(super) fn apply(
    ctx: &mut Ctx<'_>,
    config: &mut Config,
    modes: &mut Modes,
    option: Flag,
    value: &[u8],
) -> Result<(), Exit> {
    match option {
        Flag::ExtendedRegexp => syntax(ctx, config, modes, Syntax::Extended)?,
        Flag::FixedStrings => syntax(ctx, config, modes, Syntax::Fixed)?,
        Flag::PerlRegexp => syntax(ctx, config, modes, Syntax::Perl)?,
        Flag::BasicRegexp => syntax(ctx, config, modes, Syntax::Basic)?,
        Flag::IgnoreCase => config.ignore_case = true,
        Flag::NoIgnoreCase => config.ignore_case = false,
        Flag::WordRegexp => config.words = true,
        Flag::LineRegexp => config.whole_lines = true,
        Flag::NullData => config.end = 0,
        Flag::InvertMatch => config.invert = true,
        Flag::MaxCount => match number(value) {
            Some(n) => config.max_count = u64::try_from(n).ok(),
            None => return Err(fail(ctx, "invalid max count")),
        },
        Flag::BinaryFiles => config.binary = binary(ctx, value)?,
        Flag::Text => config.binary = Binary::Text,
        Flag::WithoutMatch => config.binary = Binary::WithoutMatch,
        Flag::NoMessages => config.no_messages = true,
        _ => {
            output(ctx, config, modes, option, value)?;
            files(ctx, config, option, value)?;
        }
    }
    Ok(())
}

/// Options about what is printed.
fn output(
    ctx: &mut Ctx<'_>,
    config: &mut Config,
    modes: &mut Modes,
    option: Flag,
    value: &[u8],
) -> Result<(), Exit> {
    match option {
        Flag::ByteOffset => config.byte_offset = true,
        Flag::LineNumber => config.line_number = true,
        Flag::LineBuffered => config.line_buffered = true,
        Flag::WithFilename => config.with_filename = Some(true),
        Flag::NoFilename => config.with_filename = Some(false),
        Flag::Label => config.label = value.to_vec(),
        Flag::OnlyMatching => config.only_matching = true,
        Flag::Quiet => modes.quiet = true,
        Flag::FilesWithoutMatch => modes.list = Some(Mode::FilesWithout),
        Flag::FilesWithMatches => modes.list = Some(Mode::FilesWith),
        Flag::Count => modes.count = true,
        Flag::InitialTab => config.initial_tab = true,
        Flag::Null => config.null_after_name = true,
        Flag::AfterContext => modes.after = Some(context(ctx, value)?),
        Flag::BeforeContext => modes.before = Some(context(ctx, value)?),
        Flag::Context => modes.both = Some(context(ctx, value)?),
        Flag::GroupSeparator => config.separator = Some(value.to_vec()),
        Flag::NoGroupSeparator => config.separator = None,
        Flag::Color => config.colors = colors(ctx, value)?,
        _ => {}
    }
    Ok(())
}

/// Options about which files are searched.
fn files(ctx: &mut Ctx<'_>, config: &mut Config, option: Flag, value: &[u8]) -> Result<(), Exit> {
    let mut rule = |pattern: &[u8], include: bool| {
        let pattern = Pattern::new(pattern, glob_options());
        config.file_rules.push(FileRule { pattern, include });
    };
    match option {
        Flag::Include => rule(value, true),
        Flag::Exclude => rule(value, false),
        Flag::ExcludeFrom => {
            let text = read_file(ctx, value)?;
            text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).for_each(|l| rule(l, false));
        }
        Flag::ExcludeDir => {
            let mut value = value;
            while let [head @ .., b'/'] = value
                && !head.is_empty()
            {
                value = head;
            }
            config.exclude_dirs.push(Pattern::new(value, glob_options()));
        }
        Flag::Directories => {
            config.directories = directories(ctx, value)?;
            config.follow = false;
        }
        Flag::Devices => {
            config.skip_devices = match value {
                b"read" => Some(false),
                b"skip" => Some(true),
                _ => return Err(fail(ctx, "unknown devices method")),
            }
        }
        Flag::Recursive | Flag::DereferenceRecursive => {
            config.directories = Directories::Recurse;
            config.follow = option == Flag::DereferenceRecursive;
        }
        _ => {}
    }
    Ok(())
}

fn syntax(
    ctx: &mut Ctx<'_>,
    config: &mut Config,
    modes: &mut Modes,
    syntax: Syntax,
) -> Result<(), Exit> {
    if modes.matcher.is_some_and(|m| m != syntax) {
        return Err(fail(ctx, "conflicting matchers specified"));
    }
    modes.matcher = Some(syntax);
    config.syntax = syntax;
    Ok(())
}

fn binary(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<Binary, Exit> {
    match value {
        b"binary" => Ok(Binary::Report),
        b"text" => Ok(Binary::Text),
        b"without-match" => Ok(Binary::WithoutMatch),
        _ => Err(fail(ctx, "unknown binary-files type")),
    }
}

fn directories(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<Directories, Exit> {
    let valid = ["read", "recurse", "skip"];
    match abbreviated(value, &valid) {
        Some("read") => Ok(Directories::Read),
        Some("skip") => Ok(Directories::Skip),
        Some(_) => Ok(Directories::Recurse),
        None => Err(invalid_argument(ctx, value, "--directories", &valid)),
    }
}

/// A number of lines.
fn context(ctx: &mut Ctx<'_>, value: &[u8]) -> Result<u64, Exit> {
    number(value).and_then(|n| u64::try_from(n).ok()).ok_or_else(|| {
        let shown = String::from_utf8_lossy(value);
        fail(ctx, &format!("{shown}: invalid context length argument"))
    })
}

/// The colours, if there are to be any.
fn colors(ctx: &mut Ctx<'_>, when: &[u8]) -> Result<Option<Colors>, Exit> {
    let on = match when {
        b"always" | b"yes" | b"force" => true,
        b"never" | b"no" | b"none" => false,
        b"auto" | b"tty" | b"if-tty" | b"" => {
            let term = ctx.env.get(b"TERM");
            is_terminal(ctx) && term.is_some_and(|t| t != b"dumb" && !t.is_empty())
        }
        _ => {
            usage(ctx);
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
    Ok(on.then(|| Colors::new(env(b"GREP_COLOR"), env(b"GREP_COLORS"))))
}
