//! Symbolic links resolved, backups, prompts.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use box_applet::{Ctx, Input};
use box_sys::path::{from_bytes, os_string, to_bytes};
use box_sys::{Kind, errno::code, meta};

/// Which components must exist in [`canonical`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// All must exist (`readlink -e`).
    None,
    /// All but the last (`readlink -f`).
    Last,
    /// None needs to (`readlink -m`).
    All,
}

/// `a/b`, without doubling a slash.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut out = dir.to_vec();
    if !out.is_empty() && !out.ends_with(b"/") {
        out.push(b'/');
    }
    out.extend_from_slice(name);
    out
}

/// The last component, trailing slashes aside; `/` for the root, empty for empty.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 {
        return if path.is_empty() { path } else { &path[..1] };
    }
    let start = path[..end].iter().rposition(|c| *c == b'/').map_or(0, |i| i + 1);
    &path[start..end]
}

/// The path without its trailing slashes (but not less than `/`).
pub(crate) fn strip_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(1, |i| i + 1);
    &path[..end.min(path.len())]
}

/// Everything before the last component; `.` if there is nothing.
pub(crate) fn dir_name(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 {
        return if path.is_empty() { b"." } else { b"/" };
    }
    let Some(slash) = path[..end].iter().rposition(|c| *c == b'/') else { return b"." };
    let dir = &path[..slash];
    let end = dir.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 { b"/" } else { &dir[..end] }
}

