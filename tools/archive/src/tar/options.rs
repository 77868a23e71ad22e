//! The command line of `tar`: options in the old style (`tar czf f.tgz x`), short and long options.
//!
//! | file | contents |
//! |---|---|
//! | `options/table` | the table of all options |
//! | `options/items` | operands in their order, `-C`, and the lists of `-T` |
//! | `options/values` | dates, modes, owners, formats and other values |

mod items;
mod table;
mod values;

use box_applet::opts::ParsedOptions;
use box_applet::{Ctx, Exit};
use box_text::mode::FileModeChange;
use box_text::time::Zone;
use std::io::Write;

use super::checkpoint::{CheckpointAction, CheckpointDirection, Checkpoints};
use super::encode::ArchiveFormat;
use super::ignore::IgnoreFile;
use super::member::MemberTime;
use super::owner::{OwnerChoice, OwnerMap};
use super::pax::PaxOptions;
use super::select::{DirectoryTag, Excludes, MemberNames, PatternRules};
use crate::codec::CompressionFormat;
use table::TarFlag;

/// The hint that follows a usage error.
pub const HINT: &[u8] = b"Try 'tar --help' or 'tar --usage' for more information.\n";

/// The operation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TarAction {
    Create,
    Append,
    Update,
    Concatenate,
    Delete,
    Diff,
    List,
    Extract,
    TestLabel,
}

impl TarAction {
    /// Returns whether the action writes the archive to standard output.
    pub fn writes_to_stdout(self, archive: &[u8]) -> bool {
        self == TarAction::Create && archive == b"-"
    }

    /// Returns whether the action makes files.
    pub fn is_extract(self) -> bool {
        self == TarAction::Extract
    }
}

/// The compression of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Is(CompressionFormat),
    /// The archive's name selects the compression (`-a`).
    Auto,
}

/// A file operand, or a setting for the operands after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarItem {
    File(Vec<u8>),
    Directory(Vec<u8>),
    /// Whether directories are entered.
    Recursion(bool),
}

/// The treatment of an existing file that is in a member's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFile {
    /// The file is removed.
    Replace,
    /// The file's data is replaced, so its other names also change.
    Overwrite,
    /// The file is kept, which is an error.
    Keep,
    /// The file is kept.
    Skip,
    /// The file is kept if it is at least as new as the member.
    KeepNewer,
}

/// The rule by which files are too old to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewerThan {
    pub time: MemberTime,
    /// Whether a file also counts as new because its mode or owner has changed.
    pub counts_changes: bool,
}

/// The options for the headers of new members.
pub struct HeaderChoices {
    pub format: ArchiveFormat,
    pub pax: PaxOptions,
    pub mtime: Option<MemberTime>,
    /// Whether `mtime` replaces only later times.
    pub clamps_mtime: bool,
    pub mode: Option<FileModeChange>,
    pub owner: Option<OwnerChoice>,
    pub group: Option<OwnerChoice>,
    pub owner_map: OwnerMap,
    pub group_map: OwnerMap,
    pub label: Option<Vec<u8>>,
}

/// The options for reading files.
pub struct FileChoices {
    pub newer: Option<NewerThan>,
    pub tags: Vec<DirectoryTag>,
    pub ignore_files: Vec<IgnoreFile>,
    pub dereference: bool,
    pub hard_dereference: bool,
    pub one_file_system: bool,
    pub ignores_failures: bool,
    pub checks_links: bool,
    pub remove_files: bool,
}

/// The options for extraction.
pub struct ExtractChoices {
    pub existing: ExistingFile,
    pub to_stdout: bool,
    /// The command that the data of files goes to.
    pub to_command: Option<Vec<u8>>,
    pub ignores_command_errors: bool,
    pub preserve_mode: bool,
    pub touch: bool,
    pub unlink_first: bool,
    pub recursive_unlink: bool,
    /// The directory into which members that are not in it are put (`--one-top-level`).
    pub top_level: Option<Vec<u8>>,
}

/// The options for printing names.
pub struct PrintChoices {
    pub verbose: usize,
    pub numeric_owner: bool,
    pub full_time: bool,
    pub zone: Zone,
    pub block_numbers: bool,
    /// The file to which names are printed.
    pub index: Option<Vec<u8>>,
    /// Whether names are shown as they are after `--transform` and similar options.
    pub transformed: bool,
    pub totals: bool,
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
    pub operands: PatternRules,
    /// The member at which reading begins (`-K`).
    pub starting_file: Option<Vec<u8>>,
    /// The number of the member to take of those with the same name.
    pub occurrence: Option<u64>,
    pub names: MemberNames,
    pub headers: HeaderChoices,
    pub files: FileChoices,
    pub extract: ExtractChoices,
    pub print: PrintChoices,
    pub ignore_zeros: bool,
    /// Whether the user is asked about each file.
    pub is_interactive: bool,
    checkpoint: Option<u64>,
    checkpoint_actions: Vec<CheckpointAction>,
}

impl TarOptions {
    /// Returns the checkpoints of a run that begins now.
    pub fn start_checkpoints(&self, direction: CheckpointDirection) -> Checkpoints {
        Checkpoints::new(self.checkpoint, self.checkpoint_actions.clone(), direction)
    }

