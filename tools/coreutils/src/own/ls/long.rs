//! The long format.

use box_sys::{AccountNames, FileKind, Stat};
use box_text::time::{civil, strftime};

use super::entry::{self, LsEntry};
use super::layout::{name, push_color};
use super::options::{Indicator, LsPlan};
use crate::own::stat::{block_count, mode_string};

/// Half of 365.2425 days; older times are shown with the year.
const HALF_YEAR: i64 = 31_556_952 / 2;

fn time_text(plan: &LsPlan, t: u64) -> Vec<u8> {
    let (s, n) = civil::split_nanos(t);
    // The time of a file that is changed during the listing counts as recent, too.
    let recent = plan.now - HALF_YEAR < s && s <= plan.now + 5;
    let format = if recent { &plan.time_formats.0 } else { &plan.time_formats.1 };
    let mut out = Vec::new();
    strftime::format_date(&mut out, format, &plan.zone.to_civil(s, n));
    out
}

fn size_text(plan: &LsPlan, s: &Stat) -> String {
    match s.kind {
        FileKind::CharDevice | FileKind::BlockDevice => "0, 0".to_string(),
        _ => plan.size_scale.show(s.size),
    }
}

/// The cells of a row that are aligned.
struct Row {
    inode: String,
    blocks: String,
    links: String,
    owner: String,
    group: String,
    author: String,
    size: String,
}

impl Row {
    fn from_stat(plan: &LsPlan, names: &AccountNames, stat: Option<&Stat>) -> Row {
        let Some(s) = stat else {
            let unknown = || "?".to_string();
            return Row {
                inode: unknown(),
                blocks: unknown(),
                links: unknown(),
                owner: unknown(),
                group: unknown(),
                author: unknown(),
                size: unknown(),
            };
        };
        let owner = if plan.numeric { s.uid.to_string() } else { names.show_user(s.uid) };
        Row {
            inode: s.ino.to_string(),
            blocks: plan.block_scale.show(block_count(s) * 512),
            links: s.nlink.to_string(),
            author: owner.clone(),
            owner,
            group: if plan.numeric { s.gid.to_string() } else { names.show_group(s.gid) },
            size: size_text(plan, s),
        }
    }
}

/// Returns the width of the widest cell of a column.
fn widest_cell(rows: &[Row], cell: fn(&Row) -> &String) -> usize {
    rows.iter().map(|row| cell(row).len()).max().unwrap_or(0)
}

pub(super) fn list_long(
    out: &mut Vec<u8>,
    plan: &LsPlan,
    names: &AccountNames,
    entries: &[LsEntry],
) {
    let rows: Vec<Row> =
        entries.iter().map(|e| Row::from_stat(plan, names, e.stat.as_ref())).collect();
    // Numbers are aligned on the right, names on the left.
    let number = |out: &mut Vec<u8>, row: &Row, cell: fn(&Row) -> &String, width: usize| {
        out.extend_from_slice(format!("{:>width$} ", cell(row)).as_bytes());
    };
    let name = |out: &mut Vec<u8>, row: &Row, cell: fn(&Row) -> &String, width: usize| {
        if plan.numeric {
            number(out, row, cell, width);
        } else {
            out.extend_from_slice(format!("{:<width$} ", cell(row)).as_bytes());
        }
    };
    let column = |cell: fn(&Row) -> &String| (cell, widest_cell(&rows, cell));
    let before = [(plan.inode, column(|r| &r.inode)), (plan.blocks, column(|r| &r.blocks))];
    let people = [
        (plan.owner, column(|r| &r.owner)),
        (plan.group, column(|r| &r.group)),
        (plan.author, column(|r| &r.author)),
    ];
    let (links, size) = (column(|r| &r.links), column(|r| &r.size));
    let times = entries.iter().filter_map(|e| e.stat.as_ref());
    let time_width = times.map(|s| time_text(plan, plan.time_of(s)).len()).max().unwrap_or(1);
    let quotes = plan.aligns_quotes() && entries.iter().any(LsEntry::has_quotes);
    for (entry, row) in entries.iter().zip(&rows) {
        for (_, (cell, width)) in before.iter().filter(|(shown, _)| *shown) {
            number(out, row, *cell, *width);
        }
        let mode = entry.stat.as_ref().map_or_else(|| "??????????".to_string(), mode_string);
        out.extend_from_slice(mode.as_bytes());
        out.push(b' ');
        number(out, row, links.0, links.1);
        for (_, (cell, width)) in people.iter().filter(|(shown, _)| *shown) {
            name(out, row, *cell, *width);
        }
        if plan.context {
            out.extend_from_slice(b"? ");
        }
        number(out, row, size.0, size.1);
        match &entry.stat {
            Some(s) => out.extend_from_slice(&time_text(plan, plan.time_of(s))),
            None => {
                out.resize(out.len() + time_width.saturating_sub(1), b' ');
                out.push(b'?');
            }
        }
        out.push(b' ');
        name_and_target(out, plan, entry, quotes);
        out.push(plan.end);
    }
}

/// Appends a name, and the target of a link.
fn name_and_target(out: &mut Vec<u8>, plan: &LsPlan, entry: &LsEntry, quotes: bool) {
    // A link has no indicator here, because its target has one.
    let is_link = entry.kind == Some(FileKind::Symlink) && entry.target.is_some();
    let indicator = if is_link { Indicator::None } else { plan.indicator };
    name(out, plan, entry, quotes, indicator);
    let Some((text, target)) = &entry.target else { return };
    out.extend_from_slice(b" -> ");
    let shown = plan.display_name(text);
    let code = plan.colors.as_ref().and_then(|c| c.of_target(text, target.as_ref()));
    push_color(out, code, &shown);
    out.extend(entry::indicator_of(target.map(|t| t.kind), target.as_ref(), plan.indicator));
}
