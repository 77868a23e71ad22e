//! Operands and standard input as one reader.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use box_applet::{Ctx, Exit, InputSource, OutStream, StdInput};

use super::quote;

/// The maximum number of bytes that one call reads from a file.
pub(crate) const BLOCK: usize = 128 * 1024;

/// Standard input or a file.
pub(crate) enum InputFile<'a> {
    Stdin(&'a mut StdInput),
    File(BufReader<File>),
}

impl InputFile<'_> {
    /// Returns the underlying file, if there is one.
    pub(crate) fn file(&self) -> Option<&File> {
        match self {
            InputFile::Stdin(i) => match i.source() {
                InputSource::File(f) => Some(f),
                _ => None,
            },
            InputFile::File(f) => Some(f.get_ref()),
        }
    }
}

impl Read for InputFile<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            InputFile::Stdin(i) => i.read(out),
            InputFile::File(f) => f.read(out),
        }
    }
}

impl BufRead for InputFile<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            InputFile::Stdin(i) => i.fill_buf(),
            InputFile::File(f) => f.fill_buf(),
        }
    }

    fn consume(&mut self, n: usize) {
        match self {
            InputFile::Stdin(i) => i.consume(n),
            InputFile::File(f) => f.consume(n),
        }
    }
}

/// Opens a file for reading. Refuses a directory, because the result of reading one differs between
/// systems.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(io::Error::from_raw_os_error(box_sys::errno::code::EISDIR));
    }
    Ok(file)
}

/// Opens an operand; `-` is standard input.
pub(crate) fn open_operand<'a>(
    stdin: &'a mut StdInput,
    cwd: &Path,
    name: &[u8],
) -> io::Result<InputFile<'a>> {
    if name == b"-" {
        return Ok(InputFile::Stdin(stdin));
    }
    let file = open_file(&box_sys::path::resolve_path(cwd, name))?;
    Ok(InputFile::File(BufReader::with_capacity(BLOCK, file)))
}

/// The reason why a tool stopped copying input to output.
#[derive(Debug)]
pub(crate) enum CopyStop {
    Read(io::Error),
    /// The write failed. The output remembers the cause, and [`Ctx::finish`] reports it.
    Write,
}

/// Writes to the output, whose errors are remembered there.
pub(crate) fn write_output(out: &mut impl Write, data: &[u8]) -> Result<(), CopyStop> {
    out.write_all(data).map_err(|_| CopyStop::Write)
}

/// Calls `f` with each line, without its delimiter, and with a flag that says whether the line had
/// one. `f` returns whether to continue. Lines are slices of the read buffer; only lines that span
/// two buffers are copied.
pub(crate) fn for_each_line(
    reader: &mut impl BufRead,
    delimiter: u8,
    mut f: impl FnMut(&[u8], bool) -> Result<bool, CopyStop>,
) -> Result<(), CopyStop> {
    let mut carry: Vec<u8> = Vec::new();
    loop {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(CopyStop::Read(e)),
        };
        if block.is_empty() {
            if !carry.is_empty() {
                f(&carry, false)?;
            }
            return Ok(());
        }
        let mut at = 0;
        if !carry.is_empty() {
            match memchr::memchr(delimiter, block) {
                Some(end) => {
                    carry.extend_from_slice(&block[..end]);
                    at = end + 1;
                    let wants_more = f(&carry, true)?;
                    carry.clear();
                    if !wants_more {
                        reader.consume(at);
                        return Ok(());
                    }
                }
                None => {
                    carry.extend_from_slice(block);
                    let n = block.len();
                    reader.consume(n);
                    continue;
                }
            }
        }
        let start = at;
        for end in memchr::memchr_iter(delimiter, &block[start..]) {
            let end = start + end;
            let wants_more = f(&block[at..end], true)?;
            at = end + 1;
            if !wants_more {
                reader.consume(at);
                return Ok(());
            }
        }
        carry.extend_from_slice(&block[at..]);
        let n = block.len();
        reader.consume(n);
    }
}

/// Copies all of `reader` to `out`.
pub(crate) fn copy_all(reader: &mut impl BufRead, out: &mut impl Write) -> Result<(), CopyStop> {
    for_each_block(reader, |block| {
        write_output(out, block)?;
        Ok((block.len(), true))
    })
}

