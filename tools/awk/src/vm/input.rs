//! The main input: the files and assignments of ARGV, or standard input.

use std::fs::File;

use box_sys::error_text;

use super::reader::RecordReader;
use super::{AwkFlow, AwkMachine, Result};
use crate::array::AwkKey;
use crate::error::AwkRunError;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::AwkValue;

/// The state of reading the main input.
pub(super) struct MainInput {
    reader: Option<RecordReader>,
    /// The name of the open file, as given.
    name: Vec<u8>,
    /// The next index into ARGV.
    next: i64,
    /// Whether ARGV named a file, even one that cannot be opened, so that standard input is not
    /// read by default.
    named: bool,
    done: bool,
    /// The one of `FS`, `FIELDWIDTHS` and `FPAT` that was set last.
    pub field_mode: Special,
}

impl Default for MainInput {
    fn default() -> MainInput {
        MainInput {
            reader: None,
            name: Vec::new(),
            next: 1,
            named: false,
            done: false,
            field_mode: Special::Fs,
        }
    }
}

/// The result of a request for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordRead {
    Record,
    End,
    /// BEGINFILE or ENDFILE ran `exit`.
    Exit,
}

impl AwkMachine<'_, '_> {
    /// Reads the next record of the main input into `$0`.
    #[inline]
    pub(super) fn next_main_record(&mut self) -> Result<RecordRead> {
        self.next_main(None)
    }

    /// Reads the next record of the main input into the caller's buffer (`getline var`).
    pub(super) fn next_main_text(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        Ok(self.next_main(Some(text))? == RecordRead::Record)
    }

    #[inline]
    fn next_main(&mut self, mut text: Option<&mut Vec<u8>>) -> Result<RecordRead> {
        loop {
            if self.main.reader.is_none() {
                match self.open_next()? {
                    RecordRead::Record => continue,
                    other => return Ok(other),
                }
            }
            if self.read_main(text.as_deref_mut())? {
                return Ok(RecordRead::Record);
            }
            if self.end_file()? == AwkFlow::Exit {
                return Ok(RecordRead::Exit);
            }
        }
    }

    #[inline]
    fn read_main(&mut self, text: Option<&mut Vec<u8>>) -> Result<bool> {
        let Some(reader) = &mut self.main.reader else { return Ok(false) };
        let into_record = text.is_none();
        let buffer = match text {
            Some(t) => t,
            None => {
                // Assignments to fields that were not yet joined into the text are lost with the
                // record.
                self.record.text_buffer()
            }
        };
        match reader.next(&mut self.ctx.stdin, &self.separator, buffer, &mut self.rt) {
            Ok(true) => {
                if into_record {
                    self.record.begin();
                }
                self.nr += 1.0;
                self.fnr += 1.0;
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(e) => {
                let shown = String::from_utf8_lossy(&self.main.name).into_owned();
                let text = error_text(&e);
                Err(AwkRunError::fatal(format!("error reading input file `{shown}': {text}")))
            }
        }
    }

    fn warn_directory(&mut self) {
        let shown = String::from_utf8_lossy(&self.main.name).into_owned();
        self.ctx.error(format_args!(
            "warning: command line argument `{shown}' is a directory: skipped"
        ));
    }

    /// Ends the current file, at its end or by `nextfile`.
    pub(super) fn end_file(&mut self) -> Result<AwkFlow> {
        self.main.reader = None;
        let flow = match self.code.end_file {
            Some(entry) => self.execute_code(entry)?,
            None => AwkFlow::Done,
        };
        self.end_edit()?;
        Ok(flow)
    }

    /// Opens the next file, and performs the assignments before it in ARGV.
    fn open_next(&mut self) -> Result<RecordRead> {
        if self.main.done {
            return Ok(RecordRead::End);
        }
        while self.main.next < self.global_value(Special::Argc).num() as i64 {
            let n = self.main.next;
            self.main.next += 1;
            let Some(arg) =
                self.special_element(Special::Argv, &AwkKey::Int(n)).filter(|a| !a.is_empty())
            else {
                continue;
            };
            if let Some(eq) = assignment_position(&arg) {
                self.assign_by_name(&arg[..eq], &arg[eq + 1..])?;
                continue;
            }
            self.main.named = true;
            self.set_global(Special::Argind, AwkValue::Num(n as f64));
            match self.open_file(&arg)? {
                RecordRead::Record if self.main.reader.is_none() => continue,
                got => return Ok(got),
            }
        }
        self.main.done = true;
        if self.main.named {
            return Ok(RecordRead::End);
        }
        self.open_file(b"-")
    }

    fn open_file(&mut self, name: &[u8]) -> Result<RecordRead> {
        self.main.name = name.to_vec();
        self.fnr = 0.0;
        let stdin = matches!(name, b"-" | b"/dev/stdin" | b"/dev/fd/0");
        if !stdin && self.ctx.path(name).is_dir() {
            self.warn_directory();
            return Ok(RecordRead::Record);
        }
        let opened = if stdin { Ok(None) } else { File::open(self.ctx.path(name)).map(Some) };
        self.set_global(Special::Filename, AwkValue::Input(AwkText::new(name)));
        let error = match opened {
            Ok(file) => {
                self.main.reader = Some(RecordReader::new(file));
                if self.settings.inplace {
                    self.begin_edit(name)?;
                }
                None
            }
            Err(e) => Some(error_text(&e)),
        };
        let errno = error.clone().unwrap_or_default();
        if let Some(entry) = self.code.begin_file {
            self.set_global(Special::Errno, AwkValue::str(errno.as_bytes()));
            match self.execute_code(entry)? {
                AwkFlow::Exit => return Ok(RecordRead::Exit),
                AwkFlow::NextFile => {
                    if self.main.reader.is_some() && self.end_file()? == AwkFlow::Exit {
                        return Ok(RecordRead::Exit);
                    }
                    return Ok(RecordRead::Record);
                }
                _ => {}
            }
        }
        if let Some(text) = error {
            let shown = String::from_utf8_lossy(name).into_owned();
            return Err(AwkRunError::fatal(format!(
                "cannot open file `{shown}' for reading: {text}"
            )));
        }
        Ok(RecordRead::Record)
    }
}

/// Returns the offset of the `=` in an assignment operand (`name=value`).
pub fn assignment_position(arg: &[u8]) -> Option<usize> {
    let eq = arg.iter().position(|c| *c == b'=')?;
    let name = &arg[..eq];
    let first = name.first()?;
    let valid = (first.is_ascii_alphabetic() || *first == b'_')
        && name.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b':'));
    valid.then_some(eq)
}
