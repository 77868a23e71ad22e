//! Changes archives in place (`-r`, `-u`, `-A`, `--delete`), and tests their labels
//! (`--test-label`).

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use box_applet::Ctx;
use box_sys::meta;

use super::checkpoint::RECORD;
use super::create::{ArchiveEnd, create_archive, fill_archive};
use super::decode::BLOCK;
use super::member::{Member, MemberKind, MemberTime};
use super::options::{TarAction, TarItem, TarOptions};
use super::read::{ArchiveInput, open_archive};
use super::{Outcome, TarFatal};
use crate::codec::{CompressionEncoder, CompressionFormat, peek_head};

/// Opens an archive for changes. Refuses a compressed archive.
fn open_for_changes(ctx: &Ctx<'_>, options: &TarOptions) -> Result<File, TarFatal> {
    let compressed = || TarFatal::Message("Cannot update compressed archives".to_string());
    if options.archive == b"-" {
        return Err(TarFatal::Message("Cannot update an archive that is no file".to_string()));
    }
    let cannot_open = |e| TarFatal::cannot_open(&options.archive, &e);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(ctx.path(&options.archive))
        .map_err(cannot_open)?;
    let (head, _) = peek_head(&file)?;
    if CompressionFormat::detect(&head).is_some() {
        return Err(compressed());
    }
    (&file).seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Reads an archive to its end, and calls `visit` with each member and the offset of its headers.
/// Returns the offset after the last member.
fn scan_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    file: &File,
    visit: &mut dyn FnMut(&Member, u64),
) -> Result<u64, TarFatal> {
    if file.metadata()?.len() == 0 {
        return Ok(0);
    }
    let reader = BufReader::with_capacity(1 << 16, file);
    let mut input = ArchiveInput::new(Box::new(reader), options);
    while let Some(member) = input.next_member(ctx)? {
        visit(&member, input.reader().member_start());
    }
    Ok(input.reader().member_start())
}

/// Adds files to an archive (`-r`, `-u`) and overwrites its end.
pub fn append_files(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    if meta::stat(&ctx.path(&options.archive), true).is_err() && options.archive != b"-" {
        return create_archive(ctx, options);
    }
    let file = open_for_changes(ctx, options)?;
    let mut known = HashMap::new();
    let mut note = |member: &Member, _: u64| {
        let name = box_sys::path::strip_slashes(&member.name).to_vec();
        let newest: &mut MemberTime = known.entry(name).or_insert(member.mtime);
        *newest = member.mtime.max(*newest);
    };
    let position = scan_archive(ctx, options, &file, &mut note)?;
    let known = (options.action == TarAction::Update).then_some(known);
    (&file).seek(SeekFrom::Start(position))?;
    file.set_len(position)?;
    let target: Box<dyn Write> = Box::new(BufWriter::with_capacity(1 << 16, file));
    let encoder = CompressionEncoder::Plain(target);
    fill_archive(ctx, options, encoder, ArchiveEnd { position, known })
}

/// Returns the file operands.
fn operands(options: &TarOptions) -> impl Iterator<Item = &Vec<u8>> {
    options.items.iter().filter_map(|item| match item {
        TarItem::File(name) => Some(name),
        _ => None,
    })
}

/// Adds the members of other archives to an archive (`-A`).
pub fn append_archives(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    if meta::stat(&ctx.path(&options.archive), true).is_err() {
        File::create(ctx.path(&options.archive))
            .map_err(|e| TarFatal::cannot_open(&options.archive, &e))?;
    }
    let file = open_for_changes(ctx, options)?;
    let mut position = scan_archive(ctx, options, &file, &mut |_, _| {})?;
    let mut ok = true;
    for name in operands(options) {
        let other = match File::open(ctx.path(name)) {
            Ok(other) => other,
            Err(e) => {
                let why = format!(": Cannot open: {}", box_sys::error_text(&e));
                ctx.error_bytes(&[name, why.as_bytes()]);
                ok = false;
                continue;
            }
        };
        let length = scan_archive(ctx, options, &other, &mut |_, _| {})?;
        (&other).seek(SeekFrom::Start(0))?;
        (&file).seek(SeekFrom::Start(position))?;
        position += io::copy(&mut (&other).take(length), &mut &file)?;
    }
    write_end(&file, position)?;
    Ok(ok)
}

/// Removes members from an archive (`--delete`).
pub fn delete_members(ctx: &mut Ctx<'_>, options: &TarOptions) -> Outcome {
    let file = open_for_changes(ctx, options)?;
    let mut wanted = super::list::wanted_members(options);
    // Without operands all members would match, but then nothing is removed.
    let has_names = operands(options).next().is_some();
    let mut starts = Vec::new();
    let mut note = |member: &Member, start: u64| {
        let is_deleted = has_names && wanted.take_member(&member.name);
        starts.push((start, is_deleted));
    };
    let end = scan_archive(ctx, options, &file, &mut note)?;
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([end]);
    let mut position = 0;
    for ((start, is_deleted), end) in starts.iter().zip(ends) {
        if *is_deleted {
            continue;
        }
        move_bytes(&file, *start, position, end - start)?;
        position += end - start;
    }
    write_end(&file, position)?;
    Ok(wanted.report_missing(ctx))
}

/// Moves bytes of a file to a lower offset.
fn move_bytes(mut file: &File, from: u64, to: u64, length: u64) -> io::Result<()> {
    if from == to {
        return Ok(());
    }
    let mut buf = vec![0; 1 << 16];
    let mut done = 0;
    while done < length {
        let most = usize::try_from(length - done).unwrap_or(usize::MAX).min(buf.len());
        file.seek(SeekFrom::Start(from + done))?;
        file.read_exact(&mut buf[..most])?;
        file.seek(SeekFrom::Start(to + done))?;
        file.write_all(&buf[..most])?;
        done += most as u64;
    }
    Ok(())
}

/// Writes the end of an archive at an offset, up to a whole record.
fn write_end(mut file: &File, position: u64) -> io::Result<()> {
    let end = (position + 2 * BLOCK as u64).next_multiple_of(RECORD);
    file.set_len(position)?;
    file.seek(SeekFrom::Start(position))?;
    io::copy(&mut io::repeat(0).take(end - position), &mut file).map(drop)
}

/// Prints the label of an archive. If there are operands, compares the label with them instead, and
/// returns whether it is one of them.
pub fn test_label(ctx: &mut Ctx<'_>, options: &TarOptions) -> Result<bool, TarFatal> {
    let mut input = open_archive(ctx, options)?;
    let first = input.next_member(ctx)?;
    let label = first.filter(|m| m.kind == MemberKind::Label).map(|m| m.name);
    if operands(options).next().is_some() {
        return Ok(operands(options).any(|name| Some(name) == label.as_ref()));
    }
    if let Some(label) = label {
        ctx.stdout.write_all(&[&label[..], b"\n"].concat())?;
    }
    Ok(true)
}
