//! The command line of `tar`: old style (`tar czf f.tgz x`), short and long options.

mod table;

use box_applet::opts::{OptArg, ParsedOptions, UsageError};
use box_applet::{Ctx, Exit, clock};
use box_text::time::Zone;
use box_text::time::parse::parse as parse_date;
use std::io::Write;

use super::select::{Excludes, MemberNames};
use crate::codec::CompressionFormat;
use table::{SPEC, TarFlag};

/// The hint that follows a usage error.
pub const HINT: &[u8] = b"Try 'tar --help' or 'tar --usage' for more information.\n";

/// The operation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TarAction {
    Create,
    Append,
    List,
    Extract,
}

/// The compression of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Is(CompressionFormat),
    /// Chosen by the archive's name (`-a`).
    Auto,
}

/// A file operand or a change of directory, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarItem {
    File(Vec<u8>),
    Directory(Vec<u8>),
}

/// The parsed command line.
pub struct TarOptions {
    pub action: TarAction,
    pub archive: Vec<u8>,
    pub compression: Compression,
    pub items: Vec<TarItem>,
    /// Whether names come from a list (`-T`), which may be empty.
    pub has_list: bool,
    pub excludes: Excludes,
    pub names: MemberNames,
    pub verbose: usize,
    pub to_stdout: bool,
    pub keep_old: bool,
    pub keep_newer: bool,
    pub skip_old: bool,
    pub absolute: bool,
    pub dereference: bool,
    pub recursive: bool,
    pub preserve_mode: bool,
    pub touch: bool,
    pub ignore_zeros: bool,
    pub remove_files: bool,
    pub overwrite: bool,
    pub numeric_owner: bool,
    pub full_time: bool,
    /// The time zone for listings.
    pub zone: Zone,
    /// Seconds since the epoch for every member (`--mtime=@N`).
    pub mtime: Option<u64>,
    pub owner: Option<Vec<u8>>,
    pub group: Option<Vec<u8>>,
}

/// Parses the command line; `Err` after a message or help.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TarOptions, Exit> {
    let args = modern_options(args);
    let (before, after) = match args.iter().position(|a| a == b"--") {
        Some(i) => (&args[..i], &args[i + 1..]),
        None => (&args[..], &args[..0]),
    };
    let mut given = ParsedOptions::default();
    let mut items = Vec::new();
    let mut rest = before.to_vec();
    // Operands and -C act in order, so options are parsed up to each operand.
    loop {
        let parsed = match SPEC.parse(&rest) {
            Ok(p) => p,
            Err(UsageError::Message(m)) => {
                ctx.error(&m);
                let _ = ctx.stderr.write_all(HINT);
                return Err(Exit(super::USAGE));
            }
            Err(_) => {
                return Err(SPEC
                    .parse_or_exit(ctx, &rest, Exit(super::FAILED))
                    .err()
                    .unwrap_or(Exit::SUCCESS));
            }
        };
        for (flag, value) in parsed.options {
            match (flag, &value) {
                (TarFlag::Directory, Some(dir)) => items.push(TarItem::Directory(dir.clone())),
                (TarFlag::FilesFrom, Some(file)) => {
                    given.options.push((flag, None));
                    items.extend(names_from(ctx, file, given.has_option(TarFlag::Null))?);
                }
                _ => given.options.push((flag, value)),
            }
        }
        let mut operands = parsed.operands.into_iter();
        match operands.next() {
            Some(first) => items.push(TarItem::File(first)),
            None => break,
        }
        rest = operands.collect();
    }
    items.extend(after.iter().map(|a| TarItem::File(a.clone())));
    build_options(ctx, &given, items)
}

/// Converts old-style option letters to options: `tar cfz x.tgz dir` is `tar -c -f x.tgz -z dir`.
fn modern_options(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some((first, rest)) = args.split_first() else { return Vec::new() };
    if first.first().is_none_or(|c| *c == b'-') || first.contains(&b'/') {
        return args.to_vec();
    }
    let mut rest = rest.iter();
    let mut out = Vec::new();
    for &c in first {
        out.push(vec![b'-', c]);
        if let Some(OptArg::Required(_)) = SPEC.argument_of(c) {
            out.extend(rest.next().cloned());
        }
    }
    out.extend(rest.cloned());
    out
}

