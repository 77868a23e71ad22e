//! Copies files and trees. Trees are walked with a list of tasks, not by recursion.
//!
//! This file decides how each entry is copied; `contents` creates the copies.

mod contents;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use box_applet::Ctx;
use box_sys::path::names_in;
use box_sys::{FileKind, Stat, meta};

use crate::common::paths::{self, Backup, BackupKind};
use crate::common::{input, quote};

/// The symbolic links in the source that are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CopyFollow {
    Never,
    Operands,
    #[default]
    Always,
}

/// The treatment of existing destination files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ExistingPolicy {
    #[default]
    Overwrite,
    Ask,
    Keep,
}

/// The method by which the destination is made from the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CopyMethod {
    #[default]
    Copy,
    HardLink,
    SymbolicLink,
    /// Only the metadata is copied.
    Attributes,
}

/// The attributes to copy, and the method of copying.
#[derive(Default)]
pub(super) struct CopyPlan {
    pub recursive: bool,
    pub follow: CopyFollow,
    pub preserve_mode: bool,
    /// Whether new files get default modes instead of the source's (`--no-preserve=mode`).
    pub default_mode: bool,
    pub preserve_owner: bool,
    pub preserve_times: bool,
    pub preserve_links: bool,
    pub existing: ExistingPolicy,
    /// Whether a destination that cannot be opened for writing is removed (`-f`).
    pub force: bool,
    pub remove_destination: bool,
    /// Whether only newer files replace older ones.
    pub update: bool,
    pub verbose: bool,
    pub backup: Backup,
    pub how: CopyMethod,
    pub one_file_system: bool,
    /// Whether the copy is part of a move, which does not report individual files.
    pub moving: bool,
    /// Whether the contents of special files are copied; otherwise special files are made.
    pub copy_contents: bool,
}

impl CopyPlan {
    /// Returns a plan that copies the files named on the command line, overwrites existing ones and
    /// preserves nothing.
    pub(super) fn new(backup: Backup) -> CopyPlan {
        CopyPlan { backup, ..CopyPlan::default() }
    }
}

/// A step of the copy.
enum CopyTask {
    Copy {
        from: Vec<u8>,
        to: Vec<u8>,
        operand: bool,
    },
    /// Sets a directory's metadata, after its contents were copied. The flag says whether this copy
    /// created the directory.
    Finish {
        to: Vec<u8>,
        stat: Stat,
        made: bool,
    },
}

/// An entry that is being copied.
struct CopyEntry<'t> {
    from: &'t [u8],
    to: &'t [u8],
    /// Whether the entry was named on the command line.
    operand: bool,
    /// Whether a symbolic link is replaced by its target.
    follow: bool,
    stat: Stat,
}

/// The entry that already exists at the destination.
struct OldEntry {
    stat: Stat,
    /// The target, if the entry is a symbolic link whose target exists.
    target: Option<Stat>,
}

/// The reason why a copy or a move ends before all its steps are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyStop {
    /// Nothing is left to do, because the user or an option keeps the destination.
    Skipped,
    /// A step failed, and a message gives the reason.
    Failed,
}

impl CopyStop {
    /// Returns whether the command may still succeed.
    pub(super) fn is_success(self) -> bool {
        self == CopyStop::Skipped
    }
}

/// The result of a step, or the reason to leave out the steps after it.
pub(super) type Step<T> = Result<T, CopyStop>;

/// A copier of operands, one after another, with a record of the files it made.
pub(super) struct Copier<'p> {
    plan: &'p CopyPlan,
    /// The destinations of files with several names, by the identity of the source.
    links: HashMap<(u64, u64), Vec<u8>>,
    /// The destinations made for operands, which no later operand may overwrite.
    made: Vec<Vec<u8>>,
    /// The directories made for the current operand, by identity.
    roots: Vec<(u64, u64)>,
    device: Option<u64>,
    /// The operand that is being copied.
    source: Vec<u8>,
}

