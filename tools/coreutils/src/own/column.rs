//! `column` (util-linux): lists in columns, tables (`-t`).

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use std::io::{Read, Write};

use crate::common::{input, locale, number, quote};

const SPEC: Spec = Spec {
    usage: "[options] [<file>...]",
    about: "Columnate lists.",
    options: &[
        Opt::flag('t', "table", "create a table"),
        Opt::value('n', "table-name", "NAME", "table name for JSON output"),
        Opt::value('O', "table-order", "COLUMNS", "specify order of output columns"),
        Opt::value('N', "table-columns", "NAMES", "comma separated columns names"),
        Opt::value('H', "table-hide", "COLUMNS", "don't print the columns"),
        Opt::value('R', "table-right", "COLUMNS", "right align text in these columns"),
        Opt::value('l', "table-columns-limit", "NUM", "maximal number of input columns"),
        Opt::flag('d', "table-noheadings", "don't print header"),
        Opt::flag('J', "json", "use JSON output format for table"),
        Opt::flag('L', "keep-empty-lines", "don't ignore empty lines"),
        Opt::flag('e', "table-header-repeat", "(ignored)"),
        Opt::value('E', "table-noextreme", "COLUMNS", "(ignored)"),
        Opt::value('T', "table-truncate", "COLUMNS", "(ignored)"),
        Opt::value('W', "table-wrap", "COLUMNS", "(ignored)"),
        Opt::value('c', "output-width", "WIDTH", "width of output in number of characters"),
        Opt::value(
            'o',
            "output-separator",
            "STRING",
            "columns separator for table output (default is two spaces)",
        ),
        Opt::value('s', "separator", "STRING", "possible table delimiters"),
        Opt::flag('x', "fillrows", "fill rows before columns"),
    ],
    after: "",
    posix_order: false,
};

/// Tab stops of the plain layout.
const TAB: usize = 8;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut width =
        ctx.env.get(b"COLUMNS").and_then(number::decimal).filter(|n| *n > 0).unwrap_or(80);
    if let Some(text) = p.last('c') {
        match number::decimal(text) {
            Some(n) => width = n,
            None if text == b"unlimited" => width = 0,
            None => {
                ctx.error_bytes(&[b"invalid columns argument: ", &quote::always(text)]);
                return Exit::FAILURE;
            }
        }
    }
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let mut exit = Exit::SUCCESS;
    let mut text = Vec::new();
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    for f in files {
        let read =
            input::open(&mut ctx.stdin, &ctx.cwd, f).and_then(|mut r| r.read_to_end(&mut text));
        if let Err(e) = read {
            input::file_error(ctx, f, &e);
            exit = Exit::FAILURE;
        }
        if !text.is_empty() && text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
    }
    let mut lines: Vec<&[u8]> = text.split(|c| *c == b'\n').collect();
    lines.pop();
    if !p.has('L') {
        lines.retain(|l| !l.iter().all(u8::is_ascii_whitespace));
    }
    let out = if p.has('t') || p.has('J') {
        table(&p, &lines)
    } else {
        columns(&lines, width, p.has('x'))
    };
    let _ = ctx.stdout.write_all(&out);
    exit
}

/// Plain lists: as many columns as fit, filled with tabs.
fn columns(lines: &[&[u8]], width: usize, rows_first: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let longest = lines.iter().map(|l| locale::text_width(l)).max().unwrap_or(0);
    let cell = (longest + TAB) / TAB * TAB;
    let per_row = if width == 0 { 1 } else { (width / cell).max(1) };
    if longest >= width || lines.is_empty() {
        for l in lines {
            out.extend_from_slice(l);
            out.push(b'\n');
        }
        return out;
    }
    let rows = lines.len().div_ceil(per_row);
    let mut emit = |index: &dyn Fn(usize, usize) -> usize| {
        for r in 0..rows {
            let mut at = 0;
            let mut goal = 0;
            let mut first = true;
            for c in 0..per_row {
                let Some(l) = lines.get(index(r, c)) else { break };
                if !first {
                    // Tabs up to where the column begins.
                    while at / TAB * TAB + TAB <= goal {
                        out.push(b'\t');
                        at = at / TAB * TAB + TAB;
                    }
                }
                first = false;
                out.extend_from_slice(l);
                at = goal + locale::text_width(l);
                goal += cell;
            }
            out.push(b'\n');
        }
    };
    if rows_first {
        emit(&|r, c| r * per_row + c)
    } else {
        emit(&|r, c| c * rows + r)
    }
    out
}

/// Column numbers or names to indexes; `0` and `-` mean all (the last).
fn indexes(list: &[u8], names: &[Vec<u8>], count: usize) -> Vec<usize> {
    let mut out = Vec::new();
    for part in list.split(|c| *c == b',') {
        if let Some(i) = names.iter().position(|n| n == part) {
            out.push(i);
        } else if part == b"-" || part == b"0" {
            out.extend(0..count);
        } else if let Some(n) = number::decimal(part) {
            out.extend(usize::try_from(n).ok().and_then(|n| n.checked_sub(1)));
        }
    }
    out
}

