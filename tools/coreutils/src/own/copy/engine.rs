//! Copying files and trees. Trees are walked with a list of tasks, not by recursion.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use box_applet::Ctx;
use box_sys::path::to_bytes;
use box_sys::{Kind, Stat, errno::code, meta};

use crate::common::mode::umask;
use crate::common::paths::{self, Backup};
use crate::common::{input, quote, tree};

/// Which symbolic links in the source are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Never,
    Operands,
    Always,
}

/// What happens to files that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Overwrite,
    Ask,
    Keep,
}

/// How to make the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Copy,
    HardLink,
    SymbolicLink,
    /// Metadata only.
    Attributes,
}

pub(super) struct Plan {
    pub recursive: bool,
    pub follow: Follow,
    pub preserve_mode: bool,
    /// `--no-preserve=mode`: default modes instead of the source's.
    pub default_mode: bool,
    pub preserve_owner: bool,
    pub preserve_times: bool,
    pub preserve_links: bool,
    pub existing: Existing,
    /// Removes what cannot be opened for writing (`-f`).
    pub force: bool,
    pub remove_destination: bool,
    /// Only newer files replace older ones.
    pub update: bool,
    pub verbose: bool,
    pub backup: Backup,
    pub how: How,
    pub one_file_system: bool,
    /// Part of a move: no messages about what is done.
    pub moving: bool,
    /// Special files are read, not made anew.
    pub copy_contents: bool,
}

/// One step.
enum Task {
    Copy {
        from: Vec<u8>,
        to: Vec<u8>,
        operand: bool,
    },
    /// After a directory's contents: its metadata. The flag says whether it was made here.
    Finish {
        to: Vec<u8>,
        stat: Stat,
        made: bool,
    },
}

/// Copies operands one after another, remembering what was made.
pub(super) struct Copier<'p> {
    plan: &'p Plan,
    /// Destinations of files with several names, by identity.
    links: HashMap<(u64, u64), Vec<u8>>,
    /// Destinations made for operands, which no later operand may overwrite.
    made: Vec<Vec<u8>>,
    /// Directories made for the current operand, by identity.
    roots: Vec<(u64, u64)>,
    device: Option<u64>,
    /// The operand being copied.
    source: Vec<u8>,
    pub ok: bool,
}

