//! Writes files to an archive, and walks directory trees in the order of names.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_applet::{Ctx, clock};
use box_sys::{AccountNames, FileKind, Stat, error_text, meta, path};

use super::checkpoint::{CheckpointDirection, Checkpoints, RECORD};
use super::confirm::{Confirmation, ConfirmedAction};
use super::decode::BLOCK;
use super::encode::{AccessTimes, ArchiveFormat, EncodeError, HeaderEncoder};
use super::ignore::IgnoredNames;
use super::list::NamePrinter;
use super::member::{Member, MemberKind, MemberTime};
use super::options::{Compression, HeaderChoices, TarItem, TarOptions};
use super::owner::{OwnerChoice, OwnerMap};
use super::select::{DirectoryTag, RemovedPrefixes, TagContents};
use super::transform::NameKind;
use super::{Outcome, TarFatal};
use crate::codec::{CompressionEncoder, CompressionFormat};

/// Creates an archive (`tar -c`).
pub fn create_archive(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    if !options.has_names() {
        return Err(TarFatal::Usage("Cowardly refusing to create an empty archive".into()));
    }
    let target: Box<dyn Write> = if options.archive == b"-" {
        let sink = ctx.stdout.sink().clone();
        Box::new(box_applet::OutStream::buffered(sink))
    } else {
        let file = File::create(ctx.path(&options.archive))
            .map_err(|e| TarFatal::cannot_open(&options.archive, &e))?;
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
    fill_archive(ctx, options, encoder, ArchiveEnd::default())
}

/// The end of an archive to which members are added.
#[derive(Default)]
pub struct ArchiveEnd {
    /// The offset after the last member.
    pub position: u64,
    /// With `-u`, the newest time of each member by name. Files that are not newer are not added.
    pub known: Option<HashMap<Vec<u8>, MemberTime>>,
}

/// Adds the files of the command line to an archive, and writes its end.
pub fn fill_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    out: CompressionEncoder<'_>,
    end: ArchiveEnd,
) -> Outcome {
    let own = meta::stat(&ctx.path(&options.archive), true).ok().map(|s| (s.dev, s.ino));
    let mut writer = TarWriter {
        options,
        out,
        encoder: HeaderEncoder::new(options.headers.format, options.headers.pax.clone()),
        checkpoints: options.start_checkpoints(CheckpointDirection::Write),
        printer: NamePrinter::open(ctx, options)?,
        confirmation: Confirmation::open(ctx, options)?,
        removed: RemovedPrefixes::default(),
        written: end.position,
        known: end.known,
        ok: true,
        dir: ctx.cwd.clone(),
        links: BTreeMap::new(),
        own,
        names: AccountNames::load(),
        done: Vec::new(),
    };
    writer.write_beginning()?;
    let mut is_recursive = true;
    for item in &options.items {
        match item {
            TarItem::Directory(d) => {
                writer.dir = path::resolve_path(&writer.dir, d);
                if let Err(e) = std::fs::read_dir(&writer.dir) {
                    return Err(TarFatal::cannot_open(d, &e));
                }
            }
            TarItem::Recursion(on) => is_recursive = *on,
            TarItem::File(f) => writer.add_tree(ctx, path::strip_slashes(f), is_recursive)?,
        }
    }
    writer.finish(ctx, end.position)
}

/// A file with several hard links, one of which is in the archive.
struct LinkedFile {
    /// The first name, as it is stored.
    name: Vec<u8>,
    /// The first name, as messages show it.
    shown: Vec<u8>,
    /// The number of links that are not in the archive yet.
    missing: u32,
}

/// A file that is to be added.
struct SourceEntry {
    name: Vec<u8>,
    /// The device of the operand; `None` for the operand itself.
    device: Option<u64>,
    /// The patterns of its directory.
    ignored: Rc<IgnoredNames>,
}

