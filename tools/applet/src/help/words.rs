//! Sentences of help texts that several tools share, so that an option that means the same
//! everywhere is described in one place.

/// Marks an option as another spelling of the one in the row above; the two are listed together.
pub const SAME: &str = "The same";
pub const HELP: &str = "Show this help";
pub const VERSION: &str = "Show the version";
pub const IGNORED: &str = "Accepted, without effect";
pub const STANDARD_INPUT: &str =
    "Standard input is read if there is no FILE, and for a FILE named -.";

/// For lines of both input and output.
pub const NUL_LINES: &str = "Lines end with a NUL byte instead of a newline";
/// For lines of output only.
pub const NUL_OUT: &str = "Print a NUL byte instead of a newline at the end";
/// `--files0-from`.
pub const FILES0: &str = "Read the names of the files from F, each ended by a NUL byte";

pub const VERBOSE: &str = "Report each file that is handled";
pub const CHANGES: &str = "Report each file that is actually changed";
pub const NO_ERRORS: &str = "Do not complain about files that cannot be changed";
pub const PRESERVE_ROOT: &str = "With -R: refuse to change all of /";
pub const NO_PRESERVE_ROOT: &str = "Treat / as any other directory (default)";
pub const ONE_FILE_SYSTEM: &str = "Do not enter other file systems";

pub const BACKUP: &str =
    "Keep the old file as a backup: none, numbered (t), existing (nil) or simple (never)";
pub const BACKUP_PLAIN: &str = "Keep a backup of the kind set by $VERSION_CONTROL";
pub const SUFFIX: &str = "End the names of backups with SUFFIX instead of ~";
pub const TARGET_DIRECTORY: &str = "Put everything into DIRECTORY";
pub const NO_TARGET_DIRECTORY: &str = "Treat the last operand as a file, never as a directory";
pub const STRIP_SLASHES: &str = "Remove trailing slashes from each SOURCE";

pub const BLOCK_SIZE: &str = "Count in units of SIZE: 1K, 1M, 512, ...";
pub const KIB: &str = "Count in KiB: -B1K";
pub const MIB: &str = "Count in MiB: -B1M";
pub const HUMAN: &str = "Print sizes with units of 1024: 1.5K, 234M, 2G";
pub const SI: &str = "Like -h, with units of 1000";

pub const HEADERS: &str = "Print the name before each file, even a single one";
pub const NO_HEADERS: &str = "Never print names before files";
/// The note about the numbers of `head` and `tail`.
pub const SIZES: &str =
    "NUM may have a unit: b is 512, K 1024, M 1024*1024 and so on; kB is 1000, MB 1000*1000.";