fn names_from(ctx: &mut Ctx<'_>, file: &[u8], null: bool) -> Result<Vec<TarItem>, Exit> {
    let text = read_list(ctx, file)?;
    let end = if null { 0 } else { b'\n' };
    let lines = text.split(|&c| c == end).filter(|l| !l.is_empty());
    Ok(lines.map(|l| TarItem::File(l.to_vec())).collect())
}

fn read_list(ctx: &mut Ctx<'_>, file: &[u8]) -> Result<Vec<u8>, Exit> {
    ctx.read(file).map_err(|e| {
        ctx.io_error(file, &e);
        Exit(super::FAILED)
    })
}

/// Builds the options from those on the command line, before the operands are known, as
/// [`box_applet::opts::ParsedOptions`] has them.
fn build_options(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<TarFlag>,
    items: Vec<TarItem>,
) -> Result<TarOptions, Exit> {
    let has = |flag: TarFlag| given.has_option(flag);
    let owned = |flag: TarFlag| given.last_value(flag).map(<[u8]>::to_vec);
    let archive = owned(TarFlag::File).or_else(|| ctx.env.get(b"TAPE").map(<[u8]>::to_vec));
    Ok(TarOptions {
        action: parse_action(ctx, given)?,
        archive: archive.unwrap_or_else(|| b"-".to_vec()),
        compression: parse_compression(ctx, given)?,
        items,
        has_list: has(TarFlag::FilesFrom),
        names: parse_names(ctx, given)?,
        mtime: parse_mtime(ctx, given)?,
        excludes: parse_excludes(ctx, given)?,
        verbose: given.count_of(TarFlag::Verbose),
        to_stdout: has(TarFlag::ToStdout),
        keep_old: has(TarFlag::KeepOldFiles),
        keep_newer: has(TarFlag::KeepNewerFiles),
        overwrite: has(TarFlag::Overwrite),
        skip_old: has(TarFlag::SkipOldFiles),
        absolute: has(TarFlag::AbsoluteNames),
        dereference: has(TarFlag::Dereference),
        recursive: !has(TarFlag::NoRecursion),
        preserve_mode: has(TarFlag::PreservePermissions),
        touch: has(TarFlag::Touch),
        ignore_zeros: has(TarFlag::IgnoreZeros),
        remove_files: has(TarFlag::RemoveFiles),
        numeric_owner: has(TarFlag::NumericOwner),
        full_time: has(TarFlag::FullTime),
        zone: ctx.zone(),
        owner: owned(TarFlag::Owner),
        group: owned(TarFlag::Group),
    })
}

/// Returns the one requested action.
fn parse_action(ctx: &mut Ctx<'_>, given: &ParsedOptions<TarFlag>) -> Result<TarAction, Exit> {
    let all = [
        (TarFlag::Create, TarAction::Create),
        (TarFlag::Append, TarAction::Append),
        (TarFlag::List, TarAction::List),
        (TarFlag::Extract, TarAction::Extract),
    ];
    let mut asked =
        all.into_iter().filter(|(flag, _)| given.has_option(*flag)).map(|(_, action)| action);
    let message = match (asked.next(), asked.next()) {
        (Some(action), None) => return Ok(action),
        (None, _) => "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options",
        _ => "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option",
    };
    ctx.error(message);
    let _ = ctx.stderr.write_all(HINT);
    Err(Exit(super::FAILED))
}

/// Returns the compression of the archive. A program named by `-I` comes before the options of the formats.
fn parse_compression(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<TarFlag>,
) -> Result<Compression, Exit> {
    let program = given.last_value(TarFlag::UseCompressProgram);
    let Some(program) = program.map(|p| p.split(|c| *c == b' ').next().unwrap_or_default()) else {
        let options = [
            (TarFlag::Gzip, Compression::Is(CompressionFormat::Gzip)),
            (TarFlag::Bzip2, Compression::Is(CompressionFormat::Bzip2)),
            (TarFlag::Xz, Compression::Is(CompressionFormat::Xz)),
            (TarFlag::Zstd, Compression::Is(CompressionFormat::Zstd)),
            (TarFlag::AutoCompress, Compression::Auto),
        ];
        let asked = options.into_iter().find(|(flag, _)| given.has_option(*flag));
        return Ok(asked.map_or(Compression::None, |(_, compression)| compression));
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
            return Err(Exit(super::FAILED));
        }
    };
    Ok(Compression::Is(format))
}

