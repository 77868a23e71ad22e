//! The outputs of actions: standard output, standard error, and the files of `-fprint`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use box_applet::Ctx;

/// The number of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkId {
    Stdout,
    Stderr,
    File(usize),
}

/// The files opened so far; one per path.
#[derive(Default)]
pub struct Sinks {
    files: Vec<(PathBuf, BufWriter<File>)>,
}

impl Sinks {
    /// Opens (and empties) a file; the same path gives the same output.
    pub fn open(&mut self, path: PathBuf) -> io::Result<SinkId> {
        match box_sys::path::to_bytes(&path) {
            b"/dev/stdout" => return Ok(SinkId::Stdout),
            b"/dev/stderr" => return Ok(SinkId::Stderr),
            _ => {}
        }
        if let Some(i) = self.files.iter().position(|(p, _)| *p == path) {
            return Ok(SinkId::File(i));
        }
        let file = File::create(&path)?;
        self.files.push((path, BufWriter::new(file)));
        Ok(SinkId::File(self.files.len() - 1))
    }

    /// Writes to an output.
    pub fn write(&mut self, ctx: &mut Ctx<'_>, id: SinkId, text: &[u8]) -> io::Result<()> {
        match id {
            SinkId::Stdout => ctx.stdout.write_all(text),
            SinkId::Stderr => ctx.stderr.write_all(text),
            SinkId::File(i) => match self.files.get_mut(i) {
                Some((_, f)) => f.write_all(text),
                None => Ok(()),
            },
        }
    }

    /// Flushes the buffers of the files; errors are not reported, as in GNU find.
    pub fn flush(&mut self) {
        for (_, f) in &mut self.files {
            let _ = f.flush();
        }
    }
}
