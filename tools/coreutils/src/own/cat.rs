//! `cat` (POSIX XCU cat; GNU `-A -b -e -E -n -s -t -T -v`).

use std::fs::File;
use std::io::{BufRead, Seek, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream, OutputSink};

use crate::common::input::{self, CopyStop, write_output};
use crate::common::quote;

/// An option of `cat`.
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
    "Print the FILEs one after another.",
    &[
        Opt::new(CatFlag::ShowAll, 'A', "show-all").with_help("Show everything: -v, -E and -T"),
        Opt::new(CatFlag::NumberNonblank, 'b', "number-nonblank")
            .with_help("Number the lines that are not empty; overrides -n"),
        Opt::new(CatFlag::EndsVisibly, 'e', "").with_help("Combine -v and -E"),
        Opt::new(CatFlag::ShowEnds, 'E', "show-ends").with_help("Mark the end of each line with $"),
        Opt::new(CatFlag::Number, 'n', "number").with_help("Put a number before each line"),
        Opt::new(CatFlag::SqueezeBlank, 's', "squeeze-blank")
            .with_help("Print a run of empty lines as one"),
        Opt::new(CatFlag::TabsVisibly, 't', "").with_help("Combine -v and -T"),
        Opt::new(CatFlag::ShowTabs, 'T', "show-tabs").with_help("Show tabs as ^I"),
        Opt::new(CatFlag::Unbuffered, 'u', "").with_help(words::IGNORED),
        Opt::new(CatFlag::ShowNonprinting, 'v', "show-nonprinting")
            .with_help("Show control characters as ^X, bytes over 127 as M-X"),
    ],
)
.reads_standard_input();

/// The format of lines, and the state that is carried from one file to the next.
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
    /// The output; only a CR is left in it from the previous block, if the byte after the CR is not
    /// yet known (`-E` shows CR LF as `^M$`).
    out: Vec<u8>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut format = CatFormat::from_options(&p);
    let mut exit = Exit::SUCCESS;
    for file in &input::or_stdin(p.operands) {
        let result = match input::open_operand(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(r) if r.file().is_some_and(|f| into_itself(f, ctx.stdout.sink())) => {
                ctx.error_bytes(&[&quote::quote_with_colon(file), b": input file is output file"]);
                exit = Exit::FAILURE;
                continue;
            }
            Ok(mut r) if format.is_plain() => copy_unbuffered(&mut r, &mut ctx.stdout),
            Ok(mut r) => format.format_file(&mut r, &mut ctx.stdout),
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

/// Returns whether the copy would never end, because the output is the file that is being read.
fn into_itself(input: &File, output: &OutputSink) -> bool {
    let OutputSink::File(out) = output else { return false };
    let Ok(size) = input.metadata().map(|m| m.len()) else { return false };
    let mut position = input;
    box_sys::meta::same_file(input, out) && position.stream_position().is_ok_and(|at| at < size)
}

/// Copies the input, and flushes whenever a read returned less than it could, because a slow
/// producer's output must not wait for a full buffer.
fn copy_unbuffered(reader: &mut impl BufRead, out: &mut OutStream) -> Result<(), CopyStop> {
    input::for_each_block(reader, |block| {
        write_output(out, block)?;
        if block.len() < 32 * 1024 {
            out.flush().map_err(|_| CopyStop::Write)?;
        }
        Ok((block.len(), true))
    })
}

impl CatFormat {
    fn from_options(p: &ParsedOptions<CatFlag>) -> CatFormat {
        let any = |flags: &[CatFlag]| flags.iter().any(|f| p.has_option(*f));
        let visible = [CatFlag::ShowAll, CatFlag::EndsVisibly, CatFlag::TabsVisibly];
        CatFormat {
            number: any(&[CatFlag::Number, CatFlag::NumberNonblank]),
            number_nonblank: p.has_option(CatFlag::NumberNonblank),
            ends: any(&[CatFlag::ShowAll, CatFlag::EndsVisibly, CatFlag::ShowEnds]),
            tabs: any(&[CatFlag::ShowAll, CatFlag::TabsVisibly, CatFlag::ShowTabs]),
            squeeze: p.has_option(CatFlag::SqueezeBlank),
            nonprinting: any(&visible) || p.has_option(CatFlag::ShowNonprinting),
            line: 0,
            blanks: 0,
            at_start: true,
            out: Vec::new(),
        }
    }

    /// Returns whether the output equals the input.
    fn is_plain(&self) -> bool {
        !(self.number || self.ends || self.tabs || self.squeeze || self.nonprinting)
    }

    fn format_file(
        &mut self,
        reader: &mut impl BufRead,
        out: &mut OutStream,
    ) -> Result<(), CopyStop> {
        input::for_each_line(reader, b'\n', |line, ended| {
            self.format_line(line, ended);
            if self.out.len() >= 32 * 1024 {
                write_output(out, &self.out)?;
                self.out.clear();
            }
            Ok(true)
        })
        .and_then(|()| {
            write_output(out, &self.out)?;
            self.out.clear();
            Ok(())
        })
    }

    fn format_line(&mut self, line: &[u8], ended: bool) {
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
                self.format_body(rest);
                self.out.extend_from_slice(b"^M");
                &[][..]
            }
            _ => line,
        };
        self.format_body(body);
        if ended {
            self.out.extend_from_slice(if self.ends { b"$\n" } else { b"\n" });
        }
        self.at_start = ended;
    }

    fn format_body(&mut self, text: &[u8]) {
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
