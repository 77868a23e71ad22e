//! `ls`, `dir`, `vdir` (POSIX XCU ls; GNU). Byte-order collation.
//!
//! | file | contents |
//! |---|---|
//! | `options` | resolution of the options to a plan |
//! | `entry` | the data of a file, and sorting |
//! | `color` | `LS_COLORS` |
//! | `long` | the long format |
//! | `layout` | columns, rows, commas |

mod color;
mod entry;
mod layout;
mod long;
mod options;

use std::io::Write;

use box_applet::{Ctx, Ended, Exit};
use box_sys::{AccountNames, FileKind, Stat, meta};

use crate::common::{input, paths, quote};
use entry::LsEntry;
use options::{LsFollow, LsFormat, LsPlan, LsUsageError};

/// The statuses after an error at an entry below an operand, and at an operand itself.
const MINOR: u8 = 1;
const SERIOUS: u8 = 2;

pub(crate) fn run_ls(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    run(ctx, args, None)
}

/// Runs `dir`, which is `ls -C -b`.
pub(crate) fn run_dir(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    run(ctx, args, Some(LsFormat::Columns))
}

/// Runs `vdir`, which is `ls -l -b`.
pub(crate) fn run_vdir(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    run(ctx, args, Some(LsFormat::Long))
}

struct LsRun<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    plan: LsPlan,
    names: AccountNames,
    status: u8,
    out: Vec<u8>,
}

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>], default: Option<LsFormat>) -> Ended {
    let p = options::SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let plan = LsPlan::new(ctx, &p, default).map_err(|wrong| match wrong {
        // In GNU's, the status after an unknown word of an option is 1, the default of argmatch.
        LsUsageError::Word(text) => input::usage_error(ctx, &[&text]),
        LsUsageError::Other(text) => {
            ctx.error_bytes(&[&text]);
            Exit::USAGE
        }
    })?;
    let mut operands = p.operands.clone();
    if operands.is_empty() {
        operands.push(b".".to_vec());
    }
    let mut list = LsRun { ctx, plan, names: AccountNames::load(), status: 0, out: Vec::new() };
    list.list_operands(&operands);
    let _ = list.flush();
    Ok(Exit(list.status))
}

impl LsRun<'_, '_> {
    fn note_trouble(&mut self, status: u8) {
        self.status = self.status.max(status);
    }

    fn flush(&mut self) -> bool {
        let ok = self.ctx.stdout.write_all(&self.out).is_ok();
        self.out.clear();
        ok
    }

    /// Lists the operands: files first, then the contents of directories.
    fn list_operands(&mut self, operands: &[Vec<u8>]) {
        let (mut files, mut dirs) = (Vec::new(), Vec::new());
        for operand in operands {
            match self.stat_operand(operand) {
                Ok(stat) => {
                    let name = operand.clone();
                    let entry = LsEntry::new(&self.plan, self.ctx, name, operand, Some(stat));
                    let lists = stat.kind == FileKind::Dir && !self.plan.directory;
                    if lists { dirs.push(entry) } else { files.push(entry) }
                }
                Err(e) => {
                    self.flush();
                    input::report_cannot(self.ctx, "cannot access", operand, &e);
                    self.note_trouble(SERIOUS);
                }
            }
        }
        self.plan.sort_entries(&mut files);
        self.plan.sort_entries(&mut dirs);
        if !files.is_empty() {
            self.print_entries(&files);
        }
        let headers = operands.len() > 1 || self.plan.recursive;
        self.list_directories(dirs, headers, files.is_empty());
    }

    /// Returns the status of an operand or, if the options say so, of its target.
    fn stat_operand(&self, operand: &[u8]) -> std::io::Result<Stat> {
        let path = self.ctx.path(operand);
        let follow = match self.plan.follow {
            LsFollow::Always | LsFollow::Operands => true,
            LsFollow::OperandDirs => meta::stat(&path, true).is_ok_and(|s| s.kind == FileKind::Dir),
            LsFollow::Never => false,
        };
        meta::stat(&path, follow).or_else(|e| {
            if follow && self.plan.follow != LsFollow::Always {
                meta::stat(&path, false)
            } else {
                Err(e)
            }
        })
    }

