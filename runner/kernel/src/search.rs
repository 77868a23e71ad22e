//! Finds the program of an executable file, and the file of a name.

use super::arguments::PATH_LIST_MAX;
use super::border::GuestStr;
use super::guest::{GuestCall, Halt};
use super::host::Host;
use super::memory::CallMemory;
use super::process::ProcessStart;
use wasibox_vfs::{Errno, Loc, ProgramMark, Vfs};

/// The number of bytes at the start of a script that are searched for its interpreter (Linux's
/// BINPRM_BUF_SIZE).
const SCRIPT_HEAD: usize = 256;
/// The maximum number of scripts that are each the interpreter of the one before.
const MAX_SCRIPTS: usize = 5;

/// A name that the multicall program has in every image.
const SHELL: &[u8] = b"/bin/sh";

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/bin:/usr/bin";

/// A program and the arguments that precede the caller's.
pub struct ProgramMatch {
    pub program: ProgramMark,
    /// The program file's own name, after following links.
    name: Vec<u8>,
    /// The strings that replace the first argument, if the file is a script.
    before: Option<Vec<Vec<u8>>>,
}

impl ProgramMatch {
    /// Finds the program of an executable file, through any `#!` lines (`execve(2)`).
    pub fn resolve_executable(vfs: &Vfs, cwd: &Loc, name: &[u8]) -> Result<ProgramMatch, Errno> {
        let mut name = name.to_vec();
        let mut before: Option<Vec<Vec<u8>>> = None;
        for _ in 0..MAX_SCRIPTS {
            let file = vfs.executable_kind(cwd, &name, SCRIPT_HEAD)?;
            if let Some(program) = file.program {
                return Ok(ProgramMatch { program, name: file.name, before });
            }
            let line = file.head.strip_prefix(b"#!".as_slice()).ok_or(Errno::NOEXEC)?;
            let line = line.split(|b| *b == b'\n').next().unwrap_or(&[]).trim_ascii();
            let cut = line.iter().position(|b| b" \t".contains(b)).unwrap_or(line.len());
            let (interpreter, arg) = (&line[..cut], line[cut..].trim_ascii());
            if interpreter.is_empty() {
                return Err(Errno::NOEXEC);
            }
            let mut new = vec![interpreter.to_vec()];
            if !arg.is_empty() {
                new.push(arg.to_vec());
            }
            new.push(name);
            new.extend(before.into_iter().flatten().skip(1));
            before = Some(new);
            name = interpreter.to_vec();
        }
        Err(Errno::LOOP)
    }

    /// Returns the program, arguments and environment that a process begins with. If a link has led
    /// to the multicall program and `argv[0]` is not the applet's name, a variable names the
    /// applet.
    pub fn to_start(self, vfs: &Vfs, argv: Vec<Vec<u8>>, mut env: Vec<Vec<u8>>) -> ProcessStart {
        let ProgramMatch { program, name, before } = self;
        let argv = match before {
            None => argv,
            Some(before) => before.into_iter().chain(argv.into_iter().skip(1)).collect(),
        };
        let called = argv.first().map_or(&[][..], |arg0| base_name(arg0));
        if called != name && is_multicall(vfs, program) {
            let variable = [box_abi::PROGRAM_VARIABLE.as_bytes(), b"="].concat();
            env.retain(|e| !e.starts_with(&variable));
            env.push([variable, name].concat());
        }
        ProcessStart { program, argv, env }
    }
}

/// Returns the last part of a program's name, without a login shell's dash.
fn base_name(arg0: &[u8]) -> &[u8] {
    let name = arg0.rsplit(|b| *b == b'/').next().unwrap_or_default();
    name.strip_prefix(b"-").unwrap_or(name)
}

/// Returns whether a program is the one that has the shell and most tools.
fn is_multicall(vfs: &Vfs, program: ProgramMark) -> bool {
    let shell = vfs.executable_kind(&Loc::Tree(wasibox_vfs::tree::ROOT), SHELL, SCRIPT_HEAD);
    shell.is_ok_and(|shell| shell.program == Some(program))
}

