//! The lines of the input files in order, the test for the last line, and `-i`.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use box_applet::{Ctx, create_beside, inherit_metadata};
use box_sys::{error_text, meta};

use super::output::SedOutput;
use super::{Result, SedMachine};
use crate::error::SedRunError;

const BUFFER: usize = 64 * 1024;

/// Returns the target of a symbolic link, through further links. The caller knows that it leads to
/// a file.
fn follow_link(mut path: PathBuf) -> PathBuf {
    const LINKS: usize = 40;
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map(|dir| dir.join(&target)).unwrap_or(target);
    }
    path
}

/// The open file.
enum OpenSedFile {
    None,
    Stdin,
    File(BufReader<File>),
}

/// The state of reading the input.
pub(super) struct SedInput {
    files: VecDeque<Vec<u8>>,
    open: OpenSedFile,
    /// The name of the open file; `-` for standard input.
    pub name: Vec<u8>,
    /// The number of the current line, counted over all files unless they are separate.
    pub line: u64,
    /// The file that is edited in place: its path, the temporary file's path, and its name for
    /// messages and the backup.
    editing: Option<(PathBuf, PathBuf, Vec<u8>)>,
}

impl SedInput {
    /// Creates an input that reads the lines of these files.
    pub fn new(files: Vec<Vec<u8>>) -> SedInput {
        let files: VecDeque<Vec<u8>> =
            if files.is_empty() { [b"-".to_vec()].into() } else { files.into() };
        SedInput { files, open: OpenSedFile::None, name: b"-".to_vec(), line: 0, editing: None }
    }
}

/// Returns the buffered stream of an open file.
fn open_stream<'s>(open: &'s mut OpenSedFile, ctx: &'s mut Ctx<'_>) -> Option<&'s mut dyn BufRead> {
    match open {
        OpenSedFile::None => None,
        OpenSedFile::Stdin => Some(&mut ctx.stdin),
        OpenSedFile::File(f) => Some(f),
    }
}

