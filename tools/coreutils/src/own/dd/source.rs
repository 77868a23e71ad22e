//! The input: a file or standard input without read-ahead.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

/// A file that is shared with the context and read without buffering.
pub(super) struct UnbufferedFile(pub(super) Rc<File>);

impl Read for UnbufferedFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buf)
    }
}

impl Seek for UnbufferedFile {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        (&*self.0).seek(pos)
    }
}

pub(super) trait ReadSeek: Read + Seek {
    /// Returns whether a regular file's position is past its end.
    fn beyond_end(&mut self) -> bool {
        false
    }
}

fn past_end(mut f: &File) -> bool {
    f.metadata().is_ok_and(|m| m.is_file() && f.stream_position().is_ok_and(|p| p > m.len()))
}

impl ReadSeek for File {
    fn beyond_end(&mut self) -> bool {
        past_end(self)
    }
}

impl ReadSeek for UnbufferedFile {
    fn beyond_end(&mut self) -> bool {
        past_end(&self.0)
    }
}

impl ReadSeek for io::Cursor<Vec<u8>> {}

pub(super) fn skip_input(
    reader: &mut dyn ReadSeek,
    mut bytes: u64,
    block: usize,
) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    if let Ok(offset) = i64::try_from(bytes)
        && reader.seek(SeekFrom::Current(offset)).is_ok()
    {
        return Ok(());
    }
    let mut buf = vec![0; block];
    while bytes > 0 {
        let want = usize::try_from(bytes).unwrap_or(usize::MAX).min(buf.len());
        match reader.read(&mut buf[..want]) {
            Ok(0) => break,
            Ok(n) => bytes -= n as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
