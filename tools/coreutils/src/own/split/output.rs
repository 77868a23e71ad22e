//! The destinations of the pieces: files, or commands that read them.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::rc::Rc;

use box_applet::command::{Child, ChildCommand, ChildStream};
use box_applet::{Ctx, Exit};
use box_sys::{WaitStatus, signal};

use super::names::{SplitExhausted, SplitNames};
use crate::common::{input, paths, quote};

/// A piece that is being written.
enum SplitPiece {
    File(BufWriter<File>),
    /// A running command and its input, which is `None` if the command has stopped reading.
    Pipe(Option<BufWriter<File>>, Child),
    /// A temporary file with the input of a command that cannot run at the same time as this
    /// process: the reading end and the writing end.
    Spool(File, BufWriter<File>),
}

/// The writer of all pieces, which has one piece open at a time.
pub(super) struct SplitOutputs<'c, 'a> {
    pub ctx: &'c mut Ctx<'a>,
    names: SplitNames,
    filter: Option<Vec<u8>>,
    verbose: bool,
    /// The path of the input file, which no piece may overwrite.
    input: Option<PathBuf>,
    /// The name of the open piece, and the piece.
    open: Option<(Vec<u8>, SplitPiece)>,
}

impl<'c, 'a> SplitOutputs<'c, 'a> {
    pub(super) fn new(
        ctx: &'c mut Ctx<'a>,
        names: SplitNames,
        (filter, verbose): (Option<Vec<u8>>, bool),
        input: Option<PathBuf>,
    ) -> SplitOutputs<'c, 'a> {
        SplitOutputs { ctx, names, filter, verbose, input, open: None }
    }

    /// Ends the open piece and returns the next name.
    pub(super) fn next_name(&mut self) -> Result<Vec<u8>, Exit> {
        self.close()?;
        self.names.next_name().map_err(|SplitExhausted| {
            input::report_failure(self.ctx, &[b"output file suffixes exhausted"])
        })
    }

    /// Begins the next piece.
    pub(super) fn begin(&mut self) -> Result<(), Exit> {
        let name = self.next_name()?;
        self.create(name)
    }

    /// Begins a piece with this name.
    pub(super) fn create(&mut self, name: Vec<u8>) -> Result<(), Exit> {
        self.close()?;
        let piece = match self.filter.clone() {
            Some(command) => self.start(&command, &name)?,
            None => self.create_file(&name)?,
        };
        self.open = Some((name, piece));
        Ok(())
    }

    /// Appends to a file that already exists.
    pub(super) fn append(&mut self, name: &[u8], data: &[u8]) -> Result<(), Exit> {
        let path = self.ctx.path(name);
        let written = File::options().append(true).open(path).and_then(|mut f| f.write_all(data));
        written.map_err(|e| input::file_error(self.ctx, name, &e))
    }

    /// Prints a line of `--verbose`.
    fn say(&mut self, parts: &[&[u8]]) -> Result<(), Exit> {
        let line = [&parts.concat()[..], b"\n"].concat();
        self.ctx.stdout.write_all(&line).map_err(|_| Exit::FAILURE)
    }

    fn create_file(&mut self, name: &[u8]) -> Result<SplitPiece, Exit> {
        if self.verbose {
            self.say(&[b"creating file ", &quote::quote_in_sentence(name)])?;
        }
        let path = self.ctx.path(name);
        if self.input.as_ref().is_some_and(|input| paths::same_file(input, &path)) {
            let shown = quote::quote_in_sentence(name);
            return Err(input::report_failure(
                self.ctx,
                &[&shown, b" would overwrite input; aborting"],
            ));
        }
        let file = File::create(path).map_err(|e| input::file_error(self.ctx, name, &e))?;
        Ok(SplitPiece::File(BufWriter::with_capacity(64 * 1024, file)))
    }