fn table(p: &box_applet::opts::Parsed, lines: &[&[u8]]) -> Vec<u8> {
    let separators = p.last('s');
    let limit = p
        .last('l')
        .and_then(number::decimal)
        .and_then(|n| usize::try_from(n).ok())
        .filter(|n| *n > 0);
    let split = |line: &[u8]| -> Vec<Vec<u8>> {
        let is = |c: &u8| match separators {
            Some(s) => s.contains(c),
            None => matches!(c, b' ' | b'\t'),
        };
        let mut cells: Vec<Vec<u8>> = Vec::new();
        let mut rest = line;
        if separators.is_none() {
            rest = &rest[rest.iter().take_while(|c| is(c)).count()..];
        }
        loop {
            if limit == Some(cells.len() + 1) {
                cells.push(rest.to_vec());
                break;
            }
            match rest.iter().position(is) {
                Some(at) => {
                    cells.push(rest[..at].to_vec());
                    rest = &rest[at + 1..];
                    // Blanks count once however many there are; given separators each count.
                    if separators.is_none() {
                        rest = &rest[rest.iter().take_while(|c| is(c)).count()..];
                        if rest.is_empty() {
                            break;
                        }
                    }
                }
                None => {
                    cells.push(rest.to_vec());
                    break;
                }
            }
        }
        cells
    };
    let names: Vec<Vec<u8>> = p
        .last('N')
        .map(|n| n.split(|c| *c == b',').map(<[u8]>::to_vec).collect())
        .unwrap_or_default();
    let mut rows: Vec<Vec<Vec<u8>>> =
        lines.iter().map(|l| if l.is_empty() { Vec::new() } else { split(l) }).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0).max(names.len());
    let hidden = p.last('H').map(|h| indexes(h, &names, count)).unwrap_or_default();
    let right = p.last('R').map(|h| indexes(h, &names, count)).unwrap_or_default();
    let mut order: Vec<usize> = p.last('O').map(|h| indexes(h, &names, count)).unwrap_or_default();
    let rest: Vec<usize> = (0..count).filter(|i| !order.contains(i)).collect();
    order.extend(rest);
    order.retain(|i| !hidden.contains(i) && *i < count);
    if p.has('J') {
        return json(p.last('n').unwrap_or(b"table"), &names, &rows, &order);
    }
    if !names.is_empty() && !p.has('d') {
        rows.insert(0, names.clone());
    }
    let width = |i: usize| {
        rows.iter().filter_map(|r| r.get(i)).map(|c| locale::text_width(c)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let separator = p.last('o').unwrap_or(b"  ");
    let mut out = Vec::new();
    for r in &rows {
        for (n, &i) in order.iter().enumerate() {
            let cell = r.get(i).map(Vec::as_slice).unwrap_or_default();
            if n > 0 {
                out.extend_from_slice(separator);
            }
            let fill = widths[i].saturating_sub(locale::text_width(cell));
            let last = n + 1 == order.len();
            if right.contains(&i) {
                out.resize(out.len() + fill, b' ');
                out.extend_from_slice(cell);
            } else {
                out.extend_from_slice(cell);
                if !last {
                    out.resize(out.len() + fill, b' ');
                }
            }
        }
        out.push(b'\n');
    }
    out
}

fn json(name: &[u8], names: &[Vec<u8>], rows: &[Vec<Vec<u8>>], order: &[usize]) -> Vec<u8> {
    let string = |t: &[u8]| -> String {
        let mut s = String::from("\"");
        for c in String::from_utf8_lossy(t).chars() {
            match c {
                '"' => s.push_str("\\\""),
                '\\' => s.push_str("\\\\"),
                '\n' => s.push_str("\\n"),
                '\t' => s.push_str("\\t"),
                c if (c as u32) < 0x20 => s.push_str(&format!("\\u{:04x}", c as u32)),
                c => s.push(c),
            }
        }
        s.push('"');
        s
    };
    let mut out = format!("{{\n   {}: [\n", string(name));
    for (n, r) in rows.iter().enumerate() {
        out.push_str(if n == 0 { "      {\n" } else { "{\n" });
        for (k, &i) in order.iter().enumerate() {
            let key = names
                .get(i)
                .map_or_else(String::new, |t| String::from_utf8_lossy(t).to_lowercase());
            let value = r.get(i).map_or_else(|| "null".to_string(), |v| string(v));
            let comma = if k + 1 < order.len() { "," } else { "" };
            out.push_str(&format!("         {}: {value}{comma}\n", string(key.as_bytes())));
        }
        out.push_str("      }");
        if n + 1 < rows.len() {
            out.push(',');
        }
    }
    out.push_str("\n   ]\n}\n");
    out.into_bytes()
}