/// Calls `f` with the buffered bytes, block by block, until the end of input. `f` returns the
/// number of bytes that it used and whether to continue.
pub(crate) fn for_each_block(
    reader: &mut impl BufRead,
    mut f: impl FnMut(&[u8]) -> Result<(usize, bool), CopyStop>,
) -> Result<(), CopyStop> {
    loop {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(CopyStop::Read(e)),
        };
        if block.is_empty() {
            return Ok(());
        }
        let (used, wants_more) = f(block)?;
        reader.consume(used);
        if !wants_more {
            return Ok(());
        }
    }
}

/// Calls `f` for each file with its reader and standard output. Reports files that cannot be read.
pub(crate) fn for_each_file(
    ctx: &mut Ctx<'_>,
    files: &[Vec<u8>],
    f: impl FnMut(&mut InputFile<'_>, &mut OutStream) -> Result<(), CopyStop>,
) -> Exit {
    for_each_file_or(ctx, files, file_error, f)
}

/// Does the same as [`for_each_file`], but reports files that cannot be read with the tool's own
/// message.
pub(crate) fn for_each_file_or(
    ctx: &mut Ctx<'_>,
    files: &[Vec<u8>],
    failed: impl Fn(&mut Ctx<'_>, &[u8], &io::Error) -> Exit,
    mut f: impl FnMut(&mut InputFile<'_>, &mut OutStream) -> Result<(), CopyStop>,
) -> Exit {
    let mut exit = Exit::SUCCESS;
    for file in files {
        let opened = open_operand(&mut ctx.stdin, &ctx.cwd, file).map_err(CopyStop::Read);
        match opened.and_then(|mut reader| f(&mut reader, &mut ctx.stdout)) {
            Ok(()) => {}
            Err(CopyStop::Read(e)) => exit = failed(ctx, file, &e),
            Err(CopyStop::Write) => return Exit::FAILURE,
        }
    }
    exit
}

/// Returns the files to read: the operands, or standard input if there are none.
pub(crate) fn or_stdin(operands: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if operands.is_empty() { vec![b"-".to_vec()] } else { operands }
}

/// Prints `NAME: MESSAGE`; returns the status to end with.
pub(crate) fn report_failure(ctx: &mut Ctx<'_>, parts: &[&[u8]]) -> Exit {
    ctx.error_bytes(parts);
    Exit::FAILURE
}

/// Prints `NAME: FILE: reason`, with the file quoted if necessary.
pub(crate) fn file_error(ctx: &mut Ctx<'_>, file: &[u8], e: &io::Error) -> Exit {
    let shown = quote::quote_with_colon(file);
    report_failure(ctx, &[&shown, b": ", box_sys::error_text(e).as_bytes()])
}

/// Prints `NAME: WHAT 'FILE': reason`, for example `cannot remove 'x': No such file or directory`.
pub(crate) fn report_cannot(ctx: &mut Ctx<'_>, what: &str, file: &[u8], e: &io::Error) -> Exit {
    let shown = quote::quote_in_sentence(file);
    let text = box_sys::error_text(e);
    report_failure(ctx, &[what.as_bytes(), b" ", &shown, b": ", text.as_bytes()])
}

/// Prints `NAME: MESSAGE` and the hint about `--help`.
pub(crate) fn usage_error(ctx: &mut Ctx<'_>, parts: &[&[u8]]) -> Exit {
    ctx.error_bytes(parts);
    usage_hint(ctx)
}

/// Prints only the hint about `--help`.
pub(crate) fn usage_hint(ctx: &mut Ctx<'_>) -> Exit {
    ctx.hint();
    Exit::FAILURE
}

/// Prints GNU's message `extra operand`.
pub(crate) fn extra_operand(ctx: &mut Ctx<'_>, operand: &[u8]) -> Exit {
    usage_error(ctx, &[b"extra operand ", &quote::quote_in_sentence(operand)])
}

/// Prints GNU's message `missing operand`. `after` is the operand after which another one was
/// expected.
pub(crate) fn missing_operand(ctx: &mut Ctx<'_>, after: Option<&[u8]>) -> Exit {
    match after {
        Some(a) => usage_error(ctx, &[b"missing operand after ", &quote::quote_in_sentence(a)]),
        None => usage_error(ctx, &[b"missing operand"]),
    }
}
