//! Parses the values of options: dates, owners, modes, formats, patterns and others.

use box_applet::opts::ParsedOptions;
use box_applet::{Ctx, Exit, clock};
use box_sys::AccountNames;
use box_text::mode;
use box_text::time::parse::parse as parse_date;
use box_text::time::strftime::format_strftime;

use super::items::read_list;
use super::table::TarFlag;
use super::{Compression, ExistingFile, HeaderChoices, NewerThan, TarAction, usage_error};
use crate::codec::CompressionFormat;
use crate::tar::FAILED;
use crate::tar::checkpoint::CheckpointAction;
use crate::tar::encode::ArchiveFormat;
use crate::tar::ignore::IgnoreFile;
use crate::tar::member::MemberTime;
use crate::tar::owner::{OwnerChoice, OwnerKind, OwnerMap};
use crate::tar::pax::PaxOptions;
use crate::tar::select::{
    CACHE_TAG, DirectoryTag, Excludes, MemberNames, PatternRules, TagContents,
};

type Given = ParsedOptions<TarFlag>;

/// Reports an invalid value, which ends the run; returns the exit status.
fn fatal(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(message);
    ctx.error("Error is not recoverable: exiting now");
    Exit(FAILED)
}

/// Returns the compression of the archive. The program of `-I` takes precedence over the options
/// for formats.
pub(super) fn parse_compression(ctx: &mut Ctx<'_>, given: &Given) -> Result<Compression, Exit> {
    let program = given.last_value(TarFlag::UseCompressProgram);
    let Some(program) = program.map(|p| p.split(|c| *c == b' ').next().unwrap_or_default()) else {
        let options = [
            (TarFlag::Gzip, Compression::Is(CompressionFormat::Gzip)),
            (TarFlag::Bzip2, Compression::Is(CompressionFormat::Bzip2)),
            (TarFlag::Xz, Compression::Is(CompressionFormat::Xz)),
            (TarFlag::Zstd, Compression::Is(CompressionFormat::Zstd)),
        ];
        let asked = options.into_iter().find(|(flag, _)| given.has_option(*flag));
        let is_auto = given
            .last_choice(&[(TarFlag::AutoCompress, true), (TarFlag::NoAutoCompress, false)])
            .unwrap_or(false);
        let auto = if is_auto { Compression::Auto } else { Compression::None };
        return Ok(asked.map_or(auto, |(_, compression)| compression));
    };
    let format = match program {
        b"gzip" | b"pigz" => CompressionFormat::Gzip,
        b"bzip2" | b"pbzip2" => CompressionFormat::Bzip2,
        b"xz" | b"pixz" => CompressionFormat::Xz,
        b"zstd" | b"zstdmt" => CompressionFormat::Zstd,
        other => {
            let other = String::from_utf8_lossy(other).into_owned();
            ctx.error(format_args!(
                "{other}: Cannot exec: only gzip, bzip2, xz and zstd are built in"
            ));
            return Err(Exit(FAILED));
        }
    };
    Ok(Compression::Is(format))
}

/// Parses a date, or returns the time of a file if the text begins with `/` or `.`. With `-v`,
/// prints the meaning of a date.
fn parse_time(
    ctx: &mut Ctx<'_>,
    given: &Given,
    option: &str,
    text: &[u8],
) -> Result<MemberTime, Exit> {
    if matches!(text.first(), Some(b'/' | b'.')) {
        return match box_sys::meta::stat(&ctx.path(text), true) {
            Ok(stat) => Ok(MemberTime::from_nanos(stat.mtime)),
            Err(e) => {
                let why = format!(": Cannot stat: {}", box_sys::error_text(&e));
                ctx.error_bytes(&[text, why.as_bytes()]);
                Err(usage_error(ctx, "Date sample file not found"))
            }
        };
    }
    let zone = ctx.zone();
    let shown = String::from_utf8_lossy(text).into_owned();
    let Some((seconds, nanos)) = parse_date(text, clock::current_time(), &zone, clock::read) else {
        // GNU then uses a date before all others, which is useless.
        return Err(fatal(ctx, &format!("Unknown date format '{shown}'")));
    };
    if given.has_option(TarFlag::Verbose) {
        let date = format_strftime(b"%Y-%m-%d %H:%M:%S", &zone.to_civil(seconds, 0));
        let date = String::from_utf8_lossy(&date);
        ctx.error(format_args!("Option --{option}: Treating date '{shown}' as {date}"));
    }
    Ok(MemberTime { seconds, nanos })
}

