//! `tar -d`: compares members with files.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use box_applet::Ctx;
use box_sys::{FileKind, Stat, error_text, meta, path};

use super::TarFatal;
use super::extract::{copy_data, target_directory};
use super::list::NamePrinter;
use super::member::{Member, MemberKind, MemberTime};
use super::options::TarOptions;
use super::read::{ArchiveInput, open_archive};
use super::transform::NameKind;

/// The state of a comparison.
struct MemberComparison<'o> {
    options: &'o TarOptions,
    printer: NamePrinter<'o>,
    differs: bool,
    ok: bool,
}

/// Compares an archive with files; returns whether everything has succeeded, and whether there are
/// differences.
pub fn compare_archive(ctx: &mut Ctx<'_>, options: &TarOptions) -> Result<(bool, bool), TarFatal> {
    let mut input = open_archive(ctx, options)?;
    let target = target_directory(ctx, options)?;
    let printer = NamePrinter::open(ctx, options)?;
    let mut comparison = MemberComparison { options, printer, differs: false, ok: true };
    while let Some(member) = input.next_wanted(ctx, options)? {
        comparison.printer.print_member(ctx, &member, input.block_number(), false)?;
        let name = input.extracted_name(ctx, options, &member.name, NameKind::Member);
        let Some(name) = name else { continue };
        let file = path::resolve_path(&target, path::strip_slashes(&name));
        comparison.compare_member(ctx, &member, &file, &target, &mut input)?;
    }
    comparison.printer.finish()?;
    let ok = input.finish(ctx, options)? && comparison.ok;
    Ok((ok, comparison.differs))
}

impl MemberComparison<'_> {
    /// Prints a difference.
    fn print_difference(
        &mut self,
        ctx: &mut Ctx<'_>,
        member: &Member,
        text: &[u8],
    ) -> io::Result<()> {
        self.differs = true;
        let name = path::strip_slashes(&member.name);
        self.printer.print_line(ctx, &[name, b": ", text, b"\n"].concat())
    }

    /// Reports that a file cannot be read. A missing file counts as a difference and not as a
    /// failure.
    fn report_failure(&mut self, ctx: &mut Ctx<'_>, member: &Member, what: &str, e: &io::Error) {
        let is_missing = e.kind() == io::ErrorKind::NotFound;
        let warning = if is_missing { "Warning: " } else { "" };
        let text = format!(": {warning}{what}: {}", error_text(e));
        ctx.error_bytes(&[path::strip_slashes(&member.name), text.as_bytes()]);
        if is_missing {
            self.differs = true;
        } else {
            self.ok = false;
        }
    }

    fn compare_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        member: &Member,
        file: &Path,
        target: &Path,
        input: &mut ArchiveInput<'_>,
    ) -> Result<(), TarFatal> {
        if member.kind == MemberKind::Symlink {
            match std::fs::read_link(file) {
                Ok(to) if path::to_bytes(&to) == member.link => {}
                Ok(_) => self.print_difference(ctx, member, b"Symlink differs")?,
                Err(e) => self.report_failure(ctx, member, "Cannot readlink", &e),
            }
            return Ok(());
        }
        if member.kind == MemberKind::Label {
            return Ok(());
        }
        let stat = match meta::stat(file, self.options.files.dereference) {
            Ok(stat) => stat,
            Err(e) => {
                self.report_failure(ctx, member, "Cannot stat", &e);
                return Ok(());
            }
        };
        match member.kind {
            MemberKind::File | MemberKind::Other(_) => {
                self.compare_file(ctx, member, file, &stat, input)
            }
            MemberKind::HardLink => {
                let other = path::resolve_path(target, &member.link);
                match meta::stat(&other, false) {
                    Ok(other) if (other.dev, other.ino) == (stat.dev, stat.ino) => Ok(()),
                    Ok(_) => {
                        let text = [b"Not linked to ", &member.link[..]].concat();
                        Ok(self.print_difference(ctx, member, &text)?)
                    }
                    Err(e) => {
                        self.report_failure(ctx, member, "Cannot stat", &e);
                        Ok(())
                    }
                }
            }
            kind => {
                let expected = match kind {
                    MemberKind::Directory => FileKind::Dir,
                    MemberKind::Fifo => FileKind::Fifo,
                    MemberKind::CharDevice => FileKind::CharDevice,
                    _ => FileKind::BlockDevice,
                };
                if stat.kind != expected {
                    self.print_difference(ctx, member, b"File type differs")?;
                } else if stat.mode != member.mode {
                    self.print_difference(ctx, member, b"Mode differs")?;
                }
                Ok(())
            }
        }
    }

    fn compare_file(
        &mut self,
        ctx: &mut Ctx<'_>,
        member: &Member,
        file: &Path,
        stat: &Stat,
        input: &mut ArchiveInput<'_>,
    ) -> Result<(), TarFatal> {
        if stat.kind != FileKind::File {
            return Ok(self.print_difference(ctx, member, b"File type differs")?);
        }
        if stat.mode != member.mode {
            self.print_difference(ctx, member, b"Mode differs")?;
        }
        if u64::from(stat.uid) != member.uid {
            self.print_difference(ctx, member, b"Uid differs")?;
        }
        if u64::from(stat.gid) != member.gid {
            self.print_difference(ctx, member, b"Gid differs")?;
        }
        let mut mtime = MemberTime::from_nanos(stat.mtime);
        if member.mtime.nanos == 0 {
            // Most formats store no fractions of seconds.
            mtime.nanos = 0;
        }
        if mtime != member.mtime {
            self.print_difference(ctx, member, b"Mod time differs")?;
        }
        if stat.size != member.size {
            return Ok(self.print_difference(ctx, member, b"Size differs")?);
        }
        let other = match File::open(file) {
            Ok(other) => BufReader::new(other),
            Err(e) => {
                self.report_failure(ctx, member, "Cannot open", &e);
                return Ok(());
            }
        };
        let mut contents = ContentsComparison { other, is_equal: true };
        copy_data(input, member, &mut contents).map_err(|e| input.io_fatal(ctx, e))?;
        if !contents.is_equal {
            self.print_difference(ctx, member, b"Contents differ")?;
        }
        Ok(())
    }
}

/// A writer that compares the bytes written to it with a file.
struct ContentsComparison {
    other: BufReader<File>,
    is_equal: bool,
}

impl Write for ContentsComparison {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.is_equal {
            let mut found = vec![0; data.len()];
            self.is_equal = self.other.read_exact(&mut found).is_ok() && found == data;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