impl<'p> Copier<'p> {
    pub(super) fn new(plan: &'p CopyPlan) -> Copier<'p> {
        Copier {
            plan,
            links: HashMap::new(),
            made: Vec::new(),
            roots: Vec::new(),
            device: None,
            source: Vec::new(),
        }
    }

    /// Copies one operand; returns whether everything succeeded.
    pub(super) fn copy_operand(&mut self, ctx: &mut Ctx<'_>, from: &[u8], to: &[u8]) -> bool {
        let mut ok = true;
        self.roots.clear();
        self.source = from.to_vec();
        self.device = None;
        let mut tasks =
            vec![CopyTask::Copy { from: from.to_vec(), to: to.to_vec(), operand: true }];
        while let Some(task) = tasks.pop() {
            ok &= match task {
                CopyTask::Copy { from, to, operand } => {
                    let entry = self.examine_source(ctx, &from, &to, operand);
                    let copied = entry.and_then(|entry| self.copy_entry(ctx, &entry, &mut tasks));
                    copied.unwrap_or_else(CopyStop::is_success)
                }
                CopyTask::Finish { to, stat, made } => self.copy_metadata(ctx, &to, &stat, made),
            }
        }
        ok
    }

    fn report_failure(
        &self,
        ctx: &mut Ctx<'_>,
        what: &str,
        file: &[u8],
        e: &io::Error,
    ) -> CopyStop {
        input::report_cannot(ctx, what, file, e);
        CopyStop::Failed
    }

    /// Returns the status of the source, or ends the step if the source is not to be copied.
    fn examine_source<'t>(
        &mut self,
        ctx: &mut Ctx<'_>,
        from: &'t [u8],
        to: &'t [u8],
        operand: bool,
    ) -> Step<CopyEntry<'t>> {
        let p = self.plan;
        let follow = match p.follow {
            CopyFollow::Always => true,
            CopyFollow::Operands => operand,
            CopyFollow::Never => false,
        };
        let stat = meta::stat(&ctx.path(from), follow)
            .map_err(|e| self.report_failure(ctx, "cannot stat", from, &e))?;
        if stat.kind == FileKind::Dir {
            if !p.recursive {
                let shown = quote::quote_in_sentence(from);
                ctx.error_bytes(&[b"-r not specified; omitting directory ", &shown]);
                return Err(CopyStop::Failed);
            }
            if p.one_file_system && *self.device.get_or_insert(stat.dev) != stat.dev {
                return Err(CopyStop::Skipped);
            }
        } else if operand
            && self.made.iter().any(|m| m == to)
            && p.backup.kind != BackupKind::Numbered
        {
            let (from, to) = (quote::quote_in_sentence(from), quote::quote_in_sentence(to));
            ctx.error_bytes(&[b"will not overwrite just-created ", &to, b" with ", &from]);
            return Err(CopyStop::Failed);
        }
        Ok(CopyEntry { from, to, operand, follow, stat })
    }

    /// Copies one entry; for a directory, adds its contents to the list of tasks.
    fn copy_entry(
        &mut self,
        ctx: &mut Ctx<'_>,
        e: &CopyEntry<'_>,
        tasks: &mut Vec<CopyTask>,
    ) -> Step<bool> {
        let p = self.plan;
        let to_path = ctx.path(e.to);
        let old = meta::stat(&to_path, false).ok().map(|stat| OldEntry {
            stat,
            target: match stat.kind {
                FileKind::Symlink => meta::stat(&to_path, true).ok(),
                _ => Some(stat),
            },
        });
        let mut backed = None;
        if let Some(old) = &old {
            self.refuse_same(ctx, e, old)?;
            if e.stat.kind == FileKind::Dir {
                self.refuse_directory(ctx, e, old)?;
            } else {
                backed = self.make_way(ctx, e, old)?;
            }
        }
        if e.stat.kind == FileKind::Dir {
            return self.copy_directory(ctx, e, old.is_some(), tasks);
        }
        let mut exists = old.is_some() && backed.is_none();
        if exists && p.remove_destination {
            std::fs::remove_file(&to_path)
                .map_err(|error| self.report_failure(ctx, "cannot remove", e.to, &error))?;
            exists = false;
            if p.verbose {
                let _ = ctx
                    .stdout
                    .write_all(&[b"removed ", &*quote::quote_in_sentence(e.to), b"\n"].concat());
            }
        }
        if p.verbose {
            let line = arrow_line(e.from, e.to, backed.as_deref());
            let _ = ctx.stdout.write_all(&line);
        }
        if e.operand {
            self.made.push(e.to.to_vec());
        }
        if p.preserve_links && e.stat.nlink > 1 && e.stat.ino != 0 && p.how == CopyMethod::Copy {
            let id = (e.stat.dev, e.stat.ino);
            if let Some(first) = self.links.get(&id) {
                return Ok(self.link_to_copy(ctx, first, e.to, exists));
            }
            self.links.insert(id, e.to.to_vec());
        }
        Ok(match p.how {
            CopyMethod::HardLink => self.hard_link(ctx, e, exists),
            CopyMethod::SymbolicLink => self.symbolic_link(ctx, e.from, e.to, exists),
            CopyMethod::Attributes => self.copy_attributes(ctx, e, exists),
            CopyMethod::Copy => self.copy_contents(ctx, e, exists),
        })
    }

    /// Refuses to copy a file to itself, unless a backup or a removal makes that possible.
    fn refuse_same(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, old: &OldEntry) -> Step<()> {
        let p = self.plan;
        // The target of a destination link matters only if the source's link is followed, too.
        let is_link = e.stat.kind == FileKind::Symlink && !e.follow;
        let seen = if is_link { Some(old.stat) } else { old.target };
        let same = seen.is_some_and(|o| paths::is_same_file(&o, &e.stat))
            || e.stat.ino == 0 && same_path(&ctx.path(e.from), &ctx.path(e.to));
        if !same || self.same_allowed(&e.stat, &old.stat, e.from, e.to) {
            return Ok(());
        }
        if p.existing == ExistingPolicy::Keep && !p.moving
            || p.how == CopyMethod::HardLink && e.from != e.to
        {
            return Err(CopyStop::Skipped);
        }
        let (from, to) = (quote::quote_in_sentence(e.from), quote::quote_in_sentence(e.to));
        ctx.error_bytes(&[&from, b" and ", &to, b" are the same file"]);
        Err(CopyStop::Failed)
    }

    /// Returns whether a destination that is the same file as the source may still be replaced, by
    /// removing it first.
    fn same_allowed(&self, stat: &Stat, old: &Stat, from: &[u8], to: &[u8]) -> bool {
        let p = self.plan;
        let other_name = from != to;
        if p.backup.kind != paths::BackupKind::None && !p.moving && other_name {
            return true;
        }
        // A link to the source is replaced, not written through.
        let through_link = old.kind == FileKind::Symlink && stat.kind != FileKind::Symlink;
        (p.remove_destination || p.how == CopyMethod::SymbolicLink && p.force)
            && other_name
            && (through_link || old.nlink > 1)
    }

    /// Refuses to replace a non-directory with a directory.
    fn refuse_directory(&self, ctx: &mut Ctx<'_>, e: &CopyEntry<'_>, old: &OldEntry) -> Step<()> {
        let p = self.plan;
        let is_dir = old.target.is_some_and(|o| o.kind == FileKind::Dir);
        let through_link = old.stat.kind == FileKind::Symlink
            && !e.operand
            && !p.copy_contents
            && p.follow != CopyFollow::Always;
        if is_dir && !through_link {
            return Ok(());
        }
        let (from, to) = (quote::quote_in_sentence(e.from), quote::quote_in_sentence(e.to));
        ctx.error_bytes(&[b"cannot overwrite non-directory ", &to, b" with directory ", &from]);
        Err(CopyStop::Failed)
    }

    /// Asks whether an existing file may be overwritten, and makes its backup; returns the backup's
    /// name.
    fn make_way(
        &self,
        ctx: &mut Ctx<'_>,
        e: &CopyEntry<'_>,
        old: &OldEntry,
    ) -> Step<Option<Vec<u8>>> {
        let p = self.plan;
        let shown = quote::quote_in_sentence(e.to);
        if old.stat.kind == FileKind::Dir {
            ctx.error_bytes(&[b"cannot overwrite directory ", &shown, b" with non-directory"]);
            return Err(CopyStop::Failed);
        }
        if p.update && old.target.is_some_and(|o| o.mtime >= e.stat.mtime) {
            return Err(CopyStop::Skipped);
        }
        let wanted = match p.existing {
            ExistingPolicy::Keep => false,
            ExistingPolicy::Overwrite => true,
            ExistingPolicy::Ask => {
                let question = overwrite_question(&shown, old.target.as_ref(), "overwrite");
                paths::confirm_question(ctx, &question)
            }
        };
        if !wanted {
            return Err(CopyStop::Skipped);
        }
        p.backup
            .make(ctx, e.to)
            .map_err(|error| self.report_failure(ctx, "cannot backup", e.to, &error))
    }

    fn copy_directory(
        &mut self,
        ctx: &mut Ctx<'_>,
        e: &CopyEntry<'_>,
        exists: bool,
        tasks: &mut Vec<CopyTask>,
    ) -> Step<bool> {
        if self.roots.contains(&(e.stat.dev, e.stat.ino)) && e.stat.ino != 0 {
            let last = self.made.last().map_or(e.to, Vec::as_slice);
            return Err(into_itself(ctx, &self.source, last));
        }
        let path = ctx.path(e.to);
        if !exists {
            std::fs::create_dir(&path).map_err(|error| {
                self.report_failure(ctx, "cannot create directory", e.to, &error)
            })?;
            if self.plan.verbose {
                let _ = ctx.stdout.write_all(&arrow_line(e.from, e.to, None));
            }
        }
        if e.operand {
            self.made.push(e.to.to_vec());
            if let Ok(s) = meta::stat(&path, true) {
                self.roots.push((s.dev, s.ino));
            }
            // Without inode numbers, only the paths show that a directory is copied into itself.
            if e.stat.ino == 0 && paths::is_inside(&path, &ctx.path(e.from)) {
                return Err(into_itself(ctx, e.from, e.to));
            }
        }
        tasks.push(CopyTask::Finish { to: e.to.to_vec(), stat: e.stat, made: !exists });
        let names = names_in(&ctx.path(e.from))
            .map_err(|error| self.report_failure(ctx, "cannot access", e.from, &error))?;
        tasks.extend(names.iter().rev().map(|name| CopyTask::Copy {
            from: paths::join_path(e.from, name),
            to: paths::join_path(e.to, name),
            operand: false,
        }));
        Ok(true)
    }
}

