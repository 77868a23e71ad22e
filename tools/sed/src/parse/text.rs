//! Arguments that are texts: those of `a`, `i` and `c`, file names, labels.

use super::regex::parse_escape;
use super::{Result, SedParser};
use crate::script::SedAction;

impl SedParser<'_> {
    /// Parses the text of `a`, `i` or `c`: after `\` and a newline (POSIX), or on the same line
    /// (GNU). The text ends with the first newline that has no backslash before it.
    pub(super) fn text_argument(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks();
        if self.peek_byte().is_none() {
            return self.error_here("expected \\ after `a', `c' or `i'");
        }
        if self.dialect.posix && self.peek_byte() != Some(b'\\') {
            self.at += 1;
            return self.error_here("expected \\ after `a', `c' or `i'");
        }
        let mut skip_lead = false;
        if self.peek_byte() == Some(b'\\') {
            self.at += 1;
            let after = self.at;
            self.skip_blanks();
            if self.peek_byte() == Some(b'\n') {
                self.at += 1;
            } else {
                // `a\text`: the backslash keeps leading blanks.
                self.at = after;
                skip_lead = true;
            }
        }
        let _ = skip_lead;
        let mut out = Vec::new();
        while let Some(c) = self.take_byte() {
            match c {
                b'\n' => {
                    out.push(b'\n');
                    return Ok(out);
                }
                b'\\' => {
                    let rest = &self.text[self.at..];
                    match (rest.first(), parse_escape(rest)) {
                        (None, _) => break,
                        (Some(b'n'), _) if !out.is_empty() => {
                            out.push(b'\n');
                            self.at += 1;
                        }
                        (_, Some((byte, len))) => {
                            out.push(byte);
                            self.at += len;
                        }
                        (Some(&next), None) => {
                            out.push(next);
                            self.at += 1;
                        }
                    }
                }
                _ => out.push(c),
            }
        }
        if !out.is_empty() || self.text.ends_with(b"\n") {
            out.push(b'\n');
        }
        Ok(out)
    }

    /// Consumes the rest of the line and its newline, and returns the rest.
    pub(super) fn rest_of_line(&mut self) -> Vec<u8> {
        let from = self.at;
        while self.peek_byte().is_some_and(|c| c != b'\n') {
            self.at += 1;
        }
        let line = self.text[from..self.at].to_vec();
        self.at = (self.at + 1).min(self.text.len());
        line
    }

    pub(super) fn file_name(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks();
        let name = self.rest_of_line();
        if name.is_empty() {
            return self.error_here("missing filename in r/R/w/W commands");
        }
        Ok(name)
    }

    pub(super) fn file_command(&mut self, c: u8) -> Result<SedAction> {
        self.no_sandbox()?;
        let name = self.file_name()?;
        Ok(match c {
            b'r' => SedAction::ReadFile(name),
            b'R' => SedAction::ReadLine(name),
            b'w' => SedAction::Write(self.output_id(&name)),
            _ => SedAction::WriteFirst(self.output_id(&name)),
        })
    }

    /// Parses `:label`: up to a blank, `;` or `}`.
    pub(super) fn label_definition(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks();
        let label = self.label_use();
        if label.is_empty() {
            return self.error_here("\":\" lacks a label");
        }
        Ok(label)
    }

    /// Parses the label of a branch; empty if there is none.
    pub(super) fn label_use(&mut self) -> Vec<u8> {
        self.skip_blanks();
        let from = self.at;
        while self.peek_byte().is_some_and(|c| !c.is_ascii_whitespace() && c != b';' && c != b'}') {
            self.at += 1;
        }
        self.text[from..self.at].to_vec()
    }
}
