//! Reads archives for `-t`, `-x`, `-d` and the operations that change one. Opens archives in any
//! compression, selects the members that the command line asks for, and reports faults.

use std::fs::File;
use std::io::{self, BufReader, Read};

use box_applet::Ctx;
use box_sys::error_text;

use super::checkpoint::{CheckpointDirection, Checkpoints};
use super::decode::{DecodeError, DecodeNotice, TarReader};
use super::list::{block_at, wanted_members};
use super::member::{Member, MemberKind};
use super::options::{Compression, TarOptions};
use super::select::{RemovedPrefixes, WantedMembers};
use super::transform::NameKind;
use super::{Outcome, TarFatal};
use crate::codec::{CodecFault, CompressionFormat, peek_head};

/// An archive that is read.
pub struct ArchiveInput<'a> {
    reader: TarReader<Box<dyn Read + 'a>>,
    wanted: WantedMembers,
    pub removed: RemovedPrefixes,
    checkpoints: Checkpoints,
    /// Whether the member of `-K` has not been reached yet.
    waits_for_start: bool,
    pub ok: bool,
}

/// Opens the archive in any compression.
pub fn open_archive<'a>(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
) -> Result<ArchiveInput<'a>, TarFatal> {
    let raw: Box<dyn Read> = if options.archive == b"-" {
        Box::new(ctx.stdin.detach_stream())
    } else {
        let file = File::open(ctx.path(&options.archive))
            .map_err(|e| TarFatal::cannot_open(&options.archive, &e))?;
        Box::new(BufReader::with_capacity(1 << 16, file))
    };
    let (head, raw) = peek_head(raw).map_err(|e| {
        let name = String::from_utf8_lossy(&options.archive);
        TarFatal::Message(format!("{name}: Cannot read: {}", error_text(&e)))
    })?;
    let format = match (CompressionFormat::detect(&head), options.compression) {
        (Some(f), _) => Some(f),
        (None, Compression::Is(f)) => {
            let fault =
                if head.is_empty() { CodecFault::Truncated } else { CodecFault::OtherFormat };
            return Err(codec_failure(ctx, f, fault));
        }
        _ => None,
    };
    let data = match format {
        Some(f) => f.reader(raw)?,
        None => raw,
    };
    Ok(ArchiveInput::new(Box::new(PlainData { data, format }), options))
}

/// A reader of decompressed data that adds the compression format to faults.
struct PlainData<'a> {
    data: Box<dyn Read + 'a>,
    format: Option<CompressionFormat>,
}

/// A fault of compressed data, with the format of the data.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
struct FormatFault {
    format: CompressionFormat,
    fault: CodecFault,
}

impl Read for PlainData<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.data.read(out).map_err(|e| match (CodecFault::of(&e), self.format) {
            (Some(fault), Some(format)) => {
                io::Error::new(io::ErrorKind::InvalidData, FormatFault { format, fault })
            }
            _ => e,
        })
    }
}

/// Reports a fault of compressed data with the message of the program that GNU tar would start to
/// decompress it.
fn codec_failure(ctx: &mut Ctx<'_>, format: CompressionFormat, fault: CodecFault) -> TarFatal {
    let tool = format!("{format:?}").to_lowercase();
    let text = match fault {
        CodecFault::OtherFormat => format!("not in {tool} format"),
        CodecFault::NoData | CodecFault::Truncated => "unexpected end of file".into(),
        CodecFault::TrailingGarbage => "decompression OK, trailing garbage ignored".into(),
        CodecFault::Checksum => "the checksum differs".into(),
        CodecFault::Damaged => "compressed data is corrupt".into(),
    };
    let line = format!("\n{tool}: stdin: {text}\n");
    let _ = io::Write::write_all(&mut ctx.stderr, line.as_bytes());
    let status = if fault == CodecFault::TrailingGarbage { 2 } else { 1 };
    TarFatal::Message(format!("Child returned status {status}"))
}

