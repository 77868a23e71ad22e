//! The value of an expression for an entry, with its side effects.

use std::io;

use box_applet::Ctx;
use box_sys::{FileKind, meta};

use super::entry::{FindEntry, quote_name};
use super::expr::{FindAction, FindExpr, FindSettings, Test};
use super::list;
use super::primary::file_time;

/// The requests of an evaluation to the walk.
#[derive(Default)]
pub struct EvalState {
    /// `-prune`: whether the walk omits the files below this entry.
    pub prune: bool,
    /// Whether the search is over, because of `-quit` or because standard output failed.
    pub quit: bool,
    /// Whether the exit status is 1.
    pub failed: bool,
    line: Vec<u8>,
}

impl EvalState {
    /// Runs the commands of incomplete batches.
    pub fn run_batches(&mut self, ctx: &mut Ctx<'_>, expr: &mut FindExpr) {
        match expr {
            FindExpr::And(all) | FindExpr::Or(all) | FindExpr::List(all) => {
                all.iter_mut().for_each(|e| self.run_batches(ctx, e));
            }
            FindExpr::Not(inner) => self.run_batches(ctx, inner),
            FindExpr::Action(FindAction::Exec(exec)) => exec.run_rest(ctx, &mut self.failed),
            FindExpr::Action(_) | FindExpr::Test(_) => {}
        }
    }

    /// Reports an error about an entry.
    pub fn report_error(&mut self, ctx: &mut Ctx<'_>, name: &[u8], e: &io::Error) {
        self.failed = true;
        ctx.error_bytes(&[&quote_name(name), b": ", box_sys::error_text(e).as_bytes()]);
    }

    /// Evaluates the expression for one entry.
    pub fn eval_entry(
        &mut self,
        ctx: &mut Ctx<'_>,
        settings: &mut FindSettings,
        expr: &mut FindExpr,
        entry: &FindEntry,
    ) -> bool {
        match expr {
            FindExpr::And(all) => {
                for e in all {
                    if !self.eval_entry(ctx, settings, e, entry) || self.quit {
                        return false;
                    }
                }
                true
            }
            FindExpr::Or(all) => {
                for e in all {
                    if self.eval_entry(ctx, settings, e, entry) || self.quit {
                        return true;
                    }
                }
                false
            }
            FindExpr::List(all) => {
                let mut last = false;
                for e in all {
                    last = self.eval_entry(ctx, settings, e, entry);
                    if self.quit {
                        break;
                    }
                }
                last
            }
            FindExpr::Not(inner) => !self.eval_entry(ctx, settings, inner, entry),
            FindExpr::Test(test) => match test_holds(test, entry, settings) {
                Ok(value) => value,
                Err(e) => {
                    self.report_error(ctx, &entry.shown, &e);
                    false
                }
            },
            FindExpr::Action(action) => self.run_action(ctx, settings, action, entry),
        }
    }

    fn run_action(
        &mut self,
        ctx: &mut Ctx<'_>,
        settings: &mut FindSettings,
        action: &mut FindAction,
        entry: &FindEntry,
    ) -> bool {
        self.line.clear();
        let sink = match action {
            FindAction::Print(sink, end) => {
                self.line.extend_from_slice(&entry.shown);
                self.line.push(*end);
                *sink
            }
            FindAction::Printf(sink, format) => {
                format.write(entry, settings, &mut self.line);
                *sink
            }
            FindAction::List(sink) => {
                match entry.stat() {
                    Ok(stat) => list::write(entry, stat, settings, &mut self.line),
                    Err(e) => self.report_error(ctx, &entry.shown, &e),
                }
                *sink
            }
            FindAction::Prune => {
                self.prune = true;
                return true;
            }
            FindAction::Quit => {
                self.quit = true;
                return true;
            }
            FindAction::Delete => return self.delete_entry(ctx, entry),
            FindAction::Exec(exec) => return exec.run_for(ctx, entry, &mut self.failed),
        };
        if settings.sinks.write(ctx, sink, &self.line).is_err() {
            self.quit = true;
            self.failed = true;
        }
        true
    }

    fn delete_entry(&mut self, ctx: &mut Ctx<'_>, entry: &FindEntry) -> bool {
        if entry.shown == b"." {
            return true;
        }
        let is_dir = meta::stat(&entry.path, false).is_ok_and(|s| s.kind == FileKind::Dir);
        let result = if is_dir {
            std::fs::remove_dir(&entry.path)
        } else {
            std::fs::remove_file(&entry.path)
        };
        match result {
            Ok(()) => true,
            Err(e) => {
                self.failed = true;
                let text = box_sys::error_text(&e);
                ctx.error_bytes(&[
                    b"cannot delete ",
                    &quote_name(&entry.shown),
                    b": ",
                    text.as_bytes(),
                ]);
                false
            }
        }
    }
}

fn test_holds(test: &Test, entry: &FindEntry, settings: &FindSettings) -> io::Result<bool> {
    Ok(match test {
        Test::Const(value) => *value,
        Test::Name(pattern) => pattern.is_match(entry.base()),
        Test::Path(pattern) => pattern.is_match(&entry.shown),
        Test::LinkTarget(pattern) => {
            entry.kind()? == FileKind::Symlink
                && entry.target().is_some_and(|t| pattern.is_match(t))
        }
        Test::Regex(regex) => regex.is_match(&entry.shown),
        Test::Type(kinds, false) => kinds.contains(&entry.kind()?),
        Test::Type(kinds, true) => {
            // `-xtype` treats links in the opposite way: it follows them without `-L`, and does not
            // with `-L`.
            let kind = match meta::stat(&entry.path, !entry.follow) {
                Ok(stat) => stat.kind,
                Err(_) => entry.kind()?,
            };
            kinds.contains(&kind)
        }
        Test::Size { cmp, unit } => cmp.holds(entry.stat()?.size.div_ceil(*unit)),
        Test::Empty => match entry.kind()? {
            FileKind::Dir => std::fs::read_dir(&entry.path)?.next().is_none(),
            FileKind::File => entry.stat()?.size == 0,
            _ => false,
        },
        Test::Newer(of, at) => file_time(entry.stat()?, *of) > *at,
        Test::Older(of, at) => file_time(entry.stat()?, *of) < *at,
        Test::Between(of, from, to) => {
            let t = file_time(entry.stat()?, *of);
            *from < t && t <= *to
        }
        Test::Used(cmp) => {
            let stat = entry.stat()?;
            let days = (i128::from(stat.atime) - i128::from(stat.ctime)) as f64 / 86400e9;
            days >= 0.0 && cmp.holds(days.floor() + 1.0)
        }
        Test::Perm(perm) => perm.holds(entry.stat()?.mode),
        Test::User(cmp) => cmp.holds(u64::from(entry.stat()?.uid)),
        Test::Group(cmp) => cmp.holds(u64::from(entry.stat()?.gid)),
        Test::NoUser => settings.names.user(entry.stat()?.uid).is_none(),
        Test::NoGroup => settings.names.group(entry.stat()?.gid).is_none(),
        Test::Links(cmp) => cmp.holds(u64::from(entry.stat()?.nlink)),
        Test::Inode(cmp) => cmp.holds(entry.stat()?.ino),
        Test::Same(dev, ino) => {
            let stat = entry.stat()?;
            stat.dev == *dev && stat.ino == *ino
        }
        Test::Access(want) => {
            // access(2) follows links.
            meta::stat(&entry.path, true).is_ok_and(|s| meta::may_access(&s, *want))
        }
        Test::FsType(name) => name == b"unknown",
    })
}
