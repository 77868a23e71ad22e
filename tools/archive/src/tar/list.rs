//! `tar -t`, and the printer of names and of the verbose lines of `-tv`, `-cvv` and `-xvv`.

use box_applet::{Ctx, OutputSink};
use box_text::mode;
use box_text::time::strftime::format_strftime;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::decode::BLOCK;
use super::member::{Member, MemberKind};
use super::options::{PrintChoices, TarItem, TarOptions};
use super::read::ArchiveInput;
use super::select::WantedMembers;
use super::transform::NameKind;
use super::{Outcome, TarFatal, write_name};

/// Prints the members of an archive (`tar -t`).
pub fn list_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    input: &mut ArchiveInput<'_>,
) -> Outcome {
    let mut printer = NamePrinter::open(ctx, options)?;
    while let Some(member) = input.next_wanted(ctx, options)? {
        let mut shown = member.clone();
        let symlink = member.kind == MemberKind::Symlink;
        let kind = if symlink { NameKind::Symlink } else { NameKind::HardLink };
        let name = input.extracted_name(ctx, options, &member.name, NameKind::Member);
        let link = match member.kind {
            MemberKind::Symlink | MemberKind::HardLink => {
                input.extracted_name(ctx, options, &member.link, kind)
            }
            _ => None,
        };
        if options.print.transformed {
            shown.name = name.unwrap_or_else(|| b"/".to_vec());
            shown.link = link.unwrap_or_default();
        }
        printer.print_member(ctx, &shown, input.block_number(), true)?;
    }
    if options.print.block_numbers
        && let Some(block) = input.end_block()
    {
        printer.print_line(ctx, format!("block {block}: ** Block of NULs **\n").as_bytes())?;
    }
    printer.finish()?;
    input.finish(ctx, options)
}

/// Returns the member operands.
pub fn wanted_members(options: &TarOptions) -> WantedMembers {
    let mut recursive = true;
    let mut files = Vec::new();
    for item in &options.items {
        match item {
            TarItem::File(f) => files.push((f.clone(), recursive)),
            TarItem::Recursion(on) => recursive = *on,
            TarItem::Directory(_) => {}
        }
    }
    WantedMembers::new(files.into_iter(), options.operands, options.occurrence)
}

/// The initial width of owner, group and size together. It grows with the longest ones seen (GNU's
/// `ugswidth`).
const WIDTH: usize = 19;

/// The latest time that is printed, in seconds since the epoch. Later ones, which a header may
/// hold, are printed as this time.
const LATEST: i64 = 1 << 40;

/// A printer of members' names.
pub struct NamePrinter<'o> {
    choices: &'o PrintChoices,
    index: Option<BufWriter<File>>,
    /// Whether lines go to standard error, because the archive or data goes to standard output.
    to_stderr: bool,
    /// The width of owner, group and size together so far.
    width: usize,
    /// The width of times so far; it grows only with `--full-time`.
    time_width: usize,
}

