//! The data of a file, and sorting.

use std::cmp::Ordering;

use box_applet::Ctx;
use box_sys::{FileKind, Stat, meta};

use super::options::{Indicator, LsPlan, Sort};
use crate::common::{locale, quote};
use crate::own::sort::compare_version;

pub(super) struct LsEntry {
    pub name: Vec<u8>,
    /// The name as shown, without padding for alignment.
    pub quoted: Vec<u8>,
    pub stat: Option<Stat>,
    pub kind: Option<FileKind>,
    /// The text of a symbolic link, and the status of its target if that is needed.
    pub target: Option<(Vec<u8>, Option<Stat>)>,
}

impl LsEntry {
    /// Makes an entry. `path` is the name under which the file is found.
    pub(super) fn new(
        plan: &LsPlan,
        ctx: &Ctx<'_>,
        name: Vec<u8>,
        path: &[u8],
        stat: Option<Stat>,
    ) -> LsEntry {
        let quoted = plan.display_name(&name);
        let kind = stat.map(|s| s.kind);
        let mut target = None;
        if kind == Some(FileKind::Symlink) && plan.needs_target {
            let full = ctx.path(path);
            let text = std::fs::read_link(&full)
                .map(|t| box_sys::path::to_bytes(&t).to_vec())
                .unwrap_or_default();
            let seen = if plan.checks_targets { meta::stat(&full, true).ok() } else { None };
            target = Some((text, seen));
        }
        LsEntry { name, quoted, stat, kind, target }
    }

    /// Returns the character that is appended to the name (`-F`, `-p`, `--file-type`).
    pub(super) fn indicator(&self, how: Indicator) -> Option<u8> {
        indicator_of(self.kind, self.stat.as_ref(), how)
    }

    /// Returns the number of columns of the name, including the indicator.
    pub(super) fn width(&self, plan: &LsPlan, quotes: bool) -> usize {
        locale::text_width(&self.quoted)
            + usize::from(self.indicator(plan.indicator).is_some())
            + usize::from(quotes && !self.has_quotes())
    }

    pub(super) fn has_quotes(&self) -> bool {
        matches!(self.quoted.first(), Some(b'\'' | b'"')) && self.quoted != self.name
    }
}

/// Returns the indicator for a kind of file.
pub(super) fn indicator_of(
    kind: Option<FileKind>,
    stat: Option<&Stat>,
    how: Indicator,
) -> Option<u8> {
    let kind = kind?;
    if how == Indicator::None {
        return None;
    }
    if kind == FileKind::Dir {
        return Some(b'/');
    }
    if how == Indicator::Slash {
        return None;
    }
    match kind {
        FileKind::Symlink => Some(b'@'),
        FileKind::Fifo => Some(b'|'),
        FileKind::Socket => Some(b'='),
        FileKind::File
            if how == Indicator::Classify && stat.is_some_and(|s| s.mode & 0o111 != 0) =>
        {
            Some(b'*')
        }
        _ => None,
    }
}

/// Returns the part of a name after its last dot.
fn name_extension(name: &[u8]) -> &[u8] {
    name.iter().rposition(|c| *c == b'.').map_or(b"", |i| &name[i..])
}

impl LsPlan {
    /// Sorts the entries according to the options.
    pub(super) fn sort_entries(&self, list: &mut [LsEntry]) {
        let dir = |e: &LsEntry| {
            e.kind == Some(FileKind::Dir)
                || e.kind == Some(FileKind::Symlink)
                    && e.target
                        .as_ref()
                        .is_some_and(|t| t.1.is_some_and(|s| s.kind == FileKind::Dir))
        };
        let time = |e: &LsEntry| e.stat.as_ref().map_or(0, |s| self.time_of(s));
        let size = |e: &LsEntry| e.stat.as_ref().map_or(0, |s| s.size);
        let key = |a: &LsEntry, b: &LsEntry| -> Ordering {
            let order = match self.sort {
                Sort::None => return Ordering::Equal,
                Sort::Name => Ordering::Equal,
                Sort::Time => time(b).cmp(&time(a)),
                Sort::Size => size(b).cmp(&size(a)),
                Sort::Extension => name_extension(&a.name).cmp(name_extension(&b.name)),
                Sort::Version => compare_version(&a.name, &b.name),
                Sort::Width => locale::text_width(&a.quoted).cmp(&locale::text_width(&b.quoted)),
            };
            let order = order.then_with(|| a.name.cmp(&b.name));
            if self.reverse { order.reverse() } else { order }
        };
        if self.dirs_first {
            list.sort_by(|a, b| dir(b).cmp(&dir(a)).then_with(|| key(a, b)));
        } else if self.sort != Sort::None {
            list.sort_by(key);
        }
    }

    /// Returns a name as it is printed.
    pub(super) fn display_name(&self, name: &[u8]) -> Vec<u8> {
        let mut shown = quote::quote_name(name, self.quoting);
        if self.hide_control {
            let plain = shown.iter().all(|b| (0x20..0x7f).contains(b));
            if !plain {
                let mut out = Vec::with_capacity(shown.len());
                for chunk in shown.utf8_chunks() {
                    for c in chunk.valid().chars() {
                        if c.is_control() {
                            out.push(b'?');
                        } else {
                            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                    }
                    out.resize(out.len() + chunk.invalid().len(), b'?');
                }
                shown = out;
            }
        }
        shown
    }
}
