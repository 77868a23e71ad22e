//! `write`, `upload`, `delete`, `move`, `make_dir`.

use crate::errno::errno_error;
use crate::place::{FileCtx, write_all};
use crate::text;
use wasibox_protocol::files::{FileAnswer, FilesError, TextEncoding, UploadOf, WriteOf};
use wasibox_vfs::walk::LastComponent;
use wasibox_vfs::{Errno, FileKind, Loc};

/// The maximum number of levels of a directory that is deleted with its contents.
const DEPTH: usize = 1000;

/// Writes a whole file, or appends to it.
pub fn write(ctx: &FileCtx<'_>, w: &WriteOf) -> Result<FileAnswer, FilesError> {
    let place = ctx.find_place(&w.path, true)?;
    let created = place.stat.is_none();
    if !created && w.create_only {
        return Err(FilesError::Exists { path: place.shown });
    }
    let encoding = w.encoding.unwrap_or(TextEncoding::Utf8);
    let begins = !w.append || created;
    let mark = if begins { text::new_mark(encoding) } else { b"" };
    let bytes = text::encode(w.content.as_bytes(), encoding, mark)?;
    if begins {
        ctx.replace(&place, &bytes, w.mode)?;
    } else {
        let fail = |e| errno_error("write", &place.shown, e);
        let file = ctx.open_to_write(&place, 0o644)?;
        let end = file.stat().map_err(fail)?.size;
        if let Err(e) = write_all(&file, &bytes, end) {
            let _ = file.set_len(end);
            return Err(fail(e));
        }
        if let Some(mode) = w.mode {
            ctx.vfs.chmod(&place.dir, &place.name, mode & 0o7777).map_err(fail)?;
        }
    }
    let size = ctx.stat_path(&w.path, true)?.size;
    Ok(FileAnswer::Written { path: place.shown, created, size })
}

/// Writes bytes: a whole file, or a part of one.
pub fn upload_part(ctx: &FileCtx<'_>, u: &UploadOf) -> Result<FileAnswer, FilesError> {
    let place = ctx.find_place(&u.path, true)?;
    let created = place.stat.is_none();
    let bytes = &u.data.0;
    match u.offset {
        None => ctx.replace(&place, bytes, u.mode)?,
        Some(0) => {
            // A file that is uploaded in parts is incomplete before the last one.
            ctx.replace(&place, bytes, u.mode)?;
        }
        Some(offset) => {
            let size = place.stat.map_or(0, |s| s.size);
            if offset > size {
                return Err(FilesError::Invalid(format!(
                    "{} has {size} bytes, offset {offset} is beyond its end",
                    place.shown
                )));
            }
            let file = ctx.open_to_write(&place, u.mode.unwrap_or(0o644))?;
            write_all(&file, bytes, offset).map_err(|e| errno_error("write", &place.shown, e))?;
        }
    }
    let size = ctx.stat_path(&u.path, true)?.size;
    Ok(FileAnswer::Written { path: place.shown, created, size })
}

/// Deletes a file, a symbolic link, or a directory with its contents.
pub fn delete_path(
    ctx: &FileCtx<'_>,
    path: &str,
    recursive: bool,
) -> Result<FileAnswer, FilesError> {
    let fail = |e| ctx.error_at("delete", path, e);
    let stat = ctx.stat_path(path, false)?;
    let shown = ctx.absolute_path(path);
    if stat.kind != FileKind::Dir {
        ctx.vfs.remove(ctx.base_of(), path.as_bytes(), false).map_err(fail)?;
        return Ok(FileAnswer::Deleted { path: shown, count: 1 });
    }
    if !recursive {
        return Err(FilesError::Directory { path: shown });
    }
    let walk =
        ctx.vfs.resolve_path(ctx.base_of(), path.as_bytes(), LastComponent::Keep).map_err(fail)?;
    let (Some((up, name)), Some(top)) = (walk.parent, walk.found) else {
        return Err(fail(Errno::BUSY));
    };
    let count = delete_tree(ctx, up, name, top).map_err(|e| match e {
        DeleteStop::Time(e) => e,
        DeleteStop::System(e) => fail(e),
    })?;
    Ok(FileAnswer::Deleted { path: shown, count })
}

