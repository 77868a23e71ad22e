//! Resolving a command name to a function, a builtin or a program.

use std::path::{Path, PathBuf};

use box_applet::program::{self, ProgramForm};
use box_sys::{error_text, path};
use sh_syntax::ast::Assignment;

use crate::Shell;
use crate::builtin::{self, Builtin};
use crate::state::FunctionDef;
use crate::state::options::{SetOpt, ShOpt};

/// The meaning of a command name.
pub enum ResolvedCommand {
    Function(FunctionDef),
    Builtin(&'static Builtin),
    Program(ProgramFile),
    Nothing(MissingCommand),
}

/// A program file and the way it is started.
pub struct ProgramFile {
    /// The file to start: the program itself, or the interpreter of a script.
    pub program: PathBuf,
    /// Words that replace `argv[0]` (interpreter, its argument, script path).
    pub leading: Option<Vec<Vec<u8>>>,
    /// The file that the name resolved to.
    pub file: PathBuf,
}

/// The reason why a command cannot be run.
#[derive(Clone, Debug)]
pub enum MissingReason {
    /// No directory of PATH contains it.
    NotFound,
    /// There is no PATH to search.
    NoPath,
    /// A system call on the file failed: its error, and whether the file is missing.
    System { error: String, is_missing: bool },
    /// The interpreter that a script names does not exist.
    NoInterpreter,
    /// The interpreter that a script names is not executable.
    BadInterpreter(Vec<u8>),
    /// The file is a program for another machine.
    Binary,
}

impl std::fmt::Display for MissingReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MissingReason::NotFound => f.write_str("command not found"),
            MissingReason::NoPath => f.write_str("No such file or directory"),
            MissingReason::System { error, .. } => f.write_str(error),
            MissingReason::NoInterpreter => f.write_str("cannot execute: required file not found"),
            MissingReason::BadInterpreter(name) => {
                let name = String::from_utf8_lossy(name);
                write!(f, "{name}: bad interpreter: Permission denied")
            }
            MissingReason::Binary => f.write_str("cannot execute binary file: Exec format error"),
        }
    }
}

/// A command that cannot be run, and the reason.
#[derive(Clone, Debug)]
pub struct MissingCommand {
    pub why: MissingReason,
    /// The file that was found in PATH.
    pub file: Option<PathBuf>,
}

impl MissingCommand {
    /// Converts the error of starting a program.
    pub(crate) fn from_error(e: &std::io::Error) -> MissingCommand {
        let is_missing = e.kind() == std::io::ErrorKind::NotFound;
        MissingCommand::new(MissingReason::System { error: error_text(e), is_missing })
    }

    /// Adds the file that a name without a slash resolved to.
    pub(crate) fn found_at(mut self, name: &[u8], file: &Path) -> MissingCommand {
        self.file = (!name.contains(&b'/')).then(|| file.to_path_buf());
        self
    }

    fn new(why: MissingReason) -> MissingCommand {
        MissingCommand { why, file: None }
    }

    /// Returns the exit status (POSIX, Shell Command Language, 2.8.2).
    pub(crate) fn exit_status(&self) -> i32 {
        match self.why {
            MissingReason::NotFound | MissingReason::NoPath | MissingReason::NoInterpreter => 127,
            MissingReason::System { is_missing: true, .. } => 127,
            MissingReason::System { is_missing: false, .. }
            | MissingReason::BadInterpreter(_)
            | MissingReason::Binary => 126,
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self.why, MissingReason::NotFound)
    }
}