/// Returns the rule for files that are too old to be added, if there is one.
pub(super) fn parse_newer(ctx: &mut Ctx<'_>, given: &Given) -> Result<Option<NewerThan>, Exit> {
    let all = [(TarFlag::Newer, "after-date", true), (TarFlag::NewerMtime, "newer-mtime", false)];
    let mut newer = None;
    for (flag, name, counts_changes) in all {
        if let Some(text) = given.last_value(flag) {
            if newer.is_some() {
                return Err(usage_error(ctx, "More than one threshold date"));
            }
            let time = parse_time(ctx, given, name, text)?;
            newer = Some(NewerThan { time, counts_changes });
        }
    }
    Ok(newer)
}

/// Returns the options for the headers of new members.
pub(super) fn parse_headers(
    ctx: &mut Ctx<'_>,
    given: &Given,
    action: TarAction,
) -> Result<HeaderChoices, Exit> {
    let mtime = match given.last_value(TarFlag::Mtime) {
        Some(text) => Some(parse_time(ctx, given, "mtime", text)?),
        None => None,
    };
    let clamps_mtime = given.has_option(TarFlag::ClampMtime);
    if clamps_mtime && mtime.is_none() {
        let message = "--clamp-mtime needs a date specified using --mtime";
        return Err(usage_error(ctx, message));
    }
    let mode = match given.last_value(TarFlag::Mode).map(mode::parse) {
        Some(None) => return Err(fatal(ctx, "Invalid mode given on option")),
        mode => mode.flatten(),
    };
    let mut pax = PaxOptions::default();
    for list in given.all_values(TarFlag::PaxOption) {
        pax.add_list(list).map_err(|message| usage_error(ctx, &message))?;
    }
    let is_read = matches!(action, TarAction::List | TarAction::Extract | TarAction::Diff);
    let has_pax = given.has_option(TarFlag::PaxOption);
    let format = parse_format(ctx, given, has_pax, action)?;
    if has_pax && format != ArchiveFormat::Pax && !is_read {
        return Err(usage_error(ctx, "--pax-option can be used only on POSIX archives"));
    }
    let names = AccountNames::load();
    Ok(HeaderChoices {
        format,
        pax,
        mtime,
        clamps_mtime,
        mode,
        owner: parse_owner(ctx, given, TarFlag::Owner, OwnerKind::User, &names)?,
        group: parse_owner(ctx, given, TarFlag::Group, OwnerKind::Group, &names)?,
        owner_map: parse_map(ctx, given, TarFlag::OwnerMap, OwnerKind::User, &names)?,
        group_map: parse_map(ctx, given, TarFlag::GroupMap, OwnerKind::Group, &names)?,
        label: given.last_value(TarFlag::Label).map(<[u8]>::to_vec),
    })
}

/// Returns the format of a new archive. With `--pax-option` the default is pax.
fn parse_format(
    ctx: &mut Ctx<'_>,
    given: &Given,
    has_pax: bool,
    action: TarAction,
) -> Result<ArchiveFormat, Exit> {
    let options = [TarFlag::Format, TarFlag::OldArchive, TarFlag::Posix];
    Ok(match given.last_of(&options) {
        Some(TarFlag::OldArchive) => ArchiveFormat::V7,
        Some(TarFlag::Posix) => ArchiveFormat::Pax,
        Some(_) => {
            let name = given.last_value(TarFlag::Format).unwrap_or_default();
            ArchiveFormat::by_name(name).ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                usage_error(ctx, &format!("{name}: Invalid archive format"))
            })?
        }
        None if has_pax => ArchiveFormat::Pax,
        None if given.has_option(TarFlag::OldOwner) && action == TarAction::Create => {
            ArchiveFormat::V7
        }
        None => ArchiveFormat::Gnu,
    })
}

fn parse_owner(
    ctx: &mut Ctx<'_>,
    given: &Given,
    flag: TarFlag,
    kind: OwnerKind,
    names: &AccountNames,
) -> Result<Option<OwnerChoice>, Exit> {
    let Some(text) = given.last_value(flag) else { return Ok(None) };
    OwnerChoice::parse(text, kind, names).map(Some).map_err(|bad| {
        let bad = String::from_utf8_lossy(&bad);
        fatal(ctx, &format!("{bad}: Invalid owner or group ID"))
    })
}

fn parse_map(
    ctx: &mut Ctx<'_>,
    given: &Given,
    flag: TarFlag,
    kind: OwnerKind,
    names: &AccountNames,
) -> Result<OwnerMap, Exit> {
    let Some(file) = given.last_value(flag) else { return Ok(OwnerMap::default()) };
    let text = read_list(ctx, file, "Cannot open")?;
    OwnerMap::parse(&text, kind, names).map_err(|(line, why)| {
        let place = format!(":{line}: {why}");
        ctx.error_bytes(&[file, place.as_bytes()]);
        fatal(ctx, "errors reading map file")
    })
}