struct TarWriter<'a> {
    options: &'a TarOptions,
    out: CompressionEncoder<'a>,
    encoder: HeaderEncoder,
    checkpoints: Checkpoints,
    printer: NamePrinter<'a>,
    confirmation: Option<Confirmation>,
    removed: RemovedPrefixes,
    written: u64,
    /// The members of an archive that is updated, with their newest times.
    known: Option<HashMap<Vec<u8>, MemberTime>>,
    ok: bool,
    /// The directory at which relative operands begin (`-C`).
    dir: PathBuf,
    /// The files with several links.
    links: BTreeMap<(u64, u64), LinkedFile>,
    /// The device and inode number of the archive itself, which is not archived.
    own: Option<(u64, u64)>,
    names: AccountNames,
    /// The archived files, for `--remove-files`.
    done: Vec<PathBuf>,
}

impl TarWriter<'_> {
    /// Writes the parts before the members, which are the pax header of the archive and its label.
    fn write_beginning(&mut self) -> io::Result<()> {
        if self.written > 0 {
            return Ok(());
        }
        let (seconds, nanos) = clock::current_time();
        let now = MemberTime { seconds, nanos };
        let globals = self.encoder.encode_globals(now);
        self.write_blocks(&globals)?;
        if let Some(label) = &self.options.headers.label {
            let mut member = Member::new(label.clone(), MemberKind::Label);
            member.mtime = MemberTime { seconds, nanos: 0 };
            if let Ok(header) = self.encoder.encode_member(&member, None) {
                self.write_blocks(&header)?;
            }
        }
        Ok(())
    }

    fn write_blocks(&mut self, blocks: &[u8]) -> io::Result<()> {
        self.out.write_all(blocks)?;
        self.written += blocks.len() as u64;
        Ok(())
    }

    /// Adds a file or a tree. Returns an error only if the archive cannot be written; files that
    /// cannot be read are reported.
    fn add_tree(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        is_recursive: bool,
    ) -> Result<(), TarFatal> {
        // The stack is explicit, because recursion could overflow in a deep tree.
        let ignored = Rc::new(IgnoredNames::default());
        let mut stack = vec![SourceEntry { name: name.to_vec(), device: None, ignored }];
        while let Some(SourceEntry { name, device, ignored }) = stack.pop() {
            if self.options.excludes.matches_name(&name) || ignored.matches_name(&name) {
                continue;
            }
            if self.is_refused(ctx, &name)? {
                continue;
            }
            let file = path::resolve_path(&self.dir, &name);
            let stat = match meta::stat(&file, self.options.files.dereference) {
                Ok(s) => s,
                Err(e) => {
                    self.report_failure(ctx, &name, "Cannot stat", &e);
                    continue;
                }
            };
            if self.is_left_out(ctx, &name, &stat, device) {
                continue;
            }
            let is_dir = stat.kind == FileKind::Dir;
            let tag = if is_dir { self.find_tag(ctx, &name, &file) } else { None };
            if tag.as_ref().is_some_and(|t| t.contents == TagContents::NoDirectory) {
                continue;
            }
            let is_added =
                !self.is_known(&name, &stat) && self.write_member(ctx, &name, &file, &stat)?;
            if is_added && self.options.files.remove_files {
                self.done.push(file.clone());
            }
            if !is_dir || !is_recursive || !(is_added || self.known.is_some()) {
                continue;
            }
            let inside = match (tag, path::names_in(&file)) {
                (Some(tag), _) if tag.contents == TagContents::Tag => vec![tag.name],
                (Some(_), _) => Vec::new(),
                (None, Ok(inside)) => inside,
                (None, Err(e)) => {
                    self.report_failure(ctx, &name, "Cannot open", &e);
                    continue;
                }
            };
            let device = Some(device.unwrap_or(stat.dev));
            let ignored = self.ignored_in(&file, &ignored)?;
            stack.extend(inside.iter().rev().map(|inner| SourceEntry {
                name: path::join_path(&name, inner),
                device,
                ignored: Rc::clone(&ignored),
            }));
        }
        Ok(())
    }

    /// Returns whether the user refuses to add a file (`-w`).
    fn is_refused(&mut self, ctx: &mut Ctx<'_>, name: &[u8]) -> Result<bool, TarFatal> {
        let Some(confirmation) = &mut self.confirmation else { return Ok(false) };
        Ok(!confirmation.is_confirmed(ctx, self.options, ConfirmedAction::Add, name)?)
    }

    /// Returns the patterns that hold in a directory (`--exclude-ignore`). A file of patterns that
    /// cannot be read ends the run.
    fn ignored_in(
        &self,
        dir: &Path,
        above: &Rc<IgnoredNames>,
    ) -> Result<Rc<IgnoredNames>, TarFatal> {
        let files = &self.options.files.ignore_files;
        if files.is_empty() {
            return Ok(Rc::clone(above));
        }
        match IgnoredNames::for_directory(above, files, dir) {
            Ok(ignored) => Ok(Rc::new(ignored)),
            Err((file, e)) => {
                let file = String::from_utf8_lossy(&file);
                Err(TarFatal::Message(format!("{file}: {}", error_text(&e))))
            }
        }
    }

    /// Returns whether a file is not added because it is the archive itself, is on another file
    /// system, or is too old. Prints a message about it if necessary.
    fn is_left_out(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        stat: &Stat,
        device: Option<u64>,
    ) -> bool {
        let is_dir = stat.kind == FileKind::Dir;
        if Some((stat.dev, stat.ino)) == self.own && stat.kind == FileKind::File {
            ctx.error_bytes(&[name, b": file is the archive; not dumped"]);
            return true;
        }
        let files = &self.options.files;
        if files.one_file_system && device.is_some_and(|d| d != stat.dev) {
            if self.options.print.verbose > 0 {
                let slash: &[u8] = if is_dir { b"/" } else { b"" };
                let text = b": file is on a different filesystem; not dumped";
                ctx.error_bytes(&[name, slash, text]);
            }
            return true;
        }
        let Some(newer) = files.newer.filter(|_| !is_dir) else { return false };
        let is_old = |nanos: u64| MemberTime::from_nanos(nanos) < newer.time;
        let is_unchanged = is_old(stat.mtime) && (!newer.counts_changes || is_old(stat.ctime));
        if is_unchanged && self.options.print.verbose > 0 {
            ctx.error_bytes(&[name, b": file is unchanged; not dumped"]);
        }
        is_unchanged
    }

    /// Returns the tag that a directory has. Prints a message about it with `-v`.
    fn find_tag(&self, ctx: &mut Ctx<'_>, name: &[u8], dir: &Path) -> Option<DirectoryTag> {
        let tag = self.options.files.tags.iter().find(|tag| tag.is_in(dir))?;
        if self.options.print.verbose > 0 {
            let end: &[u8] = match tag.contents {
                TagContents::NoDirectory => b"; directory not dumped",
                _ => b"; contents not dumped",
            };
            let text = b": contains a cache directory tag ";
            ctx.error_bytes(&[name, b"/", text, &tag.name, end]);
        }
        Some(tag.clone())
    }

    /// Returns whether the archive that is updated has a member that is not older than the file. A
    /// directory with a member is never added again.
    fn is_known(&self, name: &[u8], stat: &Stat) -> bool {
        let Some(known) = &self.known else { return false };
        let Some(archived) = known.get(name) else { return false };
        let seconds = |t: MemberTime| MemberTime { nanos: 0, ..t };
        let mtime = MemberTime::from_nanos(stat.mtime);
        let is_newer = match archived.nanos {
            0 => seconds(mtime) > *archived,
            _ => mtime > *archived,
        };
        stat.kind == FileKind::Dir || !is_newer
    }

    /// Writes one member; returns whether it was written.
    fn write_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        file: &Path,
        stat: &Stat,
    ) -> Result<bool, TarFatal> {
        let Some(mut member) = self.describe_file(ctx, name, file, stat) else { return Ok(false) };
        let mut data = None;
        if member.kind == MemberKind::File {
            match File::open(file) {
                Ok(f) => data = Some(f),
                Err(e) => return Ok(self.report_failure(ctx, name, "Cannot open", &e)),
            }
            member.size = stat.size;
        }
        self.options.headers.fill_member(&mut member, stat, &self.names, self.options);
        let mut shown = name.to_vec();
        if member.kind == MemberKind::Directory {
            end_with_slash(&mut shown);
        }
        let times = AccessTimes {
            atime: MemberTime::from_nanos(stat.atime),
            ctime: MemberTime::from_nanos(stat.ctime),
        };
        let header = match self.encoder.encode_member(&member, Some(times)) {
            Ok(header) => header,
            Err(e) => {
                let text = format!(": {e}");
                let subject = if e == EncodeError::LongLink { &member.link } else { &shown };
                ctx.error_bytes(&[subject, text.as_bytes()]);
                self.ok = false;
                return Ok(false);
            }
        };
        let block = Some(self.written / BLOCK as u64);
        self.write_blocks(&header)?;
        if !self.options.print.transformed {
            member.name = shown;
        }
        self.printer.print_member(ctx, &member, block, false)?;
        if let Some(f) = data {
            self.write_data(ctx, name, f, member.size)?;
        }
        self.checkpoints.advance(ctx, self.written);
        Ok(true)
    }

    /// Returns the member for a file, with its name, kind and link. Returns `None` if the file
    /// cannot be archived or no name is left of it.
    fn describe_file(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        file: &Path,
        stat: &Stat,
    ) -> Option<Member> {
        let stored = self.stored_name(ctx, name, NameKind::Member);
        if stored.is_empty() {
            return None;
        }
        let mut member = Member::new(stored, MemberKind::File);
        match stat.kind {
            FileKind::Dir => {
                member.kind = MemberKind::Directory;
                end_with_slash(&mut member.name);
            }
            FileKind::Symlink => match std::fs::read_link(file) {
                Ok(to) => {
                    member.kind = MemberKind::Symlink;
                    member.link = self.stored_name(ctx, path::to_bytes(&to), NameKind::Symlink);
                }
                Err(e) => {
                    self.report_failure(ctx, name, "Cannot readlink", &e);
                    return None;
                }
            },
            FileKind::Fifo => member.kind = MemberKind::Fifo,
            FileKind::File => {}
            FileKind::Socket => {
                ctx.error_bytes(&[name, b": socket ignored"]);
                return None;
            }
            FileKind::CharDevice | FileKind::BlockDevice => {
                ctx.error_bytes(&[name, b": Unknown file type; file ignored"]);
                self.ok = false;
                return None;
            }
        }
        let is_linked = stat.nlink > 1 && stat.kind != FileKind::Dir;
        if is_linked && !self.options.files.hard_dereference {
            self.note_link(ctx, name, stat, &mut member);
        }
        Some(member)
    }

    /// Makes a member a hard link to the first name of its file, or records the name as the first
    /// one.
    fn note_link(&mut self, ctx: &mut Ctx<'_>, name: &[u8], stat: &Stat, member: &mut Member) {
        let key = (stat.dev, stat.ino);
        if let Some(first) = self.links.get_mut(&key) {
            first.missing = first.missing.saturating_sub(1);
            member.link.clone_from(&first.name);
            member.kind = MemberKind::HardLink;
            return;
        }
        let target = self.stored_name(ctx, name, NameKind::HardLink);
        let missing = stat.nlink.saturating_sub(1);
        self.links.insert(key, LinkedFile { name: target, shown: name.to_vec(), missing });
    }

    /// Copies a file's data. If the file has become shorter, the data is padded with zeros.
    fn write_data(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        file: File,
        size: u64,
    ) -> io::Result<()> {
        let copied = io::copy(&mut file.take(size), &mut self.out)?;
        if copied < size {
            let text = format!(": File shrank by {} bytes; padding with zeros", size - copied);
            ctx.error_bytes(&[name, text.as_bytes()]);
            self.ok = false;
        }
        let whole = size.next_multiple_of(BLOCK as u64);
        io::copy(&mut io::repeat(0).take(whole - copied), &mut self.out)?;
        self.written += whole;
        Ok(())
    }

    /// Reports that a file cannot be read, which makes the run fail unless `--ignore-failed-read`
    /// is given; returns false.
    fn report_failure(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        what: &str,
        e: &io::Error,
    ) -> bool {
        let is_ignored = self.options.files.ignores_failures;
        let warning = if is_ignored { "Warning: " } else { "" };
        let text = format!(": {warning}{what}: {}", error_text(e));
        ctx.error_bytes(&[name, text.as_bytes()]);
        self.ok &= is_ignored;
        false
    }

    fn stored_name(&mut self, ctx: &mut Ctx<'_>, name: &[u8], kind: NameKind) -> Vec<u8> {
        self.options.names.stored_name(ctx, &mut self.removed, name, kind)
    }

    /// Writes the end of the archive, and then does what must wait until the archive is complete.
    /// Returns whether everything has succeeded.
    fn finish(mut self, ctx: &mut Ctx<'_>, start: u64) -> Outcome {
        let end = (self.written + 2 * BLOCK as u64).next_multiple_of(RECORD) - self.written;
        io::copy(&mut io::repeat(0).take(end), &mut self.out)?;
        self.written += end;
        self.out.finish()?;
        self.printer.finish()?;
        self.checkpoints.advance(ctx, self.written);
        if self.options.files.checks_links {
            for file in self.links.values().filter(|f| f.missing > 0) {
                ctx.error_bytes(&[b"Missing links to '", &file.shown, b"'."]);
            }
        }
        for file in self.done.iter().rev() {
            let removed = std::fs::remove_file(file).or_else(|_| std::fs::remove_dir(file));
            if let Err(e) = removed {
                ctx.io_error(path::to_bytes(file), &e);
            }
        }
        if self.options.print.totals {
            self.checkpoints.print_totals(ctx, self.written - start);
        }
        Ok(self.ok)
    }
}

