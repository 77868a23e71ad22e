//! `column` (util-linux): lists in columns, tables (`-t`).

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use std::io::Write;

use crate::common::{input, locale, number, quote};

/// An option of `column`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnFlag {
    Fillrows,
    Json,
    KeepEmptyLines,
    OutputSeparator,
    OutputWidth,
    Separator,
    Table,
    TableColumns,
    TableColumnsLimit,
    TableHeaderRepeat,
    TableHide,
    TableName,
    TableNoextreme,
    TableNoheadings,
    TableOrder,
    TableRight,
    TableTruncate,
    TableWrap,
}

const SPEC: Spec<ColumnFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Lay lines out in columns, or fields as a table.",
    &[
        Opt::new(ColumnFlag::Table, 't', "table")
            .with_help("Split lines into fields and align them"),
        Opt::new(ColumnFlag::TableName, 'n', "table-name")
            .with_argument("NAME", "Name of the table in JSON"),
        Opt::new(ColumnFlag::TableOrder, 'O', "table-order")
            .with_argument("COLUMNS", "Print these columns, in this order"),
        Opt::new(ColumnFlag::TableColumns, 'N', "table-columns")
            .with_argument("NAMES", "Name the columns, separated by commas"),
        Opt::new(ColumnFlag::TableHide, 'H', "table-hide")
            .with_argument("COLUMNS", "Leave these columns out"),
        Opt::new(ColumnFlag::TableRight, 'R', "table-right")
            .with_argument("COLUMNS", "Align these columns to the right"),
        Opt::new(ColumnFlag::TableColumnsLimit, 'l', "table-columns-limit")
            .with_argument("NUM", "Split into at most NUM columns; the last takes the rest"),
        Opt::new(ColumnFlag::TableNoheadings, 'd', "table-noheadings")
            .with_help("Print no line of names"),
        Opt::new(ColumnFlag::Json, 'J', "json").with_help("Print the table as JSON"),
        Opt::new(ColumnFlag::KeepEmptyLines, 'L', "keep-empty-lines").with_help("Keep empty lines"),
        Opt::new(ColumnFlag::TableHeaderRepeat, 'e', "table-header-repeat")
            .with_help(words::IGNORED),
        Opt::new(ColumnFlag::TableNoextreme, 'E', "table-noextreme")
            .with_argument("COLUMNS", words::IGNORED),
        Opt::new(ColumnFlag::TableTruncate, 'T', "table-truncate")
            .with_argument("COLUMNS", words::IGNORED),
        Opt::new(ColumnFlag::TableWrap, 'W', "table-wrap").with_argument("COLUMNS", words::IGNORED),
        Opt::new(ColumnFlag::OutputWidth, 'c', "output-width")
            .with_argument("WIDTH", "Fill lines of WIDTH characters"),
        Opt::new(ColumnFlag::OutputSeparator, 'o', "output-separator")
            .with_argument("STRING", "Put STRING between columns (two spaces)"),
        Opt::new(ColumnFlag::Separator, 's', "separator")
            .with_argument("STRING", "Split at any of these characters instead of blanks"),
        Opt::new(ColumnFlag::Fillrows, 'x', "fillrows").with_help("Fill rows first, then columns"),
    ],
)
.with_examples(&[("column -t -s, FILE", "Align the fields of a CSV file")]);

