//! Streams of an applet: a descriptor or memory behind `Read`, `BufRead` and `Write`.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

const BUFFER: usize = 64 * 1024;

/// The source of input.
#[derive(Clone, Debug)]
pub enum InputSource {
    File(Rc<File>),
    /// Bytes in memory (a here-document, the output of a captured stage), read from the position
    /// on.
    Bytes(Rc<Vec<u8>>),
    /// `<&-`: every read fails with EBADF.
    Closed,
}

/// Buffered standard input.
#[derive(Debug)]
pub struct StdInput {
    source: InputSource,
    /// Stays as large as it is, because clearing it for each read would cost more than a short
    /// read.
    buf: Vec<u8>,
    /// The end of what was read into it.
    filled: usize,
    pos: usize,
    /// The read position within [`InputSource::Bytes`].
    offset: usize,
}

impl StdInput {
    /// Returns a reader of a source, with an empty buffer.
    pub fn new(source: InputSource) -> StdInput {
        StdInput { source, buf: Vec::new(), filled: 0, pos: 0, offset: 0 }
    }

    /// Moves the stream out, for a caller that must own it, and leaves a closed one in its place.
    pub fn detach_stream(&mut self) -> StdInput {
        std::mem::replace(self, StdInput::new(InputSource::Closed))
    }

    /// Returns the source, to pass it on to a child. Buffered bytes are not included: call
    /// [`StdInput::give_back`] first.
    pub fn source(&self) -> &InputSource {
        &self.source
    }

    /// Gives read-ahead input back to a seekable source, so that the next reader of the descriptor
    /// continues where this applet stopped (POSIX XCU 1.4, "INPUT FILES").
    pub fn give_back(&mut self) {
        let ahead = self.filled - self.pos;
        if ahead > 0
            && let InputSource::File(f) = &self.source
            && (&**f).seek(SeekFrom::Current(-(ahead as i64))).is_err()
        {
            return;
        }
        self.filled = 0;
        self.pos = 0;
    }

    fn closed() -> io::Error {
        io::Error::from_raw_os_error(box_sys::errno::code::EBADF)
    }

    fn read_source(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &self.source {
            InputSource::File(f) => (&**f).read(out),
            InputSource::Bytes(b) => {
                let rest = b.get(self.offset..).unwrap_or_default();
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                self.offset += n;
                Ok(n)
            }
            InputSource::Closed => Err(Self::closed()),
        }
    }
}

impl Read for StdInput {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.pos == self.filled {
            if out.len() >= BUFFER {
                return self.read_source(out);
            }
            self.fill_buf()?;
        }
        let n = (self.filled - self.pos).min(out.len());
        out[..n].copy_from_slice(&self.buf[self.pos..self.pos + n]);
        self.pos += n;
        Ok(n)
    }
}

impl BufRead for StdInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pos == self.filled {
            (self.pos, self.filled) = (0, 0);
            let mut buf = std::mem::take(&mut self.buf);
            buf.resize(BUFFER, 0);
            let read = loop {
                match self.read_source(&mut buf) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            self.buf = buf;
            self.filled = read?;
        }
        Ok(&self.buf[self.pos..self.filled])
    }

    fn consume(&mut self, n: usize) {
        self.pos = (self.pos + n).min(self.filled);
    }
}

/// The target of output.
#[derive(Clone, Debug)]
pub enum OutputSink {
    File(Rc<File>),
    /// A buffer shared with the code that captures the output (`$(...)`).
    Buffer(Rc<RefCell<Vec<u8>>>),
    /// `>&-`: every write fails with EBADF.
    Closed,
}

/// An output stream. Standard output is buffered, standard error is not.
#[derive(Debug)]
pub struct OutStream {
    sink: OutputSink,
    buf: Vec<u8>,
    capacity: usize,
    error: Option<io::Error>,
}

impl OutStream {
    /// Returns a buffered stream. It writes to its sink at [`Write::flush`] or when it holds 64
    /// KiB.
    pub fn buffered(sink: OutputSink) -> OutStream {
        OutStream { sink, buf: Vec::new(), capacity: BUFFER, error: None }
    }

    /// Returns a stream that writes at once.
    pub fn unbuffered(sink: OutputSink) -> OutStream {
        OutStream { sink, buf: Vec::new(), capacity: 0, error: None }
    }

    /// Returns the sink, to pass it on to a child. Flush first.
    pub fn sink(&self) -> &OutputSink {
        &self.sink
    }

    /// Takes the first error of an earlier implicit flush, if any.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn write_sink(&mut self, mut data: &[u8]) -> io::Result<()> {
        match &self.sink {
            OutputSink::File(f) => {
                while !data.is_empty() {
                    match (&**f).write(data) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(n) => data = &data[n..],
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        Err(e) => return Err(e),
                    }
                }
                Ok(())
            }
            OutputSink::Buffer(b) => {
                b.borrow_mut().extend_from_slice(data);
                Ok(())
            }
            OutputSink::Closed => Err(StdInput::closed()),
        }
    }

    fn flush_buf(&mut self) -> io::Result<()> {
        if self.buf.is_empty() {
            return Ok(());
        }
        let buf = std::mem::take(&mut self.buf);
        let result = self.write_sink(&buf);
        self.buf = buf;
        self.buf.clear();
        self.remember_error(result)
    }

    /// Keeps a copy of an error for [`OutStream::take_error`], because many callers of `write!`
    /// drop errors.
    fn remember_error(&mut self, result: io::Result<()>) -> io::Result<()> {
        if let Err(e) = &result {
            self.error = Some(match e.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => e.kind().into(),
            });
        }
        result
    }
}

impl Write for OutStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.buf.len() + data.len() > self.capacity {
            self.flush_buf()?;
        }
        if data.len() >= self.capacity {
            let result = self.write_sink(data);
            self.remember_error(result)?;
        } else {
            self.buf.extend_from_slice(data);
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_buf()
    }
}
