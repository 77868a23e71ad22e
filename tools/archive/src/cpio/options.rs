//! The command line of `cpio`.

use box_applet::opts::{Opt, ParsedOptions, Spec, UsageError};
use box_applet::{Ctx, Exit};

use super::FAILED;
use super::entry::CpioFormat;

/// An option of `cpio`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CpioFlag {
    In,
    Out,
    Pass,
    List,
    Directories,
    KeepTimes,
    Replace,
    Verbose,
    Dots,
    Nul,
    Format,
    OldAscii,
    File,
    Input,
    Output,
    Append,
    PatternFile,
    NonMatching,
    Quiet,
    Numeric,
    NoAbsolute,
    Absolute,
    ResetAccess,
    Link,
    Dereference,
    Directory,
    Owner,
    ToStdout,
    OnlySums,
    BlockSize,
    IoSize,
    BigBlocks,
    Reproducible,
    IgnoreDevice,
    Renumber,
    Rename,
    Ignored,
}

const SPEC: Spec<CpioFlag> = Spec::new(
    "-o|-i|-p|-t [OPTION]... [PATTERN]... [DIRECTORY]",
    "Pack the files that standard input lists, unpack them, or copy them to DIRECTORY.",
    &[
        Opt::new(CpioFlag::Out, 'o', "create").with_help("Write an archive of the listed files"),
        Opt::new(CpioFlag::In, 'i', "extract")
            .with_help("Extract the files that match a PATTERN, or all"),
        Opt::new(CpioFlag::Pass, 'p', "pass-through")
            .with_help("Copy the listed files to DIRECTORY"),
        Opt::new(CpioFlag::List, 't', "list").with_help("Print the names in the archive"),
        Opt::new(CpioFlag::Verbose, 'v', "verbose").with_help("Print each name; with -t, details"),
        Opt::new(CpioFlag::Dots, 'V', "dot").with_help("Print a dot for each file"),
        Opt::new(CpioFlag::Directories, 'd', "make-directories")
            .with_help("Create missing directories"),
        Opt::new(CpioFlag::KeepTimes, 'm', "preserve-modification-time")
            .with_help("Keep the times of files"),
        Opt::new(CpioFlag::Replace, 'u', "unconditional")
            .with_help("Also replace files that are not older than the member"),
        Opt::new(CpioFlag::Nul, '0', "null").with_help("Names in the list end with a NUL byte"),
        Opt::new(CpioFlag::Format, 'H', "format")
            .with_argument("FORMAT", "bin (default), newc, crc, odc, ustar or tar"),
        Opt::new(CpioFlag::OldAscii, 'c', "").with_help("The same as -H odc"),
        Opt::new(CpioFlag::File, 'F', "file")
            .with_argument("ARCHIVE", "The archive, instead of standard input or output"),
        Opt::new(CpioFlag::Input, 'I', "").with_argument("ARCHIVE", "The archive to read"),
        Opt::new(CpioFlag::Output, 'O', "").with_argument("ARCHIVE", "The archive to write"),
        Opt::new(CpioFlag::Append, 'A', "append")
            .with_help("Add the files to the archive of -F or -O"),
        Opt::new(CpioFlag::PatternFile, 'E', "pattern-file")
            .with_argument("FILE", "Take patterns from the lines of FILE"),
        Opt::new(CpioFlag::NonMatching, 'f', "nonmatching")
            .with_help("Take the files that no PATTERN matches"),
        Opt::new(CpioFlag::Numeric, 'n', "numeric-uid-gid")
            .with_help("With -tv, print numbers of owners"),
        Opt::long(CpioFlag::ToStdout, "to-stdout").with_help("Write the data to standard output"),
        Opt::long(CpioFlag::OnlySums, "only-verify-crc")
            .with_help("Only check the checksums of a crc archive"),
        Opt::long(CpioFlag::NoAbsolute, "no-absolute-filenames")
            .with_help("Remove leading slashes and .. (default)"),
        Opt::long(CpioFlag::Absolute, "absolute-filenames").with_help("Extract names as they are"),
        Opt::new(CpioFlag::ResetAccess, 'a', "reset-access-time")
            .with_help("Restore the times of files after reading them"),
        Opt::new(CpioFlag::Link, 'l', "link")
            .with_help("With -p, link files where that is possible"),
        Opt::new(CpioFlag::Dereference, 'L', "dereference")
            .with_help("Take the files that symbolic links point to"),
        Opt::new(CpioFlag::Directory, 'D', "directory").with_argument("DIR", "Work in DIR"),
        Opt::new(CpioFlag::Owner, 'R', "owner")
            .with_argument("USER:GROUP", "The owner and the group of all entries"),
        Opt::long(CpioFlag::Reproducible, "reproducible").with_help("The same as the next two"),
        Opt::long(CpioFlag::Reproducible, "device-independent"),
        Opt::long(CpioFlag::IgnoreDevice, "ignore-devno").with_help("Store no numbers of devices"),
        Opt::long(CpioFlag::Renumber, "renumber-inodes").with_help("Number files from 0 on"),
        Opt::long(CpioFlag::Quiet, "quiet").with_help("Do not print the number of blocks"),
        Opt::new(CpioFlag::BigBlocks, 'B', "").with_help("Blocks have 5120 bytes, not 512"),
        Opt::new(CpioFlag::IoSize, 'C', "io-size").with_argument("N", "Blocks have N bytes"),
        Opt::long(CpioFlag::BlockSize, "block-size")
            .with_argument("N", "Use blocks of N * 512 bytes"),
        Opt::new(CpioFlag::Rename, 'r', "rename").with_help("Refused: there is no terminal to ask"),
        Opt::long(CpioFlag::Ignored, "sparse").with_help("Accepted, without effect"),
        Opt::long(CpioFlag::Ignored, "no-preserve-owner")
            .with_help("Accepted: files become your own"),
        Opt::long(CpioFlag::Ignored, "force-local"),
        Opt::new(CpioFlag::Ignored, 'k', ""),
    ],
)
.with_examples(&[
    ("find DIR | cpio -o > FILE.cpio", "Pack a directory"),
    ("cpio -id < FILE.cpio", "Extract everything, with directories"),
    ("cpio -t < FILE.cpio", "List the members"),
]);

