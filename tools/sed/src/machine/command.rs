//! `e`: running a command and taking its output.

use std::io::{Read, Write};
use std::rc::Rc;

use box_applet::command::{ChildCommand, ChildStream};
use box_sys::error_text;

use super::{Result, SedMachine};
use crate::error::SedRunError;

impl SedMachine<'_, '_> {
    /// `e command` writes the command's output before the line; `e` alone runs the pattern
    /// space and replaces it by the output.
    pub(super) fn execute_command(&mut self, command: Option<&[u8]>) -> Result<()> {
        self.flush_files();
        let _ = self.ctx.stdout.flush();
        let fail = |text: String| SedRunError::Fatal(4, format!("error running command: {text}"));
        let (mut r, w) = self.ctx.procs.pipe().map_err(|e| fail(error_text(&e)))?;
        let mut c = ChildCommand::shell(command.unwrap_or(&self.space));
        c.stdout = ChildStream::File(Rc::new(w));
        let child = c.start(self.ctx).map_err(|e| fail(e.message))?;
        drop(c);
        let mut out = Vec::new();
        let read = r.read_to_end(&mut out);
        let _ = child.wait(self.ctx);
        read.map_err(|e| fail(error_text(&e)))?;
        if command.is_some() {
            return self.write_out(&out);
        }
        // The output's last newline becomes that of the line.
        if out.last() == Some(&self.line_delimiter()) {
            out.pop();
        }
        self.space = out;
        Ok(())
    }
}
