//! One reader and one writer for the streams of all compression formats.
//!
//! Every fault of the data reaches the caller as a [`CodecFault`] inside an `io::Error`, so that
//! each program can report it with its own message.

mod bzip2;
mod fault;
mod gzip;
mod xz;
mod zstd;

use std::io::{self, BufReader, Read, Write};

pub use fault::CodecFault;
pub use gzip::{GzipMember, GzipReader};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionFormat {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// The maximum number of bytes that [`CompressionFormat::detect`] examines.
const MAGIC: u64 = 6;

/// Returns the first bytes of a stream, by which its format is detected, and the whole stream again
/// from its beginning.
pub fn peek_head<'a>(mut raw: impl Read + 'a) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    raw.by_ref().take(MAGIC).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(io::Cursor::new(head).chain(raw))))
}

impl CompressionFormat {
    /// Returns the format whose magic number is at the start of the data.
    pub fn detect(head: &[u8]) -> Option<CompressionFormat> {
        match head {
            [0x1f, 0x8b, ..] => Some(CompressionFormat::Gzip),
            [b'B', b'Z', b'h', ..] => Some(CompressionFormat::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(CompressionFormat::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(CompressionFormat::Zstd),
            _ => None,
        }
    }

    /// Returns the format that the suffix of a file name stands for (`tar -a`).
    pub fn by_name(name: &[u8]) -> Option<CompressionFormat> {
        const SUFFIXES: &[(&str, CompressionFormat)] = &[
            (".gz", CompressionFormat::Gzip),
            (".tgz", CompressionFormat::Gzip),
            (".taz", CompressionFormat::Gzip),
            (".bz2", CompressionFormat::Bzip2),
            (".tbz", CompressionFormat::Bzip2),
            (".tbz2", CompressionFormat::Bzip2),
            (".xz", CompressionFormat::Xz),
            (".txz", CompressionFormat::Xz),
            (".zst", CompressionFormat::Zstd),
            (".tzst", CompressionFormat::Zstd),
        ];
        SUFFIXES.iter().find(|(s, _)| name.ends_with(s.as_bytes())).map(|(_, f)| *f)
    }

    /// Returns the suffix that the format's own tool adds to names.
    pub fn suffix(self) -> &'static str {
        match self {
            CompressionFormat::Gzip => ".gz",
            CompressionFormat::Bzip2 => ".bz2",
            CompressionFormat::Xz => ".xz",
            CompressionFormat::Zstd => ".zst",
        }
    }

    /// Returns the level of compression that the format's own tool uses when none is given.
    pub fn default_level(self) -> u32 {
        if self == CompressionFormat::Bzip2 { 9 } else { 6 }
    }

    /// Returns the name that the format's own tool gives to standard input in messages.
    pub fn stdin_name(self) -> &'static [u8] {
        match self {
            CompressionFormat::Gzip => b"stdin",
            CompressionFormat::Bzip2 | CompressionFormat::Xz => b"(stdin)",
            CompressionFormat::Zstd => b"/*stdin*\\",
        }
    }

    /// Returns a reader of the decompressed data. Concatenated streams are read as one.
    pub fn reader<'a>(self, from: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            CompressionFormat::Gzip => Box::new(GzipReader::new(BufReader::new(from))),
            CompressionFormat::Bzip2 => {
                Box::new(self::bzip2::Bzip2Reader::new(BufReader::new(from)))
            }
            CompressionFormat::Xz => Box::new(xz::XzReader::new(from)),
            CompressionFormat::Zstd => Box::new(zstd::ZstdReader::new(from)),
        })
    }

    /// Returns a writer that compresses. The caller must call [`CompressionEncoder::finish`] at the
    /// end. `level` is 1 to 9, or 0 for xz.
    pub fn writer<'a>(
        self,
        to: Box<dyn Write + 'a>,
        level: u32,
    ) -> io::Result<CompressionEncoder<'a>> {
        Ok(match self {
            CompressionFormat::Gzip => CompressionEncoder::Gzip(
                flate2::GzBuilder::new()
                    .operating_system(3)
                    .write(to, flate2::Compression::new(level)),
            ),
            CompressionFormat::Bzip2 => CompressionEncoder::Bzip2(::bzip2::write::BzEncoder::new(
                to,
                ::bzip2::Compression::new(level),
            )),
            CompressionFormat::Xz => CompressionEncoder::Xz(Box::new(lzma_rust2::XzWriter::new(
                to,
                lzma_rust2::XzOptions::with_preset(level),
            )?)),
            CompressionFormat::Zstd => CompressionEncoder::Zstd { data: Vec::new(), to },
        })
    }
}

