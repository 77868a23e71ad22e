//! A session's changes to the folder under an overlay: as a list, as a diff, and as operations that
//! apply them to that folder.

use crate::error::WorkspaceError;
use crate::overlay::{Overlay, OverlayFile, join_path};
use crate::write::each_piece;
use crate::{leads_out, lossy_path, split_path};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::any::Any;
use std::collections::BTreeSet;
use wasibox_vfs::delta::TreeVersion;
use wasibox_vfs::{FileView, PathView, ViewDifference, ViewShape};

/// Maximum size in bytes of a file whose lines are compared.
const COMPARED: u64 = 1 << 20;

/// A changed path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceChange {
    pub path: String,
    /// The size in bytes before the change, 0 for anything but a file; `None` if there was no
    /// entry. The field `new` is the same after the change.
    pub old: Option<u64>,
    pub new: Option<u64>,
    /// Whether the path is a directory, before or after the change.
    pub directory: bool,
    /// The reason why the change cannot be applied to the host, if it cannot.
    pub left_out: Option<String>,
}

/// Changes as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The text as git writes it: unified diffs, and sizes for files that are not text.
    pub text: Vec<u8>,
    /// Whether the text was cut at the limit.
    pub truncated: bool,
}

/// The host's entry at the time when the session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OriginalEntry {
    Nothing,
    Dir,
    File { ino: u64, size: u64, mtime: u64 },
    Link(ByteBuf),
}

/// A step that changes the host's folder towards the session's. Paths are relative to the folder,
/// without dots. Each directory comes before its contents, in removals as in other steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    Remove {
        path: ByteBuf,
        was: OriginalEntry,
    },
    MakeDir {
        path: ByteBuf,
        mode: u16,
    },
    Link {
        path: ByteBuf,
        target: ByteBuf,
        was: OriginalEntry,
    },
    /// Creates or replaces a file. Its bytes follow in [`Operation::Bytes`], then
    /// [`Operation::End`].
    File {
        path: ByteBuf,
        mode: u16,
        was: OriginalEntry,
    },
    Bytes(ByteBuf),
    End,
    /// A change of permission bits.
    Mode {
        path: ByteBuf,
        mode: u16,
        was: OriginalEntry,
    },
}

/// Returns whether a path is one of the chosen ones or below one of them. An empty list chooses all
/// paths.
fn is_chosen(path: &[u8], chosen: &[&str]) -> bool {
    chosen.is_empty()
        || chosen.iter().any(|c| {
            let c = c.trim_matches('/').as_bytes();
            c.is_empty()
                || path.strip_prefix(c).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        })
}

fn is_dir(seen: &Option<PathView<'_>>) -> bool {
    matches!(seen, Some(PathView { shape: ViewShape::Dir, .. }))
}

fn view_size(seen: &Option<PathView<'_>>) -> Option<u64> {
    seen.as_ref().map(|s| if let ViewShape::File(f) = &s.shape { f.len() } else { 0 })
}