/// Returns whether there is more to read; `false` also for errors, which reading then reports.
fn has_data(open: &mut OpenSedFile, ctx: &mut Ctx<'_>) -> bool {
    match open_stream(open, ctx) {
        None => false,
        Some(s) => loop {
            match s.fill_buf() {
                Ok(b) => return !b.is_empty(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        },
    }
}

impl SedMachine<'_, '_> {
    fn is_separate(&self) -> bool {
        self.settings.separate || self.settings.in_place.is_some()
    }

    /// Reads the next line into the pattern space. Returns `false` at the end of all input.
    #[inline]
    pub(super) fn read_line(&mut self) -> Result<bool> {
        let delimiter = self.line_delimiter();
        // `t` refers to the line that was read last, whichever command read it.
        self.substituted = false;
        loop {
            if let Some(s) = open_stream(&mut self.input.open, self.ctx) {
                self.space.clear();
                match s.read_until(delimiter, &mut self.space) {
                    Ok(0) => {}
                    Ok(_) => {
                        self.newline = self.space.last() == Some(&delimiter);
                        if self.newline {
                            self.space.pop();
                        }
                        self.input.line += 1;
                        return Ok(true);
                    }
                    Err(e) => {
                        let shown = String::from_utf8_lossy(&self.input.name).into_owned();
                        let text = error_text(&e);
                        return Err(SedRunError::Fatal(
                            4,
                            format!("read error on {shown}: {text}"),
                        ));
                    }
                }
                self.close_input()?;
                continue;
            }
            if !self.open_next()? {
                return Ok(false);
            }
        }
    }

    /// Opens the next file that can be opened.
    fn open_next(&mut self) -> Result<bool> {
        while let Some(name) = self.input.files.pop_front() {
            if self.is_separate() {
                self.input.line = 0;
                self.hold.clear();
                self.reset_ranges();
                self.line_files.clear();
            }
            if name == b"-" && self.settings.in_place.is_none() {
                self.input.name = name;
                self.input.open = OpenSedFile::Stdin;
                return Ok(true);
            }
            if self.open_file(&name)? {
                self.input.name = name;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn open_file(&mut self, name: &[u8]) -> Result<bool> {
        let path = self.ctx.path(name);
        let shown = String::from_utf8_lossy(name).into_owned();
        let complain = |m: &mut Self, text: String, status: u8| {
            m.ctx.error(text);
            m.status = m.status.max(status);
        };
        if path.is_dir() {
            if self.settings.in_place.is_some() {
                complain(self, format!("couldn't edit {shown}: not a regular file"), 4);
                return Ok(false);
            }
            return Err(SedRunError::Fatal(4, format!("read error on {shown}: Is a directory")));
        }
        let file = match File::open(&path) {
            Ok(f) => f,
            Err(e) => {
                complain(self, format!("can't read {shown}: {}", error_text(&e)), 2);
                return Ok(false);
            }
        };
        if self.settings.in_place.is_some() {
            if !path.is_file() {
                complain(self, format!("couldn't edit {shown}: not a regular file"), 4);
                return Ok(false);
            }
            if self.settings.follow {
                let path = follow_link(path);
                self.begin_edit(path.clone(), box_sys::path::to_bytes(&path))?;
            } else {
                self.begin_edit(path, name)?;
            }
        }
        self.input.open = OpenSedFile::File(BufReader::with_capacity(BUFFER, file));
        Ok(true)
    }

    /// Directs output to a temporary file beside the one that is edited.
    fn begin_edit(&mut self, path: PathBuf, name: &[u8]) -> Result<()> {
        let (file, temporary) = create_beside(self.ctx, &path, "sed").map_err(|e| {
            let (shown, why) = (String::from_utf8_lossy(name), error_text(&e));
            SedRunError::Fatal(4, format!("couldn't open temporary file for {shown}: {why}"))
        })?;
        if let Ok(stat) = meta::stat(&path, true) {
            inherit_metadata(&stat, &temporary);
        }
        self.outputs_mut().main = SedOutput::file(BufWriter::with_capacity(BUFFER, file));
        self.input.editing = Some((path, temporary, name.to_vec()));
        Ok(())
    }

    /// Closes the current file, and replaces it by the edited one.
    pub(super) fn close_input(&mut self) -> Result<()> {
        self.input.open = OpenSedFile::None;
        let Some((path, temporary, name)) = self.input.editing.take() else { return Ok(()) };
        let fail = |e: io::Error| {
            let shown = String::from_utf8_lossy(&name);
            SedRunError::Fatal(4, format!("cannot rename {shown}: {}", error_text(&e)))
        };
        let out = std::mem::take(&mut self.outputs_mut().main);
        if let Some(mut w) = out.into_file() {
            w.flush().map_err(fail)?;
        }
        let suffix = self.settings.in_place.clone().unwrap_or_default();
        if !suffix.is_empty() {
            let backup = self.ctx.path(&backup_name(&name, &suffix));
            fs::rename(&path, backup).map_err(fail)?;
        }
        fs::rename(&temporary, &path).map_err(fail)
    }

    /// Returns whether the current line is the last one (of its file if files are separate).
    pub(super) fn is_last(&mut self) -> Result<bool> {
        if has_data(&mut self.input.open, self.ctx) {
            return Ok(false);
        }
        Ok(self.is_separate() || !self.more_files())
    }

    /// Returns whether `n` and `N` find another line.
    pub(super) fn has_next(&mut self) -> Result<bool> {
        if has_data(&mut self.input.open, self.ctx) {
            return Ok(true);
        }
        Ok(!self.is_separate() && self.more_files())
    }

    /// Returns whether a later file has data, without consuming it.
    fn more_files(&mut self) -> bool {
        for name in self.input.files.clone() {
            if name == b"-" && self.settings.in_place.is_none() {
                return has_data(&mut OpenSedFile::Stdin, self.ctx);
            }
            if let Ok(f) = File::open(self.ctx.path(&name)) {
                // The file is opened again when its turn comes; the bytes read here are discarded.
                let mut open = OpenSedFile::File(BufReader::with_capacity(1, f));
                if has_data(&mut open, self.ctx) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns the name of a backup. A `*` in the suffix stands for the base name; without a `*`, the
/// suffix is appended. A suffix with a `/` names another directory.
fn backup_name(name: &[u8], suffix: &[u8]) -> Vec<u8> {
    let slash = name.iter().rposition(|c| *c == b'/').map_or(0, |n| n + 1);
    let (dir, base) = name.split_at(slash);
    let backup = if suffix.contains(&b'*') {
        let mut out = Vec::new();
        for c in suffix {
            match c {
                b'*' => out.extend_from_slice(base),
                c => out.push(*c),
            }
        }
        out
    } else {
        [base, suffix].concat()
    };
    if backup.contains(&b'/') { backup } else { [dir, &backup].concat() }
}
