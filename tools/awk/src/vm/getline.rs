//! `getline` in all its forms: 1 for a record, 0 at the end, -1 for an error.

use std::fs::File;
use std::io::Write;

use box_sys::error_text;

use super::input::RecordRead;
use super::place::ElementAddress;
use super::reader::RecordReader;
use super::stream::{OpenInput, RedirectionKind, check_redirection_name};
use super::{AwkMachine, Result};
use crate::code::{AssignableTarget, GetlineInput};
use crate::text::AwkText;
use crate::value::AwkValue;

impl AwkMachine<'_, '_> {
    pub(super) fn call_getline(
        &mut self,
        from: GetlineInput,
        target: Option<AssignableTarget>,
    ) -> Result<()> {
        let address = match target {
            Some(t) => self.pop_address(t)?,
            None => ElementAddress::None,
        };
        let name = if from == GetlineInput::Main { AwkText::EMPTY } else { self.pop_text() };
        if from == GetlineInput::Main && target.is_none() {
            let got = self.next_main_record()?;
            self.stack.push(AwkValue::bool(got == RecordRead::Record));
            return Ok(());
        }
        let mut text = Vec::new();
        let got = match from {
            GetlineInput::Main => Some(self.next_main_text(&mut text)?),
            _ => self.read_named(from, &name, &mut text)?,
        };
        let result = match got {
            None => -1.0,
            Some(false) => 0.0,
            Some(true) => {
                // gawk 5.2 does not count these records in NR.
                match target {
                    Some(t) => {
                        self.store_target(t, address, AwkValue::Input(AwkText::from_vec(text)))?;
                    }
                    None => self.record.set(&text),
                }
                1.0
            }
        };
        self.stack.push(AwkValue::Num(result));
        Ok(())
    }

    /// Reads a record from a file or command. `None` if that failed.
    fn read_named(
        &mut self,
        from: GetlineInput,
        name: &[u8],
        text: &mut Vec<u8>,
    ) -> Result<Option<bool>> {
        let known = match from {
            GetlineInput::Command => self.streams.pipes_in.contains_key(name),
            GetlineInput::Coprocess => self.streams.coprocesses.contains_key(name),
            _ => self.streams.files_in.contains_key(name),
        };
        if !known {
            match from {
                GetlineInput::Command => self.open_command(name)?,
                GetlineInput::Coprocess => self.open_coprocess(name)?,
                _ => {
                    check_redirection_name("<", name)?;
                    let stdin = matches!(name, b"-" | b"/dev/stdin" | b"/dev/fd/0");
                    let file =
                        if stdin { Ok(None) } else { File::open(self.ctx.path(name)).map(Some) };
                    match file {
                        Ok(file) => {
                            let input = OpenInput { reader: RecordReader::new(file), child: None };
                            self.streams.order.push((RedirectionKind::FileIn, name.to_vec()));
                            self.streams.files_in.insert(name.to_vec(), input);
                        }
                        Err(e) => {
                            self.set_errno(&error_text(&e));
                            return Ok(None);
                        }
                    }
                }
            }
        }
        let reader = match from {
            GetlineInput::Command => self.streams.pipes_in.get_mut(name).map(|i| &mut i.reader),
            GetlineInput::Coprocess => self.streams.coprocesses.get_mut(name).and_then(|c| {
                if let Some(w) = &mut c.out {
                    let _ = w.flush();
                }
                c.reader.as_mut()
            }),
            _ => self.streams.files_in.get_mut(name).map(|i| &mut i.reader),
        };
        let Some(reader) = reader else { return Ok(None) };
        match reader.next(&mut self.ctx.stdin, &self.separator, text, &mut self.rt) {
            Ok(got) => Ok(Some(got)),
            Err(e) => {
                self.set_errno(&error_text(&e));
                Ok(None)
            }
        }
    }
}
