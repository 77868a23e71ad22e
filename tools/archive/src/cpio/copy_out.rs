//! `cpio -o`: writes the listed files to an archive.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use box_applet::Ctx;
use box_sys::{FileKind, Stat, meta, path};

use super::decode::CpioReader;
use super::encode::{encode_header, encode_trailer};
use super::entry::{CpioEntry, CpioFormat, DIRECTORY, FIFO, FILE, SYMLINK};
use super::options::CpioOptions;
use super::{CpioError, CpioSummary, print_progress, read_names, report_failure};

/// The names of a file with several links, which are held because only the last one gets the data.
struct WaitingLinks {
    entries: Vec<CpioEntry>,
    /// The number of the file's names that have not been in the list yet.
    missing: u32,
}

struct CpioWriter<'a> {
    options: &'a CpioOptions,
    format: CpioFormat,
    out: Box<dyn Write + 'a>,
    written: u64,
    ok: bool,
    /// The new inode numbers of files. They are used in formats whose numbers are too short, and by
    /// request.
    numbers: BTreeMap<(u64, u64), u64>,
    waiting: BTreeMap<(u64, u64), WaitingLinks>,
    /// The first name of each file with several links, in the formats of `tar`.
    first_names: BTreeMap<(u64, u64), Vec<u8>>,
}

/// Writes an archive, or appends to one.
pub fn write_archive(ctx: &mut Ctx<'_>, options: &CpioOptions) -> Result<CpioSummary, CpioError> {
    let mut format = options.format.unwrap_or(CpioFormat::Binary);
    let mut written = 0;
    let out: Box<dyn Write> = match &options.archive {
        None => Box::new(box_applet::OutStream::buffered(ctx.stdout.sink().clone())),
        Some(name) if options.appends => {
            let cannot_open = |e| CpioError::cannot_open(name, &e);
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .open(ctx.path(name))
                .map_err(cannot_open)?;
            let mut reader = CpioReader::open(Box::new(BufReader::new(&file)))?;
            while reader.next_entry()?.is_some() {}
            (format, written) = (reader.format, reader.start());
            drop(reader);
            file.set_len(written)?;
            file.seek(SeekFrom::Start(written))?;
            Box::new(BufWriter::new(file))
        }
        Some(name) => {
            let file =
                File::create(ctx.path(name)).map_err(|e| CpioError::cannot_open(name, &e))?;
            Box::new(BufWriter::with_capacity(1 << 16, file))
        }
    };
    let start = written;
    let mut writer = CpioWriter {
        options,
        format,
        out,
        written,
        ok: true,
        numbers: BTreeMap::new(),
        waiting: BTreeMap::new(),
        first_names: BTreeMap::new(),
    };
    for name in read_names(ctx, options)? {
        writer.add_file(ctx, &name)?;
    }
    writer.finish(ctx, start)
}

