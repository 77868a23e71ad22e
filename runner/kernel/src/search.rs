//! Which program an executable file is, and where a name is found.

use super::arguments::PATH_LIST_MAX;
use super::border::GuestStr;
use super::guest::{Call, Halt};
use super::host::Host;
use super::memory::Memory;
use wasibox_vfs::{Errno, Loc, Program, Vfs};

/// First bytes of a script that are looked at for its interpreter (Linux's BINPRM_BUF_SIZE).
const SCRIPT_HEAD: usize = 256;
/// Scripts whose interpreters are scripts.
const MAX_SCRIPTS: usize = 5;

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/bin:/usr/bin";

/// A program and what it gets before the caller's arguments.
pub struct Found {
    pub program: Program,
    /// What stands for the first argument if it is a script's.
    before: Option<Vec<Vec<u8>>>,
}

impl Found {
    /// Finds what to run for an executable file, through any `#!` lines (`execve(2)`).
    pub fn at(vfs: &Vfs, cwd: &Loc, name: &[u8]) -> Result<Found, Errno> {
        let mut name = name.to_vec();
        let mut before: Option<Vec<Vec<u8>>> = None;
        for _ in 0..MAX_SCRIPTS {
            let (program, head) = vfs.executable(cwd, &name, SCRIPT_HEAD)?;
            if let Some(program) = program {
                return Ok(Found { program, before });
            }
            let line = head.strip_prefix(b"#!".as_slice()).ok_or(Errno::NOEXEC)?;
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

    /// The program's arguments.
    pub fn arguments(self, argv: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        match self.before {
            None => argv,
            Some(before) => before.into_iter().chain(argv.into_iter().skip(1)).collect(),
        }
    }
}

/// Finds what to run for an executable file: the program and its arguments.
///
/// # Errors
/// As `execve`: ENOEXEC for anything that is neither a program of the image nor a script.
pub fn find_program(
    vfs: &Vfs,
    cwd: &Loc,
    name: &[u8],
    argv: Vec<Vec<u8>>,
) -> Result<(Program, Vec<Vec<u8>>), Errno> {
    let found = Found::at(vfs, cwd, name)?;
    Ok((found.program, found.arguments(argv)))
}

/// Finds what `name` means to a caller in `cwd`; along the list if there is one and the name has
/// no slash: directories with colons between them, at 0 the usual ones. A kill is noticed between two directories.
pub fn search<H: Host>(
    c: &Call<'_, H>,
    cwd: &Loc,
    name: &[u8],
    list: Option<GuestStr>,
) -> Result<Found, Halt> {
    let vfs = &c.process.kernel.vfs;
    let list = match list {
        Some(list) if !name.contains(&b'/') => list,
        _ => return Ok(Found::at(vfs, cwd, name)?),
    };
    let path = match list.at {
        0 => DEFAULT_PATH.to_vec(),
        _ if list.len as usize > PATH_LIST_MAX => return Err(Errno::TOOBIG.into()),
        at => c.mem.lend(at, list.len as usize, |path| Ok(path.to_vec()))?,
    };
    let mut why = Errno::NOENT;
    for dir in path.split(|b| *b == b':') {
        c.process.alive()?;
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        match Found::at(vfs, cwd, &[dir, b"/", name].concat()) {
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(Errno::ACCES) => why = Errno::ACCES,
            found => return Ok(found?),
        }
    }
    Err(why.into())
}
