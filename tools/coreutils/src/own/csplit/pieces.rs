//! The files of the pieces, one of which is open at a time.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use box_applet::{Ctx, Exit};

use super::CsplitOptions;
use super::suffix::SuffixFormat;
use crate::common::input;

/// The piece that is being written.
struct OpenPiece {
    name: Vec<u8>,
    file: BufWriter<File>,
    size: u64,
}

/// All pieces created so far.
pub(super) struct OutputPieces<'c, 'a> {
    pub ctx: &'c mut Ctx<'a>,
    pub options: CsplitOptions,
    prefix: Vec<u8>,
    suffix: SuffixFormat,
    open: Option<OpenPiece>,
    /// The number of files, and so the number of the next one.
    count: u64,
}

impl<'c, 'a> OutputPieces<'c, 'a> {
    pub(super) fn new(
        ctx: &'c mut Ctx<'a>,
        prefix: Vec<u8>,
        suffix: SuffixFormat,
        options: CsplitOptions,
    ) -> OutputPieces<'c, 'a> {
        OutputPieces { ctx, options, prefix, suffix, open: None, count: 0 }
    }

    /// Begins the next piece.
    ///
    /// # Errors
    ///
    /// The status to end with, after the message that the file cannot be created.
    pub(super) fn begin(&mut self) -> Result<(), Exit> {
        let Some(name) = self.name_of(self.count) else {
            return Err(input::report_failure(self.ctx, &[b"memory exhausted"]));
        };
        let file = File::create(self.ctx.path(&name))
            .map_err(|e| input::file_error(self.ctx, &name, &e))?;
        let file = BufWriter::with_capacity(64 * 1024, file);
        self.open = Some(OpenPiece { name, file, size: 0 });
        self.count += 1;
        Ok(())
    }

    /// Writes to the open piece; if no piece is open, the data is dropped.
    ///
    /// # Errors
    ///
    /// The status to end with, after the message about a failed write.
    pub(super) fn write(&mut self, data: &[u8]) -> Result<(), Exit> {
        let Some(piece) = &mut self.open else { return Ok(()) };
        piece.size += data.len() as u64;
        let written = piece.file.write_all(data);
        self.check_write(written)
    }

    /// Ends the open piece and prints its size. If an option says so, an empty piece is removed;
    /// its number is then used again.
    ///
    /// # Errors
    ///
    /// The status to end with, after the message about a failed write.
    pub(super) fn end(&mut self) -> Result<(), Exit> {
        let Some(piece) = &mut self.open else { return Ok(()) };
        let size = piece.size;
        let written = piece.file.flush();
        self.check_write(written)?;
        let Some(piece) = self.open.take() else { return Ok(()) };
        if size == 0 && self.options.elides_empty {
            drop(piece.file);
            let removed = std::fs::remove_file(self.ctx.path(&piece.name));
            removed.map_err(|e| input::file_error(self.ctx, &piece.name, &e))?;
            self.count -= 1;
        } else if !self.options.is_quiet {
            let line = format!("{size}\n");
            self.ctx.stdout.write_all(line.as_bytes()).map_err(|_| Exit::FAILURE)?;
        }
        Ok(())
    }

    /// Removes all files, unless an option keeps them.
    pub(super) fn remove_all(&mut self) {
        let count = std::mem::take(&mut self.count);
        if self.options.keeps_files {
            return;
        }
        for name in (0..count).filter_map(|number| self.name_of(number)) {
            // A file that cannot be removed stays; the error that caused the removal is the one to
            // report.
            let _ = std::fs::remove_file(self.ctx.path(&name));
        }
    }

    fn name_of(&self, number: u64) -> Option<Vec<u8>> {
        Some([&self.prefix[..], &self.suffix.format(number)?].concat())
    }

    fn check_write(&mut self, written: io::Result<()>) -> Result<(), Exit> {
        let Err(e) = written else { return Ok(()) };
        // The piece is taken apart, because its buffered rest could not be written when it is
        // dropped.
        let name = self.open.take().map(|piece| {
            let _ = piece.file.into_parts();
            piece.name
        });
        Err(input::file_error(self.ctx, &name.unwrap_or_default(), &e))
    }
}