/// An absolute path without symbolic links, `.` and `..` (as `realpath(3)`, which WASI's
/// std does not have). `path` is absolute.
pub(crate) fn canonical(path: &Path, missing: Missing) -> io::Result<PathBuf> {
    const LINKS: usize = 40;
    let mut out: Vec<u8> = Vec::new();
    let mut links = 0;
    let text = to_bytes(path);
    // Components still to be walked, in reverse order.
    let mut rest: Vec<Vec<u8>> = Vec::new();
    let push = |rest: &mut Vec<Vec<u8>>, p: &[u8]| {
        rest.extend(p.split(|c| *c == b'/').rev().filter(|c| !c.is_empty()).map(<[u8]>::to_vec));
    };
    push(&mut rest, text);
    let trailing = text.ends_with(b"/") || text.ends_with(b"/.");
    let mut gone = false;
    while let Some(name) = rest.pop() {
        match name.as_slice() {
            b"." => continue,
            b".." => {
                let keep = out.iter().rposition(|c| *c == b'/').unwrap_or(0);
                out.truncate(keep);
                continue;
            }
            _ => {}
        }
        let last = rest.iter().all(|c| c == b".");
        let parent = out.len();
        out.push(b'/');
        out.extend_from_slice(&name);
        if gone {
            continue;
        }
        match meta::stat(from_bytes(&out), false) {
            Ok(s) if s.kind == Kind::Symlink => {
                links += 1;
                if links > LINKS {
                    if missing == Missing::All {
                        continue;
                    }
                    return Err(io::Error::from_raw_os_error(code::ELOOP));
                }
                let target = std::fs::read_link(from_bytes(&out))?;
                let target = to_bytes(&target);
                out.truncate(if target.starts_with(b"/") { 0 } else { parent });
                push(&mut rest, target);
            }
            Ok(s) => {
                if s.kind != Kind::Dir && (!last || trailing && missing != Missing::All) {
                    if missing == Missing::All {
                        gone = true;
                    } else {
                        return Err(io::Error::from_raw_os_error(code::ENOTDIR));
                    }
                }
            }
            Err(e) => {
                let allowed = match missing {
                    Missing::None => false,
                    Missing::Last => last && e.kind() == io::ErrorKind::NotFound,
                    Missing::All => true,
                };
                if !allowed {
                    return Err(e);
                }
                gone = true;
            }
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    Ok(PathBuf::from(os_string(out)))
}

/// `to` relative to the directory `from`; both canonical.
pub(crate) fn relative(to: &Path, from: &Path) -> Vec<u8> {
    let split = |p: &Path| -> Vec<Vec<u8>> {
        to_bytes(p).split(|c| *c == b'/').filter(|c| !c.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (to, from) = (split(to), split(from));
    let common = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let mut parts: Vec<&[u8]> = vec![b".."; from.len() - common];
    parts.extend(to[common..].iter().map(Vec::as_slice));
    if parts.is_empty() { b".".to_vec() } else { parts.join(&b'/') }
}

/// Whether two paths are one file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (meta::stat(a, true), meta::stat(b, true)) {
        (Ok(x), Ok(y)) => {
            same(&x, &y)
                || x.ino == 0
                    && canonical(a, Missing::None).ok() == canonical(b, Missing::None).ok()
        }
        _ => false,
    }
}

/// Whether two results of `stat` are of one file. Inode 0 says nothing: some file systems have none.
pub(crate) fn same(a: &box_sys::Stat, b: &box_sys::Stat) -> bool {
    a.ino != 0 && a.dev == b.dev && a.ino == b.ino
}

/// Asks on stderr and reads an answer: yes if it starts with `y` or `Y`.
pub(crate) fn confirm(ctx: &mut Ctx<'_>, question: &[u8]) -> bool {
    let _ = ctx.stdout.flush();
    let text = [ctx.name.as_bytes(), b": ", question, b" "].concat();
    let _ = ctx.stderr.write_all(&text);
    answer(&mut ctx.stdin)
}

fn answer(stdin: &mut Input) -> bool {
    let mut line = Vec::new();
    let _ = stdin.read_until(b'\n', &mut line);
    matches!(line.first(), Some(b'y' | b'Y'))
}

/// How existing files are kept (`cp`, `mv`, `ln`, `install`: `-b`, `--backup`, `-S`).
#[derive(Clone, Debug)]
pub(crate) struct Backup {
    pub kind: BackupKind,
    pub suffix: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackupKind {
    None,
    Simple,
    Numbered,
    /// Numbered if numbered ones exist.
    Existing,
}

impl Backup {
    /// From `--backup[=CONTROL]` (outer `None`: not given) and `--suffix`.
    /// `Err` holds a control word that is none.
    pub(crate) fn new(
        control: Option<Option<&[u8]>>,
        suffix: Option<&[u8]>,
        env: &box_applet::Env,
    ) -> Result<Backup, Vec<u8>> {
        let kind = match (control, suffix) {
            (None, None) => BackupKind::None,
            (c, _) => {
                let word =
                    c.flatten().or_else(|| env.get(b"VERSION_CONTROL")).unwrap_or(b"existing");
                match word {
                    b"none" | b"off" => BackupKind::None,
                    b"simple" | b"never" => BackupKind::Simple,
                    b"existing" | b"nil" | b"" => BackupKind::Existing,
                    b"numbered" | b"t" => BackupKind::Numbered,
                    other => return Err(other.to_vec()),
                }
            }
        };
        let suffix = suffix.or_else(|| env.get(b"SIMPLE_BACKUP_SUFFIX")).filter(|s| !s.is_empty());
        Ok(Backup { kind, suffix: suffix.unwrap_or(b"~").to_vec() })
    }

    /// Moves an existing file out of the way; its new name as shown to the user.
    pub(crate) fn make(&self, ctx: &Ctx<'_>, file: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if self.kind == BackupKind::None || meta::stat(&ctx.path(file), false).is_err() {
            return Ok(None);
        }
        let name = self.name(ctx, file);
        std::fs::rename(ctx.path(file), ctx.path(&name))?;
        Ok(Some(name))
    }

    fn name(&self, ctx: &Ctx<'_>, file: &[u8]) -> Vec<u8> {
        let mut highest = 0u64;
        if self.kind != BackupKind::Simple {
            let prefix = [base_name(file), b".~"].concat();
            if let Ok(entries) = std::fs::read_dir(ctx.path(dir_name(file))) {
                for e in entries.flatten() {
                    let name = box_sys::path::os_into_bytes(e.file_name());
                    let number =
                        name.strip_prefix(prefix.as_slice()).and_then(|n| n.strip_suffix(b"~"));
                    if let Some(n) = number.and_then(super::number::decimal) {
                        highest = highest.max(n);
                    }
                }
            }
        }
        if self.kind == BackupKind::Numbered || highest > 0 {
            return [file, format!(".~{}~", highest.saturating_add(1)).as_bytes()].concat();
        }
        [file, &self.suffix].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        // basename and dirname of coreutils 9.1.
        for (path, base, dir) in [
            ("/a/b/", "b", "/a"),
            ("a", "a", "."),
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("", "", "."),
            ("a/b", "b", "a"),
            ("a//b", "b", "a"),
            ("/a", "a", "/"),
            ("///a///", "a", "/"),
        ] {
            assert_eq!(base_name(path.as_bytes()), base.as_bytes(), "{path}");
            assert_eq!(dir_name(path.as_bytes()), dir.as_bytes(), "{path}");
        }
    }

    #[test]
    fn relative_paths() {
        let rel =
            |a: &str, b: &str| String::from_utf8(relative(Path::new(a), Path::new(b))).unwrap();
        assert_eq!(rel("/a/b/c", "/a/d"), "../b/c");
        assert_eq!(rel("/a", "/a"), ".");
        assert_eq!(rel("/a/b", "/"), "a/b");
    }
}