/// Finds the program of an executable file.
///
/// # Errors
/// As `execve`: ENOEXEC for a file that is neither a program of the image nor a script.
pub fn find_program(vfs: &Vfs, cwd: &Loc, name: &[u8]) -> Result<ProgramMatch, Errno> {
    ProgramMatch::resolve_executable(vfs, cwd, name)
}

/// Finds the program that `name` means to a caller in `cwd`. A name without a slash is searched for
/// along the list, if there is one: directories separated by colons, at address 0 the default ones.
/// A kill is noticed between two directories.
pub fn search_program<H: Host>(
    c: &GuestCall<'_, H>,
    cwd: &Loc,
    name: &[u8],
    list: Option<GuestStr>,
) -> Result<ProgramMatch, Halt> {
    let vfs = &c.process.kernel.vfs;
    let list = match list {
        Some(list) if !name.contains(&b'/') => list,
        _ => return Ok(ProgramMatch::resolve_executable(vfs, cwd, name)?),
    };
    let path = match list.at {
        0 => DEFAULT_PATH.to_vec(),
        _ if list.len as usize > PATH_LIST_MAX => return Err(Errno::TOOBIG.into()),
        at => c.mem.lend_bytes(at, list.len as usize, |path| Ok(path.to_vec()))?,
    };
    let mut why = Errno::NOENT;
    for dir in path.split(|b| *b == b':') {
        c.process.check_alive()?;
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        match ProgramMatch::resolve_executable(vfs, cwd, &[dir, b"/", name].concat()) {
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(Errno::ACCES) => why = Errno::ACCES,
            found => return Ok(found?),
        }
    }
    Err(why.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use wasibox_vfs::{BaseFile, BaseKind, Budget, DiskLimits, ProtectedPaths};

    const ROOT: Loc = Loc::Tree(wasibox_vfs::tree::ROOT);

    fn vfs() -> Vfs {
        let file = |path: &str, program| {
            let kind = BaseKind::File {
                bytes: Arc::new(b"\0asm".to_vec()),
                program: Some(ProgramMark(program)),
            };
            BaseFile { path: path.into(), mode: 0o755, time: 5, kind }
        };
        let files = [file("/bin/sh", 0), file("/bin/sed", 0), file("/bin/python3", 1)];
        let vfs = Vfs::new(
            files,
            &[],
            DiskLimits::default(),
            Budget::new(u64::MAX),
            &ProtectedPaths::default(),
        );
        vfs.expect("a file system")
    }

    fn start(vfs: &Vfs, name: &str, arg0: &str) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let found = find_program(vfs, &ROOT, name.as_bytes()).expect("a program");
        let env = vec![b"A=1".to_vec(), b"BOX_PROGRAM=old".to_vec()];
        let start = found.to_start(vfs, vec![arg0.into(), b"x".to_vec()], env);
        (start.argv, start.env)
    }

    #[test]
    fn a_link_to_an_applet_says_which_one_it_is() {
        let vfs = vfs();
        vfs.symlink(b"sed", &ROOT, b"/bin/gsed").expect("a link");
        vfs.symlink(b"/bin/sed", &ROOT, b"/bin/ls").expect("a link");
        vfs.symlink(b"/bin/python3", &ROOT, b"/bin/py").expect("a link");
        let marked = |name: &str| vec![b"A=1".to_vec(), format!("BOX_PROGRAM={name}").into_bytes()];
        for (name, arg0, env) in [
            ("/bin/gsed", "./gsed", marked("sed")),
            ("/bin/ls", "ls", marked("sed")),
            ("/bin/sed", "anything", marked("sed")),
            ("/bin/sed", "-sed", marked("old")),
            ("/bin/sed", "/bin/sed", marked("old")),
            // A program that has only one applet needs no such variable.
            ("/bin/py", "py", marked("old")),
        ] {
            assert_eq!(
                start(&vfs, name, arg0),
                (vec![arg0.into(), b"x".to_vec()], env),
                "{name} {arg0}"
            );
        }
    }
}
