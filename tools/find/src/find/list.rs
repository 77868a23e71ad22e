//! `-ls`: a line in the form of `ls -dils`.

use box_sys::{FileKind, Stat};
use box_text::mode;

use super::entry::FindEntry;
use super::expr::FindSettings;

/// Half a year in nanoseconds; for older files the year is shown.
const RECENT: i128 = 31_556_952 / 2 * 1_000_000_000;

/// Appends the line for an entry.
pub fn write(entry: &FindEntry, stat: &Stat, settings: &FindSettings, out: &mut Vec<u8>) {
    let c = settings.local_time(i128::from(stat.mtime));
    let age = settings.now - i128::from(stat.mtime);
    let time = if (0..RECENT).contains(&age) {
        format!("{:02}:{:02}", c.hour, c.minute)
    } else {
        format!(" {:4}", c.year)
    };
    let head = format!(
        "{:9} {:6} {} {:3} ",
        stat.ino,
        block_count(stat).div_ceil(2),
        mode_text(stat),
        stat.nlink
    );
    out.extend_from_slice(head.as_bytes());
    for name in [settings.names.show_user(stat.uid), settings.names.show_group(stat.gid)] {
        out.extend_from_slice(name.as_bytes());
        out.resize(out.len() + 8usize.saturating_sub(name.len()) + 1, b' ');
    }
    let tail = format!("{:8} {} {:2} {time} ", stat.size, &c.month_name()[..3], c.day);
    out.extend_from_slice(tail.as_bytes());
    put_escaped(&entry.shown, out);
    if stat.kind == FileKind::Symlink
        && let Some(target) = entry.target()
    {
        out.extend_from_slice(b" -> ");
        put_escaped(target, out);
    }
    out.push(b'\n');
}

/// Returns the number of 512-byte blocks that a file takes, computed from its size, because our
/// file systems do not report it.
pub fn block_count(stat: &Stat) -> u64 {
    match stat.kind {
        FileKind::File | FileKind::Dir => stat.size.div_ceil(4096) * 8,
        _ => 0,
    }
}

/// Returns the mode, for example `drwxr-xr-x`.
pub fn mode_text(stat: &Stat) -> String {
    format!("{}{}", stat.kind.letter(), mode::mode_letters(stat.mode))
}

/// Appends a name, with C escapes for bytes that are not printable, and with spaces escaped.
fn put_escaped(name: &[u8], out: &mut Vec<u8>) {
    for &b in name {
        match b {
            b'\\' | b' ' | b'"' => out.extend_from_slice(&[b'\\', b]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..=31 | 127 => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            _ => out.push(b),
        }
    }
}