impl CpioWriter<'_> {
    fn add_file(&mut self, ctx: &mut Ctx<'_>, name: &[u8]) -> Result<(), CpioError> {
        let file = ctx.path(name);
        let stat = match meta::stat(&file, self.options.dereferences) {
            Ok(stat) => stat,
            Err(e) => {
                report_failure(ctx, name, "Cannot stat", &e);
                self.ok = false;
                return Ok(());
            }
        };
        let Some(mut entry) = self.describe_file(name, &stat) else {
            ctx.error_bytes(&[name, b": unknown file type"]);
            return Ok(());
        };
        print_progress(ctx, self.options, name);
        let key = (stat.dev, stat.ino);
        if stat.nlink > 1 && entry.kind() == FILE {
            if self.format.has_late_data() {
                let waiting = self
                    .waiting
                    .entry(key)
                    .or_insert(WaitingLinks { entries: Vec::new(), missing: stat.nlink });
                waiting.missing = waiting.missing.saturating_sub(1);
                waiting.entries.push(entry);
                if waiting.missing == 0 {
                    self.write_links(ctx, key)?;
                }
                return Ok(());
            }
            if self.format.alignment() == 512 {
                match self.first_names.get(&key) {
                    Some(first) => {
                        entry.link = Some(first.clone());
                        entry.size = 0;
                    }
                    None => drop(self.first_names.insert(key, name.to_vec())),
                }
            }
        }
        self.write_entry(ctx, entry)
    }

    /// Returns the entry of a file, or `None` if archives cannot hold its kind.
    fn describe_file(&mut self, name: &[u8], stat: &Stat) -> Option<CpioEntry> {
        let kind = match stat.kind {
            FileKind::Dir => DIRECTORY,
            FileKind::File => FILE,
            FileKind::Symlink => SYMLINK,
            FileKind::Fifo => FIFO,
            _ => return None,
        };
        let is_short = matches!(self.format, CpioFormat::Old | CpioFormat::Binary);
        let is_long = stat.ino > u64::from(u32::MAX);
        let ino = if self.options.renumbers || is_short || is_long {
            let next = self.numbers.len() as u64;
            *self.numbers.entry((stat.dev, stat.ino)).or_insert(next)
        } else {
            stat.ino
        };
        let is_named = self.options.ignores_device || is_short;
        let dev =
            if is_named { (0, 0) } else { ((stat.dev >> 8) as u32, (stat.dev & 0xff) as u32) };
        Some(CpioEntry {
            name: stored_name(name),
            mode: kind | u32::from(stat.mode),
            ino,
            dev,
            nlink: stat.nlink,
            uid: self.options.owner.0.unwrap_or(stat.uid),
            gid: self.options.owner.1.unwrap_or(stat.gid),
            mtime: stat.mtime / 1_000_000_000,
            size: if kind == FILE { stat.size } else { 0 },
            ..CpioEntry::default()
        })
    }

    /// Writes the names of a file with several links, and the data with the last one.
    fn write_links(&mut self, ctx: &mut Ctx<'_>, key: (u64, u64)) -> Result<(), CpioError> {
        let Some(mut links) = self.waiting.remove(&key) else { return Ok(()) };
        let last = links.entries.pop();
        for mut entry in links.entries {
            entry.size = 0;
            self.write_header(ctx, &entry)?;
        }
        match last {
            Some(entry) => self.write_entry(ctx, entry),
            None => Ok(()),
        }
    }

    /// Writes an entry with its data.
    fn write_entry(&mut self, ctx: &mut Ctx<'_>, mut entry: CpioEntry) -> Result<(), CpioError> {
        let path = ctx.path(&entry.name);
        if entry.kind() == SYMLINK {
            let target = match std::fs::read_link(&path) {
                Ok(target) => path::to_bytes(&target).to_vec(),
                Err(e) => {
                    report_failure(ctx, &entry.name, "Cannot readlink", &e);
                    return Ok(());
                }
            };
            if self.format.alignment() == 512 {
                entry.link = Some(target);
                self.write_header(ctx, &entry)?;
                return Ok(());
            }
            entry.size = target.len() as u64;
            if self.write_header(ctx, &entry)? {
                self.write_data(&mut &target[..], entry.size)?;
            }
            return Ok(());
        }
        if entry.kind() != FILE || entry.link.is_some() {
            self.write_header(ctx, &entry)?;
            return Ok(());
        }
        let atime = meta::stat(&path, true).map(|s| s.atime).unwrap_or(0);
        let opened = File::open(&path).and_then(|mut file| {
            if self.format == CpioFormat::Sum {
                entry.sum = sum_bytes(&mut file)?;
                file.seek(SeekFrom::Start(0))?;
            }
            Ok(file)
        });
        let mut file = match opened {
            Ok(file) => file,
            Err(e) => {
                report_failure(ctx, &entry.name, "Cannot open", &e);
                return Ok(());
            }
        };
        if self.write_header(ctx, &entry)? {
            let copied = self.write_data(&mut file, entry.size)?;
            if copied < entry.size {
                let text =
                    format!(": File shrunk by {} bytes, padding with zeros", entry.size - copied);
                ctx.error_bytes(&[&entry.name, text.as_bytes()]);
            }
        }
        if self.options.resets_access {
            let _ = meta::set_times(&path, Some(atime), None, true);
        }
        Ok(())
    }

    /// Writes a header. Prints a message and returns false if the format cannot hold it.
    fn write_header(&mut self, ctx: &mut Ctx<'_>, entry: &CpioEntry) -> io::Result<bool> {
        let header = match encode_header(self.format, entry) {
            Ok(header) => header,
            Err(e) => {
                let text = format!(": {e}");
                ctx.error_bytes(&[&entry.name, text.as_bytes()]);
                self.ok = false;
                return Ok(false);
            }
        };
        self.out.write_all(&header)?;
        self.written += header.len() as u64;
        Ok(true)
    }

    /// Writes data, padded with zeros to `size` and to the format's alignment; returns the length
    /// of the data.
    fn write_data(&mut self, data: &mut dyn Read, size: u64) -> io::Result<u64> {
        let copied = io::copy(&mut data.take(size), &mut self.out)?;
        let whole = size.next_multiple_of(self.format.alignment());
        io::copy(&mut io::repeat(0).take(whole - copied), &mut self.out)?;
        self.written += whole;
        Ok(copied)
    }

    /// Writes the held links and the trailer, and pads the archive to a whole block.
    fn finish(mut self, ctx: &mut Ctx<'_>, start: u64) -> Result<CpioSummary, CpioError> {
        while let Some(key) = self.waiting.keys().next().copied() {
            self.write_links(ctx, key)?;
        }
        if self.options.has_dots {
            let _ = ctx.stderr.write_all(b"\n");
        }
        let trailer = encode_trailer(self.format);
        self.out.write_all(&trailer)?;
        self.written += trailer.len() as u64;
        let whole = self.written.next_multiple_of(self.options.block_size);
        io::copy(&mut io::repeat(0).take(whole - self.written), &mut self.out)?;
        self.out.flush()?;
        Ok(CpioSummary { bytes: whole - start, ok: self.ok })
    }
}

/// Returns a name without leading `./`, as GNU stores it.
fn stored_name(name: &[u8]) -> Vec<u8> {
    let mut rest = name;
    while let Some(shorter) = rest.strip_prefix(b"./") {
        let start = shorter.iter().take_while(|c| **c == b'/').count();
        rest = &shorter[start..];
    }
    if rest.is_empty() { b".".to_vec() } else { rest.to_vec() }
}

/// Returns the sum of a file's bytes.
fn sum_bytes(file: &mut dyn Read) -> io::Result<u32> {
    let mut sum = 0_u32;
    let mut buf = vec![0; 1 << 16];
    loop {
        match file.read(&mut buf)? {
            0 => return Ok(sum),
            n => sum = buf[..n].iter().fold(sum, |sum, c| sum.wrapping_add((*c).into())),
        }
    }
}