impl<'o> NamePrinter<'o> {
    /// Opens the file of `--index-file`, if there is one.
    pub fn open(ctx: &mut Ctx<'_>, options: &'o TarOptions) -> Result<NamePrinter<'o>, TarFatal> {
        let index = match &options.print.index {
            Some(name) => {
                let file =
                    File::create(ctx.path(name)).map_err(|e| TarFatal::cannot_open(name, &e))?;
                Some(BufWriter::new(file))
            }
            None => None,
        };
        let is_written = options.action.writes_to_stdout(&options.archive);
        let is_busy = is_written && !matches!(ctx.stdout.sink(), OutputSink::Closed);
        Ok(NamePrinter {
            choices: &options.print,
            index,
            to_stderr: is_busy || options.extract.to_stdout && options.action.is_extract(),
            width: WIDTH,
            time_width: 0,
        })
    }

    /// Prints a member's name if it is wanted, or a line with its details. The details need one
    /// `-v` in a list (`is_list`), and two otherwise.
    pub fn print_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        member: &Member,
        block: Option<u64>,
        is_list: bool,
    ) -> io::Result<()> {
        let verbose = self.choices.verbose + usize::from(is_list);
        if verbose == 0 {
            return Ok(());
        }
        let mut line = Vec::new();
        if let Some(block) = block.filter(|_| self.choices.block_numbers) {
            write!(line, "block {block}: ")?;
        }
        if verbose > 1 {
            self.write_details(&mut line, member)?;
        } else {
            write_name(&mut line, &member.name)?;
            line.push(b'\n');
        }
        self.print_line(ctx, &line)
    }

    /// Prints a line to the output for names.
    pub fn print_line(&mut self, ctx: &mut Ctx<'_>, line: &[u8]) -> io::Result<()> {
        match &mut self.index {
            Some(file) => file.write_all(line),
            None if self.to_stderr => ctx.stderr.write_all(line),
            None => ctx.stdout.write_all(line),
        }
    }

    /// Flushes the file of `--index-file`.
    pub fn finish(&mut self) -> io::Result<()> {
        self.index.as_mut().map_or(Ok(()), Write::flush)
    }

    /// Writes a line with details, such as `-rw-r--r-- user/group 12 2026-01-01 00:00 name`.
    fn write_details(&mut self, out: &mut dyn Write, member: &Member) -> io::Result<()> {
        let letter = match member.kind {
            MemberKind::Directory => 'd',
            MemberKind::Symlink => 'l',
            MemberKind::HardLink => 'h',
            MemberKind::CharDevice => 'c',
            MemberKind::BlockDevice => 'b',
            MemberKind::Fifo => 'p',
            MemberKind::Label => 'V',
            MemberKind::File | MemberKind::Other(_) => '-',
        };
        let owner = |name: &[u8], id: u64| match name {
            b"" => id.to_string(),
            _ if self.choices.numeric_owner => id.to_string(),
            name => String::from_utf8_lossy(name).into_owned(),
        };
        let user = owner(&member.user, member.uid);
        let group = owner(&member.group, member.gid);
        let size = match member.kind {
            MemberKind::CharDevice | MemberKind::BlockDevice => {
                format!("{},{}", member.device.0, member.device.1)
            }
            _ => member.size.to_string(),
        };
        let used = user.len() + group.len() + size.len() + 2;
        self.width = used.max(self.width);
        let pad = self.width - used + size.len();
        let time = self.time_text(member);
        self.time_width = self.time_width.max(time.len());
        let (mode, time_width) = (mode_text(member.mode), self.time_width);
        write!(out, "{letter}{mode} {user}/{group} {size:>pad$} {time:<time_width$} ")?;
        write_name(out, &member.name)?;
        match member.kind {
            MemberKind::Symlink => {
                out.write_all(b" -> ")?;
                write_name(out, &member.link)?;
            }
            MemberKind::HardLink => {
                out.write_all(b" link to ")?;
                write_name(out, &member.link)?;
            }
            MemberKind::Label => out.write_all(b"--Volume Header--")?,
            MemberKind::Other(letter) => {
                write!(out, " unknown file type '{}'", char::from(letter))?;
            }
            _ => {}
        }
        out.write_all(b"\n")
    }

    /// Returns the date and time of a member's last change.
    fn time_text(&self, member: &Member) -> String {
        let t = self.choices.zone.to_civil(member.mtime.seconds.clamp(-LATEST, LATEST), 0);
        if !self.choices.full_time {
            return String::from_utf8_lossy(&format_strftime(b"%Y-%m-%d %H:%M", &t)).into_owned();
        }
        let date = format_strftime(b"%Y-%m-%d %H:%M:%S", &t);
        let date = String::from_utf8_lossy(&date).into_owned();
        if member.mtime.nanos == 0 {
            return date;
        }
        let fraction = format!("{:09}", member.mtime.nanos);
        format!("{date}.{}", fraction.trim_end_matches('0'))
    }
}

/// Returns the nine letters of permission bits.
fn mode_text(bits: u16) -> String {
    mode::mode_letters(bits)
}

/// Returns the number of the block at an offset.
pub fn block_at(position: u64) -> u64 {
    position / BLOCK as u64
}