/// The mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpioMode {
    Out,
    In,
    Pass,
}

/// The parsed command line.
pub struct CpioOptions {
    pub mode: CpioMode,
    pub lists: bool,
    pub format: Option<CpioFormat>,
    /// The archive; `None` for standard input or output.
    pub archive: Option<Vec<u8>>,
    pub appends: bool,
    pub patterns: Vec<Vec<u8>>,
    pub non_matching: bool,
    /// The directory of `-p`.
    pub target: Vec<u8>,
    pub directory: Option<Vec<u8>>,
    pub makes_directories: bool,
    pub keeps_times: bool,
    pub replaces: bool,
    pub verbose: bool,
    pub has_dots: bool,
    pub has_nul: bool,
    pub quiet: bool,
    pub numeric: bool,
    pub absolute: bool,
    pub resets_access: bool,
    pub links: bool,
    pub dereferences: bool,
    pub to_stdout: bool,
    pub only_sums: bool,
    pub ignores_device: bool,
    pub renumbers: bool,
    pub owner: (Option<u32>, Option<u32>),
    pub block_size: u64,
}

/// Reports an error in the command line; returns the exit status.
fn usage_error(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(message);
    hint(ctx);
    FAILED
}

fn hint(ctx: &mut Ctx<'_>) {
    let line = b"Try 'cpio --help' or 'cpio --usage' for more information.\n";
    let _ = std::io::Write::write_all(&mut ctx.stderr, line);
}

/// Parses the command line.
///
/// # Errors
/// The command line is wrong, or it asks for help. The error is the exit status; the text has been
/// printed.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<CpioOptions, Exit> {
    let given = match SPEC.parse(args) {
        Ok(given) => given,
        Err(UsageError::Message(m)) => {
            ctx.error(&m);
            hint(ctx);
            // 64 is `EX_USAGE` of sysexits(3).
            return Err(Exit(64));
        }
        Err(e) => return Err(SPEC.answer_usage(ctx, e, FAILED)),
    };
    let has = |flag: CpioFlag| given.has_option(flag);
    let mode = parse_mode(ctx, &given)?;
    if has(CpioFlag::Rename) {
        return Err(usage_error(ctx, "there is no terminal to ask for names"));
    }
    let format = parse_format(ctx, &given)?;
    let owned = |flag: CpioFlag| given.last_value(flag).map(<[u8]>::to_vec);
    let own = if mode == CpioMode::Out { CpioFlag::Output } else { CpioFlag::Input };
    let archive = owned(CpioFlag::File).or_else(|| owned(own));
    if has(CpioFlag::Append) && archive.is_none() {
        let message = "--append is used but no archive file name is given (use -F or -O options)";
        return Err(usage_error(ctx, message));
    }
    let mut patterns = given.operands.clone();
    let mut target = Vec::new();
    match (mode, patterns.len()) {
        (CpioMode::Out, 1..) | (CpioMode::Pass, 2..) => {
            return Err(usage_error(ctx, "Too many arguments"));
        }
        (CpioMode::Pass, 0) => return Err(usage_error(ctx, "Not enough arguments")),
        (CpioMode::Pass, _) => target = patterns.remove(0),
        _ => {}
    }
    for file in given.all_values(CpioFlag::PatternFile) {
        match ctx.read(file) {
            Ok(text) => patterns
                .extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec)),
            Err(e) => {
                ctx.io_error(file, &e);
                return Err(FAILED);
            }
        }
    }
    let reproducible = has(CpioFlag::Reproducible);
    Ok(CpioOptions {
        mode,
        lists: has(CpioFlag::List),
        format,
        archive,
        appends: has(CpioFlag::Append),
        patterns,
        non_matching: has(CpioFlag::NonMatching),
        target,
        directory: owned(CpioFlag::Directory),
        makes_directories: has(CpioFlag::Directories),
        keeps_times: has(CpioFlag::KeepTimes),
        replaces: has(CpioFlag::Replace),
        verbose: has(CpioFlag::Verbose),
        has_dots: has(CpioFlag::Dots),
        has_nul: has(CpioFlag::Nul),
        quiet: has(CpioFlag::Quiet),
        numeric: has(CpioFlag::Numeric),
        // A list shows names as they are in the archive.
        absolute: (has(CpioFlag::Absolute) || has(CpioFlag::List)) && !has(CpioFlag::NoAbsolute),
        resets_access: has(CpioFlag::ResetAccess),
        links: has(CpioFlag::Link),
        dereferences: has(CpioFlag::Dereference),
        to_stdout: has(CpioFlag::ToStdout),
        only_sums: has(CpioFlag::OnlySums),
        ignores_device: has(CpioFlag::IgnoreDevice) || reproducible,
        renumbers: has(CpioFlag::Renumber) || reproducible,
        owner: parse_owner(ctx, &given)?,
        block_size: parse_block_size(ctx, &given)?,
    })
}