/// Returns a line such as `'a' -> 'b' (backup: 'b~')`.
pub(super) fn arrow_line(from: &[u8], to: &[u8], backup: Option<&[u8]>) -> Vec<u8> {
    let mut line =
        [&*quote::quote_in_sentence(from), b" -> ", &*quote::quote_in_sentence(to)].concat();
    if let Some(name) = backup {
        line.extend_from_slice(&[b" (backup: ", &*quote::quote_in_sentence(name), b")"].concat());
    }
    line.push(b'\n');
    line
}

fn into_itself(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8]) -> CopyStop {
    let (from, to) = (quote::quote_in_sentence(from), quote::quote_in_sentence(to));
    ctx.error_bytes(&[b"cannot copy a directory, ", &from, b", into itself, ", &to]);
    CopyStop::Failed
}

fn same_path(a: &Path, b: &Path) -> bool {
    match (
        paths::canonical_path(a, paths::MissingComponents::None),
        paths::canonical_path(b, paths::MissingComponents::None),
    ) {
        (Ok(x), Ok(y)) => x == y,
        _ => false,
    }
}

/// Returns the question `overwrite 'x'?`, with the mode if the file is not writable.
pub(super) fn overwrite_question(shown: &[u8], old: Option<&Stat>, verb: &str) -> Vec<u8> {
    match old {
        Some(s) if s.kind != FileKind::Symlink && !meta::may_access(s, 2) => {
            let text = format!(
                ", overriding mode {:04o} ({})?",
                s.mode,
                box_text::mode::mode_letters(s.mode)
            );
            [b"replace ".as_slice(), shown, text.as_bytes()].concat()
        }
        _ => [verb.as_bytes(), b" ", shown, b"?"].concat(),
    }
}
