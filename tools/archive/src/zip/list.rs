//! The tables of `unzip -l`, `unzip -v` and `zipinfo`.

use std::io::Write;

use box_applet::Ctx;
use box_text::mode::letters;
use box_text::time::Zone;
use box_text::time::strftime::strftime;

use super::format::{BZIP2, DEFLATED, Directory, STORED, ZipEntry};
use super::{lossy, saved};

fn time(e: &ZipEntry, format: &[u8], zone: &Zone) -> String {
    lossy(&strftime(format, &zone.broken(e.epoch(zone), 0)))
}

fn plural(n: usize) -> String {
    if n == 1 { "1 file".to_string() } else { format!("{n} files") }
}

fn row(ctx: &mut Ctx<'_>, head: &str, name: &[u8]) {
    let _ = ctx.stdout.write_all(head.as_bytes());
    let _ = ctx.stdout.write_all(name);
    let _ = ctx.stdout.write_all(b"\n");
}

/// Size, time, name.
pub fn short(ctx: &mut Ctx<'_>, entries: &[&ZipEntry], quiet: usize, zone: &Zone) {
    if quiet < 2 {
        let _ = ctx
            .stdout
            .write_all(b"  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    }
    for e in entries {
        let when = time(e, b"%Y-%m-%d %H:%M", zone);
        row(ctx, &format!("{:>9}  {when}   ", e.size), &e.name);
    }
    if quiet < 2 {
        let sum: u64 = entries.iter().map(|e| e.size).sum();
        let _ = ctx.stdout.write_all(b"---------                     -------\n");
        let _ = writeln!(ctx.stdout, "{sum:>9}                     {}", plural(entries.len()));
    }
}

fn method(e: &ZipEntry) -> &'static str {
    match e.method {
        STORED => "Stored",
        DEFLATED => match e.flags >> 1 & 3 {
            0 => "Defl:N",
            1 => "Defl:X",
            2 => "Defl:F",
            _ => "Defl:S",
        },
        BZIP2 => "BZip2 ",
        _ => "Unk   ",
    }
}

/// With method, packed size and checksum.
pub fn verbose(ctx: &mut Ctx<'_>, entries: &[&ZipEntry], quiet: usize, zone: &Zone) {
    if quiet < 2 {
        let _ = ctx.stdout.write_all(
            b" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n\
              --------  ------  ------- ---- ---------- ----- --------  ----\n",
        );
    }
    for e in entries {
        let when = time(e, b"%Y-%m-%d %H:%M", zone);
        let head = format!(
            "{:>8}  {:<6} {:>8} {:>3}% {when} {:08x}  ",
            e.size,
            method(e),
            e.packed,
            saved(e.size, e.packed),
            e.crc
        );
        row(ctx, &head, &e.name);
    }
    if quiet < 2 {
        let size: u64 = entries.iter().map(|e| e.size).sum();
        let packed: u64 = entries.iter().map(|e| e.packed).sum();
        let _ = ctx
            .stdout
            .write_all(b"--------          -------  ---                            -------\n");
        let _ = writeln!(
            ctx.stdout,
            "{size:>8}         {packed:>8} {:>3}%                            {}",
            saved(size, packed),
            plural(entries.len())
        );
    }
}

/// One name in each line.
pub fn names(ctx: &mut Ctx<'_>, entries: &[&ZipEntry]) {
    entries.iter().for_each(|e| row(ctx, "", &e.name));
}

/// `zipinfo`: a line as `ls -l` has it for each member.
pub fn info(
    ctx: &mut Ctx<'_>,
    directory: &Directory,
    entries: &[&ZipEntry],
    all: bool,
    zone: &Zone,
) {
    if all {
        let _ = writeln!(
            ctx.stdout,
            "Zip file size: {} bytes, number of entries: {}",
            directory.file_size,
            directory.entries.len()
        );
    }
    for e in entries {
        let host = if e.made_by >> 8 == 3 { "unx" } else { "fat" };
        let version = e.made_by & 0xff;
        let text = if e.internal & 1 != 0 { 't' } else { 'b' };
        let text = if e.encrypted() { text.to_ascii_uppercase() } else { text };
        // A data descriptor, an extra field, both or none.
        let extra = match (e.flags & 8 != 0, e.mtime.is_some()) {
            (false, true) => 'x',
            (true, true) => 'X',
            (true, false) => 'l',
            (false, false) => '-',
        };
        let packing = match e.method {
            STORED => "stor",
            DEFLATED => ["defN", "defX", "defF", "defS"][usize::from(e.flags >> 1 & 3)],
            BZIP2 => "bzp2",
            _ => "u000",
        };
        let head = format!(
            "{}  {}.{} {host} {:>8} {text}{extra} {packing} {} ",
            mode(e),
            version / 10,
            version % 10,
            e.size,
            time(e, b"%y-%b-%d %H:%M", zone)
        );
        row(ctx, &head, &e.name);
    }
    if all {
        let size: u64 = entries.iter().map(|e| e.size).sum();
        let packed: u64 = entries.iter().map(|e| e.packed).sum();
        let share =
            if size == 0 { 0.0 } else { 100.0 * (size as f64 - packed as f64) / size as f64 };
        let _ = writeln!(
            ctx.stdout,
            "{}, {size} bytes uncompressed, {packed} bytes compressed:  {share:.1}%",
            plural(entries.len())
        );
    }
}

fn mode(e: &ZipEntry) -> String {
    let Some(mode) = e.unix() else {
        return if e.is_dir() { "drwx---   " } else { "-rw----   " }.to_string();
    };
    let kind = match mode & 0o170_000 {
        0o040_000 => 'd',
        0o120_000 => 'l',
        0o010_000 => 'p',
        0 => '?',
        _ => '-',
    };
    format!("{kind}{}", letters((mode & 0o777) as u16))
}
