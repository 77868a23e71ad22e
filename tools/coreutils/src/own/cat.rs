//! `cat` (POSIX XCU cat; GNU `-A -b -e -E -n -s -t -T -v`).

use std::fs::File;
use std::io::{BufRead, Seek, Write};

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream, OutputSink};

use crate::common::input::{self, CopyStop, put};
use crate::common::quote;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CatFlag {
    EndsVisibly,
    Number,
    NumberNonblank,
    ShowAll,
    ShowEnds,
    ShowNonprinting,
    ShowTabs,
    SqueezeBlank,
    TabsVisibly,
    Unbuffered,
}

const SPEC: Spec<CatFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Concatenate FILE(s) to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
    &[
        Opt::new(CatFlag::ShowAll, 'A', "show-all").says("equivalent to -vET"),
        Opt::new(CatFlag::NumberNonblank, 'b', "number-nonblank")
            .says("number nonempty output lines, overrides -n"),
        Opt::new(CatFlag::EndsVisibly, 'e', "").says("equivalent to -vE"),
        Opt::new(CatFlag::ShowEnds, 'E', "show-ends").says("display $ at end of each line"),
        Opt::new(CatFlag::Number, 'n', "number").says("number all output lines"),
        Opt::new(CatFlag::SqueezeBlank, 's', "squeeze-blank")
            .says("suppress repeated empty output lines"),
        Opt::new(CatFlag::TabsVisibly, 't', "").says("equivalent to -vT"),
        Opt::new(CatFlag::ShowTabs, 'T', "show-tabs").says("display TAB characters as ^I"),
        Opt::new(CatFlag::Unbuffered, 'u', "").says("(ignored)"),
        Opt::new(CatFlag::ShowNonprinting, 'v', "show-nonprinting")
            .says("use ^ and M- notation, except for LFD and TAB"),
    ],
);

/// What is done to lines, and what is carried from one file to the next.
struct CatFormat {
    number: bool,
    number_nonblank: bool,
    ends: bool,
    tabs: bool,
    squeeze: bool,
    nonprinting: bool,
    line: u64,
    blanks: usize,
    /// Whether the last byte written ended a line.
    at_start: bool,
    /// A CR at a block's end whose successor is not known (`-E` shows CR LF as `^M$`).
    out: Vec<u8>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut format = CatFormat::of(&p);
    let mut exit = Exit::SUCCESS;
    for file in &input::or_stdin(p.operands) {
        let result = match input::open(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(r) if r.file().is_some_and(|f| into_itself(f, ctx.stdout.sink())) => {
                ctx.error_bytes(&[&quote::colon(file), b": input file is output file"]);
                exit = Exit::FAILURE;
                continue;
            }
            Ok(mut r) if format.is_plain() => copy(&mut r, &mut ctx.stdout),
            Ok(mut r) => format.file(&mut r, &mut ctx.stdout),
            Err(e) => Err(CopyStop::Read(e)),
        };
        match result {
            Ok(()) => {}
            Err(CopyStop::Read(e)) => exit = input::file_error(ctx, file, &e),
            Err(CopyStop::Write) => return Ok(Exit::FAILURE),
        }
    }
    Ok(exit)
}

/// Whether the copy would never end, since it adds to what is being read.
fn into_itself(input: &File, output: &OutputSink) -> bool {
    let OutputSink::File(out) = output else { return false };
    let Ok(size) = input.metadata().map(|m| m.len()) else { return false };
    let mut position = input;
    box_sys::meta::same_file(input, out) && position.stream_position().is_ok_and(|at| at < size)
}

/// Copies, and flushes whenever a read gave less than it could: a slow producer's output
/// must not wait for a full buffer.
fn copy(reader: &mut impl BufRead, out: &mut OutStream) -> Result<(), CopyStop> {
    input::for_each_block(reader, |block| {
        put(out, block)?;
        if block.len() < 32 * 1024 {
            out.flush().map_err(|_| CopyStop::Write)?;
        }
        Ok((block.len(), true))
    })
}

impl CatFormat {
    fn of(p: &ParsedOptions<CatFlag>) -> CatFormat {
        let any = |flags: &[CatFlag]| flags.iter().any(|f| p.has(*f));
        let visible = [CatFlag::ShowAll, CatFlag::EndsVisibly, CatFlag::TabsVisibly];
        CatFormat {
            number: any(&[CatFlag::Number, CatFlag::NumberNonblank]),
            number_nonblank: p.has(CatFlag::NumberNonblank),
            ends: any(&[CatFlag::ShowAll, CatFlag::EndsVisibly, CatFlag::ShowEnds]),
            tabs: any(&[CatFlag::ShowAll, CatFlag::TabsVisibly, CatFlag::ShowTabs]),
            squeeze: p.has(CatFlag::SqueezeBlank),
            nonprinting: any(&visible) || p.has(CatFlag::ShowNonprinting),
            line: 0,
            blanks: 0,
            at_start: true,
            out: Vec::new(),
        }
    }

    /// Whether the output is the input as it is.
    fn is_plain(&self) -> bool {
        !(self.number || self.ends || self.tabs || self.squeeze || self.nonprinting)
    }

    fn file(&mut self, reader: &mut impl BufRead, out: &mut OutStream) -> Result<(), CopyStop> {
        input::for_each_line(reader, b'\n', |line, ended| {
            self.line(line, ended);
            if self.out.len() >= 32 * 1024 {
                put(out, &self.out)?;
                self.out.clear();
            }
            Ok(true)
        })
        .and_then(|()| {
            put(out, &self.out)?;
            self.out.clear();
            Ok(())
        })
    }

    fn line(&mut self, line: &[u8], ended: bool) {
        let blank = line.is_empty() && self.at_start;
        if blank {
            self.blanks += 1;
            if self.squeeze && self.blanks > 1 {
                return;
            }
        } else {
            self.blanks = 0;
        }
        if self.number && self.at_start && !(self.number_nonblank && line.is_empty()) {
            self.line += 1;
            self.out.extend_from_slice(format!("{:6}\t", self.line).as_bytes());
        }
        let body = match line.split_last() {
            Some((b'\r', rest)) if self.ends && ended && !self.nonprinting => {
                self.body(rest);
                self.out.extend_from_slice(b"^M");
                &[][..]
            }
            _ => line,
        };
        self.body(body);
        if ended {
            self.out.extend_from_slice(if self.ends { b"$\n" } else { b"\n" });
        }
        self.at_start = ended;
    }

    fn body(&mut self, text: &[u8]) {
        if !self.nonprinting && !self.tabs {
            self.out.extend_from_slice(text);
            return;
        }
        for &b in text {
            if b == b'\t' {
                self.out.extend_from_slice(if self.tabs { b"^I" } else { b"\t" });
                continue;
            }
            if !self.nonprinting {
                self.out.push(b);
                continue;
            }
            let low = b & 0x7f;
            if b >= 0x80 {
                self.out.extend_from_slice(b"M-");
            }
            match low {
                0..=0x1f => self.out.extend_from_slice(&[b'^', low + 64]),
                0x7f => self.out.extend_from_slice(b"^?"),
                _ => self.out.push(low),
            }
        }
    }
}
