//! `df` (POSIX XCU df; GNU): the only file system of a session. WASI has no call for sizes; a host
//! that knows the quota writes it to `/proc/wasibox/space` as `TOTAL USED INODES IUSED`, for
//! example `1073741824 4096 65536 3`.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;

use crate::common::number::SizeScale;
use crate::common::{input, locale, quote};

/// An option of `df`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DfFlag {
    All,
    BlockSize,
    ExcludeType,
    HumanReadable,
    Ignored,
    Inodes,
    Kibibytes,
    Local,
    Mebibytes,
    NoSync,
    Output,
    Portability,
    PrintType,
    Si,
    Sync,
    Total,
    Type,
}

const SPEC: Spec<DfFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print size and free space of file systems: all, or those of the FILEs.",
    &[
        Opt::new(DfFlag::All, 'a', "all")
            .with_help("List all file systems, even those without size"),
        Opt::new(DfFlag::BlockSize, 'B', "block-size").with_argument("SIZE", words::BLOCK_SIZE),
        Opt::new(DfFlag::HumanReadable, 'h', "human-readable").with_help(words::HUMAN),
        Opt::new(DfFlag::Si, 'H', "si").with_help(words::SI),
        Opt::new(DfFlag::Inodes, 'i', "inodes").with_help("Count inodes instead of blocks"),
        Opt::new(DfFlag::Kibibytes, 'k', "").with_help(words::KIB),
        Opt::new(DfFlag::Mebibytes, 'm', "").with_help(words::MIB),
        Opt::new(DfFlag::Local, 'l', "local").with_help("List only local file systems"),
        Opt::long(DfFlag::NoSync, "no-sync").with_help("Do not write caches first (default)"),
        Opt::long(DfFlag::Output, "output").may_take(
            "FIELDS",
            "Print these FIELDS, or all: source, fstype, size, used, avail, pcent, target, ...",
        ),
        Opt::new(DfFlag::Portability, 'P', "portability")
            .with_help("Print one line each, as POSIX says"),
        Opt::long(DfFlag::Sync, "sync").with_help("Write caches first"),
        Opt::long(DfFlag::Total, "total").with_help("Add a line with sums"),
        Opt::new(DfFlag::Type, 't', "type").with_argument("TYPE", "List only file systems of TYPE"),
        Opt::new(DfFlag::PrintType, 'T', "print-type").with_help("Add a column with the type"),
        Opt::new(DfFlag::ExcludeType, 'x', "exclude-type")
            .with_argument("TYPE", "Leave out file systems of TYPE"),
        Opt::new(DfFlag::Ignored, 'v', "").with_help(words::IGNORED),
    ],
)
.with_examples(&[("df -h .", "Free space here, in units")]);

/// The size of the file system, and how much of it is used.
pub(crate) struct DiskSpace {
    pub total: u64,
    pub used: u64,
    pub available: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

/// Returns the host's figures, or else a file system of 1 GiB whose use is unknown.
pub(crate) fn disk_space() -> DiskSpace {
    let text = std::fs::read_to_string("/proc/wasibox/space").unwrap_or_default();
    let n: Vec<u64> = text.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
    let (total, used, inodes, inodes_used) = match n[..] {
        [t, u, i, j] => (t, u, i, j),
        _ => (1 << 30, 0, 1 << 20, 0),
    };
    DiskSpace {
        total,
        used,
        available: total.saturating_sub(used),
        inodes,
        inodes_free: inodes.saturating_sub(inodes_used),
    }
}

const FIELDS: [(&str, &str); 12] = [
    ("source", "Filesystem"),
    ("fstype", "Type"),
    ("itotal", "Inodes"),
    ("iused", "IUsed"),
    ("iavail", "IFree"),
    ("ipcent", "IUse%"),
    ("size", "1K-blocks"),
    ("used", "Used"),
    ("avail", "Avail"),
    ("pcent", "Use%"),
    ("file", "File"),
    ("target", "Mounted on"),
];

struct DfPlan {
    scale: SizeScale,
    /// The heading of the column with the sizes.
    heading: String,
    columns: Vec<&'static str>,
    /// Whether the columns were named by `--output`.
    chosen: bool,
    portable: bool,
    total: bool,
    /// Whether options for types exclude the file system from the list.
    other_type: bool,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).map(|plan| print_table(ctx, &plan))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<DfPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let (scale, mut heading) =
        parse_scale(&p).map_err(|message| input::report_failure(ctx, &[&message]))?;
    let portable = p.has_option(DfFlag::Portability);
    if portable && heading == "1K-blocks" {
        heading = "1024-blocks".to_string();
    }
    let columns = parse_columns(&p).map_err(|name| {
        let shown = quote::quote_in_sentence(name.as_bytes());
        input::usage_error(ctx, &[b"option --output: field ", &shown, b" unknown"])
    })?;
    Ok(DfPlan {
        scale,
        heading,
        columns,
        chosen: p.has_option(DfFlag::Output),
        portable,
        total: p.has_option(DfFlag::Total),
        other_type: p.last_value(DfFlag::Type).is_some_and(|t| t != b"wasibox")
            || p.all_values(DfFlag::ExcludeType).any(|t| t == b"wasibox"),
        files: p.operands,
    })
}