/// The distance of tab stops in the plain layout.
const TAB: usize = 8;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut width =
        ctx.env.get(b"COLUMNS").and_then(number::parse_decimal).filter(|n| *n > 0).unwrap_or(80);
    if let Some(text) = p.last_value(ColumnFlag::OutputWidth) {
        width = match text {
            b"unlimited" => 0,
            text => parse_columns(text, "columns")
                .map_err(|message| input::report_failure(ctx, &[&message]))?
                .into(),
        }
    }
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let limit = parse_limit(&p).map_err(|message| input::report_failure(ctx, &[&message]))?;
    let mut exit = Exit::SUCCESS;
    let mut text = Vec::new();
    for f in &input::or_stdin(p.operands.clone()) {
        match ctx.read(f) {
            Ok(more) => text.extend(more),
            Err(e) => exit = input::file_error(ctx, f, &e),
        }
        if !text.is_empty() && text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
    }
    let mut lines: Vec<&[u8]> = text.split(|c| *c == b'\n').collect();
    lines.pop();
    if !p.has_option(ColumnFlag::KeepEmptyLines) {
        lines.retain(|l| !l.iter().all(u8::is_ascii_whitespace));
    }
    let out = if p.has_option(ColumnFlag::Table) || p.has_option(ColumnFlag::Json) {
        format_table(&p, &lines, limit)
    } else {
        fill_columns(&lines, width, p.has_option(ColumnFlag::Fillrows))
    };
    let _ = ctx.stdout.write_all(&out);
    Ok(exit)
}

/// Arranges a plain list in as many columns as fit, filled with tabs.
fn fill_columns(lines: &[&[u8]], width: usize, rows_first: bool) -> Vec<u8> {
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
                    // Tabs lead to the beginning of the column.
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

/// Parses a number of columns, which fits in 32 bits. The error is a message.
fn parse_columns(text: &[u8], noun: &str) -> Result<u32, Vec<u8>> {
    let n = box_text::number::parse_integer(text, 10);
    let why: &[u8] = match u32::try_from(n.magnitude) {
        _ if n.len == 0 || n.len != text.len() => b"",
        Ok(n) if text[0] != b'-' => return Ok(n),
        _ => b": Numerical result out of range",
    };
    let what = format!("invalid {noun} argument: ");
    Err([what.as_bytes(), &quote::quote_in_sentence(text), why].concat())
}

/// Returns the maximum number of columns of a table (`-l`). The error is a message.
fn parse_limit(p: &ParsedOptions<ColumnFlag>) -> Result<Option<usize>, Vec<u8>> {
    let Some(text) = p.last_value(ColumnFlag::TableColumnsLimit) else { return Ok(None) };
    match parse_columns(text, "columns limit")? {
        0 => Err(b"columns limit must be greater than zero".to_vec()),
        n => Ok(usize::try_from(n).ok()),
    }
}

/// Converts column numbers or names to indexes; `0` and `-` mean all (the last).
fn column_indexes(list: &[u8], names: &[Vec<u8>], count: usize) -> Vec<usize> {
    let mut out = Vec::new();
    for part in list.split(|c| *c == b',') {
        if let Some(i) = names.iter().position(|n| n == part) {
            out.push(i);
        } else if part == b"-" || part == b"0" {
            out.extend(0..count);
        } else if let Some(n) = number::parse_decimal(part) {
            out.extend(usize::try_from(n).ok().and_then(|n| n.checked_sub(1)));
        }
    }
    out
}

/// The rule for splitting lines into cells: `-s` and `-l`.
struct CellSplitter<'p> {
    /// The separators; `None` stands for blanks.
    separators: Option<&'p [u8]>,
    /// The maximum number of cells in a line.
    limit: Option<usize>,
}

impl CellSplitter<'_> {
    fn is_separator(&self, c: &u8) -> bool {
        match self.separators {
            Some(s) => s.contains(c),
            None => matches!(c, b' ' | b'\t'),
        }
    }

    /// Skips any number of blanks. If separators are given, skips nothing, because then each
    /// separator counts.
    fn skip_blanks<'l>(&self, text: &'l [u8]) -> &'l [u8] {
        match self.separators {
            Some(_) => text,
            None => &text[text.iter().take_while(|c| self.is_separator(c)).count()..],
        }
    }

    fn split(&self, line: &[u8]) -> Vec<Vec<u8>> {
        let mut cells: Vec<Vec<u8>> = Vec::new();
        let mut rest = self.skip_blanks(line);
        while self.limit != Some(cells.len() + 1) {
            let Some(at) = rest.iter().position(|c| self.is_separator(c)) else { break };
            cells.push(rest[..at].to_vec());
            rest = self.skip_blanks(&rest[at + 1..]);
            if rest.is_empty() && self.separators.is_none() {
                return cells;
            }
        }
        cells.push(rest.to_vec());
        cells
    }
}