    /// Lists directories and, with `-R`, those in them.
    fn list_directories(&mut self, dirs: Vec<LsEntry>, headers: bool, mut first: bool) {
        // The directories still to list, the next one last. The flag says whether the directory was
        // an operand.
        let mut todo: Vec<(Vec<u8>, bool)> =
            dirs.into_iter().rev().map(|d| (d.name, true)).collect();
        while let Some((dir, operand)) = todo.pop() {
            let entries = match self.read(&dir) {
                Ok(e) => e,
                Err(e) => {
                    self.flush();
                    input::report_cannot(self.ctx, "cannot open directory", &dir, &e);
                    self.note_trouble(if operand { SERIOUS } else { MINOR });
                    continue;
                }
            };
            if headers {
                self.print_header(&dir, first);
            }
            first = false;
            if self.plan.format == LsFormat::Long || self.plan.blocks {
                let stats = entries.iter().filter_map(|e| e.stat.as_ref());
                let total: u64 = stats.map(super::stat::block_count).sum();
                let shown = self.plan.block_scale.show(total * 512);
                self.out.extend_from_slice(format!("total {shown}").as_bytes());
                self.out.push(self.plan.end);
            }
            self.print_entries(&entries);
            if !self.flush() {
                return;
            }
            if self.plan.recursive {
                let below = entries.iter().rev().filter(|e| {
                    e.kind == Some(FileKind::Dir) && !matches!(e.name.as_slice(), b"." | b"..")
                });
                todo.extend(below.map(|e| (paths::join_path(&dir, &e.name), false)));
            }
        }
    }

    /// Prints `DIR:` before the contents of a directory.
    fn print_header(&mut self, dir: &[u8], first: bool) {
        if !first {
            self.out.push(b'\n');
        }
        // A colon in a name is quoted, because a colon ends the header.
        let shown = match self.plan.quoting {
            quote::QuoteStyle::ShellEscape => quote::quote_with_colon(dir),
            style => quote::quote_name(dir, style),
        };
        self.out.extend_from_slice(&shown);
        self.out.extend_from_slice(b":\n");
    }

    fn read(&mut self, dir: &[u8]) -> std::io::Result<Vec<LsEntry>> {
        let mut names = Vec::new();
        for e in std::fs::read_dir(self.ctx.path(dir))? {
            let e = e?;
            let kind = e.file_type().ok();
            names.push((box_sys::path::os_into_bytes(e.file_name()), kind));
        }
        let mut out = Vec::with_capacity(names.len() + 2);
        if self.plan.all {
            names.retain(|(n, _)| n != b"." && n != b"..");
            names.insert(0, (b"..".to_vec(), None));
            names.insert(0, (b".".to_vec(), None));
        }
        for (name, kind) in names {
            if !self.plan.is_shown(&name) {
                continue;
            }
            let path = paths::join_path(dir, &name);
            let full = self.ctx.path(&path);
            let mut stat = None;
            if self.plan.needs_stat || kind.is_none() {
                let follow = self.plan.follow == LsFollow::Always;
                match meta::stat(&full, follow)
                    .or_else(|e| if follow { meta::stat(&full, false) } else { Err(e) })
                {
                    Ok(s) => stat = Some(s),
                    Err(e) => {
                        input::report_cannot(self.ctx, "cannot access", &path, &e);
                        self.note_trouble(MINOR);
                    }
                }
            }
            let mut e = LsEntry::new(&self.plan, self.ctx, name, &path, stat);
            if e.kind.is_none() {
                e.kind = kind.map(|k| {
                    if k.is_dir() {
                        FileKind::Dir
                    } else if k.is_symlink() {
                        FileKind::Symlink
                    } else {
                        FileKind::File
                    }
                });
            }
            out.push(e);
        }
        self.plan.sort_entries(&mut out);
        Ok(out)
    }

    fn print_entries(&mut self, entries: &[LsEntry]) {
        match self.plan.format {
            LsFormat::Long => long::list_long(&mut self.out, &self.plan, &self.names, entries),
            _ => layout::layout_entries(&mut self.out, &self.plan, entries),
        }
    }
}