impl HeaderChoices {
    /// Sets the mode, owner, group and time of a member from its file and the command line.
    fn fill_member(
        &self,
        member: &mut Member,
        stat: &Stat,
        names: &AccountNames,
        options: &TarOptions,
    ) {
        member.mode = match &self.mode {
            Some(change) => change.apply(stat.mode, stat.kind == FileKind::Dir, meta::umask()),
            None => stat.mode,
        };
        let name = |name: Option<&str>| name.unwrap_or_default().as_bytes().to_vec();
        (member.uid, member.user) = chosen_owner(
            (stat.uid.into(), name(names.user(stat.uid))),
            &self.owner_map,
            self.owner.as_ref(),
        );
        (member.gid, member.group) = chosen_owner(
            (stat.gid.into(), name(names.group(stat.gid))),
            &self.group_map,
            self.group.as_ref(),
        );
        if self.format == ArchiveFormat::V7 || options.print.numeric_owner {
            (member.user, member.group) = (Vec::new(), Vec::new());
        }
        let time = MemberTime::from_nanos(stat.mtime);
        member.mtime = match self.mtime {
            Some(given) if !self.clamps_mtime || given < time => given,
            _ => time,
        };
        if self.format != ArchiveFormat::Pax {
            member.mtime.nanos = 0;
        }
    }
}

fn end_with_slash(name: &mut Vec<u8>) {
    if !name.ends_with(b"/") {
        name.push(b'/');
    }
}

/// Returns the number and name of a member's owner or group. A map takes precedence over an option
/// for all members.
fn chosen_owner(own: (u64, Vec<u8>), map: &OwnerMap, all: Option<&OwnerChoice>) -> (u64, Vec<u8>) {
    let (id, name) = own;
    match map.find_choice(id).or(all) {
        Some(choice) => (choice.id.unwrap_or(id), choice.name.clone().unwrap_or(name)),
        None => (id, name),
    }
}