    fn start(&mut self, command: &[u8], name: &[u8]) -> Result<SplitPiece, Exit> {
        if self.verbose {
            self.say(&[b"executing with FILE=", &quote::quote_with_colon(name)])?;
        }
        let failed = |ctx: &mut Ctx<'_>, e: &io::Error| {
            input::report_failure(
                ctx,
                &[b"failed to create pipe: ", box_sys::error_text(e).as_bytes()],
            )
        };
        if !self.ctx.procs.concurrent() {
            let (reader, writer) = box_sys::preview1::spool().map_err(|e| failed(self.ctx, &e))?;
            return Ok(SplitPiece::Spool(reader, BufWriter::new(writer)));
        }
        let (reader, writer) = self.ctx.procs.pipe().map_err(|e| failed(self.ctx, &e))?;
        let child = self.run(command, name, reader)?;
        Ok(SplitPiece::Pipe(Some(BufWriter::with_capacity(64 * 1024, writer)), child))
    }

    /// Starts the command with `stdin` as its standard input.
    fn run(&mut self, command: &[u8], name: &[u8], stdin: File) -> Result<Child, Exit> {
        let shell = self.ctx.env.get(b"SHELL").unwrap_or(b"/bin/sh").to_vec();
        let mut shell = ChildCommand::new(vec![shell, b"-c".to_vec(), command.to_vec()]);
        let mut env = self.ctx.env.clone();
        env.set(b"FILE", name);
        shell.env = Some(env);
        shell.stdin = ChildStream::File(Rc::new(stdin));
        shell.start(self.ctx).map_err(|e| {
            let text = [b"failed to run command: \"", &shell.argv[0][..], b" -c\": "].concat();
            input::report_failure(self.ctx, &[&text, e.message.as_bytes()])
        })
    }

    /// Writes to the open piece. A command need not read all of its input.
    pub(super) fn write(&mut self, data: &[u8]) -> Result<(), Exit> {
        let Some((name, piece)) = &mut self.open else { return Ok(()) };
        let written = match piece {
            SplitPiece::File(file) => file.write_all(data),
            SplitPiece::Spool(_, spool) => spool.write_all(data),
            SplitPiece::Pipe(None, _) => Ok(()),
            SplitPiece::Pipe(pipe, _) => {
                let written = pipe.as_mut().map_or(Ok(()), |pipe| pipe.write_all(data));
                if written.as_ref().is_err_and(|e| e.kind() == ErrorKind::BrokenPipe) {
                    give_up(pipe);
                    return Ok(());
                }
                written
            }
        };
        written.map_err(|e| input::file_error(self.ctx, name, &e))
    }

    /// Ends the open piece, and waits for its command.
    ///
    /// # Errors
    /// The piece cannot be written, or its command fails. The error holds the exit status; the
    /// message has been printed.
    pub(super) fn close(&mut self) -> Result<(), Exit> {
        let Some((name, piece)) = self.open.take() else { return Ok(()) };
        let (flushed, child) = match piece {
            SplitPiece::File(mut file) => (file.flush(), None),
            SplitPiece::Pipe(None, child) => (Ok(()), Some(child)),
            SplitPiece::Pipe(Some(mut pipe), child) => {
                let flushed = match pipe.flush() {
                    Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                        give_up(&mut Some(pipe));
                        Ok(())
                    }
                    flushed => flushed,
                };
                (flushed, Some(child))
            }
            SplitPiece::Spool(reader, mut spool) => {
                let flushed = spool.flush();
                drop(spool);
                let command = self.filter.clone().unwrap_or_default();
                (flushed, Some(self.run(&command, &name, reader)?))
            }
        };
        flushed.map_err(|e| input::file_error(self.ctx, &name, &e))?;
        let Some(child) = child else { return Ok(()) };
        let status = child.wait(self.ctx).map_err(|e| input::file_error(self.ctx, &name, &e))?;
        let (status, how) = match status {
            WaitStatus::Exited(0) | WaitStatus::Signaled(signal::PIPE) => return Ok(()),
            WaitStatus::Exited(code) => (code, format!("exit {code}")),
            WaitStatus::Signaled(number) => {
                let name = signal::name(number).unwrap_or_else(|| number.to_string());
                (number.wrapping_add(128), format!("signal {name}"))
            }
        };
        let command = self.filter.clone().unwrap_or_default();
        let shown = quote::quote_with_colon(&name);
        let parts: [&[u8]; 6] =
            [b"with FILE=", &shown, b", ", how.as_bytes(), b" from command: ", &command];
        self.ctx.error_bytes(&parts);
        Err(Exit(status))
    }
}

/// Closes a pipe that nobody reads any more, and drops the buffered bytes.
fn give_up(pipe: &mut Option<BufWriter<File>>) {
    if let Some(pipe) = pipe.take() {
        let _ = pipe.into_parts();
    }
}
