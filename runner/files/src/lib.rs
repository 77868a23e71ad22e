//! File operations for models: reading, editing and searching the session's files, by the host.
//!
//! [`apply_request`] carries out a [`Request`] and returns an [`Answer`] or a [`FilesError`]. All
//! three are plain data: they travel as JSON between the client and the host, and in binary form to
//! the process that runs the session.
//!
//! | topic | file |
//! |---|---|
//! | requests, answers, errors | `wasibox_protocol::files`; errors of the file system `errno` |
//! | paths, opening, replacing a file at once | `place` |
//! | encodings, ends of lines, kinds of data | `text`, `mime` |
//! | `read`, `download` | `read` |
//! | `write`, `upload`, `delete`, `move`, `make_dir` | `write` |
//! | `edit`, `patch_lines` | `edit`; the most similar lines for errors: `nearest` |
//! | `apply_patch` | `patch`, its text `unified` |
//! | `stat`, `ls`, `glob` | `list`, patterns `pattern`, directories `walk` |
//! | changes of a call, with digests and types | `changed` |
//! | whole files of any length | `whole` |
//! | `grep`, `search` | `grep`, `matcher` |
//!
//! # Invariants
//! - Every access goes through [`wasibox_vfs::Vfs`], as a guest's system calls do, so mounts,
//!   quota, permission bits and symbolic links have the same effect as for guests. No guest is
//!   started.
//! - A file that is replaced is whole at every moment, because the new file is written beside it
//!   and then renamed. Only a file with several names, or in a read-only directory, is written in
//!   place.
//! - Time and memory are bounded for any file and any request ([`FileLimits`]).
//! - Only regular files are read and written: no device, no pipe.
//!
//! # Deliberately absent
//! Names that are not UTF-8 are shown with U+FFFD and cannot be given in a request. `.gitignore` is
//! ignored. Symbolic links to directories are not followed while walking.
#![forbid(unsafe_code)]

mod changed;
mod edit;
mod errno;
mod grep;
mod list;
mod matcher;
mod mime;
mod nearest;
mod patch;
mod pattern;
mod place;
mod read;
mod text;
mod unified;
mod walk;
mod whole;
mod write;

pub use changed::describe_changes;
pub use unified::unified_diff;
pub use wasibox_protocol::files::{FileAnswer as Answer, FileRequest as Request, *};
pub use wasibox_protocol::{FileChange, FileChangeKind};
pub use whole::{read_whole, write_whole};

use place::FileCtx;
use std::time::{Duration, Instant};
use wasibox_vfs::Vfs;

/// The limits of a request.
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// Time, which is checked between steps that take milliseconds each.
    pub time: Duration,
    /// Largest file that is edited, and the total size of a patch's files, in bytes.
    pub edited: u64,
    /// The maximum number of bytes of content in an answer, even if the request asks for more.
    pub answer: u64,
}

impl Default for FileLimits {
    /// Returns 10 seconds, 16 MiB and 16 MiB.
    fn default() -> FileLimits {
        FileLimits { time: Duration::from_secs(10), edited: 16 << 20, answer: 16 << 20 }
    }
}

/// Carries out a request within the default limits; relative paths are resolved from `cwd`.
///
/// # Errors
/// The error names the cause, the state that was found and a way to correct the request. Nothing is
/// changed then, except that `delete` may have removed a part of a directory.
pub fn apply_request(vfs: &Vfs, cwd: &str, request: &Request) -> Result<Answer, FilesError> {
    apply_within(vfs, cwd, request, &FileLimits::default())
}

/// Carries out a request as [`apply_request`] does, within other limits.
///
/// # Errors
/// The same as [`apply_request`].
pub fn apply_within(
    vfs: &Vfs,
    cwd: &str,
    request: &Request,
    limits: &FileLimits,
) -> Result<Answer, FilesError> {
    let ctx = FileCtx::new(vfs, cwd, limits, Instant::now() + limits.time)?;
    match request {
        Request::Read(r) => read::read(&ctx, r),
        Request::Download { path, offset, limit } => {
            read::download_part(&ctx, path, *offset, *limit)
        }
        Request::Write(w) => write::write(&ctx, w),
        Request::Upload(u) => write::upload_part(&ctx, u),
        Request::Delete { path, recursive } => write::delete_path(&ctx, path, *recursive),
        Request::Move { from, to } => write::rename_path(&ctx, from, to),
        Request::MakeDir { path } => write::make_dir(&ctx, path),
        Request::Edit(e) => edit::edit_file(&ctx, e),
        Request::PatchLines(p) => edit::patch_lines(&ctx, p),
        Request::ApplyPatch(p) => patch::apply_patch(&ctx, p),
        Request::Stat { path, follow } => list::stat_path(&ctx, path, *follow),
        Request::Ls(l) => list::list_dir(&ctx, l),
        Request::Glob(g) => list::glob_files(&ctx, g),
        Request::Grep(g) => grep::grep_files(&ctx, g),
        Request::Search(s) => grep::search_files(&ctx, s),
    }
}