/// Returns the reason why a changed entry cannot be applied to the host, if there is one.
fn find_hindrance(path: &[u8], new: &Option<PathView<'_>>) -> Option<&'static str> {
    match new.as_ref().map(|s| &s.shape) {
        Some(ViewShape::Symlink(target)) if leads_out(split_path(path).0, target) => {
            Some("the symbolic link leads out of the folder")
        }
        Some(ViewShape::Other) => Some("neither a file, a directory nor a symbolic link"),
        _ => None,
    }
}

/// Returns the host's original entry.
pub(crate) fn original_entry(old: &Option<PathView<'_>>) -> OriginalEntry {
    match old.as_ref().map(|s| &s.shape) {
        Some(ViewShape::Dir) => OriginalEntry::Dir,
        Some(ViewShape::Symlink(target)) => OriginalEntry::Link(ByteBuf::from(*target)),
        Some(ViewShape::File(file)) => {
            let lazy = file.untouched_bytes().map(|l| &**l as &dyn Any);
            match lazy.and_then(|l| l.downcast_ref::<OverlayFile>()) {
                Some(f) => {
                    OriginalEntry::File { ino: f.stat.ino, size: f.stat.size, mtime: f.stat.mtime }
                }
                None => OriginalEntry::Nothing,
            }
        }
        _ => OriginalEntry::Nothing,
    }
}

impl Overlay {
    /// Returns the changed paths, `most` at most, and whether there are more.
    ///
    /// # Errors
    /// It never fails: sizes and kinds are known without reading files.
    pub fn list_changes(
        &self,
        snapshot: &TreeVersion,
        most: usize,
    ) -> Result<(Vec<WorkspaceChange>, bool), WorkspaceError> {
        let (mut out, mut more) = (Vec::new(), false);
        snapshot.for_each_difference::<WorkspaceError>(self.guest_path(), &mut |path, d| {
            if out.len() >= most {
                more = true;
                return Ok(());
            }
            out.push(WorkspaceChange {
                path: lossy_path(path),
                old: view_size(&d.old),
                new: view_size(&d.new),
                directory: is_dir(&d.old) || is_dir(&d.new),
                left_out: find_hindrance(path, &d.new).map(str::to_owned),
            });
            Ok(())
        })?;
        Ok((out, more))
    }

    /// Returns the changes to the `chosen` paths and everything below them as a text of at most
    /// about `most` bytes. An empty list chooses all paths.
    ///
    /// # Errors
    /// If a file of the session cannot be read. A file of the host that can no longer be read is
    /// mentioned in the text.
    pub fn diff_text(
        &self,
        snapshot: &TreeVersion,
        chosen: &[&str],
        most: usize,
    ) -> Result<Diff, WorkspaceError> {
        let mut out = Diff::default();
        snapshot.for_each_difference::<WorkspaceError>(self.guest_path(), &mut |path, d| {
            if !is_chosen(path, chosen) || out.truncated {
                return Ok(());
            }
            if out.text.len() >= most {
                out.truncated = true;
                return Ok(());
            }
            describe_change(path, &d, &mut out.text)
        })?;
        Ok(out)
    }

    /// Emits the steps that apply the `chosen` changes to the host's folder, with at most `most`
    /// bytes in total. Returns the paths that cannot be applied.
    ///
    /// # Errors
    /// If a file cannot be read or `most` is exceeded, or the first error of `each`.
    pub fn emit_operations(
        &self,
        snapshot: &TreeVersion,
        chosen: &[&str],
        most: u64,
        each: &mut dyn FnMut(Operation) -> Result<(), WorkspaceError>,
    ) -> Result<Vec<(String, &'static str)>, WorkspaceError> {
        let (mut left_out, mut bytes, mut made) = (Vec::new(), 0u64, BTreeSet::new());
        snapshot.for_each_difference::<WorkspaceError>(self.guest_path(), &mut |path, d| {
            if !is_chosen(path, chosen) {
                if is_dir(&d.new) && !is_dir(&d.old) {
                    made.insert(path.to_vec());
                }
                return Ok(());
            }
            if let Some(why) = find_hindrance(path, &d.new) {
                left_out.push((lossy_path(path), why));
                return Ok(());
            }
            // Emits parent directories that were not chosen, but are needed.
            let mut above = Vec::new();
            for part in split_path(path).0.split(|b| *b == b'/').filter(|p| !p.is_empty()) {
                above = join_path(&above, part);
                if d.new.is_some() && made.remove(&above) {
                    each(Operation::MakeDir { path: ByteBuf::from(above.clone()), mode: 0o755 })?;
                }
            }
            let path_of = || ByteBuf::from(path);
            let ViewDifference { old, new } = &d;
            let before = original_entry(old);
            let same_shape = matches!(
                (old.as_ref().map(|s| &s.shape), new.as_ref().map(|s| &s.shape)),
                (Some(ViewShape::Dir), Some(ViewShape::Dir))
                    | (Some(ViewShape::File(_)), Some(ViewShape::File(_)))
                    | (Some(ViewShape::Symlink(_)), Some(ViewShape::Symlink(_)))
            );
            if old.is_some() && !same_shape {
                each(Operation::Remove { path: path_of(), was: before.clone() })?;
            }
            let before = if same_shape { before } else { OriginalEntry::Nothing };
            let Some(new) = new else { return Ok(()) };
            let mode = new.stat.mode & 0o777;
            match &new.shape {
                ViewShape::Dir if same_shape => {
                    each(Operation::Mode { path: path_of(), mode, was: before })
                }
                ViewShape::Dir => each(Operation::MakeDir { path: path_of(), mode }),
                ViewShape::Symlink(target) => {
                    let target = ByteBuf::from(*target);
                    each(Operation::Link { path: path_of(), target, was: before })
                }
                ViewShape::File(file) => {
                    if let Some(PathView { shape: ViewShape::File(old), .. }) = old
                        && old.is_same(file)
                    {
                        return each(Operation::Mode { path: path_of(), mode, was: before });
                    }
                    bytes = bytes.saturating_add(file.len());
                    if bytes > most {
                        return Err(WorkspaceError::TooLarge {
                            what: "bytes to apply to the folder:",
                            have: bytes,
                            most,
                        });
                    }
                    each(Operation::File { path: path_of(), mode, was: before })?;
                    each_piece(path, file, &mut |piece| {
                        each(Operation::Bytes(ByteBuf::from(piece)))
                    })?;
                    each(Operation::End)
                }
                ViewShape::Other => Ok(()),
            }
        })?;
        Ok(left_out)
    }
}

/// Returns the text of a file. The error is a description of a file that is too large or cannot be
/// read.
fn file_text(file: &FileView<'_>) -> Result<Vec<u8>, String> {
    if file.len() > COMPARED {
        return Err(format!("{} bytes", file.len()));
    }
    let mut out = Vec::new();
    each_piece(b"", file, &mut |piece| {
        out.extend_from_slice(piece);
        Ok(())
    })
    .map_err(|e| match e {
        WorkspaceError::Session { errno, .. } => format!("cannot be read: {errno}"),
        e => e.to_string(),
    })?;
    if out[..out.len().min(8192)].contains(&0) {
        return Err(format!("{} bytes", out.len()));
    }
    Ok(out)
}

/// Returns a name for the headers of a diff. Names with control characters, double quotes or
/// backslashes are quoted as git quotes them.
fn quote_name(prefix: &str, path: &[u8]) -> String {
    let text = format!("{prefix}{}", lossy_path(path));
    if text.chars().any(|c| c.is_control() || c == '"' || c == '\\') {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('"');
        return out;
    }
    text
}

/// Writes a change in git's format.
fn describe_change(
    path: &[u8],
    d: &ViewDifference<'_>,
    out: &mut Vec<u8>,
) -> Result<(), WorkspaceError> {
    let (a, b) = (quote_name("a/", path), quote_name("b/", path));
    let kind = |s: &PathView<'_>| match &s.shape {
        ViewShape::File(_) => format!("100{:03o}", s.stat.mode & 0o777),
        ViewShape::Symlink(_) => "120000".to_owned(),
        _ => format!("040{:03o}", s.stat.mode & 0o777),
    };
    // A diff does not show a directory unless its mode changes; its contents imply it.
    let plain = |s: &Option<PathView<'_>>| {
        matches!(s, None | Some(PathView { shape: ViewShape::Dir | ViewShape::Other, .. }))
    };
    if plain(&d.old) && plain(&d.new) {
        if let (Some(old), Some(new)) = (&d.old, &d.new) {
            let head =
                format!("diff --git {a} {b}\nold mode {}\nnew mode {}\n", kind(old), kind(new));
            out.extend_from_slice(head.as_bytes());
        }
        return Ok(());
    }
    let start = out.len();
    out.extend_from_slice(format!("diff --git {a} {b}\n").as_bytes());
    let head = out.len();
    let (old, new) = (d.old.as_ref().filter(|s| !matches!(s.shape, ViewShape::Dir)), &d.new);
    let new = new.as_ref().filter(|s| !matches!(s.shape, ViewShape::Dir));
    match (old, new) {
        (None, Some(new)) => {
            out.extend_from_slice(format!("new file mode {}\n", kind(new)).as_bytes())
        }
        (Some(old), None) => {
            out.extend_from_slice(format!("deleted file mode {}\n", kind(old)).as_bytes())
        }
        (Some(old), Some(new)) if kind(old) != kind(new) => {
            let modes = format!("old mode {}\nnew mode {}\n", kind(old), kind(new));
            out.extend_from_slice(modes.as_bytes());
        }
        _ => {}
    }
    let side = |s: Option<&PathView<'_>>| match s.map(|s| &s.shape) {
        Some(ViewShape::File(f)) => file_text(f),
        Some(ViewShape::Symlink(target)) => Ok(target.to_vec()),
        _ => Ok(Vec::new()),
    };
    let names = (
        if old.is_some() { &*a } else { "/dev/null" },
        if new.is_some() { &*b } else { "/dev/null" },
    );
    match (side(old), side(new)) {
        // The content and the mode are the same, so the change is not shown.
        (Ok(before), Ok(after)) if before == after && out.len() == head => out.truncate(start),
        (Ok(before), Ok(after)) => {
            out.extend(wasibox_files::unified_diff(&before, &after, names, 3))
        }
        (before, after) => {
            let size =
                |s: Result<Vec<u8>, String>| s.map_or_else(|e| e, |t| format!("{} bytes", t.len()));
            let line = format!(
                "Binary files {} ({}) and {} ({}) differ\n",
                names.0,
                size(before),
                names.1,
                size(after)
            );
            out.extend_from_slice(line.as_bytes());
        }
    }
    Ok(())
}