impl<'p> Copier<'p> {
    pub(super) fn new(plan: &'p Plan) -> Copier<'p> {
        Copier {
            plan,
            links: HashMap::new(),
            made: Vec::new(),
            roots: Vec::new(),
            device: None,
            source: Vec::new(),
            ok: true,
        }
    }

    /// Copies one operand; whether all went well.
    pub(super) fn operand(&mut self, ctx: &mut Ctx<'_>, from: &[u8], to: &[u8]) -> bool {
        let before = std::mem::replace(&mut self.ok, true);
        self.roots.clear();
        self.source = from.to_vec();
        self.device = None;
        let mut tasks = vec![Task::Copy { from: from.to_vec(), to: to.to_vec(), operand: true }];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Copy { from, to, operand } => {
                    if !self.one(ctx, &from, &to, operand, &mut tasks) {
                        self.ok = false;
                    }
                }
                Task::Finish { to, stat, made } => self.finish_dir(ctx, &to, &stat, made),
            }
        }
        let ok = self.ok;
        self.ok = before && ok;
        ok
    }

    fn fail(&self, ctx: &mut Ctx<'_>, what: &str, file: &[u8], e: &io::Error) -> bool {
        input::cannot(ctx, what, file, e);
        false
    }

    /// Copies one entry; directories put their contents on the list.
    fn one(
        &mut self,
        ctx: &mut Ctx<'_>,
        from: &[u8],
        to: &[u8],
        operand: bool,
        tasks: &mut Vec<Task>,
    ) -> bool {
        let p = self.plan;
        let follow = match p.follow {
            Follow::Always => true,
            Follow::Operands => operand,
            Follow::Never => false,
        };
        let (from_path, to_path) = (ctx.path(from), ctx.path(to));
        let stat = match meta::stat(&from_path, follow) {
            Ok(s) => s,
            Err(e) => return self.fail(ctx, "cannot stat", from, &e),
        };
        if stat.kind == Kind::Dir {
            if !p.recursive {
                let shown = quote::always(from);
                ctx.error_bytes(&[b"-r not specified; omitting directory ", &shown]);
                return false;
            }
            if p.one_file_system && *self.device.get_or_insert(stat.dev) != stat.dev {
                return true;
            }
        }
        let (from_shown, to_shown) = (quote::always(from), quote::always(to));
        if operand
            && self.made.iter().any(|m| m == to)
            && stat.kind != Kind::Dir
            && p.backup.kind != paths::BackupKind::Numbered
        {
            ctx.error_bytes(&[
                b"will not overwrite just-created ",
                &to_shown,
                b" with ",
                &from_shown,
            ]);
            return false;
        }
        let old = meta::stat(&to_path, false).ok();
        let old_target = if old.is_some_and(|o| o.kind == Kind::Symlink) {
            meta::stat(&to_path, true).ok()
        } else {
            old
        };
        let mut backed = None;
        if let Some(old) = &old {
            // What a destination link means counts where the source's link is followed too.
            let seen = if stat.kind == Kind::Symlink && !follow { Some(*old) } else { old_target };
            let same = seen.is_some_and(|o| paths::same(&o, &stat))
                || stat.ino == 0 && same_path(&from_path, &to_path);
            if same && !self.same_allowed(&stat, old, from, to) {
                if p.existing == Existing::Keep && !p.moving {
                    return true;
                }
                if p.how == How::HardLink && from != to {
                    return true;
                }
                ctx.error_bytes(&[&from_shown, b" and ", &to_shown, b" are the same file"]);
                return false;
            }
            let dir_there = old_target.is_some_and(|o| o.kind == Kind::Dir);
            if stat.kind == Kind::Dir {
                if old.kind == Kind::Symlink
                    && dir_there
                    && !operand
                    && !p.copy_contents
                    && p.follow != Follow::Always
                {
                    ctx.error_bytes(&[
                        b"cannot overwrite non-directory ",
                        &to_shown,
                        b" with directory ",
                        &from_shown,
                    ]);
                    return false;
                }
                if !dir_there {
                    ctx.error_bytes(&[
                        b"cannot overwrite non-directory ",
                        &to_shown,
                        b" with directory ",
                        &from_shown,
                    ]);
                    return false;
                }
            } else {
                if dir_there && (old.kind == Kind::Dir) {
                    ctx.error_bytes(&[
                        b"cannot overwrite directory ",
                        &to_shown,
                        b" with non-directory",
                    ]);
                    return false;
                }
                if p.update && old_target.is_some_and(|o| o.mtime >= stat.mtime) {
                    return true;
                }
                match p.existing {
                    Existing::Keep => return true,
                    Existing::Ask => {
                        let q = overwrite_question(&to_shown, old_target.as_ref(), "overwrite");
                        if !paths::confirm(ctx, &q) {
                            return true;
                        }
                    }
                    Existing::Overwrite => {}
                }
                match p.backup.make(ctx, to) {
                    Ok(b) => backed = b,
                    Err(e) => return self.fail(ctx, "cannot backup", to, &e),
                }
            }
        }
        let exists = old.is_some() && backed.is_none();
        if stat.kind == Kind::Dir {
            return self.directory(ctx, from, to, &stat, old.is_some(), operand, tasks);
        }
        if exists && self.plan.remove_destination {
            if let Err(e) = std::fs::remove_file(&to_path) {
                return self.fail(ctx, "cannot remove", to, &e);
            }
            if p.verbose {
                let line = [b"removed ", to_shown.as_slice(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
        }
        if p.verbose {
            let mut line = [from_shown.as_slice(), b" -> ", &to_shown].concat();
            if let Some(b) = &backed {
                line.extend_from_slice(
                    &[b" (backup: ", quote::always(b).as_slice(), b")"].concat(),
                );
            }
            line.push(b'\n');
            let _ = ctx.stdout.write_all(&line);
        }
        if operand {
            self.made.push(to.to_vec());
        }
        if p.preserve_links && stat.nlink > 1 && stat.ino != 0 && p.how == How::Copy {
            if let Some(first) = self.links.get(&(stat.dev, stat.ino)).cloned() {
                if exists && !p.remove_destination {
                    let _ = std::fs::remove_file(&to_path);
                }
                return match std::fs::hard_link(ctx.path(&first), &to_path) {
                    Ok(()) => true,
                    Err(e) => {
                        let text = box_sys::strerror(&e);
                        let first = quote::always(&first);
                        ctx.error_bytes(&[
                            b"cannot create hard link ",
                            &to_shown,
                            b" to ",
                            &first,
                            b": ",
                            text.as_bytes(),
                        ]);
                        false
                    }
                };
            }
            self.links.insert((stat.dev, stat.ino), to.to_vec());
        }
        let exists = exists && !p.remove_destination;
        match p.how {
            How::HardLink => self.hard_link(ctx, from, to, exists, follow),
            How::SymbolicLink => self.symbolic_link(ctx, from, to, exists),
            How::Attributes => {
                if !exists && let Err(e) = File::create(&to_path) {
                    return self.fail(ctx, "cannot create regular file", to, &e);
                }
                self.metadata(ctx, to, &stat, !exists)
            }
            How::Copy => self.contents(ctx, from, to, &stat, exists),
        }
    }

    /// A destination that is the source may still be replaced by removing it first.
    fn same_allowed(&self, stat: &Stat, old: &Stat, from: &[u8], to: &[u8]) -> bool {
        let p = self.plan;
        let other_name = from != to;
        if p.backup.kind != paths::BackupKind::None && !p.moving && other_name {
            return true;
        }
        // A link to the source is replaced, not written through.
        let through_link = old.kind == Kind::Symlink && stat.kind != Kind::Symlink;
        (p.remove_destination || p.how == How::SymbolicLink && p.force)
            && other_name
            && (through_link || old.nlink > 1)
    }

    fn directory(
        &mut self,
        ctx: &mut Ctx<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        exists: bool,
        operand: bool,
        tasks: &mut Vec<Task>,
    ) -> bool {
        if self.roots.contains(&(stat.dev, stat.ino)) && stat.ino != 0 {
            let f = quote::always(&self.source);
            let t = quote::always(self.made.last().map_or(to, Vec::as_slice));
            ctx.error_bytes(&[b"cannot copy a directory, ", &f, b", into itself, ", &t]);
            return false;
        }
        let path = ctx.path(to);
        if !exists {
            if let Err(e) = std::fs::create_dir(&path) {
                return self.fail(ctx, "cannot create directory", to, &e);
            }
            if self.plan.verbose {
                let line =
                    [&quote::always(from), b" -> ".as_slice(), &quote::always(to), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
        }
        if operand {
            self.made.push(to.to_vec());
            // Without inode numbers a copy into itself is told by its path.
            if let Ok(s) = meta::stat(&path, true) {
                self.roots.push((s.dev, s.ino));
            }
            let inside = |a: &std::path::Path, b: &std::path::Path| {
                let canon = |p: &std::path::Path| paths::canonical(p, paths::Missing::All).ok();
                matches!((canon(a), canon(b)), (Some(x), Some(y)) if x.starts_with(&y) && x != y)
            };
            if stat.ino == 0 && inside(&path, &ctx.path(from)) {
                let (f, t) = (quote::always(from), quote::always(to));
                ctx.error_bytes(&[b"cannot copy a directory, ", &f, b", into itself, ", &t]);
                return false;
            }
        }
        tasks.push(Task::Finish { to: to.to_vec(), stat: *stat, made: !exists });
        match tree::entries(ctx, from) {
            Ok(names) => {
                for n in names.iter().rev() {
                    tasks.push(Task::Copy {
                        from: paths::join(from, n),
                        to: paths::join(to, n),
                        operand: false,
                    });
                }
                true
            }
            Err(e) => self.fail(ctx, "cannot access", from, &e),
        }
    }

    fn finish_dir(&mut self, ctx: &mut Ctx<'_>, to: &[u8], stat: &Stat, made: bool) {
        if !self.metadata(ctx, to, stat, made) {
            self.ok = false;
        }
    }

    fn hard_link(
        &self,
        ctx: &mut Ctx<'_>,
        from: &[u8],
        to: &[u8],
        exists: bool,
        follow: bool,
    ) -> bool {
        let to_path = ctx.path(to);
        if exists && (self.plan.force || self.plan.existing == Existing::Ask) {
            let _ = std::fs::remove_file(&to_path);
        }
        let source = if follow {
            paths::canonical(&ctx.path(from), paths::Missing::None)
                .unwrap_or_else(|_| ctx.path(from))
        } else {
            ctx.path(from)
        };
        match std::fs::hard_link(source, &to_path) {
            Ok(()) => true,
            Err(e) => {
                let (t, f) = (quote::always(to), quote::always(from));
                ctx.error_bytes(&[
                    b"cannot create hard link ",
                    &t,
                    b" to ",
                    &f,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                false
            }
        }
    }

    fn symbolic_link(&self, ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], exists: bool) -> bool {
        if !from.starts_with(b"/") && to.contains(&b'/') && paths::dir_name(to) != b"." {
            let shown = quote::colon(to);
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
        match meta::symlink(from, &to_path) {
            Ok(()) => true,
            Err(e) => {
                let (t, f) = (quote::always(to), quote::always(from));
                ctx.error_bytes(&[
                    b"cannot create symbolic link ",
                    &t,
                    b" to ",
                    &f,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                false
            }
        }
    }

    /// The contents and metadata of anything but a directory.
    fn contents(
        &self,
        ctx: &mut Ctx<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        exists: bool,
    ) -> bool {
        let p = self.plan;
        let (from_path, to_path) = (ctx.path(from), ctx.path(to));
        if stat.kind == Kind::Symlink {
            let target = match std::fs::read_link(&from_path) {
                Ok(t) => t,
                Err(e) => return self.fail(ctx, "cannot read symbolic link", from, &e),
            };
            if exists && let Err(e) = std::fs::remove_file(&to_path) {
                return self.fail(ctx, "cannot remove", to, &e);
            }
            if let Err(e) = meta::symlink(to_bytes(&target), &to_path) {
                return self.fail(ctx, "cannot create symbolic link", to, &e);
            }
            if p.preserve_times {
                let _ = meta::set_times(&to_path, Some(stat.atime), Some(stat.mtime), false);
            }
            return true;
        }
        if stat.kind == Kind::Fifo && p.recursive && !p.copy_contents {
            if exists {
                let _ = std::fs::remove_file(&to_path);
            }
            return match meta::mkfifo(&to_path, stat.mode & 0o777) {
                Ok(()) => self.metadata(ctx, to, stat, true),
                Err(e) => self.fail(ctx, "cannot create fifo", to, &e),
            };
        }
        let mut source = match File::open(&from_path) {
            Ok(f) => f,
            Err(e) => {
                let shown = quote::always(from);
                ctx.error_bytes(&[
                    b"cannot open ",
                    &shown,
                    b" for reading: ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                return false;
            }
        };
        let open = || OpenOptions::new().write(true).create(true).truncate(true).open(&to_path);
        let mut made = !exists;
        let destination = if to.ends_with(b"/") && !exists {
            Err(io::Error::from_raw_os_error(code::ENOTDIR))
        } else if !exists && meta::stat(&to_path, false).is_ok() {
            // A link that points nowhere: writing through it would create a file elsewhere.
            let shown = quote::always(to);
            ctx.error_bytes(&[b"not writing through dangling symlink ", &shown]);
            return false;
        } else if exists && meta::stat(&to_path, true).is_err() && !p.moving {
            let shown = quote::always(to);
            ctx.error_bytes(&[b"not writing through dangling symlink ", &shown]);
            return false;
        } else {
            match open() {
                Err(_) if exists && p.force => {
                    made = true;
                    std::fs::remove_file(&to_path).and_then(|()| open())
                }
                other => other,
            }
        };
        let mut destination = match destination {
            Ok(f) => f,
            Err(e) => return self.fail(ctx, "cannot create regular file", to, &e),
        };
        let mut buf = vec![0; 128 * 1024];
        loop {
            let n = match source.read(&mut buf) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return self.fail(ctx, "error reading", from, &e),
            };
            if let Err(e) = destination.write_all(&buf[..n]) {
                return self.fail(ctx, "error writing", to, &e);
            }
        }
        drop(destination);
        self.metadata(ctx, to, stat, made)
    }

    /// Gives a file what is to be preserved; a new one gets the source's mode less the umask.
    fn metadata(&self, ctx: &mut Ctx<'_>, to: &[u8], stat: &Stat, made: bool) -> bool {
        let p = self.plan;
        let path = ctx.path(to);
        let mut ok = true;
        if p.preserve_owner {
            // Only root may give files away; that others cannot is no error.
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
            // A host without modes has none to preserve.
            if e.raw_os_error() != Some(code::ENOTSUP) {
                input::cannot(ctx, "preserving permissions for", to, &e);
                ok = false;
            }
        }
        if p.preserve_times
            && let Err(e) = meta::set_times(&path, Some(stat.atime), Some(stat.mtime), true)
        {
            input::cannot(ctx, "preserving times for", to, &e);
            ok = false;
        }
        ok
    }
}

fn same_path(a: &std::path::Path, b: &std::path::Path) -> bool {
    match (paths::canonical(a, paths::Missing::None), paths::canonical(b, paths::Missing::None)) {
        (Ok(x), Ok(y)) => x == y,
        _ => false,
    }
}

/// `overwrite 'x'?`, with the mode of a file that may not be written.
pub(super) fn overwrite_question(shown: &[u8], old: Option<&Stat>, verb: &str) -> Vec<u8> {
    match old {
        Some(s) if s.kind != Kind::Symlink && !meta::may(s, 2) => {
            let text = format!(
                ", overriding mode {:04o} ({})?",
                s.mode,
                crate::common::mode::letters(s.mode)
            );
            [b"replace ".as_slice(), shown, text.as_bytes()].concat()
        }
        _ => [verb.as_bytes(), b" ", shown, b"?"].concat(),
    }
}
