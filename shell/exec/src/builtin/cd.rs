//! `cd` (POSIX XCU, bash manual 4.1): logical paths unless `-P`.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use box_sys::{FileKind, error_text, meta};

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SetOpt, ShOpt};

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "LPe@")?;
    let mut physical = shell.state.options.has_set(SetOpt::Physical);
    for o in &p.options {
        match o.letter {
            b'P' => physical = true,
            b'L' => physical = false,
            _ => {}
        }
    }
    if p.operands.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Ok(1);
    }
    let (variable, back) = match p.operands.first().map(|d| d.as_slice()) {
        None => (Some("HOME"), false),
        Some(b"-") => (Some("OLDPWD"), true),
        Some(_) => (None, false),
    };
    let dir = match variable {
        None => p.operands[0].clone(),
        Some(name) => match shell.variable_text(name.as_bytes()) {
            Some(dir) => dir,
            None => {
                shell.builtin_error(call.name(), &[name.as_bytes(), b" not set"]);
                return Ok(1);
            }
        },
    };
    if dir.is_empty() && physical {
        shell.builtin_error(call.name(), &[b": No such file or directory"]);
        return Ok(1);
    }
    if dir.is_empty() {
        // An error does not matter, because the directory stays the same.
        let _ = shell.change_dir(b".", physical);
        return Ok(0);
    }
    let by_path = by_cdpath(shell, &dir, physical);
    let shows = match by_path {
        Some(elsewhere) => Ok(elsewhere || back),
        None => enter_dir(shell, &dir, physical).map(|by_variable| by_variable || back),
    };
    match shows {
        Ok(shows) => {
            if shows {
                let pwd = shell.state.dirs.cwd_bytes().to_vec();
                shell.write_out(&[pwd.as_slice(), b"\n"].concat());
            }
            Ok(0)
        }
        Err(e) => {
            shell.builtin_error(call.name(), &[&dir, b": ", error_text(&e).as_bytes()]);
            Ok(1)
        }
    }
}

/// Changes to a directory below one of those in CDPATH. Returns whether it was found below a
/// directory other than the working directory; `None` if there is no such directory.
fn by_cdpath(shell: &mut Shell<'_>, dir: &[u8], physical: bool) -> Option<bool> {
    let dotted = matches!(dir, b"." | b"..") || dir.starts_with(b"./") || dir.starts_with(b"../");
    if dir.starts_with(b"/") || dotted {
        return None;
    }
    let cdpath = shell.variable_text(b"CDPATH")?;
    cdpath.split(|c| *c == b':').find_map(|base| {
        let base = if base.is_empty() { b".".as_slice() } else { base };
        let candidate = [base, b"/", dir].concat();
        shell.change_dir(&candidate, physical).is_ok().then_some(base != b".")
    })
}

/// Changes to a directory or, with `cdable_vars`, to the value of the variable of that name.
/// Returns whether the value was used.
fn enter_dir(shell: &mut Shell<'_>, dir: &[u8], physical: bool) -> std::io::Result<bool> {
    let changed = shell.change_dir(dir, physical);
    if changed.is_err()
        && shell.state.options.has_shopt(ShOpt::CdableVars)
        && let Some(value) = shell.variable_text(dir)
    {
        return shell.change_dir(&value, physical).map(|()| true);
    }
    changed.map(|()| false)
}

/// Returns the path without symbolic links, or unchanged if it cannot be resolved.
pub(super) fn resolve_links(shell: &Shell<'_>, dir: &Path) -> PathBuf {
    shell.sys.real_path(dir).unwrap_or_else(|_| dir.to_path_buf())
}

/// Removes `.` and `..` textually, as the logical mode requires.
pub(crate) fn normalize_path(p: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for c in p.components() {
        match c {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(n) => out.push(n),
            _ => {}
        }
    }
    // POSIX keeps exactly two leading slashes, which have no use here.
    out
}

impl Shell<'_> {
    /// Changes the working directory and sets PWD and OLDPWD.
    pub(crate) fn change_dir(&mut self, dir: &[u8], physical: bool) -> std::io::Result<()> {
        self.about_to_look();
        let given = self.absolute_path(dir);
        // `..` after a file that is not a directory is an error even in logical mode, unless the
        // working directory itself is gone.
        let checked = match meta::stat(&given, true) {
            Err(_) if !physical && meta::stat(self.cwd(), true).is_err() => {
                meta::stat(&normalize_path(&given), true)
            }
            checked => checked,
        };
        if checked.is_err() && dir == b"." {
            let text = b"error retrieving current directory: getcwd: cannot access parent \
                         directories: No such file or directory\n";
            self.write_err(&[b"cd: ".as_slice(), text].concat());
            return Ok(());
        }
        let checked = checked?;
        let target = if physical { resolve_links(self, &given) } else { normalize_path(&given) };
        let s = if physical { checked } else { meta::stat(&target, true).unwrap_or(checked) };
        if s.kind != FileKind::Dir {
            return Err(std::io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR));
        }
        if !meta::may_access(&s, 1) {
            return Err(std::io::Error::from_raw_os_error(box_sys::errno::code::EACCES));
        }
        let old = self
            .variable_text(b"PWD")
            .unwrap_or_else(|| Rc::new(self.state.dirs.cwd_bytes().to_vec()));
        self.state.dirs.set_cwd(target);
        let new = self.state.dirs.cwd_bytes().to_vec();
        self.set_quietly(b"OLDPWD", &old);
        self.set_quietly(b"PWD", &new);
        Ok(())
    }
}
