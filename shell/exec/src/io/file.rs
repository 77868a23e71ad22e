//! One open file with the shell's buffers around it.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use box_sys::events;

/// Size of the output buffer in bytes.
const OUT: usize = 16 * 1024;
/// Size of the read-ahead of seekable files in bytes.
const AHEAD: usize = 32 * 1024;

/// An open file. The buffers belong to it because several descriptors may share it (`dup`).
///
/// Read-ahead happens on seekable files only, and is given back by seeking before another process
/// gets the descriptor ([`OpenFile::settle_position`]); pipes and terminals are read byte by byte,
/// as POSIX requires of `read`.
#[derive(Debug)]
pub struct OpenFile {
    file: Rc<File>,
    out: RefCell<Vec<u8>>,
    ahead: RefCell<Vec<u8>>,
    ahead_pos: Cell<usize>,
    seekable: Cell<Option<bool>>,
    /// Whether output may stay in the buffer across commands (inherited streams and pipes). Files
    /// that a redirection opened are written at the end of each command, so that an error belongs
    /// to its command.
    pub stream: bool,
    /// Unused: always `false`.
    pub append: bool,
    /// The writing end of a pipe that is open for reading and writing.
    pub other_end: Option<File>,
}

impl OpenFile {
    /// Returns an open file. See [`OpenFile::stream`] for `stream`.
    pub fn new(file: Rc<File>, stream: bool) -> OpenFile {
        OpenFile {
            file,
            out: RefCell::new(Vec::new()),
            ahead: RefCell::new(Vec::new()),
            ahead_pos: Cell::new(0),
            seekable: Cell::new(None),
            stream,
            append: false,
            other_end: None,
        }
    }

    /// Returns the file itself; call [`OpenFile::settle_position`] before passing it on.
    pub fn file(&self) -> &Rc<File> {
        &self.file
    }

    /// Returns whether the file is a terminal.
    pub fn is_terminal(&self) -> bool {
        box_sys::is_terminal(&self.file)
    }

    /// Returns whether there is output to be written.
    pub fn has_output(&self) -> bool {
        !self.out.borrow().is_empty()
    }

    /// Appends to the output buffer, writing when it is full.
    pub fn write(&self, data: &[u8]) -> io::Result<()> {
        self.give_back();
        let mut out = self.out.borrow_mut();
        out.extend_from_slice(data);
        if out.len() < OUT {
            return Ok(());
        }
        drop(out);
        self.flush()
    }

    /// Writes the buffered output. After an error the rest is dropped, so that it is reported once.
    pub fn flush(&self) -> io::Result<()> {
        let mut out = self.out.borrow_mut();
        if out.is_empty() {
            return Ok(());
        }
        let mut rest: &[u8] = &out;
        let result = loop {
            match (&*self.file).write(rest) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(n) if n >= rest.len() => break Ok(()),
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        out.clear();
        result
    }

    /// Returns whether the file has a position that can be set.
    pub fn is_seekable(&self) -> bool {
        if let Some(s) = self.seekable.get() {
            return s;
        }
        let s = (&*self.file).stream_position().is_ok() && !self.is_terminal();
        self.seekable.set(Some(s));
        s
    }

    /// Returns the number of bytes read ahead and not used yet.
    fn ahead_len(&self) -> usize {
        self.ahead.borrow().len() - self.ahead_pos.get()
    }

    /// Sets the file position to the one that the script expects.
    pub fn give_back(&self) {
        let rest = self.ahead_len();
        if rest > 0 {
            // A failure cannot be repaired; the file was seekable when it was read.
            let _ = (&*self.file).seek(SeekFrom::Current(-(rest as i64)));
        }
        if !self.ahead.borrow().is_empty() {
            self.ahead.borrow_mut().clear();
            self.ahead_pos.set(0);
        }
    }

    /// Prepares the descriptor for other users: writes the output and gives the read-ahead back.
    pub fn settle_position(&self) -> io::Result<()> {
        self.give_back();
        self.flush()
    }

    /// Appends the bytes up to and including `delim` to `out`, at most `max`, or all up to the end.
    /// Returns whether the delimiter was found.
    pub fn read_until(&self, delim: Option<u8>, max: usize, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.has_output() {
            self.flush()?;
        }
        let seekable = self.is_seekable();
        let mut got = 0;
        while got < max {
            if self.ahead_len() == 0 && !self.fill_ahead(if seekable { AHEAD } else { 1 })? {
                return Ok(false);
            }
            let ahead = self.ahead.borrow();
            let rest = &ahead[self.ahead_pos.get()..];
            let rest = &rest[..rest.len().min(max - got)];
            let found = delim.and_then(|d| memchr::memchr(d, rest));
            let n = found.map_or(rest.len(), |i| i + 1);
            out.extend_from_slice(&rest[..n]);
            self.ahead_pos.set(self.ahead_pos.get() + n);
            got += n;
            if found.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads everything up to the end.
    pub fn read_to_end(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.flush()?;
        let at = self.ahead_pos.get();
        out.extend_from_slice(&self.ahead.borrow()[at..]);
        self.ahead.borrow_mut().clear();
        self.ahead_pos.set(0);
        (&*self.file).read_to_end(out).map(drop)
    }

    fn fill_ahead(&self, size: usize) -> io::Result<bool> {
        let mut ahead = self.ahead.borrow_mut();
        ahead.resize(size, 0);
        self.ahead_pos.set(0);
        loop {
            match (&*self.file).read(&mut ahead) {
                Ok(n) => {
                    ahead.truncate(n);
                    return Ok(n > 0);
                }
                // A caught signal interrupts the read: its trap may run before reading continues.
                Err(e) if e.kind() == io::ErrorKind::Interrupted && !events::has_pending() => {}
                Err(e) => {
                    ahead.clear();
                    return Err(e);
                }
            }
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        // Errors were reported at the end of the command that wrote; later ones cannot be reported.
        let _ = self.settle_position();
    }
}
