//! Columns, rows, commas: all formats except the long one.

use super::entry::LsEntry;
use super::options::{Indicator, LsFormat, LsPlan};
use crate::common::quote::QuoteStyle;
use crate::own::stat::block_count;

impl LsPlan {
    /// Returns whether names without quotes get a space in place of the quote.
    pub(super) fn aligns_quotes(&self) -> bool {
        let style = matches!(self.quoting, QuoteStyle::Shell | QuoteStyle::ShellEscape);
        style
            && match self.format {
                LsFormat::Long => true,
                LsFormat::Columns | LsFormat::Across => self.width > 0,
                _ => false,
            }
    }
}

/// Appends text in a colour.
pub(super) fn push_color(out: &mut Vec<u8>, code: Option<&[u8]>, text: &[u8]) {
    match code {
        Some(c) => {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(c);
            out.push(b'm');
            out.extend_from_slice(text);
            out.extend_from_slice(b"\x1b[0m");
        }
        None => out.extend_from_slice(text),
    }
}

/// Appends a name with its colour, its indicator and the space that aligns it with quoted names.
pub(super) fn name(
    out: &mut Vec<u8>,
    plan: &LsPlan,
    e: &LsEntry,
    quotes: bool,
    indicator: Indicator,
) {
    if quotes && !e.has_quotes() {
        out.push(b' ');
    }
    let code = plan.colors.as_ref().and_then(|c| c.entry_color(e));
    if code.is_some() && !out.windows(4).any(|w| w == b"\x1b[0m") {
        // GNU resets the terminal before its first colour.
        out.extend_from_slice(b"\x1b[0m");
    }
    push_color(out, code, &e.quoted);
    if let Some(mark) = e.indicator(indicator) {
        out.push(mark);
    }
}

/// The widths of the columns before the name: inode and blocks.
struct FrontColumns {
    inode: usize,
    blocks: usize,
}

impl FrontColumns {
    fn new(plan: &LsPlan, entries: &[LsEntry]) -> FrontColumns {
        let widest = |f: &dyn Fn(&LsEntry) -> String, on: bool| {
            if on { entries.iter().map(|e| f(e).len()).max().unwrap_or(0) } else { 0 }
        };
        // Nothing is aligned in a list with commas.
        let aligned = plan.format != LsFormat::Commas;
        FrontColumns {
            inode: widest(&inode_text, plan.inode && aligned),
            blocks: widest(&|e| block_text(plan, e), plan.blocks && aligned),
        }
    }

    fn push(&self, out: &mut Vec<u8>, plan: &LsPlan, e: &LsEntry) {
        if plan.inode {
            out.extend_from_slice(format!("{:>w$} ", inode_text(e), w = self.inode).as_bytes());
        }
        if plan.blocks {
            out.extend_from_slice(
                format!("{:>w$} ", block_text(plan, e), w = self.blocks).as_bytes(),
            );
        }
        if plan.context {
            out.extend_from_slice(b"? ");
        }
    }

    fn width(&self, plan: &LsPlan, e: &LsEntry) -> usize {
        let mut w = 0;
        if plan.inode {
            w += self.inode.max(inode_text(e).len()) + 1;
        }
        if plan.blocks {
            w += self.blocks.max(block_text(plan, e).len()) + 1;
        }
        w + if plan.context { 2 } else { 0 }
    }
}

fn inode_text(e: &LsEntry) -> String {
    e.stat.as_ref().map_or_else(|| "?".to_string(), |s| s.ino.to_string())
}

fn block_text(plan: &LsPlan, e: &LsEntry) -> String {
    e.stat.as_ref().map_or_else(|| "?".to_string(), |s| plan.block_scale.show(block_count(s) * 512))
}

