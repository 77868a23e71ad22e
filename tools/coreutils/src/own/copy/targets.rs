//! Determines the sources and destinations that operands name.

use box_applet::{Ctx, Exit};
use box_sys::{FileKind, errno::code, meta};

use super::engine::ExistingPolicy;
use crate::common::paths::{Backup, BackupKind};
use crate::common::{input, paths, quote};

/// The destination of the sources.
pub(super) enum Destination {
    /// In this directory, under the sources' own names.
    Directory(Vec<u8>),
    /// Exactly this name.
    File(Vec<u8>),
}

fn is_dir(ctx: &Ctx<'_>, name: &[u8]) -> bool {
    meta::stat(&ctx.path(name), true).is_ok_and(|s| s.kind == FileKind::Dir)
}

/// Refuses the combination of `--backup` and `--no-clobber`.
pub(super) fn refuse_kept_backup(
    ctx: &mut Ctx<'_>,
    existing: ExistingPolicy,
    backup: &Backup,
) -> Result<(), Exit> {
    if existing == ExistingPolicy::Keep && backup.kind != BackupKind::None {
        let text = b"options --backup and --no-clobber are mutually exclusive";
        return Err(input::usage_error(ctx, &[text]));
    }
    Ok(())
}

/// Splits the operands into sources and destination, by `-t` and `-T`; reports errors.
pub(super) fn split_operands(
    ctx: &mut Ctx<'_>,
    operands: &[Vec<u8>],
    directory: Option<&[u8]>,
    no_directory: bool,
) -> Result<(Vec<Vec<u8>>, Destination), Exit> {
    if directory.is_some() && no_directory {
        ctx.error("cannot combine --target-directory (-t) and --no-target-directory (-T)");
        return Err(Exit::FAILURE);
    }
    if operands.is_empty() {
        return Err(input::usage_error(ctx, &[b"missing file operand"]));
    }
    if let Some(dir) = directory {
        let problem = match meta::stat(&ctx.path(dir), true) {
            Ok(s) if s.kind == FileKind::Dir => None,
            Ok(_) => Some(std::io::Error::from_raw_os_error(code::ENOTDIR)),
            Err(e) => Some(e),
        };
        if let Some(e) = problem {
            return Err(input::report_cannot(ctx, "target directory", dir, &e));
        }
        return Ok((operands.to_vec(), Destination::Directory(dir.to_vec())));
    }
    let (Some(last), true) = (operands.last(), operands.len() > 1) else {
        let shown = quote::quote_in_sentence(&operands[0]);
        let what = b"missing destination file operand after ";
        return Err(input::usage_error(ctx, &[what, &shown]));
    };
    let sources = &operands[..operands.len() - 1];
    if no_directory {
        if sources.len() > 1 {
            return Err(input::extra_operand(ctx, &operands[2]));
        }
        return Ok((sources.to_vec(), Destination::File(last.clone())));
    }
    if is_dir(ctx, last) {
        return Ok((sources.to_vec(), Destination::Directory(last.clone())));
    }
    if sources.len() > 1 {
        let e = match meta::stat(&ctx.path(last), true) {
            Ok(_) => std::io::Error::from_raw_os_error(code::ENOTDIR),
            Err(e) => e,
        };
        return Err(input::report_cannot(ctx, "target", last, &e));
    }
    Ok((sources.to_vec(), Destination::File(last.clone())))
}

impl Destination {
    /// Returns the destination of one source.
    pub(super) fn path_for(&self, source: &[u8]) -> Vec<u8> {
        match self {
            Destination::File(f) => f.clone(),
            Destination::Directory(d) => {
                let base = paths::base_name(source);
                // `cp -r dir/.. into` copies the contents of `dir/..`; it does not create a file
                // named `..`.
                if matches!(base, b"." | b"..") { d.clone() } else { paths::join_path(d, base) }
            }
        }
    }
}