fn parse_mode(ctx: &mut Ctx<'_>, given: &ParsedOptions<CpioFlag>) -> Result<CpioMode, Exit> {
    let asked: Vec<CpioMode> = [
        (CpioFlag::In, CpioMode::In),
        (CpioFlag::Out, CpioMode::Out),
        (CpioFlag::Pass, CpioMode::Pass),
    ]
    .into_iter()
    .filter(|(flag, _)| given.has_option(*flag))
    .map(|(_, mode)| mode)
    .collect();
    let lists = given.has_option(CpioFlag::List);
    match asked[..] {
        [] if lists => Ok(CpioMode::In),
        [] => Err(usage_error(ctx, "You must specify one of -oipt options.")),
        [CpioMode::In] => Ok(CpioMode::In),
        [mode] if !lists => Ok(mode),
        _ => Err(usage_error(ctx, "Mode already defined")),
    }
}

fn parse_format(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<CpioFlag>,
) -> Result<Option<CpioFormat>, Exit> {
    let Some(name) = given.last_value(CpioFlag::Format) else {
        return Ok(given.has_option(CpioFlag::OldAscii).then_some(CpioFormat::Old));
    };
    CpioFormat::by_name(name).map(Some).ok_or_else(|| {
        let name = String::from_utf8_lossy(name);
        let list = "crc newc odc bin ustar tar (all-caps also recognized)";
        let message = format!("invalid archive format `{name}'; valid formats are:\n{list}");
        usage_error(ctx, &message)
    })
}

/// Parses `USER`, `USER:GROUP` or `:GROUP`, by names or numbers.
fn parse_owner(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<CpioFlag>,
) -> Result<(Option<u32>, Option<u32>), Exit> {
    let Some(text) = given.last_value(CpioFlag::Owner) else { return Ok((None, None)) };
    let text = String::from_utf8_lossy(text).into_owned();
    let names = box_sys::AccountNames::load();
    let (user, group) = text.split_once([':', '.']).unwrap_or((&text, ""));
    let user_id = match user {
        "" => None,
        name => match names.user_id(name).map(|(uid, _)| uid).or_else(|| name.parse().ok()) {
            Some(uid) => Some(uid),
            None => return Err(usage_error(ctx, "invalid user")),
        },
    };
    let group_id = match group {
        "" => None,
        name => match names.group_id(name).or_else(|| name.parse().ok()) {
            Some(gid) => Some(gid),
            None => return Err(usage_error(ctx, "invalid group")),
        },
    };
    Ok((user_id, group_id))
}

fn parse_block_size(ctx: &mut Ctx<'_>, given: &ParsedOptions<CpioFlag>) -> Result<u64, Exit> {
    let mut size = if given.has_option(CpioFlag::BigBlocks) { 5120 } else { 512 };
    for (flag, unit) in [(CpioFlag::IoSize, 1_u64), (CpioFlag::BlockSize, 512)] {
        let Some(text) = given.last_value(flag) else { continue };
        let number = std::str::from_utf8(text).ok().and_then(|t| t.parse::<u64>().ok());
        let bytes = number.and_then(|n| n.checked_mul(unit)).filter(|n| (1..1 << 30).contains(n));
        size = bytes.ok_or_else(|| usage_error(ctx, "invalid block size"))?;
    }
    Ok(size)
}
