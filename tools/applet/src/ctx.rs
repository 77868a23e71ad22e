//! The context that an applet runs in, and its exit status.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_sys::{Processes, error_text, events, signal};
use box_text::time::Zone;

use crate::{AppletTable, Env, OutStream, StdInput, clock, instead, program, similar};

/// The exit status of an applet, 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// The status of success.
    pub const SUCCESS: Exit = Exit(0);
    /// The status of a failure.
    pub const FAILURE: Exit = Exit(1);
    /// The status of a usage error of GNU `grep`, `diff`, `sort` and `ls`, and of the shell's
    /// builtins.
    pub const USAGE: Exit = Exit(2);
    /// The status of an end by a closed pipe: 128 + SIGPIPE, as a shell reports it.
    pub const SIGPIPE: Exit = Exit(141);
}

/// The end of an applet, with its exit status in both variants. `Err` lets a function end the
/// applet by `?`.
pub type Ended = Result<Exit, Exit>;

/// Everything an applet may see and do.
pub struct Ctx<'a> {
    /// The name by which the applet was called, for messages (the base name of `argv[0]`).
    pub name: String,
    /// The applet's name in the table, independent of the name it was called by.
    pub applet: &'static str,
    /// `argv[0]` as it was given.
    pub arg0: Vec<u8>,
    pub env: Env,
    /// The absolute working directory, to which relative operands are relative.
    pub cwd: PathBuf,
    pub stdin: StdInput,
    pub stdout: OutStream,
    pub stderr: OutStream,
    /// The descriptors from 3 on that the parent has passed, with the numbers that it gave them.
    pub extra_fds: Vec<(u32, Rc<File>)>,
    pub procs: &'a dyn Processes,
    pub table: &'a AppletTable,
}

impl Ctx<'_> {
    /// Returns the absolute path of an operand.
    pub fn path(&self, operand: &[u8]) -> PathBuf {
        box_sys::path::resolve_path(&self.cwd, operand)
    }

    /// Makes an already parsed path absolute; an empty one names no file.
    pub fn absolute(&self, p: &Path) -> PathBuf {
        box_sys::path::resolve_path(&self.cwd, p.as_os_str().as_encoded_bytes())
    }

    /// Returns the time zone that `TZ` names.
    pub fn zone(&self) -> Zone {
        clock::parse_zone(self.env.get(b"TZ"))
    }

    /// Returns the contents of an operand: of standard input for `-`, otherwise of a file.
    ///
    /// # Errors
    /// The same as [`Ctx::read_file`].
    pub fn read(&mut self, operand: &[u8]) -> io::Result<Vec<u8>> {
        if operand != b"-" {
            return self.read_file(operand);
        }
        let mut data = Vec::new();
        self.stdin.read_to_end(&mut data)?;
        Ok(data)
    }

    /// Returns the contents of a file. Refuses a directory, because the result of reading one
    /// differs between systems.
    ///
    /// # Errors
    /// The error of opening or reading the file, or EISDIR for a directory.
    pub fn read_file(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let mut data = Vec::new();
        let mut file = File::open(self.path(name))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(io::Error::from_raw_os_error(box_sys::errno::code::EISDIR));
        }
        file.read_to_end(&mut data)?;
        Ok(data)
    }

    /// Returns the text of `--version`.
    pub fn version(&self) -> String {
        crate::version::version_text(self.applet)
    }

    /// Prints the text of `--help` or `--version`, after which the applet does nothing else;
    /// returns the status to end with.
    pub fn print(&mut self, text: &str) -> Exit {
        let _ = self.stdout.write_all(text.as_bytes());
        Exit::SUCCESS
    }

    /// Writes a hint to `--help` to standard error.
    pub fn hint(&mut self) {
        let hint = format!("Try '{} --help' for more information.\n", self.name);
        let _ = self.stderr.write_all(hint.as_bytes());
    }

    /// Writes `NAME: MESSAGE` to standard error. Standard output is flushed first, so that both
    /// streams keep their order when they go to one place.
    pub fn error(&mut self, message: impl fmt::Display) {
        let _ = self.stdout.flush();
        let line = format!("{}: {}\n", self.name, message);
        let _ = self.stderr.write_all(line.as_bytes());
        let _ = self.stderr.flush();
    }

    /// Writes a message like [`Ctx::error`], from parts that need not be UTF-8.
    pub fn error_bytes(&mut self, parts: &[&[u8]]) {
        let _ = self.stdout.flush();
        let mut line = format!("{}: ", self.name).into_bytes();
        parts.iter().for_each(|p| line.extend_from_slice(p));
        line.push(b'\n');
        let _ = self.stderr.write_all(&line);
        let _ = self.stderr.flush();
    }

    /// Writes a replacement for a command that does not exist, or commands with a similar name,
    /// as the shell does; nothing if `status` is not 127, or if the name is a path.
    pub fn advise_missing(&mut self, name: &[u8], status: u8) {
        if status != 127 || name.contains(&b'/') {
            return;
        }
        if let Some(text) = instead::find_instead(name, self.table) {
            return self.error_bytes(&[name, b": ", text.as_bytes()]);
        }
        let search = self.env.get(b"PATH").unwrap_or(program::DEFAULT_PATH);
        let found = similar::find_similar(name, search, self.table, &[]);
        if !found.is_empty() {
            self.error_bytes(&[name, b": similar: ", found.join(", ").as_bytes()]);
        }
    }

    /// Writes `NAME: OPERAND: REASON`, for example with the reason `No such file or directory`.
    pub fn io_error(&mut self, operand: &[u8], e: &io::Error) {
        let text = error_text(e);
        self.error_bytes(&[operand, b": ", text.as_bytes()]);
    }

    /// Flushes standard output and returns the exit status. A closed pipe gives [`Exit::SIGPIPE`]
    /// without a message, unless the parent ignores SIGPIPE. Any other failure gives the message
    /// `write error`, and status 1 if the applet itself has succeeded.
    pub fn finish(&mut self, ended: Ended) -> Exit {
        let exit = ended.unwrap_or_else(|exit| exit);
        let flushed = self.stdout.flush();
        self.stdin.give_back();
        match self.stdout.take_error().map_or(flushed, Err) {
            Ok(()) => exit,
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe && !is_pipe_ignored() => Exit::SIGPIPE,
            Err(e) => {
                let text = error_text(&e);
                self.error(format_args!("write error: {text}"));
                if exit.0 == 0 { Exit::FAILURE } else { exit }
            }
        }
    }
}

/// Returns whether SIGPIPE was ignored when this process began. Native builds cannot find out,
/// because the standard library ignores the signal itself.
fn is_pipe_ignored() -> bool {
    events::ignored_at_start() & events::signal_bit(signal::PIPE) != 0
}
