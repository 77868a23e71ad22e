//! Resolution of symbolic links, backups of existing files, and prompts.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use box_applet::opts::ParsedOptions;
use box_applet::{Ctx, Exit, StdInput};
pub(crate) use box_sys::path::{base_name, dir_name, join_path, strip_slashes};
use box_sys::path::{from_bytes, os_string, to_bytes};
use box_sys::{FileKind, errno::code, meta};

use super::input::usage_error;
use super::quote;

/// The components that may be missing in [`canonical_path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingComponents {
    /// All components must exist (`readlink -e`).
    None,
    /// All components but the last must exist (`readlink -f`).
    Last,
    /// No component needs to exist (`readlink -m`).
    All,
}

/// Returns an absolute path without symbolic links, `.` and `..`, as `realpath(3)` does. WASI's
/// std has no such function. `path` must be absolute.
pub(crate) fn canonical_path(path: &Path, missing: MissingComponents) -> io::Result<PathBuf> {
    let text = to_bytes(path);
    let mut walk = CanonicalWalk {
        missing,
        out: Vec::new(),
        rest: Vec::new(),
        links: 0,
        wants_dir: text.ends_with(b"/") || text.ends_with(b"/."),
        gone: false,
    };
    walk.push(text);
    while let Some(name) = walk.rest.pop() {
        match name.as_slice() {
            b"." => {}
            b".." => {
                let keep = walk.out.iter().rposition(|c| *c == b'/').unwrap_or(0);
                walk.out.truncate(keep);
            }
            name => walk.enter_name(name)?,
        }
    }
    if walk.out.is_empty() {
        walk.out.push(b'/');
    }
    Ok(PathBuf::from(os_string(walk.out)))
}

/// A walk along a path that follows its symbolic links.
struct CanonicalWalk {
    missing: MissingComponents,
    /// The part of the path that is resolved so far.
    out: Vec<u8>,
    /// The components that are not yet walked, in reverse order.
    rest: Vec<Vec<u8>>,
    /// The number of links followed so far.
    links: usize,
    /// Whether the path ends with `/` or `/.` and must therefore lead to a directory.
    wants_dir: bool,
    /// Whether nothing is looked up any more, because a component does not exist or is not a
    /// directory.
    gone: bool,
}

impl CanonicalWalk {
    fn push(&mut self, path: &[u8]) {
        let names = path.split(|c| *c == b'/').rev().filter(|c| !c.is_empty());
        self.rest.extend(names.map(<[u8]>::to_vec));
    }

    fn enter_name(&mut self, name: &[u8]) -> io::Result<()> {
        let last = self.rest.iter().all(|c| c == b".");
        let parent = self.out.len();
        self.out.push(b'/');
        self.out.extend_from_slice(name);
        if self.gone {
            return Ok(());
        }
        match meta::stat(from_bytes(&self.out), false) {
            Ok(s) if s.kind == FileKind::Symlink => self.follow_link(parent),
            Ok(s) if s.kind == FileKind::Dir => Ok(()),
            Ok(_) if self.missing == MissingComponents::All => {
                self.gone = !last;
                Ok(())
            }
            Ok(_) if last && !self.wants_dir => Ok(()),
            Ok(_) => Err(io::Error::from_raw_os_error(code::ENOTDIR)),
            Err(e) => {
                let allowed = match self.missing {
                    MissingComponents::None => false,
                    MissingComponents::Last => last && e.kind() == io::ErrorKind::NotFound,
                    MissingComponents::All => true,
                };
                self.gone = allowed;
                if allowed { Ok(()) } else { Err(e) }
            }
        }
    }

    /// Replaces the link at the end of `out` with the link's target.
    fn follow_link(&mut self, parent: usize) -> io::Result<()> {
        const MOST: usize = 40;
        self.links += 1;
        if self.links > MOST {
            return match self.missing {
                MissingComponents::All => Ok(()),
                _ => Err(io::Error::from_raw_os_error(code::ELOOP)),
            };
        }
        let target = std::fs::read_link(from_bytes(&self.out))?;
        let target = to_bytes(&target);
        self.out.truncate(if target.starts_with(b"/") { 0 } else { parent });
        self.push(target);
        Ok(())
    }
}

