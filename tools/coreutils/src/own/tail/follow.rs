//! `tail -f`: polls files and prints the data that is appended to them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use box_applet::{Ctx, Exit};
use box_sys::meta;

use crate::common::{input, paths, quote};
use crate::own::head::write_header;

/// The settings for following files.
pub(super) struct FollowPlan {
    /// Whether to follow whichever file currently has the name, and not the one that had it first.
    pub by_name: bool,
    /// Whether files that do not exist may appear later.
    pub retry: bool,
    pub interval: Duration,
    /// The process whose end also ends `tail`.
    pub pid: Option<u32>,
}

/// A file that is followed.
pub(super) struct FollowedFile {
    pub name: Vec<u8>,
    pub file: Option<File>,
    pub stat: Option<box_sys::Stat>,
}

/// Writes appended data until the process `plan.pid` ends, the output cannot be written, or no file
/// is left. Returns the exit status.
pub(super) fn follow_files(
    ctx: &mut Ctx<'_>,
    mut files: Vec<FollowedFile>,
    plan: &FollowPlan,
    headers: bool,
) -> Exit {
    let mut shown_last = files.len().wrapping_sub(1);
    let mut buf = vec![0; 64 * 1024];
    loop {
        let gone = plan.pid.is_some_and(|p| ctx.procs.kill(p, 0).is_err());
        for (i, tailed) in files.iter_mut().enumerate() {
            if plan.by_name {
                reopen_file(ctx, tailed, plan.retry);
            }
            rewind_if_shorter(ctx, tailed);
            while let Some(n) = tailed.file.as_mut().and_then(|file| read_more(file, &mut buf)) {
                if headers && shown_last != i {
                    write_header(&mut ctx.stdout, &tailed.name, &mut false);
                    shown_last = i;
                }
                if ctx.stdout.write_all(&buf[..n]).is_err() {
                    return Exit::FAILURE;
                }
            }
        }
        if ctx.stdout.flush().is_err() {
            return Exit::FAILURE;
        }
        if gone {
            return Exit::SUCCESS;
        }
        if files.iter().all(|f| f.file.is_none()) && !plan.retry {
            ctx.error("no files remaining");
            return Exit::FAILURE;
        }
        std::thread::sleep(plan.interval.max(Duration::from_millis(1)));
    }
}

/// Reads data that is available now; returns its length, or `None` if there is none.
fn read_more(file: &mut File, buf: &mut [u8]) -> Option<usize> {
    loop {
        match file.read(buf) {
            Ok(0) => return None,
            Ok(n) => return Some(n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Reads a file from its beginning again if it became shorter.
fn rewind_if_shorter(ctx: &mut Ctx<'_>, tailed: &mut FollowedFile) {
    let Some(file) = &mut tailed.file else { return };
    let position = file.stream_position().unwrap_or(0);
    if file.metadata().is_ok_and(|m| m.is_file() && m.len() < position) {
        let _ = file.seek(SeekFrom::Start(0));
        ctx.error_bytes(&[&quote::quote_with_colon(&tailed.name), b": file truncated"]);
    }
}

/// Reopens a file if another file has its name now, and reports the change.
fn reopen_file(ctx: &mut Ctx<'_>, f: &mut FollowedFile, retry: bool) {
    let path = ctx.path(&f.name);
    match meta::stat(&path, true) {
        Ok(s) => {
            if f.stat.is_some_and(|old| {
                paths::is_same_file(&old, &s) || old.ino == 0 && f.file.is_some()
            }) {
                f.stat = Some(s);
                return;
            }
            let Ok(file) = input::open_file(&path) else { return };
            let shown = quote::quote_in_sentence(&f.name);
            let what: &[u8] = if f.stat.is_some() || f.file.is_some() {
                b" has been replaced;  following new file"
            } else {
                b" has appeared;  following new file"
            };
            ctx.error_bytes(&[&shown, what]);
            f.file = Some(file);
            f.stat = Some(s);
        }
        Err(e) => {
            if f.file.is_some() {
                let shown = quote::quote_in_sentence(&f.name);
                let text = box_sys::error_text(&e);
                ctx.error_bytes(&[&shown, b" has become inaccessible: ", text.as_bytes()]);
            }
            f.file = None;
            if retry {
                f.stat = None;
            }
        }
    }
}
