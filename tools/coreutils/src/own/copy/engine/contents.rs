//! Creates the copies: contents, links and metadata.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use box_applet::Ctx;
use box_sys::meta::umask;
use box_sys::path::to_bytes;
use box_sys::{FileKind, Stat, errno::code, meta};

use super::{Copier, CopyEntry, CopyStop, ExistingPolicy, Step};
use crate::common::{input, paths, quote};

impl Copier<'_> {
    /// Makes a link to the earlier copy of a file that has several names.
    pub(super) fn link_to_copy(
        &self,
        ctx: &mut Ctx<'_>,
        first: &[u8],
        to: &[u8],
        exists: bool,
    ) -> bool {
        let to_path = ctx.path(to);
        if exists {
            let _ = std::fs::remove_file(&to_path);
        }
        let made = std::fs::hard_link(ctx.path(first), &to_path);
        made.map_err(|e| cannot_link(ctx, "hard", to, first, &e)).is_ok()
    }

    pub(super) fn hard_link(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, exists: bool) -> bool {
        let to_path = ctx.path(e.to);
        if exists && (self.plan.force || self.plan.existing == ExistingPolicy::Ask) {
            let _ = std::fs::remove_file(&to_path);
        }
        let mut source = ctx.path(e.from);
        if e.follow {
            source =
                paths::canonical_path(&source, paths::MissingComponents::None).unwrap_or(source);
        }
        let made = std::fs::hard_link(source, &to_path);
        made.map_err(|error| cannot_link(ctx, "hard", e.to, e.from, &error)).is_ok()
    }

    pub(super) fn symbolic_link(
        &self,
        ctx: &mut Ctx<'_>,
        from: &[u8],
        to: &[u8],
        exists: bool,
    ) -> bool {
        if !from.starts_with(b"/") && to.contains(&b'/') && paths::dir_name(to) != b"." {
            let shown = quote::quote_with_colon(to);
            ctx.error_bytes(&[
                &shown,
                b": can make relative symbolic links only in current directory",
            ]);
            return false;
        }
        let to_path = ctx.path(to);
        if exists && self.plan.force {
            let _ = std::fs::remove_file(&to_path);
        }
        let made = meta::symlink(from, &to_path);
        made.map_err(|e| cannot_link(ctx, "symbolic", to, from, &e)).is_ok()
    }

    /// Copies only metadata; a destination that does not exist is created empty.
    pub(super) fn copy_attributes(
        &self,
        ctx: &mut Ctx<'_>,
        e: &CopyEntry<'_>,
        exists: bool,
    ) -> bool {
        if !exists && let Err(error) = File::create(ctx.path(e.to)) {
            self.report_failure(ctx, "cannot create regular file", e.to, &error);
            return false;
        }
        self.copy_metadata(ctx, e.to, &e.stat, !exists)
    }

    /// Copies the contents and metadata of anything but a directory.
    pub(super) fn copy_contents(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, exists: bool) -> bool {
        let copied = match e.stat.kind {
            FileKind::Symlink => self.link_contents(ctx, e, exists),
            FileKind::Fifo if self.plan.recursive && !self.plan.copy_contents => {
                self.copy_fifo(ctx, e, exists)
            }
            _ => self.file_contents(ctx, e, exists),
        };
        copied.unwrap_or_else(CopyStop::is_success)
    }

    fn link_contents(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, exists: bool) -> Step<bool> {
        let to_path = ctx.path(e.to);
        let target = std::fs::read_link(ctx.path(e.from)).map_err(|error| {
            self.report_failure(ctx, "cannot read symbolic link", e.from, &error)
        })?;
        if exists {
            std::fs::remove_file(&to_path)
                .map_err(|error| self.report_failure(ctx, "cannot remove", e.to, &error))?;
        }
        meta::symlink(to_bytes(&target), &to_path).map_err(|error| {
            self.report_failure(ctx, "cannot create symbolic link", e.to, &error)
        })?;
        if self.plan.preserve_times {
            let _ = meta::set_times(&to_path, Some(e.stat.atime), Some(e.stat.mtime), false);
        }
        Ok(true)
    }

    fn copy_fifo(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, exists: bool) -> Step<bool> {
        let to_path = ctx.path(e.to);
        if exists {
            let _ = std::fs::remove_file(&to_path);
        }
        meta::mkfifo(&to_path, e.stat.mode & 0o777)
            .map_err(|error| self.report_failure(ctx, "cannot create fifo", e.to, &error))?;
        Ok(self.copy_metadata(ctx, e.to, &e.stat, true))
    }

    fn file_contents(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, exists: bool) -> Step<bool> {
        let mut source = File::open(ctx.path(e.from)).map_err(|error| {
            let shown = quote::quote_in_sentence(e.from);
            let why = box_sys::error_text(&error);
            ctx.error_bytes(&[b"cannot open ", &shown, b" for reading: ", why.as_bytes()]);
            CopyStop::Failed
        })?;
        let (mut destination, made) = self.open_destination(ctx, e.to, exists)?;
        let mut buf = vec![0; 128 * 1024];
        loop {
            let n = match source.read(&mut buf) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(self.report_failure(ctx, "error reading", e.from, &error));
                }
            };
            destination
                .write_all(&buf[..n])
                .map_err(|error| self.report_failure(ctx, "error writing", e.to, &error))?;
        }
        drop(destination);
        Ok(self.copy_metadata(ctx, e.to, &e.stat, made))
    }

    /// Opens the destination for writing; returns it, and whether it is new.
    fn open_destination(&self, ctx: &mut Ctx<'_>, to: &[u8], exists: bool) -> Step<(File, bool)> {
        let path = ctx.path(to);
        let not_there = to.ends_with(b"/") && !exists;
        // Writing through a link whose target does not exist would create a file elsewhere.
        let dangling = if exists {
            meta::stat(&path, true).is_err() && !self.plan.moving
        } else {
            !not_there && meta::stat(&path, false).is_ok()
        };
        if dangling {
            let shown = quote::quote_in_sentence(to);
            ctx.error_bytes(&[b"not writing through dangling symlink ", &shown]);
            return Err(CopyStop::Failed);
        }
        let open = || OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        let opened = if not_there {
            Err(io::Error::from_raw_os_error(code::ENOTDIR))
        } else {
            open().map(|file| (file, !exists))
        };
        let opened = match opened {
            Err(_) if exists && self.plan.force => {
                std::fs::remove_file(&path).and_then(|()| open()).map(|file| (file, true))
            }
            opened => opened,
        };
        opened.map_err(|error| self.report_failure(ctx, "cannot create regular file", to, &error))
    }

    /// Copies the attributes to preserve; a new file gets the source's mode without the bits of the
    /// umask.
    pub(super) fn copy_metadata(
        &self,
        ctx: &mut Ctx<'_>,
        to: &[u8],
        stat: &Stat,
        made: bool,
    ) -> bool {
        let p = self.plan;
        let path = ctx.path(to);
        let mut ok = true;
        if p.preserve_owner {
            // Only root may change a file's owner, so a failure is not an error for other users.
            if meta::stat(&path, true).is_ok_and(|s| s.uid != stat.uid || s.gid != stat.gid) {
                let _ = meta::chown(&path, Some(stat.uid), Some(stat.gid), true);
            }
        }
        let mode = if p.preserve_mode {
            Some(stat.mode)
        } else if made && !p.default_mode {
            Some(stat.mode & 0o777 & !umask())
        } else {
            None
        };
        if let Some(mode) = mode
            && meta::stat(&path, true).is_ok_and(|s| s.mode != mode)
            && let Err(e) = meta::chmod(&path, mode)
        {
            // A host without modes cannot preserve them.
            if e.raw_os_error() != Some(code::ENOTSUP) {
                input::report_cannot(ctx, "preserving permissions for", to, &e);
                ok = false;
            }
        }
        if p.preserve_times
            && let Err(e) = meta::set_times(&path, Some(stat.atime), Some(stat.mtime), true)
        {
            input::report_cannot(ctx, "preserving times for", to, &e);
            ok = false;
        }
        ok
    }
}

fn cannot_link(ctx: &mut Ctx<'_>, kind: &str, to: &[u8], from: &[u8], e: &io::Error) {
    let what = format!("cannot create {kind} link ");
    let (to, from) = (quote::quote_in_sentence(to), quote::quote_in_sentence(from));
    let why = box_sys::error_text(e);
    ctx.error_bytes(&[what.as_bytes(), &to, b" to ", &from, b": ", why.as_bytes()]);
}
