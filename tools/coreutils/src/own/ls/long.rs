//! The long format.

use box_sys::{Kind, Stat};

use super::entry::{self, Entry};
use super::layout::{name, push_color};
use super::options::{Indicator, Plan};
use crate::common::names::Names;
use crate::own::stat::{blocks, mode_string};
use box_text::time::{civil, strftime};

/// Half of 365.2425 days: times older than this show the year.
const HALF_YEAR: i64 = 31_556_952 / 2;

pub(super) fn time_text(plan: &Plan, t: u64) -> Vec<u8> {
    let (s, n) = civil::split_nanos(t);
    // A file changed during the listing is recent too.
    let recent = plan.now - HALF_YEAR < s && s <= plan.now + 5;
    let format = if recent { &plan.time_formats.0 } else { &plan.time_formats.1 };
    let mut out = Vec::new();
    strftime::format(&mut out, format, &plan.zone.broken(s, n));
    out
}

fn size_text(plan: &Plan, s: &Stat) -> String {
    match s.kind {
        Kind::CharDevice | Kind::BlockDevice => "0, 0".to_string(),
        _ => plan.size_scale.show(s.size),
    }
}

pub(super) fn show(out: &mut Vec<u8>, plan: &Plan, names: &mut Names, entries: &[Entry]) {
    let unknown = || "?".to_string();
    let mut rows: Vec<[String; 7]> = Vec::with_capacity(entries.len());
    for e in entries {
        let mut user =
            |s: &Stat| if plan.numeric { s.uid.to_string() } else { names.show_user(s.uid) };
        let (owner, author) = (
            e.stat.as_ref().map_or_else(unknown, &mut user),
            e.stat.as_ref().map_or_else(unknown, &mut user),
        );
        let group = e.stat.as_ref().map_or_else(unknown, |s| {
            if plan.numeric { s.gid.to_string() } else { names.show_group(s.gid) }
        });
        rows.push([
            e.stat.as_ref().map_or_else(unknown, |s| s.ino.to_string()),
            e.stat.as_ref().map_or_else(unknown, |s| plan.block_scale.show(blocks(s) * 512)),
            e.stat.as_ref().map_or_else(unknown, |s| s.nlink.to_string()),
            owner,
            group,
            author,
            e.stat.as_ref().map_or_else(unknown, |s| size_text(plan, s)),
        ]);
    }
    let mut widths = [0; 7];
    for r in &rows {
        widths.iter_mut().zip(r).for_each(|(w, c)| *w = (*w).max(c.len()));
    }
    let time_width = entries
        .iter()
        .filter_map(|e| e.stat.as_ref())
        .map(|s| time_text(plan, plan.time_of(s)).len())
        .max()
        .unwrap_or(1);
    let quotes = plan.aligns_quotes() && entries.iter().any(Entry::has_quotes);
    for (e, r) in entries.iter().zip(&rows) {
        let right = |out: &mut Vec<u8>, i: usize| {
            out.extend_from_slice(format!("{:>w$} ", r[i], w = widths[i]).as_bytes())
        };
        // Names are aligned left, numbers right.
        let left = |out: &mut Vec<u8>, i: usize| {
            if plan.numeric {
                out.extend_from_slice(format!("{:>w$} ", r[i], w = widths[i]).as_bytes());
            } else {
                out.extend_from_slice(format!("{:<w$} ", r[i], w = widths[i]).as_bytes());
            }
        };
        if plan.inode {
            right(out, 0);
        }
        if plan.blocks {
            right(out, 1);
        }
        let mode = e.stat.as_ref().map_or_else(|| "??????????".to_string(), mode_string);
        out.extend_from_slice(mode.as_bytes());
        out.push(b' ');
        right(out, 2);
        if plan.owner {
            left(out, 3);
        }
        if plan.group {
            left(out, 4);
        }
        if plan.author {
            left(out, 5);
        }
        if plan.context {
            out.extend_from_slice(b"? ");
        }
        right(out, 6);
        let time =
            e.stat.as_ref().map_or_else(|| b"?".to_vec(), |s| time_text(plan, plan.time_of(s)));
        if e.stat.is_some() {
            out.extend_from_slice(&time);
        } else {
            out.resize(out.len() + time_width.saturating_sub(1), b' ');
            out.push(b'?');
        }
        out.push(b' ');
        // The link itself bears no indicator here: its target does.
        if e.kind == Some(Kind::Symlink) && e.target.is_some() {
            name(out, plan, e, quotes, Indicator::None);
        } else {
            name(out, plan, e, quotes, plan.indicator);
        }
        if let Some((text, target)) = &e.target {
            out.extend_from_slice(b" -> ");
            let shown = plan.display(text);
            let code = plan.colors.as_ref().and_then(|c| c.of_target(text, target.as_ref()));
            push_color(out, plan, code, &shown);
            if let Some(mark) = entry::mark(target.map(|t| t.kind), target.as_ref(), plan.indicator)
            {
                out.push(mark);
            }
        }
        out.push(plan.end);
    }
}
