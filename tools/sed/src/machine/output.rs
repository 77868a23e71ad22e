//! The outputs of lines. A last line without a newline is written without one; if more output
//! follows, the newline is written first, as in GNU sed.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use box_sys::error_text;

use super::{Result, SedMachine};
use crate::error::SedRunError;

/// The destination of a stream.
#[derive(Default)]
enum OutputKind {
    #[default]
    Stdout,
    Stderr,
    File(BufWriter<File>),
}

/// One output.
#[derive(Default)]
pub(super) struct SedOutput {
    kind: OutputKind,
    /// Whether the last line lacked its newline.
    missing: bool,
}

impl SedOutput {
    /// Returns an output that is a file.
    pub fn file(w: BufWriter<File>) -> SedOutput {
        SedOutput { kind: OutputKind::File(w), missing: false }
    }

    /// Returns the file, if it is one.
    pub fn into_file(self) -> Option<BufWriter<File>> {
        if let OutputKind::File(w) = self.kind { Some(w) } else { None }
    }

    /// Records that the last text written had no newline.
    pub fn missing_newline(&mut self) {
        self.missing = true;
    }
}

/// All outputs.
#[derive(Default)]
pub(super) struct SedOutputs {
    /// Standard output, or the file that is edited in place.
    pub main: SedOutput,
    /// The files of `w`, by number. `/dev/stdout` among them is the real standard output.
    files: Vec<SedOutput>,
}

impl SedOutputs {
    /// Records that the last text written to the main output had no newline.
    pub fn missing_newline(&mut self) {
        self.main.missing_newline();
    }
}

impl SedMachine<'_, '_> {
    pub(super) fn outputs_mut(&mut self) -> &mut SedOutputs {
        &mut self.outputs
    }

    /// Creates the files of `w` commands.
    pub(super) fn open_outputs(&mut self) -> Result<()> {
        let script = self.script.clone();
        for name in &script.outputs {
            let kind = match name.as_slice() {
                b"/dev/stdout" => OutputKind::Stdout,
                b"/dev/stderr" => OutputKind::Stderr,
                _ => match File::create(self.ctx.path(name)) {
                    Ok(f) => OutputKind::File(BufWriter::new(f)),
                    Err(e) => {
                        let shown = String::from_utf8_lossy(name);
                        let text = error_text(&e);
                        return Err(SedRunError::Fatal(
                            4,
                            format!("couldn't open file {shown}: {text}"),
                        ));
                    }
                },
            };
            self.outputs.files.push(SedOutput { kind, missing: false });
        }
        Ok(())
    }

    fn check_result(&mut self, r: io::Result<()>) -> Result<()> {
        match r {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(SedRunError::BrokenPipe),
            Err(e) => {
                self.ctx.stdout.take_error();
                Err(SedRunError::Fatal(4, format!("couldn't write to output: {}", error_text(&e))))
            }
        }
    }

    /// Prints the pattern space as a line.
    #[inline]
    pub(super) fn print_space(&mut self) -> Result<()> {
        self.print_line(self.space.len())
    }

    /// Prints the pattern space up to `end` as a line.
    #[inline]
    pub(super) fn print_line(&mut self, end: usize) -> Result<()> {
        let delimiter = self.line_delimiter();
        let newline = self.newline || end < self.space.len();
        let text = &self.space[..end];
        let written = match &mut self.outputs.main.kind {
            OutputKind::Stdout => write_line(
                &mut self.ctx.stdout,
                &mut self.outputs.main.missing,
                text,
                newline,
                delimiter,
            ),
            OutputKind::Stderr => Ok(()),
            OutputKind::File(w) => {
                write_line(w, &mut self.outputs.main.missing, text, newline, delimiter)
            }
        };
        self.check_result(written)?;
        if self.settings.unbuffered {
            let flushed = self.ctx.stdout.flush();
            self.check_result(flushed)?;
        }
        Ok(())
    }

    /// Writes the newline that the last line lacked.
    pub(super) fn write_newline(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.outputs.main.missing) {
            return Ok(());
        }
        let delimiter = self.line_delimiter();
        self.write_out(&[delimiter])
    }

    /// Writes text as it is.
    pub(super) fn write_out(&mut self, text: &[u8]) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let delimiter = self.line_delimiter();
        let missing = std::mem::take(&mut self.outputs.main.missing);
        let w: &mut dyn Write = match &mut self.outputs.main.kind {
            OutputKind::File(w) => w,
            _ => &mut self.ctx.stdout,
        };
        let mut written = if missing { w.write_all(&[delimiter]) } else { Ok(()) };
        if written.is_ok() {
            written = w.write_all(text);
        }
        self.check_result(written)?;
        if self.settings.unbuffered {
            let flushed = self.ctx.stdout.flush();
            self.check_result(flushed)?;
        }
        Ok(())
    }

    /// Writes the pattern space up to `end` as a line of a `w` file.
    pub(super) fn write_file(&mut self, n: usize, end: usize) -> Result<()> {
        let delimiter = self.line_delimiter();
        let newline = self.newline || end < self.space.len();
        let text = &self.space[..end];
        let Some(out) = self.outputs.files.get_mut(n) else { return Ok(()) };
        let written = match &mut out.kind {
            OutputKind::Stdout => {
                // The file shares the state of the main output, unless that goes to an edited file.
                let shared = matches!(self.outputs.main.kind, OutputKind::Stdout);
                let missing =
                    if shared { &mut self.outputs.main.missing } else { &mut out.missing };
                write_line(&mut self.ctx.stdout, missing, text, newline, delimiter)
            }
            OutputKind::Stderr => {
                write_line(&mut self.ctx.stderr, &mut out.missing, text, newline, delimiter)
            }
            OutputKind::File(w) => write_line(w, &mut out.missing, text, newline, delimiter),
        };
        self.check_result(written)
    }

    /// Flushes the files of `w`, so that `r` and commands can read them.
    pub(super) fn flush_files(&mut self) {
        for out in &mut self.outputs.files {
            if let OutputKind::File(w) = &mut out.kind {
                let _ = w.flush();
            }
        }
    }

    /// Flushes everything at the end.
    pub(super) fn flush_all(&mut self) -> Result<()> {
        let mut result = Ok(());
        for out in std::mem::take(&mut self.outputs.files) {
            if let OutputKind::File(mut w) = out.kind {
                result = result.and(w.flush());
            }
        }
        let flushed = self.ctx.stdout.flush();
        self.check_result(result.and(flushed))
    }
}

#[inline]
fn write_line(
    w: &mut dyn Write,
    missing: &mut bool,
    text: &[u8],
    newline: bool,
    delimiter: u8,
) -> io::Result<()> {
    if std::mem::take(missing) {
        w.write_all(&[delimiter])?;
    }
    w.write_all(text)?;
    if newline {
        return w.write_all(&[delimiter]);
    }
    *missing = true;
    Ok(())
}
