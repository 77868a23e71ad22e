//! Compressed streams behind one reader and one writer.

use std::io::{self, Read, Write};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionFormat {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// The most memory that an xz stream may use, in KiB: the need of its highest preset.
const XZ_MEMORY: u32 = 128 * 1024;

impl CompressionFormat {
    /// Returns the format whose magic number the data starts with.
    pub fn detect(head: &[u8]) -> Option<CompressionFormat> {
        match head {
            [0x1f, 0x8b, ..] => Some(CompressionFormat::Gzip),
            [b'B', b'Z', b'h', ..] => Some(CompressionFormat::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(CompressionFormat::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(CompressionFormat::Zstd),
            _ => None,
        }
    }

    /// Returns the format that a file name's suffix means (`tar -a`).
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

    /// Returns the suffix the format's own tool adds.
    pub fn suffix(self) -> &'static str {
        match self {
            CompressionFormat::Gzip => ".gz",
            CompressionFormat::Bzip2 => ".bz2",
            CompressionFormat::Xz => ".xz",
            CompressionFormat::Zstd => ".zst",
        }
    }

    /// Returns a reader of the decompressed data; concatenated streams are read one after another.
    pub fn reader<'a>(self, from: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            CompressionFormat::Gzip => Box::new(flate2::read::MultiGzDecoder::new(from)),
            CompressionFormat::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(from)),
            CompressionFormat::Xz => {
                Box::new(lzma_rust2::XzReader::new_mem_limit(from, true, XZ_MEMORY))
            }
            CompressionFormat::Zstd => Box::new(ZstdReader { from, frame: None }),
        })
    }

    /// Returns a writer that compresses; [`Encoder::finish`] must be called. `level` is 0 (for xz) or
    /// 1 to 9.
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
            CompressionFormat::Bzip2 => CompressionEncoder::Bzip2(bzip2::write::BzEncoder::new(
                to,
                bzip2::Compression::new(level),
            )),
            CompressionFormat::Xz => CompressionEncoder::Xz(Box::new(lzma_rust2::XzWriter::new(
                to,
                lzma_rust2::XzOptions::with_preset(level),
            )?)),
            CompressionFormat::Zstd => CompressionEncoder::Zstd { data: Vec::new(), to },
        })
    }
}

/// Frames of a zstd stream, one after another.
struct ZstdReader<'a> {
    from: Box<dyn Read + 'a>,
    frame: Option<Box<ruzstd::decoding::FrameDecoder>>,
}

impl Read for ZstdReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
        let bad =
            |e: &dyn std::fmt::Display| io::Error::new(io::ErrorKind::InvalidData, e.to_string());
        loop {
            if self.frame.is_none() {
                let mut magic = Vec::new();
                if self.from.by_ref().take(4).read_to_end(&mut magic)? < 4 {
                    return Ok(0);
                }
                let mut frame = Box::new(FrameDecoder::new());
                frame.init((&magic[..]).chain(&mut self.from)).map_err(|e| bad(&e))?;
                self.frame = Some(frame);
            }
            let Some(frame) = self.frame.as_mut() else { return Ok(0) };
            if frame.can_collect() == 0 && !frame.is_finished() {
                let more = BlockDecodingStrategy::UptoBytes(out.len().max(1));
                frame.decode_blocks(&mut self.from, more).map_err(|e| bad(&e))?;
            }
            let n = frame.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            if frame.is_finished() && frame.can_collect() == 0 {
                self.frame = None;
            }
        }
    }
}

/// A compressing writer.
pub enum CompressionEncoder<'a> {
    Gzip(flate2::write::GzEncoder<Box<dyn Write + 'a>>),
    Bzip2(bzip2::write::BzEncoder<Box<dyn Write + 'a>>),
    Xz(Box<lzma_rust2::XzWriter<Box<dyn Write + 'a>>>),
    /// The library compresses from a reader, so the data is gathered first.
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

    #[test]
    fn damage_is_an_error() {
        for format in ALL {
            let mut data = packed(format, &[7; 100_000]);
            data.truncate(data.len() / 2);
            assert!(unpacked(format, &data).is_err(), "{format:?}");
        }
    }

    /// The system's own tools read our output.
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
