//! Writes members to an archive. New members are compressed, or stored if that is shorter. Old
//! members are copied as they are.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use box_applet::{Ctx, clock};
use box_sys::{FileKind, error_text};
use box_text::time::Zone;
use flate2::{Compression, Crc};

use super::options::ZipJob;
use super::{ZipItem, mtime_seconds, print_action, print_warning};
use crate::zip::format::{self, BZIP2, DEFLATED, STORED, ZipEntry};
use crate::zip::{lossy_name, saved_percent};

/// An output to which an archive can be written. It must be seekable, because headers are completed
/// after their data.
pub trait ArchiveTarget: Write + Seek {
    /// Cuts off the bytes from offset `at` on, when data did not become shorter by compression.
    fn cut(&mut self, at: u64) -> io::Result<()>;
}

impl ArchiveTarget for File {
    fn cut(&mut self, at: u64) -> io::Result<()> {
        self.set_len(at)?;
        self.seek(SeekFrom::Start(at)).map(drop)
    }
}

impl ArchiveTarget for Cursor<Vec<u8>> {
    fn cut(&mut self, at: u64) -> io::Result<()> {
        self.get_mut().truncate(usize::try_from(at).unwrap_or(usize::MAX));
        self.set_position(at);
        Ok(())
    }
}

/// The value for an archive made by zip 3.0 on Unix.
const MADE_BY: u16 = 3 << 8 | 30;

/// A writer of an archive.
pub struct Packer<'a> {
    out: &'a mut dyn ArchiveTarget,
    at: u64,
    entries: Vec<ZipEntry>,
    job: &'a ZipJob,
    zone: &'a Zone,
}

/// The result of packing data.
struct PackResult {
    size: u64,
    packed: u64,
    text: bool,
}

