//! `print` and `printf` statements.

use std::io::Write;

use box_sys::error_text;

use super::stream::OpenOutput;
use super::{AwkMachine, Result};
use crate::ast::OutputRedirect;
use crate::error::AwkRunError;
use crate::text::AwkText;

impl AwkMachine<'_, '_> {
    /// Runs `print` of `n` values, redirected to the name on top of the stack if there is a
    /// redirection.
    pub(super) fn print_values(
        &mut self,
        n: usize,
        redirect: Option<OutputRedirect>,
    ) -> Result<()> {
        let redirect = redirect.map(|kind| (kind, self.pop_text()));
        let mut line = std::mem::take(&mut self.scratch);
        line.clear();
        if n == 0 {
            line.extend_from_slice(self.record.text(&self.ofs, &self.convfmt));
        } else {
            let from = self.stack.len().saturating_sub(n);
            for (i, v) in self.stack[from..].iter().enumerate() {
                if i > 0 {
                    line.extend_from_slice(&self.ofs);
                }
                v.append_to(&mut line, &self.ofmt);
            }
            self.stack.truncate(from);
        }
        line.extend_from_slice(&self.ors);
        self.write(redirect, line)
    }

    /// Runs `printf` of `n` values, the first of which is the format.
    pub(super) fn print_formatted(
        &mut self,
        n: usize,
        redirect: Option<OutputRedirect>,
    ) -> Result<()> {
        let redirect = redirect.map(|kind| (kind, self.pop_text()));
        let mut line = std::mem::take(&mut self.scratch);
        line.clear();
        let args = self.pop_all(n);
        self.format_values(&args, &mut line)?;
        self.write(redirect, line)
    }

    /// Writes a line and reuses its memory.
    fn write(&mut self, redirect: Option<(OutputRedirect, AwkText)>, line: Vec<u8>) -> Result<()> {
        let written = match redirect {
            Some((kind, name)) => self.write_to(kind, &name, &line),
            None => self.write_stdout(&line),
        };
        self.scratch = line;
        written
    }

    #[inline]
    fn write_stdout(&mut self, data: &[u8]) -> Result<()> {
        let written = match &mut self.edit {
            None => self.ctx.stdout.write_all(data),
            Some(edit) => edit.out.write_all(data),
        };
        match written {
            Ok(()) => Ok(()),
            failed => self.check_stdout(failed),
        }
    }

    fn write_to(&mut self, kind: OutputRedirect, name: &[u8], data: &[u8]) -> Result<()> {
        if kind == OutputRedirect::Coprocess {
            return self.write_coprocess(name, data);
        }
        let pipe = kind == OutputRedirect::Pipe;
        let known = if pipe { &self.streams.pipes_out } else { &self.streams.files_out };
        if !known.contains_key(name) {
            self.open_output(kind, name)?;
        }
        let map = if pipe { &mut self.streams.pipes_out } else { &mut self.streams.files_out };
        let written = match map.get_mut(name) {
            Some(OpenOutput::File(w) | OpenOutput::Spool(w, _)) => w.write_all(data),
            Some(OpenOutput::Pipe(w, _)) => match w.write_all(data) {
                // The command has stopped reading.
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            },
            Some(OpenOutput::Stderr) => {
                self.ctx.stderr.write_all(data).and_then(|()| self.ctx.stderr.flush())
            }
            Some(OpenOutput::Stdout) => return self.write_stdout(data),
            None => Ok(()),
        };
        written.map_err(|e| {
            let shown = String::from_utf8_lossy(name);
            AwkRunError::fatal(format!("print to \"{shown}\" failed: {}", error_text(&e)))
        })
    }

    fn write_coprocess(&mut self, name: &[u8], data: &[u8]) -> Result<()> {
        if !self.streams.coprocesses.contains_key(name) {
            self.open_coprocess(name)?;
        }
        if let Some(w) = self.streams.coprocesses.get_mut(name).and_then(|c| c.out.as_mut())
            && let Err(e) = w.write_all(data)
        {
            let shown = String::from_utf8_lossy(name);
            let text = error_text(&e);
            return Err(AwkRunError::fatal(format!("print to \"{shown}\" failed: {text}")));
        }
        Ok(())
    }
}
