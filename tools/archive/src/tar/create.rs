//! Creating and extending archives: walking files in name order into ustar headers with
//! GNU long names.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use box_applet::{Ctx, OutputSink};
use box_sys::{AccountNames, FileKind, Stat, error_text, meta, path};
use tar::{EntryType, Header};

use super::list::{ListLine, WIDTH, write_verbose};
use super::options::{Compression, TarItem, TarOptions};
use super::{Outcome, TarFatal, cannot_open, damaged_archive, write_name};
use crate::codec::{CompressionEncoder, CompressionFormat};

/// Length of a name field; longer names take an extra record.
const NAME: usize = 100;
/// Archives are padded to whole records of 20 blocks.
const RECORD: u64 = 20 * 512;

/// Creates an archive (`tar -c`).
pub fn create_archive(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    if !options.has_list && !options.items.iter().any(|i| matches!(i, TarItem::File(_))) {
        let text = "Cowardly refusing to create an empty archive";
        ctx.error(text);
        let _ = ctx.stderr.write_all(super::options::HINT);
        return Ok(false);
    }
    let to_stdout = options.archive == b"-";
    let target: Box<dyn Write> = if to_stdout {
        let sink = ctx.stdout.sink().clone();
        Box::new(box_applet::OutStream::buffered(sink))
    } else {
        let file =
            File::create(ctx.path(&options.archive)).map_err(|e| cannot_open(options, &e))?;
        Box::new(BufWriter::with_capacity(1 << 16, file))
    };
    let format = match options.compression {
        Compression::None => None,
        Compression::Is(f) => Some(f),
        Compression::Auto => CompressionFormat::by_name(&options.archive),
    };
    let encoder = match format {
        Some(f) => f.writer(target, f.default_level())?,
        None => CompressionEncoder::Plain(target),
    };
    fill_archive(ctx, options, encoder, 0)
}

/// Appends members to an archive (`tar -r`), over its end-of-archive blocks.
pub fn append_archive(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    if options.archive == b"-" || options.compression != Compression::None {
        return Err(TarFatal::Message("Cannot update compressed archives".to_string()));
    }
    let target = ctx.path(&options.archive);
    if meta::stat(&target, true).is_err() {
        return create_archive(ctx, options);
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&target)
        .map_err(|e| cannot_open(options, &e))?;
    let mut end = 0;
    let mut archive = tar::Archive::new(&mut file);
    for entry in archive.entries().map_err(|e| damaged_archive(&e))? {
        let entry = entry.map_err(|e| damaged_archive(&e))?;
        end = entry.raw_file_position()
            + entry.header().entry_size().unwrap_or(0).next_multiple_of(512);
    }
    file.seek(SeekFrom::Start(end))?;
    let target: Box<dyn Write> = Box::new(BufWriter::new(file));
    fill_archive(ctx, options, CompressionEncoder::Plain(target), end)
}

fn fill_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    out: CompressionEncoder<'_>,
    start: u64,
) -> Outcome {
    let own = meta::stat(&ctx.path(&options.archive), true).ok().map(|s| (s.dev, s.ino));
    let mut writer = TarWriter {
        out,
        written: start,
        ok: true,
        dir: ctx.cwd.clone(),
        links: HashMap::new(),
        own,
        width: WIDTH,
        warned: false,
        names: AccountNames::load(),
        done: Vec::new(),
    };
    for item in &options.items {
        match item {
            TarItem::Directory(d) => {
                writer.dir = path::resolve_path(&writer.dir, d);
                if let Err(e) = std::fs::read_dir(&writer.dir) {
                    let d = String::from_utf8_lossy(d);
                    return Err(TarFatal::Message(format!("{d}: Cannot open: {}", error_text(&e))));
                }
            }
            TarItem::File(f) => {
                writer.add_path(ctx, options, path::strip_slashes(f))?;
            }
        }
    }
    let TarWriter { mut out, written, ok, done, .. } = writer;
    let end = (written + 1024).next_multiple_of(RECORD) - written;
    out.write_all(&vec![0; usize::try_from(end).unwrap_or(1024)])?;
    out.finish()?;
    for file in done.iter().rev() {
        let removed = std::fs::remove_file(file).or_else(|_| std::fs::remove_dir(file));
        if let Err(e) = removed {
            ctx.io_error(path::to_bytes(file), &e);
        }
    }
    Ok(ok)
}