/// Returns `to` relative to the directory `from`. Both paths must be canonical.
pub(crate) fn relative_path(to: &Path, from: &Path) -> Vec<u8> {
    let split = |p: &Path| -> Vec<Vec<u8>> {
        to_bytes(p).split(|c| *c == b'/').filter(|c| !c.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (to, from) = (split(to), split(from));
    let common = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let mut parts: Vec<&[u8]> = vec![b".."; from.len() - common];
    parts.extend(to[common..].iter().map(Vec::as_slice));
    if parts.is_empty() { b".".to_vec() } else { parts.join(&b'/') }
}

/// Returns whether a path is below a directory after all links are resolved.
pub(crate) fn is_inside(path: &Path, dir: &Path) -> bool {
    match (
        canonical_path(path, MissingComponents::All),
        canonical_path(dir, MissingComponents::All),
    ) {
        (Ok(path), Ok(dir)) => path.starts_with(&dir) && path != dir,
        _ => false,
    }
}

/// Returns whether two paths lead to the same file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (meta::stat(a, true), meta::stat(b, true)) {
        (Ok(x), Ok(y)) => {
            is_same_file(&x, &y)
                || x.ino == 0
                    && canonical_path(a, MissingComponents::None).ok()
                        == canonical_path(b, MissingComponents::None).ok()
        }
        _ => false,
    }
}

/// Returns whether two results of `stat` belong to the same file. Inode 0 never counts as equal,
/// because some file systems have no inodes.
pub(crate) fn is_same_file(a: &box_sys::Stat, b: &box_sys::Stat) -> bool {
    a.ino != 0 && a.dev == b.dev && a.ino == b.ino
}

/// Prints a question to standard error and reads an answer; returns whether the answer starts with
/// `y` or `Y`.
pub(crate) fn confirm_question(ctx: &mut Ctx<'_>, question: &[u8]) -> bool {
    let _ = ctx.stdout.flush();
    let text = [ctx.name.as_bytes(), b": ", question, b" "].concat();
    let _ = ctx.stderr.write_all(&text);
    read_answer(&mut ctx.stdin)
}

fn read_answer(stdin: &mut StdInput) -> bool {
    let mut line = Vec::new();
    let _ = stdin.read_until(b'\n', &mut line);
    matches!(line.first(), Some(b'y' | b'Y'))
}

/// The way `cp`, `mv`, `ln` and `install` keep existing files (`-b`, `--backup`, `-S`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Backup {
    pub kind: BackupKind,
    pub suffix: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BackupKind {
    #[default]
    None,
    Simple,
    Numbered,
    /// Numbered if there are numbered backups, and simple otherwise.
    Existing,
}

impl Backup {
    /// Reads a command's options `--backup`, `-b` and `--suffix`.
    ///
    /// # Errors
    /// The control word is unknown. The error holds the exit status; the message has been printed.
    pub(crate) fn from_options<I: Copy + PartialEq>(
        ctx: &mut Ctx<'_>,
        p: &ParsedOptions<I>,
        [backup, plain, suffix]: [I; 3],
    ) -> Result<Backup, Exit> {
        let control = p
            .has_option(backup)
            .then(|| p.last_value(backup))
            .or(p.has_option(plain).then_some(None));
        Backup::new(control, p.last_value(suffix), &ctx.env).map_err(|word| {
            let shown = quote::quote_in_sentence(&word);
            usage_error(ctx, &[b"invalid argument ", &shown, b" for 'backup type'"])
        })
    }

    /// Interprets the values of `--backup[=CONTROL]` and `--suffix`. `control` is `None` if the
    /// option is not given, and `Some(None)` if it has no value.
    ///
    /// # Errors
    /// The control word is unknown. The error holds the word.
    fn new(
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

    /// Renames an existing file to its backup name, and returns that name. Returns `None` if there
    /// is no such file or no backup is wanted.
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
                    if let Some(n) = number.and_then(super::number::parse_decimal) {
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
    fn relative_paths() {
        let rel = |a: &str, b: &str| {
            String::from_utf8(relative_path(Path::new(a), Path::new(b))).unwrap()
        };
        assert_eq!(rel("/a/b/c", "/a/d"), "../b/c");
        assert_eq!(rel("/a", "/a"), ".");
        assert_eq!(rel("/a/b", "/"), "a/b");
    }
}