/// Returns the form in which sizes are shown, and the heading of their column. The error is a
/// message about an argument that is not a size.
fn parse_scale(p: &ParsedOptions<DfFlag>) -> Result<(SizeScale, String), Vec<u8>> {
    let mut chosen = (SizeScale::Units(1024, ""), "1K-blocks".to_string());
    for (flag, value) in &p.options {
        chosen = match flag {
            DfFlag::HumanReadable => (SizeScale::Human(1024), "Size".to_string()),
            DfFlag::Si => (SizeScale::Human(1000), "Size".to_string()),
            DfFlag::Kibibytes => (SizeScale::Units(1024, ""), "1K-blocks".to_string()),
            DfFlag::Mebibytes => (SizeScale::Units(1 << 20, ""), "1M-blocks".to_string()),
            DfFlag::BlockSize => {
                let text = value.as_deref().unwrap_or_default();
                let scale = SizeScale::parse(text).map_err(|e| e.message("--block-size", text))?;
                let shown = String::from_utf8_lossy(text);
                let one = if text.first().is_some_and(u8::is_ascii_digit) { "" } else { "1" };
                (scale, format!("{one}{shown}-blocks"))
            }
            _ => chosen,
        };
    }
    Ok(chosen)
}

/// Returns the columns to show. `Err` holds an unknown name.
fn parse_columns(p: &ParsedOptions<DfFlag>) -> Result<Vec<&'static str>, String> {
    if !p.has_option(DfFlag::Output) {
        let mut columns = vec!["source"];
        if p.has_option(DfFlag::PrintType) {
            columns.push("fstype");
        }
        columns.extend(if p.has_option(DfFlag::Inodes) {
            ["itotal", "iused", "iavail", "ipcent"]
        } else {
            ["size", "used", "avail", "pcent"]
        });
        columns.push("target");
        return Ok(columns);
    }
    let Some(list) = p.last_value(DfFlag::Output) else {
        return Ok(FIELDS.iter().map(|f| f.0).collect());
    };
    let field = |name: &str| FIELDS.iter().find(|f| f.0 == name).map(|f| f.0);
    let list = String::from_utf8_lossy(list);
    list.split(',').map(|name| field(name).ok_or_else(|| name.to_string())).collect()
}

fn print_table(ctx: &mut Ctx<'_>, plan: &DfPlan) -> Exit {
    let mut exit = Exit::SUCCESS;
    let mut files: Vec<&[u8]> = Vec::new();
    for f in &plan.files {
        match meta::stat(&ctx.path(f), true) {
            Ok(_) => files.push(f),
            Err(e) => exit = input::file_error(ctx, f, &e),
        }
    }
    if plan.files.is_empty() {
        files.push(b"-");
    } else if files.is_empty() {
        return exit;
    }
    if plan.other_type {
        ctx.error("no file systems processed");
        return Exit::FAILURE;
    }
    let space = disk_space();
    let mut rows = vec![plan.headings()];
    let names = files.iter().map(|f| String::from_utf8_lossy(f));
    rows.extend(names.map(|file| plan.row(&space, "session", "/", &file)));
    if plan.total {
        rows.push(plan.row(&space, "total", "-", "-"));
    }
    let _ = ctx.stdout.write_all(plan.table(&rows).as_bytes());
    exit
}

impl DfPlan {
    fn headings(&self) -> Vec<String> {
        let human = matches!(self.scale, SizeScale::Human(_));
        let heading = |column: &&str| match *column {
            "size" => self.heading.clone(),
            "avail" if !human && !self.chosen => "Available".to_string(),
            "pcent" if self.portable => "Capacity".to_string(),
            name => FIELDS.iter().find(|f| f.0 == name).map_or("", |f| f.1).to_string(),
        };
        self.columns.iter().map(heading).collect()
    }

    fn row(&self, space: &DiskSpace, source: &str, target: &str, file: &str) -> Vec<String> {
        let inodes_used = space.inodes - space.inodes_free;
        let cell = |column: &&str| match *column {
            "source" => source.to_string(),
            "fstype" => "wasibox".to_string(),
            "itotal" => space.inodes.to_string(),
            "iused" => inodes_used.to_string(),
            "iavail" => space.inodes_free.to_string(),
            "ipcent" => used_percent(inodes_used, space.inodes),
            "size" => self.scale.show(space.total),
            "used" => self.scale.show(space.used),
            "avail" => self.scale.show(space.available),
            "pcent" => used_percent(space.used, space.total),
            "file" => file.to_string(),
            _ => target.to_string(),
        };
        self.columns.iter().map(cell).collect()
    }

    /// Formats rows of cells as lines with aligned columns.
    fn table(&self, rows: &[Vec<String>]) -> String {
        let cell_width = |cell: &str| locale::text_width(cell.as_bytes());
        let width = |(i, column): (usize, &&str)| {
            let widest = rows.iter().map(|r| cell_width(&r[i])).max().unwrap_or(0);
            widest.max(match *column {
                "source" if !self.chosen => 14,
                "pcent" => 4,
                _ => 5,
            })
        };
        let widths: Vec<usize> = self.columns.iter().enumerate().map(width).collect();
        let mut out = String::new();
        for row in rows {
            let cells = row.iter().zip(&self.columns).zip(&widths).enumerate();
            let cells = cells.map(|(i, ((cell, column), width))| {
                let fill = " ".repeat(width.saturating_sub(cell_width(cell)));
                let is_text = matches!(*column, "source" | "fstype" | "file" | "target");
                match (is_text, i + 1 == row.len()) {
                    (true, true) => cell.clone(),
                    (true, false) => format!("{cell}{fill}"),
                    (false, _) => format!("{fill}{cell}"),
                }
            });
            out.push_str(cells.collect::<Vec<_>>().join(" ").trim_end());
            out.push('\n');
        }
        out
    }
}

/// Returns the used share as a percentage, rounded up.
fn used_percent(used: u64, all: u64) -> String {
    if all == 0 { "-".to_string() } else { format!("{}%", (used * 100).div_ceil(all)) }
}