/// Parses the number of an option.
fn parse_number(
    ctx: &mut Ctx<'_>,
    given: &Given,
    flag: TarFlag,
    what: &str,
) -> Result<Option<u64>, Exit> {
    let Some(text) = given.last_value(flag) else { return Ok(None) };
    let text = String::from_utf8_lossy(text).into_owned();
    let message = format!("{text}: Invalid {what}");
    text.parse().map(Some).map_err(|_| usage_error(ctx, &message))
}

/// Returns the number of the member to take of those with the same name (`--occurrence`).
pub(super) fn parse_occurrence(ctx: &mut Ctx<'_>, given: &Given) -> Result<Option<u64>, Exit> {
    if !given.has_option(TarFlag::Occurrence) {
        return Ok(None);
    }
    let number = parse_number(ctx, given, TarFlag::Occurrence, "number")?;
    Ok(Some(number.unwrap_or(1).max(1)))
}

/// Returns the number of records between two checkpoints, if there are any, and the actions.
pub(super) fn parse_checkpoints(
    ctx: &mut Ctx<'_>,
    given: &Given,
) -> Result<(Option<u64>, Vec<CheckpointAction>), Exit> {
    let mut actions = Vec::new();
    let mut every = None;
    for (flag, value) in &given.options {
        match (flag, value) {
            (TarFlag::Checkpoint, None) => every = Some(10),
            (TarFlag::Checkpoint, Some(text)) => {
                let digits = match text.strip_prefix(b".") {
                    Some(digits) => {
                        actions.push(CheckpointAction::Dot);
                        digits
                    }
                    None => text,
                };
                let number = std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok());
                if number.is_none() && !digits.is_empty() {
                    return Err(fatal(ctx, "--checkpoint value is not an integer"));
                }
                every = Some(number.unwrap_or(10));
            }
            (TarFlag::CheckpointAction, Some(text)) => {
                let action = CheckpointAction::parse(text);
                actions.push(action.map_err(|message| fatal(ctx, &message))?);
            }
            _ => {}
        }
    }
    // With an action alone, there is a checkpoint every ten records.
    let has_action = given.has_option(TarFlag::CheckpointAction);
    Ok((every.or(has_action.then_some(10)), actions))
}

/// The files and directories of version control systems (`--exclude-vcs`).
const VERSION_CONTROL: &[&str] = &[
    ".git",
    ".svn",
    ".hg",
    ".bzr",
    "CVS",
    "RCS",
    "SCCS",
    ".gitignore",
    ".gitmodules",
    ".gitattributes",
    ".cvsignore",
    ".arch-ids",
    "{arch}",
    "=RELEASE-ID",
    "=meta-update",
    "=update",
    ".bzrignore",
    ".bzrtags",
    ".hgignore",
    ".hgtags",
    "_darcs",
];

/// The patterns of editors' backups and lock files (`--exclude-backups`).
const BACKUPS: &[&str] = &[".#*", "*~", "#*#"];

/// Returns the patterns of files that are left out, and the rules by which operands are matched. A
/// pattern is matched by the rules of the options before it.
pub(super) fn parse_excludes(
    ctx: &mut Ctx<'_>,
    given: &Given,
) -> Result<(Excludes, PatternRules), Exit> {
    let mut excludes = Excludes::default();
    let mut rules = PatternRules::for_excludes();
    let mut operands = PatternRules::for_operands();
    for (flag, value) in &given.options {
        match (flag, value) {
            (TarFlag::Exclude, Some(pattern)) => excludes.add_pattern(pattern, rules),
            (TarFlag::ExcludeFrom, Some(file)) => {
                for line in read_list(ctx, file, "Cannot open")?
                    .split(|c| *c == b'\n')
                    .map(<[u8]>::trim_ascii_end)
                    .filter(|l| !l.is_empty())
                {
                    excludes.add_pattern(line, rules);
                }
            }
            (TarFlag::ExcludeVcs, _) => {
                VERSION_CONTROL.iter().for_each(|n| excludes.add_pattern(n.as_bytes(), rules));
            }
            (TarFlag::ExcludeBackups, _) => {
                BACKUPS.iter().for_each(|n| excludes.add_pattern(n.as_bytes(), rules));
            }
            _ => {
                for rules in [&mut rules, &mut operands] {
                    change_rules(rules, *flag);
                }
            }
        }
    }
    Ok((excludes, operands))
}

