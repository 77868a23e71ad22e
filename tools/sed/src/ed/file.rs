//! Files and commands as sources and destinations of lines.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::rc::Rc;

use box_applet::command::{ChildCommand, ChildStream};

use super::{Editor, Result, fail_with};

impl Editor<'_, '_> {
    /// Inserts a file, or the output of `!command`, after line `at`.
    pub(super) fn read(&mut self, name: &[u8], at: usize) -> Result<()> {
        let mut data = Vec::new();
        if let Some(command) = name.strip_prefix(b"!") {
            let (mut reader, writer) =
                self.ctx.procs.pipe().map_err(|_| "Cannot open pipe".to_string())?;
            let mut shell = ChildCommand::shell(command);
            shell.stdout = ChildStream::File(Rc::new(writer));
            let child = shell.start(self.ctx).map_err(|e| e.message)?;
            drop(shell);
            let _ = reader.read_to_end(&mut data);
            let _ = child.wait(self.ctx);
        } else {
            // Here `-` is the name of a file.
            match self.ctx.read_file(name) {
                Ok(read) => data = read,
                Err(e) => {
                    self.print_error(name, &e);
                    return fail_with("Cannot open input file");
                }
            }
        }
        let mut size = data.len();
        if !data.is_empty() && !data.ends_with(b"\n") {
            size += 1;
            if !self.quiet {
                let _ = self.ctx.stdout.flush();
                let _ = self.ctx.stderr.write_all(b"Newline appended\n");
            }
            data.push(b'\n');
        }
        let mut texts: Vec<Vec<u8>> = data.split(|c| *c == b'\n').map(<[u8]>::to_vec).collect();
        texts.pop();
        self.insert_lines(at, texts);
        self.print_count(size);
        Ok(())
    }

    /// Writes lines to a file or a command.
    pub(super) fn write(
        &mut self,
        name: &[u8],
        append: bool,
        from: usize,
        to: usize,
    ) -> Result<()> {
        let mut data = Vec::new();
        for line in &self.lines[from.saturating_sub(1)..to] {
            data.extend_from_slice(&line.text);
            data.push(b'\n');
        }
        if let Some(command) = name.strip_prefix(b"!") {
            let (reader, mut writer) =
                self.ctx.procs.pipe().map_err(|_| "Cannot open pipe".to_string())?;
            let mut shell = ChildCommand::shell(command);
            shell.stdin = ChildStream::File(Rc::new(reader));
            // If processes do not run concurrently, a file that is written first takes the place of
            // the pipe.
            if !self.ctx.procs.concurrent() {
                let _ = writer.write_all(&data);
            }
            let child = shell.start(self.ctx).map_err(|e| e.message)?;
            drop(shell);
            if self.ctx.procs.concurrent() {
                let _ = writer.write_all(&data);
            }
            drop(writer);
            let _ = child.wait(self.ctx);
        } else {
            let path = self.ctx.path(name);
            let opened = if append {
                OpenOptions::new().append(true).create(true).open(path)
            } else {
                File::create(path)
            };
            if let Err(e) = opened.and_then(|mut f| f.write_all(&data)) {
                self.print_error(name, &e);
                return fail_with("Cannot open output file");
            }
        }
        self.print_count(data.len());
        Ok(())
    }

    /// Runs `!command`.
    pub(super) fn run_shell(&mut self, command: &[u8]) -> Result<()> {
        let mut text = Vec::new();
        let mut changed = false;
        let mut rest = command;
        if let Some(tail) = rest.strip_prefix(b"!") {
            if self.last_shell.is_empty() {
                return fail_with("No previous command");
            }
            text.extend_from_slice(&self.last_shell);
            (rest, changed) = (tail, true);
        }
        while let Some((c, tail)) = rest.split_first() {
            rest = tail;
            match (c, tail.first()) {
                (b'\\', Some(b'%')) => {
                    text.push(b'%');
                    rest = &tail[1..];
                }
                (b'%', _) => {
                    if self.name.is_empty() {
                        return fail_with("No current filename");
                    }
                    text.extend_from_slice(&self.name);
                    changed = true;
                }
                _ => text.push(*c),
            }
        }
        if changed {
            let _ = self.ctx.stdout.write_all(&[&text[..], b"\n"].concat());
        }
        self.last_shell.clone_from(&text);
        ChildCommand::shell(&text).run(self.ctx);
        if self.counts {
            let _ = self.ctx.stdout.write_all(b"!\n");
        }
        Ok(())
    }

    fn print_count(&mut self, size: usize) {
        if self.counts {
            let _ = writeln!(self.ctx.stdout, "{size}");
        }
    }

    fn print_error(&mut self, name: &[u8], e: &std::io::Error) {
        if !self.quiet {
            let _ = self.ctx.stdout.flush();
            let text = [name, b": ", box_sys::error_text(e).as_bytes(), b"\n"].concat();
            let _ = self.ctx.stderr.write_all(&text);
        }
    }
}
