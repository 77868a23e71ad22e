//! Compresses or decompresses one stream.

use std::io::{self, BufRead, BufReader, Read, Write};

use super::options::CompressJob;
use crate::codec::{CodecFault, CompressionFormat, GzipMember, GzipReader, peek_head};

/// The sizes of a conversion, for messages and lists.
#[derive(Default)]
pub(super) struct FileConversion {
    /// The length of the compressed data, in bytes.
    pub packed: u64,
    /// The length of the decompressed data, in bytes.
    pub plain: u64,
    /// The last member of a gzip stream.
    pub member: GzipMember,
    /// Whether bytes that are not compressed data follow the data.
    pub has_garbage: bool,
}

/// The number of bytes around the data of a gzip member as we write it, without a name.
const GZIP_OVERHEAD: u64 = 18;

/// Copies input to output through the codec.
///
/// # Errors
/// Reading or writing fails, or the data is faulty. The latter is a [`CodecFault`] inside the
/// error.
pub(super) fn convert_data(
    job: &CompressJob,
    input: &mut dyn Read,
    out: &mut dyn Write,
) -> io::Result<FileConversion> {
    let mut input = ReadCount { from: input, count: 0 };
    if !job.decompress {
        let mut out = WriteCount { to: out, count: 0 };
        let mut encoder = job.format.writer(Box::new(&mut out), job.level)?;
        let plain = io::copy(&mut input, &mut encoder)?;
        encoder.finish()?;
        let member = GzipMember { overhead: GZIP_OVERHEAD, ..GzipMember::default() };
        return Ok(FileConversion { packed: out.count, plain, member, has_garbage: false });
    }
    let (head, mut stream) = peek_head(&mut input)?;
    if !is_readable(job.format, CompressionFormat::detect(&head)) {
        if job.force && job.to_stdout && !is_magic_needed(job.format, &head) {
            let plain = io::copy(&mut stream, out)?;
            return Ok(FileConversion { plain, ..FileConversion::default() });
        }
        return Err(missing_magic(job.format, &head).into());
    }
    let mut conversion = FileConversion::default();
    if job.format == CompressionFormat::Gzip {
        let mut reader = GzipReader::new(BufReader::new(&mut stream));
        copy_data(&mut reader, out, &mut conversion)?;
        conversion.member = reader.last_member().clone();
    } else {
        let format = CompressionFormat::detect(&head).unwrap_or(job.format);
        let mut reader = format.reader(Box::new(&mut stream))?;
        copy_data(&mut *reader, out, &mut conversion)?;
    }
    if conversion.has_garbage {
        io::copy(&mut stream, &mut io::sink())?;
    }
    drop(stream);
    conversion.packed = input.count;
    Ok(conversion)
}

/// Checks the magic number of a file that is to be decompressed, before an output file is created.
///
/// # Errors
/// Reading fails, or the magic number is wrong. The latter is a [`CodecFault`] inside the error.
pub(super) fn check_head(job: &CompressJob, input: &mut dyn BufRead) -> io::Result<()> {
    if !job.decompress {
        return Ok(());
    }
    let head = input.fill_buf()?;
    if is_readable(job.format, CompressionFormat::detect(head)) {
        return Ok(());
    }
    Err(missing_magic(job.format, head).into())
}

/// Returns whether a program reads data of a format. zstd also reads the formats of gzip and xz.
fn is_readable(program: CompressionFormat, data: Option<CompressionFormat>) -> bool {
    data == Some(program)
        || program == CompressionFormat::Zstd
            && matches!(data, Some(CompressionFormat::Gzip | CompressionFormat::Xz))
}

/// Returns whether a program refuses data without a magic number even with `-f`, which otherwise
/// copies data of other formats. bzip2 and zstd refuse an empty file.
fn is_magic_needed(program: CompressionFormat, head: &[u8]) -> bool {
    head.is_empty() && matches!(program, CompressionFormat::Bzip2 | CompressionFormat::Zstd)
}

/// Returns the fault of data without the magic number of its format.
fn missing_magic(format: CompressionFormat, head: &[u8]) -> CodecFault {
    if head.is_empty() && format != CompressionFormat::Xz {
        return CodecFault::NoData;
    }
    let magic: &[u8] = match format {
        CompressionFormat::Gzip => &[0x1f, 0x8b],
        CompressionFormat::Bzip2 => b"BZh",
        // xz does not distinguish a file that ends within the magic number.
        CompressionFormat::Xz => return CodecFault::OtherFormat,
        CompressionFormat::Zstd if head.len() < 4 => return CodecFault::Truncated,
        CompressionFormat::Zstd => return CodecFault::OtherFormat,
    };
    if magic.starts_with(head) { CodecFault::Truncated } else { CodecFault::OtherFormat }
}

/// Copies decompressed data and counts its bytes. Garbage after the data ends the copy.
fn copy_data(
    from: &mut dyn Read,
    out: &mut dyn Write,
    conversion: &mut FileConversion,
) -> io::Result<()> {
    let mut buf = vec![0u8; 1 << 16];
    loop {
        match from.read(&mut buf) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                out.write_all(&buf[..n])?;
                conversion.plain += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if CodecFault::of(&e) == Some(CodecFault::TrailingGarbage) => {
                conversion.has_garbage = true;
                return Ok(());
            }
            Err(e) => return Err(e),
        }
    }
}

/// A reader that counts bytes.
struct ReadCount<'a> {
    from: &'a mut dyn Read,
    count: u64,
}

impl Read for ReadCount<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.count += n as u64;
        Ok(n)
    }
}

/// A writer that counts bytes.
struct WriteCount<'a> {
    to: &'a mut dyn Write,
    count: u64,
}

impl Write for WriteCount<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.to.write(data)?;
        self.count += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
