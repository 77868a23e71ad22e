//! `df` (POSIX XCU df; GNU): the one file system a session has. WASI tells nothing of sizes; a
//! host that knows its quota writes it to `/proc/wasibox/space` as `TOTAL USED INODES IUSED`.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::meta;

use crate::common::number::Scale;
use crate::common::{input, locale, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Show information about the file system on which each FILE resides,\nor all file systems by default.",
    options: &[
        Opt::flag('a', "all", "include pseudo, duplicate, inaccessible file systems"),
        Opt::value('B', "block-size", "SIZE", "scale sizes by SIZE before printing them"),
        Opt::flag('h', "human-readable", "print sizes in powers of 1024 (e.g., 1023M)"),
        Opt::flag('H', "si", "print sizes in powers of 1000 (e.g., 1.1G)"),
        Opt::flag('i', "inodes", "list inode information instead of block usage"),
        Opt::flag('k', "", "like --block-size=1K"),
        Opt::flag('m', "", "like --block-size=1M"),
        Opt::flag('l', "local", "limit listing to local file systems"),
        Opt::flag('\u{1}', "no-sync", "do not invoke sync before getting usage info (default)")
            .long_only(),
        Opt::optional('\u{2}', "output", "FIELDS", "use the output format defined by FIELDS")
            .long_only(),
        Opt::flag('P', "portability", "use the POSIX output format"),
        Opt::flag('\u{3}', "sync", "invoke sync before getting usage info").long_only(),
        Opt::flag('\u{4}', "total", "produce a grand total").long_only(),
        Opt::value('t', "type", "TYPE", "limit listing to file systems of type TYPE"),
        Opt::flag('T', "print-type", "print file system type"),
        Opt::value('x', "exclude-type", "TYPE", "limit listing to file systems not of type TYPE"),
        Opt::flag('v', "", "(ignored)"),
    ],
    after: "",
    posix_order: false,
};

