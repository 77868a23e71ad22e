//! `pr` (POSIX XCU pr; GNU manual "pr invocation").
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `source` | lines and form feeds |
//! | `row` | a line of columns |

mod options;
mod row;
mod source;

use std::io::{self, BufRead, Write};

use box_applet::{Ctx, Ended, Exit, OutStream, clock};
use box_text::time::civil::split_nanos;
use box_text::time::strftime::format_strftime;

use crate::common::input;
use options::{PrOptions, SPEC, modern_options};
use row::Rows;
use source::{PrItem, PrSource};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let wrong = |ctx: &mut Ctx<'_>, message: &[u8]| {
        ctx.error_bytes(&[message]);
        Exit::FAILURE
    };
    let args = match modern_options(args) {
        Ok(args) => args,
        Err(m) => return Ok(wrong(ctx, &m)),
    };
    let p = SPEC.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let o = match PrOptions::from_options(&p, p.operands.len()) {
        Ok(o) => o,
        Err(m) => return Ok(wrong(ctx, &m)),
    };
    let width = match o.column_width() {
        Ok(w) => w,
        Err(m) => return Ok(wrong(ctx, &m)),
    };
    let files = &input::or_stdin(p.operands.clone());
    let mut job =
        PrJob { o: &o, rows: Rows::new(&o, width), width, date: Vec::new(), name: Vec::new() };
    Ok(if o.parallel {
        print_together(ctx, &mut job, files)
    } else {
        one_by_one(ctx, &mut job, files)
    })
}

/// The settings of a print job, and the texts of its headers.
struct PrJob<'o> {
    o: &'o PrOptions,
    rows: Rows<'o>,
    width: usize,
    date: Vec<u8>,
    name: Vec<u8>,
}

fn header_date(ctx: &Ctx<'_>, o: &PrOptions, file: Option<&[u8]>) -> Vec<u8> {
    let changed = file
        .filter(|f| *f != b"-")
        .and_then(|f| box_sys::meta::stat(&ctx.path(f), true).ok())
        .map(|s| s.mtime);
    let (seconds, nanos) = changed.map_or_else(clock::current_time, split_nanos);
    format_strftime(&o.date_format, &ctx.zone().to_civil(seconds, nanos))
}

fn one_by_one(ctx: &mut Ctx<'_>, job: &mut PrJob<'_>, files: &[Vec<u8>]) -> Exit {
    let mut exit = Exit::SUCCESS;
    for file in files {
        job.date = header_date(ctx, job.o, Some(file));
        job.name = match &job.o.header {
            Some(h) => h.clone(),
            None if file == b"-" => Vec::new(),
            None => file.clone(),
        };
        job.rows = Rows::new(job.o, job.width);
        let result = match input::open_operand(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(reader) => {
                let mut source = PrSource::new(Box::new(reader));
                job.print_single(&mut source, &mut ctx.stdout)
            }
            Err(e) => {
                if !job.o.quiet {
                    input::file_error(ctx, file, &e);
                }
                exit = Exit::FAILURE;
                continue;
            }
        };
        if let Err(e) = result {
            if e.kind() == io::ErrorKind::BrokenPipe {
                return Exit::SIGPIPE;
            }
            if ctx.stdout.flush().is_err() {
                return Exit::FAILURE;
            }
            input::file_error(ctx, file, &e);
            exit = Exit::FAILURE;
        }
    }
    exit
}

fn print_together(ctx: &mut Ctx<'_>, job: &mut PrJob<'_>, files: &[Vec<u8>]) -> Exit {
    job.date = header_date(ctx, job.o, None);
    job.name = job.o.header.clone().unwrap_or_default();
    let mut exit = Exit::SUCCESS;
    let mut opened = Vec::new();
    for file in files {
        if file == b"-" {
            opened.push(None);
            continue;
        }
        match input::open_file(&ctx.path(file)) {
            Ok(f) => opened.push(Some(f)),
            Err(e) => {
                if !job.o.quiet {
                    input::file_error(ctx, file, &e);
                }
                exit = Exit::FAILURE;
            }
        }
    }
    // A file that cannot be read gets no column.
    let mut narrowed = job.o.clone();
    narrowed.columns = opened.len().max(1);
    let width = narrowed.column_width().unwrap_or(job.width);
    let mut job = PrJob {
        o: &narrowed,
        rows: Rows::new(&narrowed, width),
        width,
        date: std::mem::take(&mut job.date),
        name: std::mem::take(&mut job.name),
    };
    let mut stdin = Some(&mut ctx.stdin);
    let sources = opened.into_iter().map(|f| -> PrSource<'_> {
        let reader: Box<dyn BufRead> = match (f, stdin.take()) {
            (Some(f), kept) => {
                stdin = kept;
                Box::new(io::BufReader::new(f))
            }
            (None, Some(s)) => Box::new(s),
            // If standard input is named again, nothing is left in it.
            (None, None) => Box::new(io::empty()),
        };
        PrSource::new(reader)
    });
    let mut sources: Vec<_> = sources.collect();
    if !sources.is_empty() && job.print_parallel(&mut sources, &mut ctx.stdout).is_err() {
        return Exit::FAILURE;
    }
    exit
}