impl<'a> ArchiveInput<'a> {
    /// Returns an input for the data of an archive at its beginning.
    pub fn new(data: Box<dyn Read + 'a>, options: &TarOptions) -> ArchiveInput<'a> {
        ArchiveInput {
            reader: TarReader::new(data, options.ignore_zeros),
            wanted: wanted_members(options),
            removed: RemovedPrefixes::default(),
            checkpoints: options.start_checkpoints(CheckpointDirection::Read),
            waits_for_start: options.starting_file.is_some(),
            ok: true,
        }
    }

    /// Returns the next member, whether it is selected or not, or `None` at the end of the archive.
    pub fn next_member(&mut self, ctx: &mut Ctx<'_>) -> Result<Option<Member>, TarFatal> {
        let next = self.reader.next_member();
        for notice in self.reader.take_notices() {
            match notice {
                DecodeNotice::Skipped => {
                    ctx.error("Skipping to next header");
                    self.ok = false;
                }
                DecodeNotice::LoneZeroBlock(n) => {
                    ctx.error(format_args!("A lone zero block at {n}"));
                }
            }
        }
        let next = next.map_err(|e| self.fatal(ctx, e))?;
        self.checkpoints.advance(ctx, self.reader.position());
        if next.is_none() {
            self.drain(ctx)?;
        }
        Ok(next)
    }

    /// Reads the bytes after the end of the archive. Otherwise a program that writes the archive
    /// could be stopped, and a fault of compressed data could stay unnoticed.
    fn drain(&mut self, ctx: &mut Ctx<'_>) -> Result<(), TarFatal> {
        let rest = self.reader.read_rest();
        rest.map(drop).map_err(|e| self.fatal(ctx, e))
    }

    /// Returns the next member that the command line selects, or `None` if there is none left.
    pub fn next_wanted(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
    ) -> Result<Option<Member>, TarFatal> {
        loop {
            if self.wanted.is_complete() {
                return Ok(None);
            }
            let Some(member) = self.next_member(ctx)? else { return Ok(None) };
            if self.waits_for_start {
                let name = member.name.strip_suffix(b"/").unwrap_or(&member.name);
                let start = options.starting_file.as_deref().unwrap_or_default();
                if name != box_sys::path::strip_slashes(start) {
                    continue;
                }
                self.waits_for_start = false;
            }
            if member.kind == MemberKind::Label {
                self.check_label(options, &member)?;
            }
            if self.wanted.take_member(&member.name) && !options.excludes.matches_name(&member.name)
            {
                return Ok(Some(member));
            }
        }
    }

    /// Compares the archive's label with the one that `-V` asks for.
    fn check_label(&self, options: &TarOptions, member: &Member) -> Result<(), TarFatal> {
        let Some(wanted) = &options.headers.label else { return Ok(()) };
        if *wanted == member.name {
            return Ok(());
        }
        let [label, wanted] = [&member.name, wanted].map(|t| String::from_utf8_lossy(t));
        Err(TarFatal::Message(format!("Volume '{label}' does not match '{wanted}'")))
    }

    /// Returns the name under which a member, or the target of a link, is extracted.
    pub fn extracted_name(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &TarOptions,
        name: &[u8],
        kind: NameKind,
    ) -> Option<Vec<u8>> {
        options.names.extracted_name(ctx, &mut self.removed, name, kind)
    }

    /// Returns the number of the current member's first block.
    pub fn block_number(&self) -> Option<u64> {
        Some(block_at(self.reader.member_start()))
    }

    /// Returns the number of the block that ends the archive, or `None` if there is no such block.
    pub fn end_block(&self) -> Option<u64> {
        let start = self.reader.member_start();
        (self.reader.position() > start).then(|| block_at(start))
    }

    /// Returns the reader, for the current member's data.
    pub fn reader(&mut self) -> &mut TarReader<Box<dyn Read + 'a>> {
        &mut self.reader
    }

    /// Reports operands that were not found, and prints the totals. Returns whether everything has
    /// succeeded.
    pub fn finish(&mut self, ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
        if options.print.totals {
            let bytes = self.reader.position().next_multiple_of(super::checkpoint::RECORD);
            self.checkpoints.print_totals(ctx, bytes);
        }
        Ok(self.wanted.report_missing(ctx) && self.ok)
    }

    /// Returns the error that ends the run because the archive cannot be read.
    pub fn fatal(&mut self, ctx: &mut Ctx<'_>, e: DecodeError) -> TarFatal {
        match e {
            DecodeError::Io(e) => self.io_fatal(ctx, e),
            DecodeError::NoArchive => {
                ctx.error(DecodeError::NoArchive);
                TarFatal::Failed
            }
            other => TarFatal::Message(other.to_string()),
        }
    }

    /// Returns the error that ends the run because a member's data cannot be read.
    pub fn io_fatal(&mut self, ctx: &mut Ctx<'_>, e: io::Error) -> TarFatal {
        let inner = e.get_ref();
        if let Some(fault) = inner.and_then(|inner| inner.downcast_ref::<FormatFault>()) {
            return codec_failure(ctx, fault.format, fault.fault);
        }
        match inner.and_then(|inner| inner.downcast_ref::<DecodeError>()) {
            Some(e) => TarFatal::Message(e.to_string()),
            None => TarFatal::Io(e),
        }
    }
}
