//! The directory stack: `dirs`, `pushd`, `popd` (bash manual 6.8.1).

use std::rc::Rc;

use box_sys::{path, strerror};

use super::Call;
use crate::Shell;
use crate::prompt::tilde;
use crate::shell::Flow;

impl Shell<'_> {
    /// The stack from the top: the working directory first.
    pub(crate) fn dir_stack_texts(&self) -> Vec<Vec<u8>> {
        let mut all = vec![path::to_bytes(&self.state.cwd).to_vec()];
        all.extend(self.state.dirs.iter().cloned());
        all
    }

    fn show_dirs(&mut self) {
        let home = self.var(b"HOME");
        let all = self.dir_stack_texts();
        let shown: Vec<Vec<u8>> =
            all.iter().map(|d| tilde(d, home.as_ref().map(|h| h.as_slice()))).collect();
        let mut line = shown.join(&b' ');
        line.push(b'\n');
        self.out(&line);
    }
}

/// A place that is not in the stack of `len`, or that there is no stack.
fn out_of_range(shell: &mut Shell<'_>, call: &Call<'_>, place: &[u8], len: usize) {
    if len < 2 {
        shell.builtin_error(call.name(), &[b"directory stack empty"]);
    } else {
        shell.builtin_error(call.name(), &[place, b": directory stack index out of range"]);
    }
}

/// `+N` and `-N` as an index from the top.
fn index(arg: &[u8], len: usize) -> Option<Result<usize, ()>> {
    let (sign, digits) = arg.split_first()?;
    if !matches!(sign, b'+' | b'-') || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n: usize = std::str::from_utf8(digits).ok()?.parse().unwrap_or(usize::MAX);
    let at =
        if *sign == b'+' { Some(n) } else { len.checked_sub(1).and_then(|l| l.checked_sub(n)) };
    Some(at.filter(|i| *i < len).ok_or(()))
}

pub fn dirs(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let (mut clear, mut long, mut lines, mut numbered) = (false, false, false, false);
    let mut which = None;
    let all = shell.dir_stack_texts();
    for a in call.args() {
        match index(a, all.len()) {
            Some(Ok(i)) => which = Some(i),
            Some(Err(())) => {
                out_of_range(shell, call, &a[1..], all.len());
                return Ok(1);
            }
            None if a.as_slice() == b"-" || a.starts_with(b"+") => {
                shell.builtin_error(call.name(), &[a, b": invalid number"]);
                return shell.usage(call.name());
            }
            None if a.starts_with(b"-") => {
                for c in &a[1..] {
                    match c {
                        b'c' => clear = true,
                        b'l' => long = true,
                        b'p' => lines = true,
                        b'v' => numbered = true,
                        b'-' => {}
                        _ => {
                            let _ = c;
                            shell.builtin_error(call.name(), &[a, b": invalid number"]);
                            return shell.usage(call.name());
                        }
                    }
                }
            }
            None => {
                shell.builtin_error(call.name(), &[a, b": invalid option"]);
                return shell.usage(call.name());
            }
        }
    }
    if clear {
        shell.state.dirs = Rc::default();
        return Ok(0);
    }
    let home = shell.var(b"HOME");
    let show =
        |d: &[u8]| if long { d.to_vec() } else { tilde(d, home.as_ref().map(|h| h.as_slice())) };
    let mut out = Vec::new();
    for (i, d) in all.iter().enumerate() {
        if which.is_some_and(|w| w != i) {
            continue;
        }
        if numbered {
            out.extend_from_slice(format!("{i:2}  ").as_bytes());
        }
        out.extend_from_slice(&show(d));
        let last = i + 1 == all.len() || which.is_some();
        out.push(if numbered || lines || last { b'\n' } else { b' ' });
    }
    shell.out(&out);
    Ok(0)
}

fn go(shell: &mut Shell<'_>, call: &Call<'_>, dir: &[u8]) -> bool {
    match shell.change_dir(dir, false) {
        Ok(()) => true,
        Err(e) => {
            let text = strerror(&e);
            shell.builtin_error(call.name(), &[dir, b": ", text.as_bytes()]);
            false
        }
    }
}

pub fn pushd(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut args = call.args();
    let mut stay = false;
    while let Some(a) = args.first() {
        match a.as_slice() {
            b"-n" => stay = true,
            b"--" => {
                args = &args[1..];
                break;
            }
            _ => break,
        }
        args = &args[1..];
    }
    let all = shell.dir_stack_texts();
    match args.first() {
        None => {
            if all.len() < 2 {
                shell.builtin_error(call.name(), &[b"no other directory"]);
                return Ok(1);
            }
            if !stay && !go(shell, call, &all[1]) {
                return Ok(1);
            }
            let dirs = Rc::make_mut(&mut shell.state.dirs);
            dirs[0] = all[0].clone();
        }
        Some(a) => match index(a, all.len()) {
            Some(Ok(i)) => {
                let mut rotated = all.clone();
                rotated.rotate_left(i);
                if !stay && !go(shell, call, &rotated[0]) {
                    return Ok(1);
                }
                shell.state.dirs = Rc::new(rotated.split_off(1));
            }
            Some(Err(())) => {
                out_of_range(shell, call, a, all.len());
                return Ok(1);
            }
            None if a.starts_with(b"-") && a.as_slice() != b"-" => {
                shell.builtin_error(call.name(), &[a, b": invalid number"]);
                return shell.usage(call.name());
            }
            None => {
                let old = all[0].clone();
                if stay {
                    let dir = path::to_bytes(&shell.path(a)).to_vec();
                    Rc::make_mut(&mut shell.state.dirs).insert(0, dir);
                } else {
                    let target = match a.as_slice() {
                        b"-" => shell.var(b"OLDPWD").unwrap_or_default(),
                        _ => a.clone(),
                    };
                    if !go(shell, call, &target) {
                        return Ok(1);
                    }
                    Rc::make_mut(&mut shell.state.dirs).insert(0, old);
                }
            }
        },
    }
    shell.show_dirs();
    Ok(0)
}

pub fn popd(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut stay = false;
    let mut which = None;
    let all = shell.dir_stack_texts();
    for a in call.args() {
        match index(a, all.len()) {
            _ if a.as_slice() == b"-n" => stay = true,
            _ if a.as_slice() == b"--" => {}
            Some(Ok(i)) => which = Some(i),
            Some(Err(())) if all.len() > 1 => {
                shell.builtin_error(call.name(), &[a, b": directory stack index out of range"]);
                return Ok(1);
            }
            Some(Err(())) => {}
            None => {
                let what: &[u8] = match a.starts_with(b"-") {
                    true => b": invalid number",
                    false => b": invalid argument",
                };
                shell.builtin_error(call.name(), &[a, what]);
                return shell.usage(call.name());
            }
        }
    }
    if all.len() < 2 {
        shell.builtin_error(call.name(), &[b"directory stack empty"]);
        return Ok(1);
    }
    match which.unwrap_or(0) {
        0 => {
            if !stay && !go(shell, call, &all[1]) {
                return Ok(1);
            }
            Rc::make_mut(&mut shell.state.dirs).remove(0);
        }
        i => {
            Rc::make_mut(&mut shell.state.dirs).remove(i - 1);
        }
    }
    shell.show_dirs();
    Ok(0)
}