/// Formats the lines as a table of at most `limit` columns.
fn format_table(p: &ParsedOptions<ColumnFlag>, lines: &[&[u8]], limit: Option<usize>) -> Vec<u8> {
    let splitter = CellSplitter { separators: p.last_value(ColumnFlag::Separator), limit };
    let names: Vec<Vec<u8>> = p
        .last_value(ColumnFlag::TableColumns)
        .map(|n| n.split(|c| *c == b',').map(<[u8]>::to_vec).collect())
        .unwrap_or_default();
    let mut rows: Vec<Vec<Vec<u8>>> =
        lines.iter().map(|l| if l.is_empty() { Vec::new() } else { splitter.split(l) }).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0).max(names.len());
    let columns = |flag: ColumnFlag| {
        p.last_value(flag).map(|list| column_indexes(list, &names, count)).unwrap_or_default()
    };
    let hidden = columns(ColumnFlag::TableHide);
    let right = columns(ColumnFlag::TableRight);
    let mut order = columns(ColumnFlag::TableOrder);
    let rest: Vec<usize> = (0..count).filter(|i| !order.contains(i)).collect();
    order.extend(rest);
    order.retain(|i| !hidden.contains(i) && *i < count);
    if p.has_option(ColumnFlag::Json) {
        return format_json(
            p.last_value(ColumnFlag::TableName).unwrap_or(b"table"),
            &names,
            &rows,
            &order,
        );
    }
    if !names.is_empty() && !p.has_option(ColumnFlag::TableNoheadings) {
        rows.insert(0, names.clone());
    }
    line_up(&rows, &order, &right, p.last_value(ColumnFlag::OutputSeparator).unwrap_or(b"  "))
}

/// Formats rows as lines. The columns in `order` are aligned, those in `right` on the right.
fn line_up(rows: &[Vec<Vec<u8>>], order: &[usize], right: &[usize], separator: &[u8]) -> Vec<u8> {
    let width = |i: &usize| {
        rows.iter().filter_map(|r| r.get(*i)).map(|c| locale::text_width(c)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = order.iter().map(width).collect();
    let mut out = Vec::new();
    for row in rows {
        for (n, (i, width)) in order.iter().zip(&widths).enumerate() {
            let cell = row.get(*i).map(Vec::as_slice).unwrap_or_default();
            if n > 0 {
                out.extend_from_slice(separator);
            }
            let fill = width.saturating_sub(locale::text_width(cell));
            let last = n + 1 == order.len();
            if right.contains(i) {
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

fn format_json(name: &[u8], names: &[Vec<u8>], rows: &[Vec<Vec<u8>>], order: &[usize]) -> Vec<u8> {
    let mut out = format!("{{\n   {}: [\n", quote::json_text(name));
    for (n, r) in rows.iter().enumerate() {
        out.push_str(if n == 0 { "      {\n" } else { "{\n" });
        for (k, &i) in order.iter().enumerate() {
            let key = names
                .get(i)
                .map_or_else(String::new, |t| String::from_utf8_lossy(t).to_lowercase());
            let value = r.get(i).map_or_else(|| "null".to_string(), |v| quote::json_text(v));
            let comma = if k + 1 < order.len() { "," } else { "" };
            out.push_str(&format!(
                "         {}: {value}{comma}\n",
                quote::json_text(key.as_bytes())
            ));
        }
        out.push_str("      }");
        if n + 1 < rows.len() {
            out.push(',');
        }
    }
    out.push_str("\n   ]\n}\n");
    out.into_bytes()
}