/// Returns the time that `--mtime` gives all members: that of a file, whose name begins with `/` or `.`, or a date.
fn parse_mtime(ctx: &mut Ctx<'_>, given: &ParsedOptions<TarFlag>) -> Result<Option<u64>, Exit> {
    let Some(text) = given.last_value(TarFlag::Mtime) else { return Ok(None) };
    if matches!(text.first(), Some(b'/' | b'.')) {
        let stat = box_sys::meta::stat(&ctx.path(text), true).map_err(|e| {
            let why = format!(": Cannot stat: {}", box_sys::error_text(&e));
            ctx.error_bytes(&[text, why.as_bytes()]);
            Exit(super::FAILED)
        })?;
        return Ok(Some(stat.mtime / 1_000_000_000));
    }
    let now = clock::current_time();
    let time = parse_date(text, now, &ctx.zone(), clock::read);
    let seconds = time.and_then(|(seconds, _)| u64::try_from(seconds).ok());
    seconds.map(Some).ok_or_else(|| {
        ctx.error_bytes(&[b"Unknown date format '", text, b"'"]);
        Exit(super::FAILED)
    })
}

/// Parses the number of an option, without an `@` before it.
fn parse_number(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<TarFlag>,
    flag: TarFlag,
    what: &str,
) -> Result<Option<u64>, Exit> {
    let Some(text) = given.last_value(flag) else { return Ok(None) };
    let text = String::from_utf8_lossy(text).into_owned();
    let digits = text.strip_prefix('@').unwrap_or(&text);
    digits.parse().map(Some).map_err(|_| {
        ctx.error(format_args!("{text}: Invalid {what}"));
        Exit(super::FAILED)
    })
}

/// Files and directories that version control keeps (`--exclude-vcs`).
const VERSION_CONTROL: &[&str] =
    &[".git", ".svn", ".hg", ".bzr", "CVS", ".gitignore", ".gitmodules", ".gitattributes"];

/// Returns the patterns of files that are left out, in the order in which they were given.
fn parse_excludes(ctx: &mut Ctx<'_>, given: &ParsedOptions<TarFlag>) -> Result<Excludes, Exit> {
    let mut excludes = Excludes::default();
    for (flag, value) in &given.options {
        match (flag, value) {
            (TarFlag::Exclude, Some(pattern)) => excludes.add_pattern(pattern),
            (TarFlag::ExcludeFrom, Some(file)) => {
                for line in read_list(ctx, file)?.split(|c| *c == b'\n').filter(|l| !l.is_empty()) {
                    excludes.add_pattern(line);
                }
            }
            (TarFlag::ExcludeVcs, _) => {
                VERSION_CONTROL.iter().for_each(|name| excludes.add_pattern(name.as_bytes()));
            }
            _ => {}
        }
    }
    Ok(excludes)
}

/// Parses the options that change members' names and set how operands match them.
fn parse_names(ctx: &mut Ctx<'_>, given: &ParsedOptions<TarFlag>) -> Result<MemberNames, Exit> {
    let strip =
        parse_number(ctx, given, TarFlag::StripComponents, "number of elements")?.unwrap_or(0);
    let mut names = MemberNames::default();
    names.strip = usize::try_from(strip).unwrap_or(usize::MAX);
    for expression in given.all_values(TarFlag::Transform) {
        if let Err(message) = names.add_transform(expression) {
            ctx.error(message);
            return Err(Exit(super::FAILED));
        }
    }
    names.absolute = given.has_option(TarFlag::AbsoluteNames);
    names.wildcards = given.has_option(TarFlag::Wildcards);
    Ok(names)
}