    /// Returns whether an operand or a list names files.
    pub fn has_names(&self) -> bool {
        self.has_list || self.items.iter().any(|i| matches!(i, TarItem::File(_)))
    }
}

/// Parses the command line.
///
/// # Errors
/// The command line is wrong, or it asks for help. The error is the exit status; the text has been
/// printed.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TarOptions, Exit> {
    let (given, items) = items::parse_items(ctx, args)?;
    let action = parse_action(ctx, &given)?;
    let compression = values::parse_compression(ctx, &given)?;
    let is_changed = matches!(
        action,
        TarAction::Append | TarAction::Update | TarAction::Delete | TarAction::Concatenate
    );
    if is_changed && compression != Compression::None {
        let verb = if action == TarAction::Concatenate { "concatenate" } else { "update" };
        return Err(usage_error(ctx, &format!("Cannot {verb} compressed archives")));
    }
    build_options(ctx, &given, items, action, compression)
}

/// Reports an error in the command line, with the hint; returns the exit status.
fn usage_error(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(message);
    let _ = ctx.stderr.write_all(HINT);
    Exit(super::FAILED)
}

/// Builds the options from the parsed command line.
fn build_options(
    ctx: &mut Ctx<'_>,
    given: &ParsedOptions<TarFlag>,
    items: Vec<TarItem>,
    action: TarAction,
    compression: Compression,
) -> Result<TarOptions, Exit> {
    let has = |flag: TarFlag| given.has_option(flag);
    let owned = |flag: TarFlag| given.last_value(flag).map(<[u8]>::to_vec);
    let archive = owned(TarFlag::File).or_else(|| ctx.env.get(b"TAPE").map(<[u8]>::to_vec));
    let archive = archive.unwrap_or_else(|| b"-".to_vec());
    let (excludes, operands) = values::parse_excludes(ctx, given)?;
    let (checkpoint, checkpoint_actions) = values::parse_checkpoints(ctx, given)?;
    Ok(TarOptions {
        action,
        compression,
        items,
        has_list: has(TarFlag::FilesFrom),
        names: values::parse_names(ctx, given)?,
        headers: values::parse_headers(ctx, given, action)?,
        files: FileChoices {
            newer: values::parse_newer(ctx, given)?,
            tags: values::directory_tags(given),
            ignore_files: values::ignore_files(given),
            dereference: has(TarFlag::Dereference),
            hard_dereference: has(TarFlag::HardDereference),
            one_file_system: has(TarFlag::OneFileSystem),
            ignores_failures: has(TarFlag::IgnoreFailedRead),
            checks_links: has(TarFlag::CheckLinks),
            remove_files: has(TarFlag::RemoveFiles),
        },
        extract: ExtractChoices {
            existing: values::existing_file(given),
            to_stdout: has(TarFlag::ToStdout),
            to_command: owned(TarFlag::ToCommand),
            ignores_command_errors: given
                .last_choice(&[
                    (TarFlag::IgnoreCommandError, true),
                    (TarFlag::NoIgnoreCommandError, false),
                ])
                .unwrap_or(false),
            preserve_mode: has(TarFlag::PreservePermissions),
            touch: has(TarFlag::Touch),
            unlink_first: has(TarFlag::UnlinkFirst),
            recursive_unlink: has(TarFlag::RecursiveUnlink),
            top_level: values::top_level(given, &archive),
        },
        print: PrintChoices {
            verbose: given.count_of(TarFlag::Verbose),
            numeric_owner: has(TarFlag::NumericOwner),
            full_time: has(TarFlag::FullTime),
            zone: if has(TarFlag::Utc) { Zone::utc() } else { ctx.zone() },
            block_numbers: has(TarFlag::BlockNumber),
            index: owned(TarFlag::IndexFile),
            transformed: has(TarFlag::ShowTransformed),
            totals: has(TarFlag::Totals),
        },
        starting_file: owned(TarFlag::StartingFile),
        occurrence: values::parse_occurrence(ctx, given)?,
        ignore_zeros: has(TarFlag::IgnoreZeros),
        is_interactive: has(TarFlag::Interactive),
        archive,
        excludes,
        operands,
        checkpoint,
        checkpoint_actions,
    })
}

/// Returns the action that the command line asks for. There must be exactly one.
fn parse_action(ctx: &mut Ctx<'_>, given: &ParsedOptions<TarFlag>) -> Result<TarAction, Exit> {
    let all = [
        (TarFlag::Create, TarAction::Create),
        (TarFlag::Append, TarAction::Append),
        (TarFlag::Update, TarAction::Update),
        (TarFlag::Concatenate, TarAction::Concatenate),
        (TarFlag::Delete, TarAction::Delete),
        (TarFlag::Diff, TarAction::Diff),
        (TarFlag::List, TarAction::List),
        (TarFlag::Extract, TarAction::Extract),
        (TarFlag::TestLabel, TarAction::TestLabel),
    ];
    let mut asked =
        all.into_iter().filter(|(flag, _)| given.has_option(*flag)).map(|(_, action)| action);
    let message = match (asked.next(), asked.next()) {
        (Some(action), None) => return Ok(action),
        (None, _) => "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options",
        _ => "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option",
    };
    Err(usage_error(ctx, message))
}
