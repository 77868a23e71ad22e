//! The directory and environment of a session's commands: the initial ones, and those that the
//! session's shell has left.

use box_abi::session::{SessionRecord, SessionValue, SessionWriter, Surroundings};
use serde::{Deserialize, Serialize};

/// The home of a session's user, and the directory in which commands begin.
pub const HOME: &str = "/home/user";

/// The environment of every command, without `PWD`.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", HOME),
    ("HOSTNAME", "box"),
    ("LANG", "C.UTF-8"),
    ("LOGNAME", "user"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("SHELL", "/bin/bash"),
    ("TERM", "dumb"),
    ("TZ", "UTC"),
    ("USER", "user"),
];

/// The shell of a session's scripts. It is not called as `sh`, because in POSIX mode a failing `.`,
/// a failing redirection of `:` or a function named `my-func` ends the script.
pub const SESSION_SHELL: &str = "bash";
/// The shell's option that makes it restore and leave the session's state.
pub const SESSION_OPTION: &str = "--session";

/// A variable: name and value.
pub type Variable = (Vec<u8>, Vec<u8>);

/// The part of the shell's state that applies to a command that runs without the session's shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellSurroundings {
    pub cwd: Option<Vec<u8>>,
    pub umask: Option<u16>,
    /// Variables of the environment that differ from the initial ones; `None` if they were unset.
    pub environment: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl ShellSurroundings {
    /// Reads the surroundings from a shell's state.
    pub fn from_state(state: &[u8]) -> Option<ShellSurroundings> {
        let Surroundings { cwd, umask, environment, .. } = Surroundings::from_state(state).ok()?;
        Some(ShellSurroundings { cwd, umask, environment: environment.into_iter().collect() })
    }
}

/// Returns the environment of a command that begins in `cwd`, as `NAME=value`: the initial
/// variables with the shell's changes, and `given`, which replaces variables of the same name.
pub fn command_environment(
    place: Option<&ShellSurroundings>,
    cwd: &[u8],
    given: &[Variable],
) -> Vec<Vec<u8>> {
    let both = |(k, v): &(&str, &str)| (k.as_bytes().to_vec(), v.as_bytes().to_vec());
    let mut all: Vec<Variable> = ENVIRONMENT.iter().map(both).collect();
    for (name, value) in place.iter().flat_map(|place| &place.environment) {
        all.retain(|(other, _)| other != name);
        all.extend(value.clone().map(|value| (name.clone(), value)));
    }
    all.retain(|(name, _)| name != b"PWD");
    all.push((b"PWD".to_vec(), cwd.to_vec()));
    if let Some(umask) = place.and_then(|place| place.umask) {
        all.push((box_abi::UMASK_VARIABLE.into(), format!("{umask:o}").into_bytes()));
    }
    for (k, v) in given {
        all.retain(|(name, _)| name != k);
        all.push((k.clone(), v.clone()));
    }
    all.into_iter().map(|(k, v)| [&k, b"=".as_slice(), &v].concat()).collect()
}

/// Returns a shell's state after `cd` to `cwd` and `export` of `given`; `None` if there is neither.
pub fn state_after(state: &[u8], cwd: Option<&[u8]>, given: &[Variable]) -> Option<Vec<u8>> {
    if cwd.is_none() && given.is_empty() {
        return None;
    }
    let mut w = SessionWriter::continue_state(state).unwrap_or_else(|_| SessionWriter::new());
    if let Some(cwd) = cwd {
        w.add_record(&SessionRecord::Cwd(cwd));
    }
    let mut export = |name: &[u8], value: &[u8]| {
        let value = SessionValue::Scalar(value);
        w.add_record(&SessionRecord::Variable { name, attributes: b"x", value });
    };
    if let Some(cwd) = cwd {
        export(b"PWD", cwd);
    }
    given.iter().for_each(|(name, value)| export(name, value));
    Some(w.finish())
}

/// Quotes a word so that a shell reads it back.
pub fn quote_word(word: &[u8]) -> Vec<u8> {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(b);
    if !word.is_empty() && word.iter().all(is_plain) {
        return word.to_vec();
    }
    let mut out = vec![b'\''];
    for b in word {
        match b {
            b'\'' => out.extend_from_slice(b"'\\''"),
            b => out.push(*b),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_what_was_given_after_it() {
        let given = [(b"A".to_vec(), b"1".to_vec())];
        assert_eq!(state_after(b"", None, &[]), None);
        let state = state_after(b"", Some(b"/tmp"), &given).unwrap();
        let place = ShellSurroundings::from_state(&state).unwrap();
        assert_eq!(place.cwd.as_deref(), Some(b"/tmp".as_slice()));
        let env = command_environment(Some(&place), b"/tmp", &[]);
        let has = |s: &[u8]| env.iter().filter(|v| *v == s).count();
        assert_eq!((has(b"A=1"), has(b"PWD=/tmp"), has(b"TZ=UTC")), (1, 1, 1));
        let later = state_after(&state, None, &[(b"A".to_vec(), b"2".to_vec())]).unwrap();
        assert_eq!(
            command_environment(ShellSurroundings::from_state(&later).as_ref(), b"/tmp", &[]).len(),
            env.len()
        );
    }
}