impl<'a> Packer<'a> {
    /// Returns a writer of an archive that begins at the start of `out`.
    pub fn new(out: &'a mut dyn ArchiveTarget, job: &'a ZipJob, zone: &'a Zone) -> Packer<'a> {
        Packer { out, at: 0, entries: Vec::new(), job, zone }
    }

    /// Copies a member of an old archive without unpacking it.
    pub fn keep_member(&mut self, from: &mut File, old: &ZipEntry) -> io::Result<()> {
        // The new header has the sizes, so no descriptor follows the data.
        let mut e = ZipEntry { offset: self.at, flags: old.flags & !8, ..old.clone() };
        if old.is_encrypted() {
            e.flags = old.flags;
        }
        let header = format::local_header(&e);
        format::seek_data(from, old)?;
        self.out.write_all(&header)?;
        // An encrypted member keeps its descriptor, because the check of the key depends on the
        // flag.
        let descriptor = if e.flags & 8 != 0 { 16 } else { 0 };
        let n = io::copy(&mut from.take(old.packed + descriptor), &mut &mut *self.out)?;
        if n < old.packed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += header.len() as u64 + n;
        self.entries.push(e);
        Ok(())
    }

    /// Adds a file. Prints a warning and returns false if the file cannot be opened.
    pub fn add_item(&mut self, ctx: &mut Ctx<'_>, verb: &str, item: &ZipItem) -> io::Result<bool> {
        let (stat, job) = (&item.stat, self.job);
        let from_stdin = item.source == b"-";
        let epoch = if from_stdin { clock::current_time().0 } else { mtime_seconds(stat) };
        let kind = match stat.kind {
            FileKind::Dir => 0o040_000,
            FileKind::Symlink => 0o120_000,
            _ if from_stdin => 0o010_000,
            _ => 0o100_000,
        };
        let mut attributes = (kind | u32::from(stat.mode)) << 16;
        if stat.kind == FileKind::Dir {
            attributes |= 0x10;
        }
        if stat.mode & 0o200 == 0 {
            attributes |= 1;
        }
        let utf8 = !item.name.is_ascii() && std::str::from_utf8(&item.name).is_ok();
        let mut e = ZipEntry {
            name: item.name.clone(),
            made_by: MADE_BY,
            needs: 10,
            flags: if utf8 { 1 << 11 } else { 0 },
            dos: format::dos_time(epoch, self.zone),
            mtime: (!job.no_extra).then_some(epoch),
            size: if stat.kind == FileKind::File { stat.size } else { 0 },
            external: attributes,
            offset: self.at,
            ..ZipEntry::default()
        };
        let stored =
            job.level == 0 || job.store.iter().any(|s| !s.is_empty() && e.name.ends_with(s));
        let done = match stat.kind {
            FileKind::Dir => self.write_data(&mut e, &mut io::empty(), STORED)?,
            FileKind::Symlink => {
                let target = fs::read_link(ctx.path(&item.source))?;
                let target = box_sys::path::to_bytes(&target).to_vec();
                e.size = target.len() as u64;
                self.write_data(&mut e, &mut &target[..], STORED)?
            }
            _ if from_stdin => {
                let method = if stored { STORED } else { job.method };
                let mut input = ctx.stdin.detach_stream();
                let done = self.write_data(&mut e, &mut input, method);
                ctx.stdin = input;
                done?
            }
            _ => {
                let mut file = match File::open(ctx.path(&item.source)) {
                    Ok(f) => f,
                    Err(e) => {
                        let name = lossy_name(&item.source);
                        print_warning(
                            ctx,
                            &format!("could not open for reading: {name}: {}", error_text(&e)),
                        );
                        return Ok(false);
                    }
                };
                let first = if stored || stat.size == 0 { STORED } else { job.method };
                let mut done = self.write_data(&mut e, &mut file, first)?;
                if first != STORED && done.packed >= done.size {
                    self.out.cut(e.offset)?;
                    file.rewind()?;
                    done = self.write_data(&mut e, &mut file, STORED)?;
                }
                done
            }
        };
        if done.text && stat.kind == FileKind::File {
            e.internal = 1;
        }
        self.at = e.offset + format::local_header(&e).len() as u64 + e.packed;
        let how = if e.method == STORED { "stored" } else { "deflated" };
        let how = if e.method == BZIP2 { "bzipped" } else { how };
        let share = saved_percent(e.size, e.packed).max(0);
        print_action(ctx, job, &format!("{verb}: {} ({how} {share}%)\n", lossy_name(&e.name)));
        self.entries.push(e);
        Ok(true)
    }

    /// Writes the header and data of a member. The header is written again after the data, when its
    /// sizes and checksum are known.
    fn write_data(
        &mut self,
        e: &mut ZipEntry,
        input: &mut dyn Read,
        method: u16,
    ) -> io::Result<PackResult> {
        e.method = method;
        e.needs = match method {
            BZIP2 => 46,
            DEFLATED => 20,
            _ => {
                if e.is_dir() {
                    20
                } else {
                    10
                }
            }
        };
        let level = self.job.level;
        let faster = match level {
            _ if method != DEFLATED => 0,
            1 => 6,
            2 => 4,
            8 | 9 => 2,
            _ => 0,
        };
        e.flags = e.flags & !6 | faster;
        e.packed = 0;
        let header = format::local_header(e);
        self.out.write_all(&header)?;
        let mut counted = CountingWriter { out: self.out, n: 0 };
        let (size, crc, text) = match method {
            DEFLATED => {
                let mut w =
                    flate2::write::DeflateEncoder::new(&mut counted, Compression::new(level));
                let done = pump_input(input, &mut w)?;
                w.finish()?;
                done
            }
            BZIP2 => {
                let mut w = bzip2::write::BzEncoder::new(
                    &mut counted,
                    bzip2::Compression::new(level.max(1)),
                );
                let done = pump_input(input, &mut w)?;
                w.finish()?;
                done
            }
            _ => pump_input(input, &mut counted)?,
        };
        let done = PackResult { size, packed: counted.n, text };
        (e.size, e.packed, e.crc) = (size, done.packed, crc);
        let last = format::local_header(e);
        if last.len() != header.len() {
            return Err(io::Error::other("the file grew beyond 4 GiB while it was read"));
        }
        self.out.seek(SeekFrom::Start(e.offset))?;
        self.out.write_all(&last)?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(done)
    }

    /// Writes the central directory and the end of the archive.
    pub fn write_end(self, comment: &[u8]) -> io::Result<()> {
        let mut data = Vec::new();
        format::write_end(&mut data, self.at, &self.entries, comment)?;
        self.out.write_all(&data)?;
        self.out.flush()
    }
}

/// A writer that counts the bytes written to it.
struct CountingWriter<'a> {
    out: &'a mut dyn ArchiveTarget,
    n: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.out.write(data)?;
        self.n += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Copies all of `input`; returns its length, its checksum, and whether its beginning is text.
fn pump_input(input: &mut dyn Read, out: &mut dyn Write) -> io::Result<(u64, u32, bool)> {
    let mut crc = Crc::new();
    let mut buf = vec![0u8; 1 << 16];
    let (mut n, mut text) = (0u64, false);
    loop {
        match input.read(&mut buf) {
            Ok(0) => return Ok((n, crc.sum(), text)),
            Ok(got) => {
                let data = &buf[..got];
                if n == 0 {
                    text = is_text(data);
                }
                crc.update(data);
                out.write_all(data)?;
                n += got as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Returns whether data is text, which has printable bytes and no unusual control characters.
fn is_text(data: &[u8]) -> bool {
    let control = |c: &u8| matches!(c, 0..=6 | 14..=25 | 28..=31);
    !data.iter().any(control) && data.iter().any(|c| matches!(c, 9 | 10 | 13 | 32..))
}
