//! The walk through the trees, with its own stack.

use std::ffi::OsString;
use std::fs;
use std::io;

use box_applet::Ctx;
use box_sys::{FileKind, path};

use super::entry::{FindEntry, kind_of, quote_name};
use super::eval::EvalState;
use super::expr::{FindExpr, FindSettings};

/// A directory whose entries are being visited.
struct FindLevel {
    dir: FindEntry,
    /// The entries still to be visited, the next one last.
    names: Vec<(OsString, Option<FileKind>)>,
}

/// Visits everything below the starting points.
pub fn walk_points(
    ctx: &mut Ctx<'_>,
    settings: &mut FindSettings,
    points: &[Vec<u8>],
    expr: &mut FindExpr,
    state: &mut EvalState,
) {
    for point in points {
        if state.quit {
            return;
        }
        let follow = settings.follows_at(0);
        let entry = FindEntry::new(point.clone(), ctx.path(point), 0, point.len(), follow, None);
        let stat = if point.is_empty() {
            Err(io::Error::from_raw_os_error(box_sys::errno::code::ENOENT))
        } else {
            entry.stat().map(|s| s.dev)
        };
        match stat {
            Ok(device) => {
                let mut tree = FindWalk { ctx, settings, expr, state, device, levels: Vec::new() };
                tree.run(entry);
            }
            Err(e) => state.report_error(ctx, point, &e),
        }
    }
}

struct FindWalk<'t, 'c> {
    ctx: &'t mut Ctx<'c>,
    settings: &'t mut FindSettings,
    expr: &'t mut FindExpr,
    state: &'t mut EvalState,
    /// The device of the starting point.
    device: u64,
    levels: Vec<FindLevel>,
}

impl FindWalk<'_, '_> {
    fn run(&mut self, point: FindEntry) {
        self.visit_entry(point);
        while let Some(level) = self.levels.last_mut() {
            if self.state.quit {
                return;
            }
            if let Some((name, kind)) = level.names.pop() {
                let base = path::os_bytes(&name);
                let dir = &level.dir;
                let mut shown = Vec::with_capacity(dir.shown.len() + 1 + base.len());
                shown.extend_from_slice(&dir.shown);
                if shown.last() != Some(&b'/') {
                    shown.push(b'/');
                }
                shown.extend_from_slice(base);
                let depth = dir.depth + 1;
                let follow = self.settings.follows_at(depth);
                let at = dir.path.join(&name);
                let entry = FindEntry::new(shown, at, depth, dir.point_len, follow, kind);
                self.visit_entry(entry);
            } else if let Some(level) = self.levels.pop()
                && self.settings.depth_first
            {
                self.eval_entry(&level.dir);
            }
        }
    }

    /// Evaluates the expression for an entry, and prepares the visit of its children.
    fn visit_entry(&mut self, entry: FindEntry) {
        let kind = match entry.kind() {
            Ok(kind) => kind,
            Err(e) => {
                self.state.report_error(self.ctx, &entry.shown, &e);
                return;
            }
        };
        let deeper = kind == FileKind::Dir
            && self.settings.max_depth.is_none_or(|max| (entry.depth as u64) < max);
        if deeper && entry.follow && self.is_loop(&entry) {
            return;
        }
        self.state.prune = false;
        if !self.settings.depth_first {
            self.eval_entry(&entry);
            if self.state.quit {
                return;
            }
        }
        if deeper && !self.state.prune && self.same_device(&entry) {
            self.enter_dir(entry);
        } else if self.settings.depth_first {
            self.eval_entry(&entry);
        }
    }

    fn eval_entry(&mut self, entry: &FindEntry) {
        if entry.depth as u64 >= self.settings.min_depth {
            self.state.eval_entry(self.ctx, self.settings, self.expr, entry);
        }
    }

    fn enter_dir(&mut self, entry: FindEntry) {
        let mut names = Vec::new();
        match fs::read_dir(&entry.path) {
            Ok(list) => {
                for item in list {
                    match item {
                        Ok(item) => {
                            let kind = item.file_type().ok().and_then(kind_of);
                            names.push((item.file_name(), kind));
                        }
                        Err(e) => {
                            self.state.report_error(self.ctx, &entry.shown, &e);
                            break;
                        }
                    }
                }
            }
            Err(e) => self.state.report_error(self.ctx, &entry.shown, &e),
        }
        names.reverse();
        self.levels.push(FindLevel { dir: entry, names });
    }

    fn same_device(&self, entry: &FindEntry) -> bool {
        !self.settings.one_device || entry.stat().is_ok_and(|s| s.dev == self.device)
    }

    /// Returns whether a followed link leads to a directory that is being visited.
    fn is_loop(&mut self, entry: &FindEntry) -> bool {
        if entry.dir_kind == Some(FileKind::Dir) {
            return false;
        }
        let Ok(id) = entry.stat().map(|s| (s.dev, s.ino)) else { return false };
        let same = |l: &&FindLevel| l.dir.stat().is_ok_and(|s| (s.dev, s.ino) == id);
        let Some(level) = self.levels.iter().find(same) else { return false };
        let (inner, outer) = (quote_name(&entry.shown), quote_name(&level.dir.shown));
        self.ctx.error_bytes(&[
            b"File system loop detected; ",
            &inner,
            b" is part of the same file system loop as ",
            &outer,
            b".",
        ]);
        self.state.failed = true;
        true
    }
}
