//! The tables of `unzip -l`, `unzip -v` and `zipinfo`.

use std::io::Write;

use box_applet::Ctx;
use box_text::mode::mode_letters;
use box_text::time::Zone;
use box_text::time::strftime::format_strftime;

use super::format::{BZIP2, DEFLATED, Directory, STORED, ZipEntry};
use super::{lossy_name, saved_percent};

fn entry_time(e: &ZipEntry, format: &[u8], zone: &Zone) -> String {
    lossy_name(&format_strftime(format, &zone.to_civil(e.modified_epoch(zone), 0)))
}

fn plural_suffix(n: usize) -> String {
    if n == 1 { "1 file".to_string() } else { format!("{n} files") }
}

fn print_row(ctx: &mut Ctx<'_>, head: &str, name: &[u8]) {
    let _ = ctx.stdout.write_all(head.as_bytes());
    let _ = ctx.stdout.write_all(name);
    let _ = ctx.stdout.write_all(b"\n");
}

/// Prints the size, time and name of each member.
pub fn list_short(ctx: &mut Ctx<'_>, entries: &[&ZipEntry], quiet: usize, zone: &Zone) {
    if quiet < 2 {
        let _ = ctx
            .stdout
            .write_all(b"  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    }
    for e in entries {
        let when = entry_time(e, b"%Y-%m-%d %H:%M", zone);
        print_row(ctx, &format!("{:>9}  {when}   ", e.size), &e.name);
    }
    if quiet < 2 {
        let sum: u64 = entries.iter().map(|e| e.size).sum();
        let _ = ctx.stdout.write_all(b"---------                     -------\n");
        let _ =
            writeln!(ctx.stdout, "{sum:>9}                     {}", plural_suffix(entries.len()));
    }
}

fn method_name(e: &ZipEntry) -> &'static str {
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

/// Prints each member with all details, such as its method, compressed size and checksum.
pub fn list_verbose(ctx: &mut Ctx<'_>, entries: &[&ZipEntry], quiet: usize, zone: &Zone) {
    if quiet < 2 {
        let _ = ctx.stdout.write_all(
            b" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n\
              --------  ------  ------- ---- ---------- ----- --------  ----\n",
        );
    }
    for e in entries {
        let when = entry_time(e, b"%Y-%m-%d %H:%M", zone);
        let head = format!(
            "{:>8}  {:<6} {:>8} {:>3}% {when} {:08x}  ",
            e.size,
            method_name(e),
            e.packed,
            saved_percent(e.size, e.packed),
            e.crc
        );
        print_row(ctx, &head, &e.name);
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
            saved_percent(size, packed),
            plural_suffix(entries.len())
        );
    }
}

/// Prints one name in each line.
pub fn list_names(ctx: &mut Ctx<'_>, entries: &[&ZipEntry]) {
    entries.iter().for_each(|e| print_row(ctx, "", &e.name));
}

/// Prints a line like those of `ls -l` for each member, as `zipinfo` does.
pub fn list_info(
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
        let text = if e.is_encrypted() { text.to_ascii_uppercase() } else { text };
        // The letter shows whether there is a data descriptor, an extra field, both or neither.
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
            mode_text(e),
            version / 10,
            version % 10,
            e.size,
            entry_time(e, b"%y-%b-%d %H:%M", zone)
        );
        print_row(ctx, &head, &e.name);
    }
    if all {
        let size: u64 = entries.iter().map(|e| e.size).sum();
        let packed: u64 = entries.iter().map(|e| e.packed).sum();
        let share =
            if size == 0 { 0.0 } else { 100.0 * (size as f64 - packed as f64) / size as f64 };
        let _ = writeln!(
            ctx.stdout,
            "{}, {size} bytes uncompressed, {packed} bytes compressed:  {share:.1}%",
            plural_suffix(entries.len())
        );
    }
}

fn mode_text(e: &ZipEntry) -> String {
    let Some(mode) = e.unix_mode() else {
        return if e.is_dir() { "drwx---   " } else { "-rw----   " }.to_string();
    };
    let kind = match mode & 0o170_000 {
        0o040_000 => 'd',
        0o120_000 => 'l',
        0o010_000 => 'p',
        0 => '?',
        _ => '-',
    };
    format!("{kind}{}", mode_letters((mode & 0o777) as u16))
}
