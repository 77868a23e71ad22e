//! `cd` and `pwd` (POSIX XCU, bash manual 4.1): logical paths unless `-P`.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use box_sys::{Kind, meta, path, strerror};

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SetOpt, ShOpt};

pub fn cd(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "LPe@") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut physical = shell.state.options.has(SetOpt::Physical);
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
    let mut show = false;
    let dir = match p.operands.first() {
        None => match shell.var(b"HOME") {
            Some(h) => h,
            None => {
                shell.builtin_error(call.name(), &[b"HOME not set"]);
                return Ok(1);
            }
        },
        Some(d) if d.as_slice() == b"-" => match shell.var(b"OLDPWD") {
            Some(d) => {
                show = true;
                d
            }
            None => {
                shell.builtin_error(call.name(), &[b"OLDPWD not set"]);
                return Ok(1);
            }
        },
        Some(d) => d.clone(),
    };
    if dir.is_empty() && physical {
        shell.builtin_error(call.name(), &[b": No such file or directory"]);
        return Ok(1);
    }
    if dir.is_empty() {
        // It stays where it is, and was there before, too.
        let _ = shell.change_dir(b".", physical);
        return Ok(0);
    }
    let dotted =
        matches!(dir.as_slice(), b"." | b"..") || dir.starts_with(b"./") || dir.starts_with(b"../");
    if !dir.starts_with(b"/")
        && !dotted
        && let Some(cdpath) = shell.var(b"CDPATH")
    {
        for base in cdpath.split(|c| *c == b':') {
            let base = if base.is_empty() { b".".as_slice() } else { base };
            let candidate = [base, b"/", dir.as_slice()].concat();
            if shell.change_dir(&candidate, physical).is_ok() {
                if base != b"." || show {
                    let pwd = path::to_bytes(&shell.state.cwd).to_vec();
                    shell.out(&[pwd.as_slice(), b"\n"].concat());
                }
                return Ok(0);
            }
        }
    }
    let mut r = shell.change_dir(&dir, physical);
    if r.is_err()
        && shell.state.options.shopt(ShOpt::CdableVars)
        && let Some(value) = shell.var(&dir)
    {
        r = shell.change_dir(&value, physical);
        show = r.is_ok();
    }
    match r {
        Ok(()) => {
            if show {
                let pwd = path::to_bytes(&shell.state.cwd).to_vec();
                shell.out(&[pwd.as_slice(), b"\n"].concat());
            }
            Ok(0)
        }
        Err(e) => {
            let text = strerror(&e);
            shell.builtin_error(call.name(), &[&dir, b": ", text.as_bytes()]);
            Ok(1)
        }
    }
}

pub fn pwd(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "LPW") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut physical = shell.state.options.has(SetOpt::Physical);
    for o in &p.options {
        physical = o.letter == b'P';
    }
    let dir = if physical { real(&shell.state.cwd) } else { shell.state.cwd.as_ref().clone() };
    shell.out(&[path::to_bytes(&dir), b"\n"].concat());
    Ok(0)
}

/// The path without symbolic links; as it is where that cannot be told.
fn real(dir: &Path) -> PathBuf {
    std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

/// `.` and `..` taken out by text, as the logical mode wants.
pub(crate) fn normalized(p: &Path) -> PathBuf {
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
    // POSIX keeps exactly two leading slashes; nobody needs them here.
    out
}

impl Shell<'_> {
    /// Changes the working directory and sets PWD and OLDPWD.
    pub(crate) fn change_dir(&mut self, dir: &[u8], physical: bool) -> std::io::Result<()> {
        self.about_to_look();
        let given = self.path(dir);
        // `..` after something that is no directory is an error even in logical mode, unless the
        // working directory itself is gone.
        let checked = match meta::stat(&given, true) {
            Err(_) if !physical && meta::stat(&self.state.cwd, true).is_err() => {
                meta::stat(&normalized(&given), true)
            }
            checked => checked,
        };
        if checked.is_err() && dir == b"." {
            let text = b"error retrieving current directory: getcwd: cannot access parent \
                         directories: No such file or directory\n";
            self.err(&[b"cd: ".as_slice(), text].concat());
            return Ok(());
        }
        let checked = checked?;
        let target = if physical { real(&given) } else { normalized(&given) };
        let s = if physical { checked } else { meta::stat(&target, true).unwrap_or(checked) };
        if s.kind != Kind::Dir {
            return Err(std::io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR));
        }
        if !meta::may(&s, 1) {
            return Err(std::io::Error::from_raw_os_error(box_sys::errno::code::EACCES));
        }
        let old =
            self.var(b"PWD").unwrap_or_else(|| Rc::new(path::to_bytes(&self.state.cwd).to_vec()));
        self.state.cwd = Rc::new(target);
        let new = path::to_bytes(&self.state.cwd).to_vec();
        self.set_quietly(b"OLDPWD", &old);
        self.set_quietly(b"PWD", &new);
        Ok(())
    }
}