pub(super) fn layout_entries(out: &mut Vec<u8>, plan: &LsPlan, entries: &[LsEntry]) {
    let front = FrontColumns::new(plan, entries);
    let quotes = plan.aligns_quotes() && entries.iter().any(LsEntry::has_quotes);
    let item = |out: &mut Vec<u8>, e: &LsEntry| {
        front.push(out, plan, e);
        name(out, plan, e, quotes, plan.indicator);
    };
    let width = |e: &LsEntry| front.width(plan, e) + e.width(plan, quotes);
    match plan.format {
        LsFormat::OnePerLine | LsFormat::Long => {
            for e in entries {
                item(out, e);
                out.push(plan.end);
            }
        }
        LsFormat::Commas => layout_commas(out, plan, entries, &item, &width),
        LsFormat::Columns | LsFormat::Across => layout_grid(out, plan, entries, &item, &width),
    }
}

type Item<'a> = &'a dyn Fn(&mut Vec<u8>, &LsEntry);
type Width<'a> = &'a dyn Fn(&LsEntry) -> usize;

fn layout_commas(
    out: &mut Vec<u8>,
    plan: &LsPlan,
    entries: &[LsEntry],
    item: Item<'_>,
    width: Width<'_>,
) {
    let mut at = 0;
    for (i, e) in entries.iter().enumerate() {
        let w = width(e);
        if i > 0 {
            // If the name and the comma after it fit, they stay on this line; otherwise a new line
            // begins.
            if plan.width == 0 || at + w + 2 < plan.width && at <= usize::MAX - w - 2 {
                at += 2;
                out.extend_from_slice(b", ");
            } else {
                at = 0;
                out.extend_from_slice(b",\n");
            }
        }
        item(out, e);
        at += w;
    }
    if !entries.is_empty() {
        out.push(plan.end);
    }
}

/// The minimum width of a column: one character and two spaces.
const MIN_COLUMN: usize = 3;

fn layout_grid(
    out: &mut Vec<u8>,
    plan: &LsPlan,
    entries: &[LsEntry],
    item: Item<'_>,
    width: Width<'_>,
) {
    let down = plan.format == LsFormat::Columns;
    let n = entries.len();
    if n == 0 {
        return;
    }
    let widths: Vec<usize> = entries.iter().map(width).collect();
    if plan.width == 0 {
        // Without a limit there is one line, whose names are two spaces apart.
        for (i, e) in entries.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(b"  ");
            }
            item(out, e);
        }
        out.push(plan.end);
        return;
    }
    let most = (plan.width.div_ceil(MIN_COLUMN)).clamp(1, n);
    let mut columns = 1;
    let mut layout = vec![widths.iter().copied().max().unwrap_or(0)];
    for count in (2..=most).rev() {
        let rows = n.div_ceil(count);
        let mut cols = vec![MIN_COLUMN; count];
        for (i, w) in widths.iter().enumerate() {
            let c = if down { i / rows } else { i % count };
            let need = w + if c + 1 == count { 0 } else { 2 };
            if let Some(slot) = cols.get_mut(c) {
                *slot = (*slot).max(need);
            }
        }
        // Columns of the least width fit, because the division by it counts them.
        let is_wider = cols.iter().any(|c| *c > MIN_COLUMN);
        if !is_wider || cols.iter().sum::<usize>() < plan.width {
            columns = count;
            layout = cols;
            break;
        }
    }
    let rows = n.div_ceil(columns);
    for r in 0..rows {
        let mut at = 0;
        let mut c = 0;
        loop {
            let i = if down { c * rows + r } else { r * columns + c };
            let Some(e) = entries.get(i) else { break };
            item(out, e);
            let next = if down { i + rows } else { i + 1 };
            let more = next < n && if down { true } else { c + 1 < columns };
            if !more {
                break;
            }
            let from = at + widths[i];
            at += layout.get(c).copied().unwrap_or(0);
            indent_to(out, from, at, plan.tab);
            c += 1;
        }
        out.push(plan.end);
    }
}

/// Advances to a column, with tabs where possible.
fn indent_to(out: &mut Vec<u8>, mut from: usize, to: usize, tab: usize) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.push(b'\t');
            from += tab - from % tab;
        } else {
            out.push(b' ');
            from += 1;
        }
    }
}