/// Size and use of the file system.
pub(crate) struct Space {
    pub total: u64,
    pub used: u64,
    pub available: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

/// What the host says, else a file system of 1 GiB with nothing known to be used.
pub(crate) fn space() -> Space {
    let text = std::fs::read_to_string("/proc/wasibox/space").unwrap_or_default();
    let n: Vec<u64> = text.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
    let (total, used, inodes, inodes_used) = match n[..] {
        [t, u, i, j] => (t, u, i, j),
        _ => (1 << 30, 0, 1 << 20, 0),
    };
    Space {
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

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut scale = Scale::Units(1024, "");
    let mut heading = "1K-blocks".to_string();
    for (id, value) in &p.options {
        match id {
            'h' => (scale, heading) = (Scale::Human(1024), "Size".to_string()),
            'H' => (scale, heading) = (Scale::Human(1000), "Size".to_string()),
            'k' => (scale, heading) = (Scale::Units(1024, ""), "1K-blocks".to_string()),
            'm' => (scale, heading) = (Scale::Units(1 << 20, ""), "1M-blocks".to_string()),
            'B' => {
                let text = value.as_deref().unwrap_or_default();
                match Scale::parse(text) {
                    Some(s) => {
                        scale = s;
                        let mut shown = String::from_utf8_lossy(text).into_owned();
                        if !shown.starts_with(|c: char| c.is_ascii_digit()) {
                            shown.insert(0, '1');
                        }
                        heading = format!("{shown}-blocks");
                    }
                    None => {
                        ctx.error_bytes(&[b"invalid --block-size argument ", &quote::always(text)]);
                        return Exit::FAILURE;
                    }
                }
            }
            _ => {}
        }
    }
    if p.has('P') && heading == "1K-blocks" {
        heading = "1024-blocks".to_string();
    }
    let human = matches!(scale, Scale::Human(_));
    let mut columns: Vec<&str> = vec!["source"];
    if p.has('\u{2}') {
        let list = p.last('\u{2}').map(|l| String::from_utf8_lossy(l).into_owned());
        columns.clear();
        match list {
            None => columns.extend(FIELDS.iter().map(|f| f.0)),
            Some(l) => {
                for name in l.split(',') {
                    match FIELDS.iter().find(|f| f.0 == name) {
                        Some(f) => columns.push(f.0),
                        None => {
                            let shown = quote::always(name.as_bytes());
                            input::usage_error(
                                ctx,
                                &[b"option --output: field ", &shown, b" unknown"],
                            );
                            return Exit::FAILURE;
                        }
                    }
                }
            }
        }
    } else {
        if p.has('T') {
            columns.push("fstype");
        }
        if p.has('i') {
            columns.extend(["itotal", "iused", "iavail", "ipcent"]);
        } else {
            columns.extend(["size", "used", "avail", "pcent"]);
        }
        columns.push("target");
    }
    let mut exit = Exit::SUCCESS;
    let mut files: Vec<Vec<u8>> = Vec::new();
    for f in &p.operands {
        match meta::stat(&ctx.path(f), true) {
            Ok(_) => files.push(f.clone()),
            Err(e) => {
                input::file_error(ctx, f, &e);
                exit = Exit::FAILURE;
            }
        }
    }
    if p.operands.is_empty() {
        files.push(b"-".to_vec());
    } else if files.is_empty() {
        return exit;
    }
    let other_type =
        p.last('t').is_some_and(|t| t != b"wasibox") || p.all('x').any(|t| t == b"wasibox");
    if other_type {
        ctx.error("no file systems processed");
        return Exit::FAILURE;
    }
    let s = space();
    let percent = |used: u64, all: u64| {
        if all == 0 { "-".to_string() } else { format!("{}%", (used * 100).div_ceil(all)) }
    };
    let mut rows: Vec<Vec<String>> = vec![
        columns
            .iter()
            .map(|c| match *c {
                "size" => heading.clone(),
                "avail" if !human && !p.has('\u{2}') => "Available".to_string(),
                "pcent" if p.has('P') => "Capacity".to_string(),
                c => FIELDS.iter().find(|f| f.0 == c).map_or("", |f| f.1).to_string(),
            })
            .collect(),
    ];
    let row = |source: &str, target: &str, file: &str| -> Vec<String> {
        let iused = s.inodes - s.inodes_free;
        columns
            .iter()
            .map(|c| match *c {
                "source" => source.to_string(),
                "fstype" => "wasibox".to_string(),
                "itotal" => s.inodes.to_string(),
                "iused" => iused.to_string(),
                "iavail" => s.inodes_free.to_string(),
                "ipcent" => percent(iused, s.inodes),
                "size" => scale.show(s.total),
                "used" => scale.show(s.used),
                "avail" => scale.show(s.available),
                "pcent" => percent(s.used, s.total),
                "file" => file.to_string(),
                _ => target.to_string(),
            })
            .collect()
    };
    rows.extend(files.iter().map(|f| row("session", "/", &String::from_utf8_lossy(f))));
    if p.has('\u{4}') {
        rows.push(row("total", "-", "-"));
    }
    let text_column = |c: &str| matches!(c, "source" | "fstype" | "file" | "target");
    let widths: Vec<usize> = (0..columns.len())
        .map(|i| {
            let widest =
                rows.iter().map(|r| locale::text_width(r[i].as_bytes())).max().unwrap_or(0);
            if columns[i] == "source" && !p.has('\u{2}') {
                widest.max(14)
            } else {
                widest.max(if columns[i] == "pcent" { 4 } else { 5 })
            }
        })
        .collect();
    let mut out = String::new();
    for r in &rows {
        let cells: Vec<String> = r
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                let last = i + 1 == columns.len();
                let fill =
                    " ".repeat(widths[i].saturating_sub(locale::text_width(cell.as_bytes())));
                match (text_column(columns[i]), last) {
                    (true, true) => cell.clone(),
                    (true, false) => format!("{cell}{fill}"),
                    (false, _) => format!("{fill}{cell}"),
                }
            })
            .collect();
        out.push_str(cells.join(" ").trim_end());
        out.push('\n');
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    exit
}
