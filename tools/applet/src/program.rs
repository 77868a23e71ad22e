//! Finds the program for a command name: PATH search, `#!` lines, and the statuses of shells for a
//! command that is not found (POSIX XCU 2.9.1.4; bash manual 3.7.2).

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use box_sys::{FileKind, meta, path};

use crate::AppletTable;

/// The value of PATH if the environment has none.
pub const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Returns the file that `name` refers to: `name` itself if it contains a slash, otherwise the
/// first executable match in `search` (a PATH value). Relative results are made absolute by `cwd`.
/// Programs of the image are found without touching the file system.
pub fn find_program(
    name: &[u8],
    search: &[u8],
    cwd: &Path,
    table: &AppletTable,
) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains(&b'/') {
        return Some(path::resolve_path(cwd, name));
    }
    find_candidates(name, search, cwd, table).next()
}

/// Returns all executable matches in PATH order (`type -a`).
pub fn find_candidates<'a>(
    name: &'a [u8],
    search: &'a [u8],
    cwd: &'a Path,
    table: &'a AppletTable,
) -> impl Iterator<Item = PathBuf> + 'a {
    search.split(|&c| c == b':').filter_map(move |dir| {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        if matches!(dir, b"/bin" | b"/usr/bin") && table.is_program(name) {
            return Some(path::from_bytes(dir).join(path::from_bytes(name)));
        }
        let file = path::resolve_path(cwd, dir).join(path::from_bytes(name));
        is_executable(&file).then_some(file)
    })
}

/// Returns whether the path is a regular file that the user may execute.
pub fn is_executable(file: &Path) -> bool {
    meta::stat(file, true).is_ok_and(|s| s.kind == FileKind::File && meta::may_access(&s, 1))
}

/// The way to execute a file.
#[derive(Debug, PartialEq, Eq)]
pub enum ProgramForm {
    /// The file is started with the arguments as they are.
    Direct,
    /// A script: the interpreter is started with its argument before the script's path.
    Script { interpreter: Vec<u8>, argument: Option<Vec<u8>> },
    /// Text without `#!`: the shell runs it itself.
    ShellText,
    /// Neither a text nor a program of the image (ENOEXEC).
    Binary,
}

/// Examines the beginning of a file outside the applet directories. Errors are those of `open(2)`:
/// `IsADirectory` for a directory, `PermissionDenied` for a file without execute permission.
pub fn inspect_program(file: &Path, table: &AppletTable) -> io::Result<ProgramForm> {
    let dir = file.parent().map(path::to_bytes).unwrap_or_default();
    let name = file.file_name().map(path::os_bytes).unwrap_or_default();
    if matches!(dir, b"/bin" | b"/usr/bin") && table.is_program(name) {
        return Ok(ProgramForm::Direct);
    }
    let stat = meta::stat(file, true)?;
    if stat.kind == FileKind::Dir {
        return Err(io::Error::from_raw_os_error(box_sys::errno::code::EISDIR));
    }
    if !meta::may_access(&stat, 1) {
        return Err(io::Error::from_raw_os_error(box_sys::errno::code::EACCES));
    }
    let mut head = [0u8; 256];
    let mut got = 0;
    let mut f = File::open(file)?;
    while got < head.len() {
        match f.read(&mut head[got..])? {
            0 => break,
            n => got += n,
        }
    }
    let head = &head[..got];
    if let Some(line) = head.strip_prefix(b"#!") {
        let end = line.iter().position(|&c| c == b'\n').unwrap_or(line.len());
        let words = line[..end].trim_ascii();
        let split = words.iter().position(|c| matches!(c, b' ' | b'\t')).unwrap_or(words.len());
        let argument = words[split..].trim_ascii();
        return Ok(ProgramForm::Script {
            interpreter: words[..split].to_vec(),
            argument: (!argument.is_empty()).then(|| argument.to_vec()),
        });
    }
    // As in bash, a NUL in the first line means that the file is binary.
    let first_line = head.split(|&c| c == b'\n').next().unwrap_or_default();
    // A program under a name that is not the image's, for example a link of a virtual environment.
    // The kernel knows whether the file is one of its programs.
    if head.starts_with(b"\0asm") || (cfg!(unix) && head.starts_with(b"\x7fELF")) {
        return Ok(ProgramForm::Direct);
    }
    if first_line.contains(&0) { Ok(ProgramForm::Binary) } else { Ok(ProgramForm::ShellText) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As with `execve(2)`, the first bytes of a file decide its kind.
    #[test]
    fn kinds_of_files() {
        use std::os::unix::fs::PermissionsExt;

        let dir = std::env::temp_dir().join(format!("box-program-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let kind = |bytes: &[u8]| {
            let file = dir.join("f");
            std::fs::write(&file, bytes).expect("a file");
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("mode");
            inspect_program(&file, &AppletTable::new(&[], &[])).expect("readable")
        };
        // A link to a program of the image has the program's bytes; the kernel decides.
        assert_eq!(kind(b"\0asm\x01\0\0\0"), ProgramForm::Direct);
        assert_eq!(kind(b"\x01\0\n"), ProgramForm::Binary);
        assert_eq!(kind(b"echo hi\n"), ProgramForm::ShellText);
        let script = ProgramForm::Script { interpreter: b"/bin/sh".to_vec(), argument: None };
        assert_eq!(kind(b"#! /bin/sh\n"), script);
        std::fs::remove_dir_all(&dir).expect("removable");
    }
}