/// Applies an option to the rules for patterns.
fn change_rules(rules: &mut PatternRules, flag: TarFlag) {
    match flag {
        TarFlag::Anchored => rules.anchored = true,
        TarFlag::NoAnchored => rules.anchored = false,
        TarFlag::IgnoreCase => rules.ignore_case = true,
        TarFlag::NoIgnoreCase => rules.ignore_case = false,
        TarFlag::Wildcards => (rules.wildcards, rules.warns) = (true, false),
        TarFlag::NoWildcards => (rules.wildcards, rules.warns) = (false, false),
        TarFlag::WildcardsMatchSlash => rules.match_slash = true,
        TarFlag::NoWildcardsMatchSlash => rules.match_slash = false,
        _ => {}
    }
}

/// Returns the files whose presence excludes a directory.
pub(super) fn directory_tags(given: &Given) -> Vec<DirectoryTag> {
    let tag = |(flag, value): &(TarFlag, Option<Vec<u8>>)| {
        let (contents, is_cache) = match flag {
            TarFlag::ExcludeTag => (TagContents::Tag, false),
            TarFlag::ExcludeTagUnder => (TagContents::Nothing, false),
            TarFlag::ExcludeTagAll => (TagContents::NoDirectory, false),
            TarFlag::ExcludeCaches => (TagContents::Tag, true),
            TarFlag::ExcludeCachesUnder => (TagContents::Nothing, true),
            TarFlag::ExcludeCachesAll => (TagContents::NoDirectory, true),
            _ => return None,
        };
        let name = if is_cache { Some(CACHE_TAG.to_vec()) } else { value.clone() };
        Some(DirectoryTag { name: name?, contents, is_cache })
    };
    given.options.iter().filter_map(tag).collect()
}

/// Returns the files that name what is left out of their directories.
pub(super) fn ignore_files(given: &Given) -> Vec<IgnoreFile> {
    let file = |(flag, value): &(TarFlag, Option<Vec<u8>>)| {
        let is_recursive = match flag {
            TarFlag::ExcludeIgnore => false,
            TarFlag::ExcludeIgnoreRecursive => true,
            _ => return None,
        };
        Some(IgnoreFile { name: value.clone()?, is_recursive })
    };
    given.options.iter().filter_map(file).collect()
}

/// Parses the options that change members' names.
pub(super) fn parse_names(ctx: &mut Ctx<'_>, given: &Given) -> Result<MemberNames, Exit> {
    let strip = parse_number(ctx, given, TarFlag::StripComponents, "number of elements")?;
    let mut names = MemberNames {
        strip: usize::try_from(strip.unwrap_or(0)).unwrap_or(usize::MAX),
        absolute: given.has_option(TarFlag::AbsoluteNames),
        ..MemberNames::default()
    };
    for expression in given.all_values(TarFlag::Transform) {
        let added = names.transforms.add_expressions(expression);
        added.map_err(|message| usage_error(ctx, &message))?;
    }
    Ok(names)
}

/// Returns the treatment of existing files, which the last option decides.
pub(super) fn existing_file(given: &Given) -> ExistingFile {
    let choice = given.last_choice(&[
        (TarFlag::KeepOldFiles, ExistingFile::Keep),
        (TarFlag::SkipOldFiles, ExistingFile::Skip),
        (TarFlag::KeepNewerFiles, ExistingFile::KeepNewer),
        (TarFlag::Overwrite, ExistingFile::Overwrite),
    ]);
    choice.unwrap_or(ExistingFile::Replace)
}

/// Returns the directory of `--one-top-level`. Without a value, it is the archive's name without
/// its suffixes.
pub(super) fn top_level(given: &Given, archive: &[u8]) -> Option<Vec<u8>> {
    if !given.has_option(TarFlag::OneTopLevel) {
        return None;
    }
    if let Some(dir) = given.last_value(TarFlag::OneTopLevel) {
        return Some(dir.to_vec());
    }
    let name = box_sys::path::base_name(archive);
    let stem = [&b".tar"[..], b".tgz", b".taz", b".tbz", b".tbz2", b".txz", b".tzst"]
        .into_iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    let packed = CompressionFormat::by_name(name).map(CompressionFormat::suffix);
    let packed = packed.and_then(|suffix| name.strip_suffix(suffix.as_bytes()));
    let inner = packed.and_then(|name| name.strip_suffix(b".tar"));
    Some(stem.or(inner).unwrap_or(name).to_vec())
}