struct TarWriter<'a> {
    out: CompressionEncoder<'a>,
    written: u64,
    ok: bool,
    /// The directory that relative operands are relative to (`-C`).
    dir: PathBuf,
    /// First name of each file with several links.
    links: HashMap<(u64, u64), Vec<u8>>,
    /// The archive itself, which is not archived.
    own: Option<(u64, u64)>,
    width: usize,
    warned: bool,
    names: AccountNames,
    /// Archived files, for `--remove-files`.
    done: Vec<PathBuf>,
}

impl TarWriter<'_> {
    /// Adds a file or a tree. Only failures to write end the run.
    fn add_path(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        name: &[u8],
    ) -> Result<(), TarFatal> {
        // An explicit stack: depth is the guest's choice, ours is not to overflow.
        let mut stack = vec![name.to_vec()];
        while let Some(name) = stack.pop() {
            if options.excludes.matches_name(&name) {
                continue;
            }
            let file = path::resolve_path(&self.dir, &name);
            let stat = match meta::stat(&file, options.dereference) {
                Ok(s) => s,
                Err(e) => {
                    let text = error_text(&e);
                    ctx.error_bytes(&[&name, b": Cannot stat: ", text.as_bytes()]);
                    self.ok = false;
                    continue;
                }
            };
            if Some((stat.dev, stat.ino)) == self.own && stat.kind == FileKind::File {
                ctx.error_bytes(&[&name, b": file is the archive; not dumped"]);
                continue;
            }
            if !self.write_member(ctx, options, &name, &file, &stat)? {
                continue;
            }
            if options.remove_files {
                self.done.push(file.clone());
            }
            if stat.kind == FileKind::Dir && options.recursive {
                match path::names_in(&file) {
                    Ok(inside) => {
                        stack
                            .extend(inside.iter().rev().map(|inner| path::join_path(&name, inner)));
                    }
                    Err(e) => {
                        let text = error_text(&e);
                        ctx.error_bytes(&[&name, b": Cannot open: ", text.as_bytes()]);
                        self.ok = false;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes one member; returns whether it was written.
    fn write_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        name: &[u8],
        file: &Path,
        stat: &Stat,
    ) -> Result<bool, TarFatal> {
        let Some(mut stored) = self.stored_name(ctx, options, name) else { return Ok(false) };
        let mut link = None;
        let mut kind = match stat.kind {
            FileKind::Dir => {
                if !stored.ends_with(b"/") {
                    stored.push(b'/');
                }
                EntryType::Directory
            }
            FileKind::Symlink => match std::fs::read_link(file) {
                Ok(to) => {
                    link = Some(path::to_bytes(&to).to_vec());
                    EntryType::Symlink
                }
                Err(e) => return Ok(self.skip_member(ctx, name, "Cannot readlink", &e)),
            },
            FileKind::Fifo => EntryType::Fifo,
            FileKind::File => EntryType::Regular,
            _ => {
                ctx.error_bytes(&[name, b": Unknown file type; file ignored"]);
                self.ok = false;
                return Ok(false);
            }
        };
        if kind == EntryType::Regular && stat.nlink > 1 {
            match self.links.get(&(stat.dev, stat.ino)) {
                Some(first) => {
                    link = Some(first.clone());
                    kind = EntryType::Link;
                }
                None => drop(self.links.insert((stat.dev, stat.ino), stored.clone())),
            }
        }
        let mut data = None;
        if kind == EntryType::Regular {
            match File::open(file) {
                Ok(f) => data = Some(f),
                Err(e) => return Ok(self.skip_member(ctx, name, "Cannot open", &e)),
            }
        }
        let size = if kind == EntryType::Regular { stat.size } else { 0 };
        let header = self.make_header(options, stat, kind, size);
        self.print_member(ctx, options, &header, &stored, link.as_deref())?;
        self.write_header(header, &stored, link.as_deref())?;
        if let Some(f) = data {
            let copied = io::copy(&mut f.take(size), &mut self.out)?;
            if copied < size {
                let text = format!(": File shrank by {} bytes; padding with zeros", size - copied);
                ctx.error_bytes(&[name, text.as_bytes()]);
                self.ok = false;
                io::copy(&mut io::repeat(0).take(size - copied), &mut self.out)?;
            }
            self.write_padding(size)?;
        }
        Ok(true)
    }

    fn skip_member(&mut self, ctx: &mut Ctx<'_>, name: &[u8], what: &str, e: &io::Error) -> bool {
        let text = format!(": {what}: {}", error_text(e));
        ctx.error_bytes(&[name, text.as_bytes()]);
        self.ok = false;
        false
    }

    /// Returns the name in the archive: transformed, without a leading slash.
    fn stored_name(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        name: &[u8],
    ) -> Option<Vec<u8>> {
        let mut stored = options.names.apply_to(name)?;
        if !options.absolute && stored.starts_with(b"/") {
            if !self.warned {
                self.warned = true;
                ctx.error("Removing leading `/' from member names");
            }
            let at = stored.iter().position(|&c| c != b'/').unwrap_or(stored.len());
            stored.drain(..at);
            if stored.is_empty() {
                stored.extend_from_slice(b"./");
            }
        }
        Some(stored)
    }

    fn make_header(&self, options: &TarOptions, stat: &Stat, kind: EntryType, size: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(u32::from(stat.mode));
        header.set_uid(stat.uid.into());
        header.set_gid(stat.gid.into());
        header.set_size(size);
        header.set_mtime(options.mtime.unwrap_or(stat.mtime / 1_000_000_000));
        let name = |given: &Option<Vec<u8>>, known: Option<&str>| {
            given.clone().unwrap_or_else(|| known.unwrap_or_default().into())
        };
        if let Some(gnu) = header.as_gnu_mut() {
            copy_field(&mut gnu.uname, &name(&options.owner, self.names.user(stat.uid)));
            copy_field(&mut gnu.gname, &name(&options.group, self.names.group(stat.gid)));
        }
        header
    }

    fn write_header(
        &mut self,
        mut header: Header,
        name: &[u8],
        link: Option<&[u8]>,
    ) -> io::Result<()> {
        if let Some(link) = link {
            if link.len() > NAME {
                self.write_long_name(EntryType::GNULongLink, link)?;
            }
            if let Some(gnu) = header.as_gnu_mut() {
                copy_field(&mut gnu.linkname, link);
            }
        }
        if name.len() > NAME {
            self.write_long_name(EntryType::GNULongName, name)?;
        }
        if let Some(gnu) = header.as_gnu_mut() {
            copy_field(&mut gnu.name, name);
        }
        header.set_cksum();
        self.out.write_all(header.as_bytes())?;
        self.written += 512;
        Ok(())
    }

    /// Writes a record that carries a name too long for its field.
    fn write_long_name(&mut self, kind: EntryType, text: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        let size = text.len() as u64 + 1;
        header.set_size(size);
        if let Some(gnu) = header.as_gnu_mut() {
            copy_field(&mut gnu.name, b"././@LongLink");
        }
        header.set_cksum();
        self.out.write_all(header.as_bytes())?;
        self.out.write_all(text)?;
        self.out.write_all(&[0])?;
        self.written += 512;
        self.write_padding(size)
    }

    /// Fills up to a whole block after `size` bytes of data.
    fn write_padding(&mut self, size: u64) -> io::Result<()> {
        let whole = size.next_multiple_of(512);
        self.out.write_all(&[0; 512][..usize::try_from(whole - size).unwrap_or(0)])?;
        self.written += whole;
        Ok(())
    }

    /// Prints the line of `-v` about a member, on stdout, or on stderr when the archive goes to
    /// stdout.
    fn print_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        header: &Header,
        name: &[u8],
        link: Option<&[u8]>,
    ) -> io::Result<()> {
        if options.verbose == 0 {
            return Ok(());
        }
        let to_stderr = options.archive == b"-" && !matches!(ctx.stdout.sink(), OutputSink::Closed);
        let mut line = Vec::new();
        if options.verbose > 1 {
            let size = header.size().unwrap_or(0);
            write_verbose(
                &mut line,
                options,
                header,
                &ListLine { name, link, size },
                &mut self.width,
            )?;
        } else {
            write_name(&mut line, name)?;
            line.push(b'\n');
        }
        if to_stderr { ctx.stderr.write_all(&line) } else { ctx.stdout.write_all(&line) }
    }
}

/// Copies text into a NUL-padded field, cut to its length.
fn copy_field(field: &mut [u8], text: &[u8]) {
    field.fill(0);
    let n = text.len().min(field.len());
    field[..n].copy_from_slice(&text[..n]);
}
