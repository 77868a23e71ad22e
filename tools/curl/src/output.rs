//! The destination of a body: standard output, or a file that is created when its first byte
//! arrives.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use box_applet::{Ctx, OutputSink};

use crate::error::CurlError;
use crate::glob::Match;
use crate::options::{BodyOutput, CurlOperation};
use crate::url::Url;

/// The output of one transfer.
#[derive(Debug, Default)]
pub(crate) struct OutputFile {
    /// The file's name; `None` for standard output.
    name: Option<Vec<u8>>,
    path: PathBuf,
    file: Option<File>,
    /// The length of the existing file, after which the transfer continues (`-C`).
    pub(crate) start: u64,
    /// Whether the file must not replace an existing one, because the server named it (`-J`).
    fresh: bool,
    explicit: bool,
    /// The reason why the file could not be opened, for a warning.
    pub(crate) why: Option<String>,
}

impl OutputFile {
    pub(crate) fn new(
        ctx: &Ctx<'_>,
        op: &CurlOperation,
        index: usize,
        m: &Match,
    ) -> Result<OutputFile, CurlError> {
        let remote = op.remote_name_all.then_some(&BodyOutput::Remote);
        let name = match op.outs.get(index).or(remote) {
            None => return Ok(OutputFile::default()),
            Some(BodyOutput::File(name)) if name == b"-" => {
                return Ok(OutputFile { explicit: true, ..OutputFile::default() });
            }
            Some(BodyOutput::File(name)) => m.fill_numbers(name),
            Some(BodyOutput::Remote) => Url::parse(&m.url)?.file_name().to_vec(),
        };
        let mut target = OutputFile { explicit: true, ..OutputFile::default() };
        if name.is_empty() && !op.content_disposition {
            target.why = Some("Remote file name has no length".into());
            return Err(CurlError::Write);
        }
        target.rename_by_header(ctx, op, name);
        Ok(target)
    }

    fn rename_by_header(&mut self, ctx: &Ctx<'_>, op: &CurlOperation, name: Vec<u8>) {
        let name = match &op.output_dir {
            Some(folder) => [folder, &b"/"[..], &name].concat(),
            None => name,
        };
        self.path = ctx.path(&name);
        self.name = Some(name);
    }

    /// Uses the file name from `Content-Disposition` (`-J`).
    pub(crate) fn named_by_server(&mut self, ctx: &Ctx<'_>, op: &CurlOperation, name: Vec<u8>) {
        if self.name.is_some() {
            self.rename_by_header(ctx, op, name);
            self.fresh = true;
        }
    }

    pub(crate) fn name(&self) -> &[u8] {
        self.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_stdout(&self) -> bool {
        self.name.is_none()
    }

    /// Returns the number of bytes in the existing file.
    pub(crate) fn len(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |m| if self.is_stdout() { 0 } else { m.len() })
    }

    /// Returns whether bytes that are not text would go to a terminal by accident.
    pub(crate) fn would_garble(&self, ctx: &Ctx<'_>, bytes: &[u8]) -> bool {
        let terminal = matches!(ctx.stdout.sink(), OutputSink::File(f) if box_sys::is_terminal(f));
        self.is_stdout() && !self.explicit && terminal && bytes.contains(&0)
    }

    pub(crate) fn write(
        &mut self,
        ctx: &mut Ctx<'_>,
        op: &CurlOperation,
        bytes: &[u8],
    ) -> Result<(), CurlError> {
        if self.is_stdout() {
            return write_stdout(ctx, bytes);
        }
        let file = self.open(op)?;
        let written = file.write_all(bytes);
        written.map_err(|e| self.write_error("write", &e))
    }

    fn open(&mut self, op: &CurlOperation) -> Result<&mut File, CurlError> {
        if self.file.is_none() {
            if let Some(folder) = self.path.parent().filter(|_| op.create_dirs) {
                fs::create_dir_all(folder).map_err(|e| self.write_error("create", &e))?;
            }
            let mut options = File::options();
            if self.start > 0 {
                options.append(true);
            } else {
                options.write(true).truncate(true);
            }
            if self.fresh {
                options.create_new(true)
            } else {
                options.create(true)
            };
            let file = options.open(&self.path).map_err(|e| self.write_error("open", &e))?;
            // If the file is opened again, it may be replaced.
            self.fresh = false;
            self.file = Some(file);
        }
        self.file.as_mut().ok_or(CurlError::Write)
    }

    fn write_error(&mut self, what: &str, e: &io::Error) -> CurlError {
        let name = String::from_utf8_lossy(self.name()).into_owned();
        self.why = Some(format!("Failed to {what} the file {name}: {}", box_sys::error_text(e)));
        CurlError::Write
    }

    /// Ends the output. An empty body creates an empty file.
    pub(crate) fn end(&mut self, op: &CurlOperation) -> Result<(), CurlError> {
        if self.is_stdout() { Ok(()) } else { self.open(op).map(drop) }
    }

    /// Prepares for a new attempt: truncates the file to its length before the transfer. What was
    /// written to standard output stays.
    pub(crate) fn begin_again(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = file.set_len(self.start);
        }
    }

    /// Removes the file (`--remove-on-error`).
    pub(crate) fn remove(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes to standard output without delay.
pub(crate) fn write_stdout(ctx: &mut Ctx<'_>, bytes: &[u8]) -> Result<(), CurlError> {
    let written = ctx.stdout.write_all(bytes).and_then(|()| ctx.stdout.flush());
    written.map_err(|e| {
        // The error is reported now, so it must not be reported again at the end.
        ctx.stdout.take_error();
        if e.kind() == io::ErrorKind::BrokenPipe { CurlError::Closed } else { CurlError::Write }
    })
}

/// Replaces a file, or writes to standard output for `-`.
pub(crate) fn save_file(
    ctx: &mut Ctx<'_>,
    name: &[u8],
    bytes: &[u8],
    append: bool,
) -> Result<(), CurlError> {
    if name == b"-" {
        return write_stdout(ctx, bytes);
    }
    let mut options = File::options();
    options.create(true).write(true).append(append).truncate(!append);
    let file = options.open(ctx.path(name));
    file.and_then(|mut f| f.write_all(bytes)).map_err(|_| CurlError::Write)
}