impl Shell<'_> {
    /// Resolves a command name. Functions come before builtins, except that in POSIX mode special
    /// builtins come first.
    pub(crate) fn find_command(&mut self, name: &[u8]) -> ResolvedCommand {
        if let Some(f) = self.state.functions.get(name)
            && !(self.state.options.has_set(SetOpt::Posix) && builtin::is_special(name))
        {
            return ResolvedCommand::Function(f.clone());
        }
        if let Some(b) = self.enabled_builtin(name) {
            return ResolvedCommand::Builtin(b);
        }
        self.find_program(name)
    }

    /// Looks a program up again if one of the command's assignments, which are in effect by now,
    /// sets `PATH`, because the search uses the new value (POSIX, Shell Command Language, 2.9.1.4).
    pub(crate) fn find_again(
        &mut self,
        found: ResolvedCommand,
        name: &[u8],
        assignments: &[Assignment],
    ) -> ResolvedCommand {
        let is_program = matches!(found, ResolvedCommand::Program(_) | ResolvedCommand::Nothing(_));
        if is_program && assignments.iter().any(|a| a.name.as_ref() == b"PATH") {
            return self.find_program(name);
        }
        found
    }

    /// Returns the enabled builtin of this name.
    pub(crate) fn enabled_builtin(&self, name: &[u8]) -> Option<&'static Builtin> {
        let b = builtin::find_builtin(name)?;
        (!self.state.commands.is_disabled(b.name)).then_some(b)
    }

    /// Looks a name up as a program.
    pub(crate) fn find_program(&mut self, name: &[u8]) -> ResolvedCommand {
        match self.locate_command(name) {
            Ok(file) => match self.inspect_program(file.clone(), name) {
                Ok(p) => ResolvedCommand::Program(p),
                Err(m) => ResolvedCommand::Nothing(m.found_at(name, &file)),
            },
            Err(m) => ResolvedCommand::Nothing(m),
        }
    }

    /// Returns the file that a command name resolves to and remembers it in the hash table.
    pub(crate) fn locate_command(&mut self, name: &[u8]) -> Result<PathBuf, MissingCommand> {
        if name.contains(&b'/') {
            return Ok(self.absolute_path(name));
        }
        if let Some(file) = self.state.commands.location(name).map(Path::to_path_buf) {
            let checked = self.state.options.has_shopt(ShOpt::CheckHash);
            if !checked || program::is_executable(&file) {
                self.state.commands.count_hit(name);
                return Ok(file);
            }
        }
        let Some(search) = self.variable_text(b"PATH") else {
            return Err(MissingCommand::new(MissingReason::NoPath));
        };
        self.about_to_look();
        let not_found = || {
            if search.is_empty() {
                MissingCommand::new(MissingReason::NoPath)
            } else {
                MissingCommand::new(MissingReason::NotFound)
            }
        };
        let Some(file) = program::find_program(name, &search, self.cwd(), self.table) else {
            // If no file is executable, bash names one that exists in its error message.
            let mut dirs = search.split(|c| *c == b':').filter(|_| !name.is_empty());
            let there = dirs.find_map(|dir| {
                let dir = if dir.is_empty() { b".".as_slice() } else { dir };
                let f = path::resolve_path(self.cwd(), dir).join(path::from_bytes(name));
                f.is_file().then_some(f)
            });
            return there.ok_or_else(not_found);
        };
        if self.state.options.has_set(SetOpt::HashAll) && program_is_plain(name) {
            self.state.commands.remember_location(name, file.clone(), 1);
        }
        Ok(file)
    }

    /// Determines how a file is started.
    fn inspect_program(&self, file: PathBuf, name: &[u8]) -> Result<ProgramFile, MissingCommand> {
        match program::inspect_program(&file, self.table) {
            Ok(ProgramForm::Direct) => {
                Ok(ProgramFile { program: file.clone(), leading: None, file })
            }
            Ok(ProgramForm::ShellText) => {
                let leading = vec![b"bash".to_vec(), self.as_called(name, &file)];
                Ok(ProgramFile {
                    program: PathBuf::from("/bin/bash"),
                    leading: Some(leading),
                    file,
                })
            }
            Ok(ProgramForm::Script { interpreter, argument }) => {
                let mut leading = vec![interpreter.clone()];
                leading.extend(argument);
                leading.push(self.as_called(name, &file));
                let found = path::resolve_path(self.cwd(), &interpreter);
                let name = found.file_name().map(path::os_bytes).unwrap_or_default();
                let ours = matches!(
                    found.parent().map(path::to_bytes).unwrap_or_default(),
                    b"/bin" | b"/usr/bin"
                ) && self.table.is_program(name);
                if !ours && !program::is_executable(&found) {
                    return Err(MissingCommand::new(if found.exists() {
                        MissingReason::BadInterpreter(interpreter)
                    } else {
                        MissingReason::NoInterpreter
                    }));
                }
                Ok(ProgramFile { program: found, leading: Some(leading), file })
            }
            Ok(ProgramForm::Binary) => Err(MissingCommand::new(MissingReason::Binary)),
            // The name refers to a descriptor of the shell, which no program can open under this
            // name.
            Err(_) if self.names_descriptor(name) => {
                let error = box_sys::errno::code::EACCES;
                Err(MissingCommand::from_error(&std::io::Error::from_raw_os_error(error)))
            }
            Err(e) => Err(MissingCommand::from_error(&e)),
        }
    }

    fn names_descriptor(&self, name: &[u8]) -> bool {
        let digits = name.strip_prefix(b"/dev/fd/").and_then(|n| std::str::from_utf8(n).ok());
        let number = digits.and_then(|n| n.parse::<u32>().ok());
        number.is_some_and(|n| self.state.fds.get(n).is_some())
    }

    /// Returns the path that a script sees as its own: the path that was given or found.
    fn as_called(&self, name: &[u8], file: &Path) -> Vec<u8> {
        if name.contains(&b'/') { name.to_vec() } else { path::to_bytes(file).to_vec() }
    }
}

fn program_is_plain(name: &[u8]) -> bool {
    !name.is_empty()
}