/// A compressing writer.
pub enum CompressionEncoder<'a> {
    Gzip(flate2::write::GzEncoder<Box<dyn Write + 'a>>),
    Bzip2(::bzip2::write::BzEncoder<Box<dyn Write + 'a>>),
    Xz(Box<lzma_rust2::XzWriter<Box<dyn Write + 'a>>>),
    /// The library compresses data from a reader, so all data is collected first.
    Zstd {
        data: Vec<u8>,
        to: Box<dyn Write + 'a>,
    },
    /// No compression.
    Plain(Box<dyn Write + 'a>),
}

impl Write for CompressionEncoder<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            CompressionEncoder::Gzip(w) => w.write(buf),
            CompressionEncoder::Bzip2(w) => w.write(buf),
            CompressionEncoder::Xz(w) => w.write(buf),
            CompressionEncoder::Zstd { data, .. } => data.write(buf),
            CompressionEncoder::Plain(w) => w.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CompressionEncoder<'_> {
    /// Writes the rest of the data and the trailer.
    pub fn finish(self) -> io::Result<()> {
        match self {
            CompressionEncoder::Gzip(w) => w.finish()?.flush(),
            CompressionEncoder::Bzip2(w) => w.finish()?.flush(),
            CompressionEncoder::Xz(w) => w.finish()?.flush(),
            CompressionEncoder::Zstd { data, mut to } => {
                to.write_all(&compress_to_vec(&data[..], CompressionLevel::Fastest))?;
                to.flush()
            }
            CompressionEncoder::Plain(mut w) => w.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CompressionFormat; 4] = [
        CompressionFormat::Gzip,
        CompressionFormat::Bzip2,
        CompressionFormat::Xz,
        CompressionFormat::Zstd,
    ];

    fn packed(format: CompressionFormat, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut w = format.writer(Box::new(&mut out), 6).expect("writer");
        w.write_all(data).expect("write");
        w.finish().expect("finish");
        out
    }

    fn unpacked(format: CompressionFormat, data: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        format.reader(Box::new(data))?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_packed_comes_back() {
        let data: Vec<u8> = (0..60_000u32).map(|i| ((i * i) >> 7) as u8).collect();
        for format in ALL {
            for data in [&data[..], b""] {
                let packed = packed(format, data);
                assert_eq!(CompressionFormat::detect(&packed), Some(format));
                assert_eq!(unpacked(format, &packed).expect("reads"), data, "{format:?}");
            }
        }
    }

    #[test]
    fn concatenated_streams_are_one() {
        for format in ALL {
            let two = [packed(format, b"one "), packed(format, b"two")].concat();
            assert_eq!(unpacked(format, &two).expect("reads"), b"one two", "{format:?}");
        }
    }

    fn fault_of(format: CompressionFormat, data: &[u8]) -> Option<CodecFault> {
        unpacked(format, data).err().and_then(|e| CodecFault::of(&e))
    }

    #[test]
    fn a_short_stream_is_truncated_wherever_it_ends() {
        for format in ALL {
            let data = packed(format, &[7; 5_000]);
            for end in 1..data.len() {
                let fault = fault_of(format, &data[..end]);
                assert_eq!(fault, Some(CodecFault::Truncated), "{format:?} {end}");
            }
        }
    }

    #[test]
    fn an_empty_stream_is_no_archive() {
        for format in ALL {
            assert_eq!(fault_of(format, b""), Some(CodecFault::Truncated), "{format:?}");
        }
    }

    #[test]
    fn garbage_behind_the_last_member_is_reported_once_all_data_is_read() {
        for format in [CompressionFormat::Gzip, CompressionFormat::Bzip2] {
            let data = [&packed(format, b"data")[..], b"junk\n"].concat();
            let mut out = Vec::new();
            let mut reader = format.reader(Box::new(&data[..])).expect("reader");
            let e = reader.read_to_end(&mut out).expect_err("garbage");
            assert_eq!(CodecFault::of(&e), Some(CodecFault::TrailingGarbage), "{format:?}");
            assert_eq!(out, b"data");
        }
    }

    #[test]
    fn a_changed_byte_is_damage() {
        let plain: Vec<u8> = (0..60_000u32).map(|i| ((i * i) >> 7) as u8).collect();
        for format in ALL {
            let mut data = packed(format, &plain);
            let middle = data.len() / 2;
            data[middle] ^= 0x55;
            let fault = fault_of(format, &data);
            assert!(
                matches!(fault, Some(CodecFault::Damaged | CodecFault::Checksum)),
                "{format:?} {fault:?}"
            );
        }
    }

    /// Checks that the system's own tools, if there are any, can read our output.
    #[test]
    fn other_implementations_agree() {
        use std::process::{Command, Stdio};
        let data: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        for (format, tool) in [
            (CompressionFormat::Gzip, "gzip"),
            (CompressionFormat::Bzip2, "bzip2"),
            (CompressionFormat::Xz, "xz"),
            (CompressionFormat::Zstd, "zstd"),
        ] {
            let spawned =
                Command::new(tool).arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let Ok(mut child) = spawned else { continue };
            let mut stdin = child.stdin.take().expect("piped");
            let packed = packed(format, &data);
            let feeder = std::thread::spawn(move || stdin.write_all(&packed));
            let out = child.wait_with_output().expect("output");
            feeder.join().expect("joins").expect("written");
            assert!(out.stdout == data, "{tool}");
        }
    }
}