impl PrJob<'_> {
    /// Returns the number of the next line.
    fn next_number(&mut self, page: u64) -> i64 {
        let n = self.rows.number;
        let counts = self.o.numbers.as_ref().is_none_or(|n| n.first.is_none());
        if counts || page >= self.o.pages.0 {
            self.rows.number += 1;
        }
        n
    }

    fn print_single(&mut self, source: &mut PrSource<'_>, out: &mut OutStream) -> io::Result<()> {
        let body = self.o.body_lines();
        for page in 1..=self.o.pages.1 {
            let mut text = Vec::new();
            let (mut rows, mut lines, mut numbers) = (0, Vec::new(), Vec::new());
            let mut begun = false;
            let end = loop {
                let limit = if self.o.columns == 1 { 1 } else { self.o.columns };
                let full = match (self.o.columns, self.o.across) {
                    (1, _) | (_, true) => rows == body,
                    _ => lines.len() == body.saturating_mul(limit),
                };
                if full {
                    source.skip_feed()?;
                    break None;
                }
                match source.next()? {
                    PrItem::Line(l) => {
                        begun = true;
                        numbers.push(self.next_number(page));
                        lines.push(l);
                    }
                    other => break Some(other),
                }
                if (self.o.columns == 1 || self.o.across) && lines.len() == limit {
                    self.print_row(&lines, &numbers, &mut text);
                    (lines, numbers) = (Vec::new(), Vec::new());
                    rows += 1;
                }
                if self.o.columns == 1 && page >= self.o.pages.0 && rows == 1 {
                    // The header is printed when the first text of a page comes, before the page is
                    // full.
                    self.print_head(page, out)?;
                }
                if self.o.columns == 1 && page >= self.o.pages.0 {
                    out.write_all(&text)?;
                    text.clear();
                }
            };
            let mut last = false;
            if self.o.across && !lines.is_empty() {
                self.print_row(&lines, &numbers, &mut text);
                (rows, last) = (rows + 1, true);
            } else if self.o.columns > 1 && !self.o.across {
                rows = self.print_balanced(&lines, &numbers, &mut text);
                last = rows > 0 && end.is_some();
            }
            if last && self.o.double && !self.o.extremities {
                // Nothing comes after the last line of columns, if that is known.
                text.pop();
            }
            let fed = end == Some(PrItem::PageEnd);
            if !begun && !fed {
                return Ok(());
            }
            if page >= self.o.pages.0 {
                if self.o.columns > 1 || rows == 0 {
                    self.print_head(page, out)?;
                    out.write_all(&text)?;
                }
                self.print_foot(rows, fed, out)?;
            }
            if end == Some(PrItem::End) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn print_row(&mut self, lines: &[Vec<u8>], numbers: &[i64], text: &mut Vec<u8>) {
        let cells: Vec<Option<&[u8]>> = lines.iter().map(|l| Some(l.as_slice())).collect();
        self.rows.put_line(&cells, numbers, text);
        if self.o.double {
            text.push(b'\n');
        }
    }

    /// Prints columns that are read downwards and as equal in length as possible; returns the
    /// number of rows.
    fn print_balanced(&mut self, lines: &[Vec<u8>], numbers: &[i64], text: &mut Vec<u8>) -> usize {
        let columns = self.o.columns;
        let (each, more) = (lines.len() / columns, lines.len() % columns);
        let starts: Vec<usize> = (0..=columns).map(|c| c * each + c.min(more)).collect();
        let rows = each + usize::from(more > 0);
        for r in 0..rows {
            let at = starts.windows(2).map(|w| w[0] + r).zip(&starts[1..]);
            let at: Vec<usize> = at.filter(|(i, end)| i < end).map(|(i, _)| i).collect();
            let row: Vec<Vec<u8>> = at.iter().map(|i| lines[*i].clone()).collect();
            let numbers: Vec<i64> = at.iter().map(|i| numbers[*i]).collect();
            self.print_row(&row, &numbers, text);
        }
        rows
    }

    fn print_parallel(
        &mut self,
        sources: &mut [PrSource<'_>],
        out: &mut OutStream,
    ) -> io::Result<()> {
        let body = self.o.body_lines();
        let mut open = vec![true; sources.len()];
        for page in 1..=self.o.pages.1 {
            let mut held = vec![false; sources.len()];
            let (mut rows, mut fed) = (0, false);
            while rows < body {
                let mut cells: Vec<Option<Vec<u8>>> = Vec::new();
                for (i, source) in sources.iter_mut().enumerate() {
                    let item = if open[i] && !held[i] { source.next()? } else { PrItem::End };
                    cells.push(match item {
                        PrItem::Line(l) => Some(l),
                        PrItem::PageEnd => {
                            (held[i], fed) = (true, true);
                            None
                        }
                        PrItem::End => {
                            open[i] &= held[i];
                            None
                        }
                    });
                }
                if cells.iter().all(Option::is_none) {
                    break;
                }
                // Nothing is aligned after the last line of all files.
                let over = |i: usize| !open[i] || held[i] || sources[i].at_end();
                if (0..sources.len()).all(over) {
                    let last = cells.iter().rposition(Option::is_some).unwrap_or(0);
                    cells.truncate(last + 1);
                }
                let number = self.next_number(page);
                let mut text = Vec::new();
                let shown: Vec<Option<&[u8]>> = cells.iter().map(Option::as_deref).collect();
                self.rows.put_line(&shown, &vec![number; shown.len()], &mut text);
                if self.o.double {
                    text.push(b'\n');
                }
                if page >= self.o.pages.0 {
                    if rows == 0 {
                        self.print_head(page, out)?;
                    }
                    out.write_all(&text)?;
                }
                rows += 1;
            }
            if rows == body {
                for (i, source) in sources.iter_mut().enumerate() {
                    if open[i] && !held[i] {
                        source.skip_feed()?;
                    }
                }
            }
            if rows == 0 && !fed {
                return Ok(());
            }
            if page >= self.o.pages.0 {
                if rows == 0 {
                    self.print_head(page, out)?;
                }
                self.print_foot(rows, fed, out)?;
            }
        }
        Ok(())
    }

    /// Prints the page's header.
    fn print_head(&self, page: u64, out: &mut OutStream) -> io::Result<()> {
        if !self.o.extremities {
            return Ok(());
        }
        let columns = |t: &[u8]| String::from_utf8_lossy(t).chars().count();
        let number = format!("Page {page}");
        let taken = columns(&self.date) + columns(&self.name) + number.len();
        let left = self.o.width.saturating_sub(taken);
        let before = (left / 2).max(1);
        let after = (left - left / 2).max(1);
        let mut text = Vec::new();
        text.resize(self.o.margin, b' ');
        text.extend_from_slice(b"\n\n");
        text.resize(text.len() + self.o.margin, b' ');
        text.extend_from_slice(&self.date);
        text.resize(text.len() + before, b' ');
        text.extend_from_slice(&self.name);
        text.resize(text.len() + after, b' ');
        text.extend_from_slice(number.as_bytes());
        text.extend_from_slice(b"\n\n\n");
        out.write_all(&text)
    }

    /// Prints the end of a page with this many rows; `fed` says whether a form feed of the input
    /// ended it.
    fn print_foot(&self, rows: usize, fed: bool, out: &mut OutStream) -> io::Result<()> {
        match (self.o.extremities, self.o.form_feeds) {
            (true, true) => out.write_all(b"\x0c"),
            (true, false) => {
                let each = if self.o.double { 2 } else { 1 };
                let lines = each * self.o.body_lines().saturating_sub(rows) + 5;
                out.write_all(&vec![b'\n'; lines])
            }
            _ if fed && self.o.keep_feeds => out.write_all(b"\x0c"),
            _ => Ok(()),
        }
    }
}