/// The reason why a deletion ended early.
enum DeleteStop {
    Time(FilesError),
    System(Errno),
}

impl From<Errno> for DeleteStop {
    fn from(e: Errno) -> DeleteStop {
        DeleteStop::System(e)
    }
}

/// Removes a directory, its contents first.
fn delete_tree(ctx: &FileCtx<'_>, up: Loc, name: Vec<u8>, top: Loc) -> Result<u64, DeleteStop> {
    struct DeleteLevel {
        up: Loc,
        name: Vec<u8>,
        at: Loc,
        todo: Vec<(Vec<u8>, FileKind)>,
    }
    let mut count = 0;
    let level = |up, name, at: Loc| -> Result<DeleteLevel, Errno> {
        let todo = ctx.dir_names(&at)?;
        Ok(DeleteLevel { up, name, at, todo })
    };
    let mut levels = vec![level(up, name, top)?];
    while let Some(now) = levels.last_mut() {
        ctx.check_time("deleting").map_err(DeleteStop::Time)?;
        let Some((name, kind)) = now.todo.pop() else {
            let done = ctx.vfs.remove(&now.up, &now.name, true);
            levels.pop();
            done?;
            count += 1;
            continue;
        };
        if kind != FileKind::Dir {
            ctx.vfs.remove(&now.at, &name, false)?;
            count += 1;
            continue;
        }
        if levels.len() >= DEPTH {
            return Err(Errno::NAMETOOLONG.into());
        }
        let Some(now) = levels.last() else { break };
        let up = now.at.clone();
        let at = ctx.vfs.resolve_path(&up, &name, LastComponent::Keep)?.existing_loc()?;
        levels.push(level(up, name, at)?);
    }
    Ok(count)
}

/// Renames a file or directory.
pub fn rename_path(ctx: &FileCtx<'_>, from: &str, to: &str) -> Result<FileAnswer, FilesError> {
    let stat = ctx.stat_path(from, false)?;
    // Moves into an existing directory, as mv(1) does.
    let mut to = to.to_owned();
    if ctx.vfs.stat(ctx.base_of(), to.as_bytes(), true).is_ok_and(|s| s.kind == FileKind::Dir) {
        let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or(from);
        to = format!("{}/{name}", to.trim_end_matches('/'));
    } else if let Some((above, _)) = to.trim_end_matches('/').rsplit_once('/') {
        let above = if above.is_empty() { "/" } else { above };
        ctx.make_dirs(above)?;
    }
    let base = ctx.base_of();
    match ctx.vfs.rename(base, from.as_bytes(), base, to.as_bytes()) {
        Ok(()) => {}
        Err(Errno::XDEV) if stat.kind == FileKind::File => {
            let (bytes, stat) = ctx.read_whole(from)?;
            let place = ctx.find_place(&to, false)?;
            ctx.replace(&place, &bytes, Some(stat.mode & 0o777))?;
            ctx.vfs
                .remove(base, from.as_bytes(), false)
                .map_err(|e| ctx.error_at("move", from, e))?;
        }
        Err(e) => return Err(ctx.error_at("move", from, e)),
    }
    Ok(FileAnswer::Moved { from: ctx.absolute_path(from), to: ctx.absolute_path(&to) })
}

/// Creates a directory and its missing parents.
pub fn make_dir(ctx: &FileCtx<'_>, path: &str) -> Result<FileAnswer, FilesError> {
    let created = ctx.make_dirs(path)?;
    Ok(FileAnswer::Made { path: ctx.absolute_path(path), created })
}
