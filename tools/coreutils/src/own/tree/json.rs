//! Writes trees as JSON. Each entry is an object, and those of directories have their contents.

use box_applet::Ctx;
use box_sys::FileKind;

use super::list::{TreeItem, list_entries};
use super::{TreeFlag, TreeLevel, TreeOptions, TreeTotals, directory_stat};
use crate::common::{paths, quote};

/// Writes all roots and the report. Returns the text, and whether all roots exist.
pub(super) fn json_trees(ctx: &Ctx<'_>, options: &TreeOptions) -> (Vec<u8>, bool) {
    let mut json = Json { options, totals: TreeTotals::default(), out: String::from("[\n") };
    let mut all_found = true;
    for (i, root) in options.p.operands.iter().enumerate() {
        if directory_stat(ctx, root).is_some() {
            if i > 0 {
                json.out.push_str(",\n");
            }
            json.write_root(ctx, root);
        } else {
            all_found &= json.totals.add_root(ctx, root);
            let name = quote::json_text(root);
            json.out.push_str(&format!(
                "  {{\"type\":\"directory\",\"name\":{name},\"error\":\"opening dir\"}}"
            ));
        }
    }
    if !options.p.has_option(TreeFlag::Noreport) {
        let TreeTotals { dirs, files } = json.totals;
        let size = options.total().map(|total| format!("\"size\":{total},")).unwrap_or_default();
        json.out.push_str(&format!(
            "\n,\n  {{\"type\":\"report\",{size}\"directories\":{dirs},\"files\":{files}}}\n"
        ));
    }
    json.out.push_str("]\n");
    (json.out.into_bytes(), all_found)
}

struct Json<'o> {
    options: &'o TreeOptions,
    totals: TreeTotals,
    out: String,
}

impl Json<'_> {
    fn write_root(&mut self, ctx: &Ctx<'_>, root: &[u8]) {
        let name = quote::json_text(root);
        let stat = directory_stat(ctx, root).filter(|_| self.options.shows_sizes());
        let own = self.options.sums.get(root).copied().or(stat.map(|stat| stat.size));
        let size = own.map(|size| format!(",\"size\":{size}")).unwrap_or_default();
        self.out
            .push_str(&format!("  {{\"type\":\"directory\",\"name\":{name}{size},\"contents\":["));
        self.totals.dirs += 1;
        let entries = list_entries(ctx, self.options, root).unwrap_or_default();
        // Each level on the stack still needs its closing bracket.
        let mut stack = vec![TreeLevel { path: root.to_vec(), entries, next: 0 }];
        while let Some(depth) = stack.len().checked_sub(1) {
            let top = &mut stack[depth];
            let Some(item) = top.entries.get(top.next) else {
                if !top.entries.is_empty() {
                    self.out.push_str(&format!("\n{}", "  ".repeat(1 + depth)));
                }
                self.out.push_str("]}");
                stack.pop();
                continue;
            };
            self.out.push_str(if top.next > 0 { ",\n" } else { "\n" });
            top.next += 1;
            let path = paths::join_path(&top.path, &item.name);
            self.write_item(item, &path, depth);
            let is_open = item.stat.kind == FileKind::Dir && depth + 1 < self.options.level;
            let entries = if is_open {
                list_entries(ctx, self.options, &path).unwrap_or_default()
            } else {
                Vec::new()
            };
            if entries.is_empty() {
                self.out.push('}');
            } else {
                self.out.push_str(",\"contents\":[");
                stack.push(TreeLevel { path, entries, next: 0 });
            }
        }
    }

    /// Writes the members of an entry's object, up to its contents.
    fn write_item(&mut self, item: &TreeItem, path: &[u8], depth: usize) {
        let p = &self.options.p;
        let kind = match item.stat.kind {
            FileKind::Dir => "directory",
            FileKind::Symlink => "link",
            FileKind::File => "file",
            FileKind::Fifo => "fifo",
            FileKind::Socket => "socket",
            FileKind::CharDevice => "char",
            FileKind::BlockDevice => "block",
        };
        let name =
            quote::json_text(if p.has_option(TreeFlag::FullPath) { path } else { &item.name });
        let indent = "  ".repeat(depth + 2);
        self.out.push_str(&format!("{indent}{{\"type\":\"{kind}\",\"name\":{name}"));
        if let Some((text, _)) = &item.target {
            self.out.push_str(&format!(",\"target\":{}", quote::json_text(text)));
        }
        if self.options.shows_sizes() {
            self.out.push_str(&format!(",\"size\":{}", item.stat.size));
        }
        self.totals.add(item);
    }
}
