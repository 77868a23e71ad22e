//! `tar -t`, and the verbose line that `-tv`, `-cvv` and `-xvv` print.

use box_applet::Ctx;
use box_text::mode;
use box_text::time::Zone;
use box_text::time::strftime::format_strftime;
use std::io::{self, Read, Write};
use tar::{EntryType, Header};

use super::options::{TarItem, TarOptions};
use super::select::WantedMembers;
use super::{Outcome, damaged_archive, write_name};

/// Prints the members.
pub fn list_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    archive: &mut tar::Archive<Box<dyn Read>>,
) -> Outcome {
    let mut wanted = wanted_members(options);
    let mut width = WIDTH;
    for entry in archive.entries().map_err(|e| damaged_archive(&e))? {
        let entry = entry.map_err(|e| damaged_archive(&e))?;
        let name = entry.path_bytes().into_owned();
        if !wanted.take_member(&name) || options.excludes.matches_name(&name) {
            continue;
        }
        let Some(shown) = options.names.apply_to(&name) else { continue };
        let link = entry.link_name_bytes().map(|l| l.into_owned());
        if options.verbose > 0 {
            let line = ListLine { name: &shown, link: link.as_deref(), size: entry.size() };
            write_verbose(&mut ctx.stdout, options, entry.header(), &line, &mut width)?;
        } else {
            write_name(&mut ctx.stdout, &shown)?;
            ctx.stdout.write_all(b"\n")?;
        }
    }
    Ok(report_missing(ctx, &wanted))
}

/// Returns the member operands.
pub fn wanted_members(options: &TarOptions) -> WantedMembers {
    let files = options.items.iter().filter_map(|i| match i {
        TarItem::File(f) => Some(f.clone()),
        TarItem::Directory(_) => None,
    });
    WantedMembers::new(files, options.names.wildcards)
}

/// Reports operands without a member; returns whether there is none.
pub fn report_missing(ctx: &mut Ctx<'_>, wanted: &WantedMembers) -> bool {
    let mut all = true;
    for name in wanted.missing_operands() {
        ctx.error_bytes(&[name, b": Not found in archive"]);
        all = false;
    }
    all
}

/// Least width of owner, group and size together; grows with the longest seen (GNU's `ugswidth`).
pub const WIDTH: usize = 19;

/// The fields of a verbose line in addition to the header.
pub struct ListLine<'a> {
    pub name: &'a [u8],
    pub link: Option<&'a [u8]>,
    pub size: u64,
}

/// Writes `-rw-r--r-- user/group 12 2026-01-01 00:00 name`.
pub fn write_verbose(
    out: &mut dyn Write,
    options: &TarOptions,
    header: &Header,
    line: &ListLine<'_>,
    width: &mut usize,
) -> io::Result<()> {
    let kind = header.entry_type();
    let letter = match kind {
        EntryType::Directory => 'd',
        EntryType::Symlink => 'l',
        EntryType::Link => 'h',
        EntryType::Char => 'c',
        EntryType::Block => 'b',
        EntryType::Fifo => 'p',
        _ => '-',
    };
    let mode = (header.mode().unwrap_or(0) & 0o7777) as u16;
    let owner = |name: Option<&[u8]>, id: io::Result<u64>| match name {
        Some(n) if !n.is_empty() && !options.numeric_owner => {
            String::from_utf8_lossy(n).into_owned()
        }
        _ => id.unwrap_or(0).to_string(),
    };
    let user = owner(header.username_bytes(), header.uid());
    let group = owner(header.groupname_bytes(), header.gid());
    let size = if kind == EntryType::Link { 0 } else { line.size }.to_string();
    let used = user.len() + group.len() + size.len() + 2;
    *width = used.max(*width);
    let pad = *width - used + size.len();
    let time = date_text(header.mtime().unwrap_or(0), options.full_time, &options.zone);
    write!(out, "{letter}{} {user}/{group} {size:>pad$} {time} ", mode::mode_letters(mode))?;
    write_name(out, line.name)?;
    match (kind, line.link) {
        (EntryType::Symlink, Some(to)) => {
            out.write_all(b" -> ")?;
            write_name(out, to)?;
        }
        (EntryType::Link, Some(to)) => {
            out.write_all(b" link to ")?;
            write_name(out, to)?;
        }
        _ => {}
    }
    out.write_all(b"\n")
}

/// Returns the date and time of seconds since the epoch in a zone.
fn date_text(seconds: u64, full: bool, zone: &Zone) -> String {
    let t = zone.to_civil(i64::try_from(seconds).unwrap_or(i64::MAX), 0);
    let format: &[u8] = if full { b"%Y-%m-%d %H:%M:%S" } else { b"%Y-%m-%d %H:%M" };
    String::from_utf8_lossy(&format_strftime(format, &t)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `date -u -d @N '+%F %T'` of GNU coreutils.
    #[test]
    fn dates() {
        assert_eq!(date_text(0, true, &Zone::utc()), "1970-01-01 00:00:00");
        assert_eq!(date_text(951_782_400, true, &Zone::utc()), "2000-02-29 00:00:00");
        assert_eq!(date_text(1_767_225_599, false, &Zone::utc()), "2025-12-31 23:59");
    }
}
