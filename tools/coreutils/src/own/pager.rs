//! `less` and `more`. There is no terminal to page on, so they copy text to the output, as both do
//! when it is not a terminal.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};

use crate::common::input::{self, CopyStop};

/// An option of `less` and `more`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PagerFlag {
    ChopLongLines,
    ClearScreen,
    Dumb,
    Force,
    HiliteSearch,
    IgnoreCase,
    Ignored,
    LineNumbers,
    LongPrompt,
    NoInit,
    Pattern,
    Plain,
    Quiet,
    QuitAtEof,
    QuitIfOneScreen,
    RawControlChars,
    SqueezeBlankLines,
    Tabs,
}

/// The original programs' flags that only matter on a terminal.
const FLAGS: &[Opt<PagerFlag>] = &[
    Opt::new(PagerFlag::QuitAtEof, 'E', "QUIT-AT-EOF").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::QuitIfOneScreen, 'F', "quit-if-one-screen").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::HiliteSearch, 'G', "HILITE-SEARCH").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::IgnoreCase, 'I', "IGNORE-CASE").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::LongPrompt, 'M', "LONG-PROMPT").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::LineNumbers, 'N', "LINE-NUMBERS")
        .with_help("Put a number before each line"),
    Opt::new(PagerFlag::RawControlChars, 'R', "RAW-CONTROL-CHARS").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::ChopLongLines, 'S', "chop-long-lines").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::NoInit, 'X', "no-init").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::ClearScreen, 'c', "clear-screen").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::Dumb, 'd', "dumb").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::QuitAtEof, 'e', "quit-at-eof").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::Force, 'f', "force").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::HiliteSearch, 'g', "hilite-search").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::IgnoreCase, 'i', "ignore-case").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::Ignored, 'l', "").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::LongPrompt, 'm', "long-prompt").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::LineNumbers, 'n', "line-numbers").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::Pattern, 'p', "pattern").with_argument("PATTERN", words::NO_PAGES),
    Opt::new(PagerFlag::Quiet, 'q', "quiet").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::RawControlChars, 'r', "raw-control-chars").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::SqueezeBlankLines, 's', "squeeze-blank-lines")
        .with_help("Print a run of empty lines as one"),
    Opt::new(PagerFlag::Plain, 'u', "plain").with_help(words::NO_PAGES),
    Opt::new(PagerFlag::Tabs, 'x', "tabs").with_argument("N", words::NO_PAGES),
];

const SPEC: Spec<PagerFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print files. There is no terminal here to stop at the end of a page.",
    FLAGS,
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    // `+G`, `+/text` and `-50` select the position and the number of lines of a page.
    let is_position = |a: &&Vec<u8>| match a.as_slice() {
        [b'+', _, ..] => true,
        [b'-', c, ..] => c.is_ascii_digit(),
        _ => false,
    };
    let args: Vec<Vec<u8>> = args.iter().filter(|a| !is_position(a)).cloned().collect();
    let p = SPEC.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let (squeeze, numbers) =
        (p.has_option(PagerFlag::SqueezeBlankLines), p.has_option(PagerFlag::LineNumbers));
    let files = input::or_stdin(p.operands);
    let headers = ctx.name == "more" && files.len() > 1;
    let mut printer = PagerPrinter { squeeze, numbers, after_blank: false, number: 0 };
    for file in &files {
        let opened = input::open_operand(&mut ctx.stdin, &ctx.cwd, file).map_err(CopyStop::Read);
        let out = &mut ctx.stdout;
        let result = opened.and_then(|mut reader| {
            if headers {
                let bar = b"::::::::::::::\n";
                input::write_output(out, &[bar, file.as_slice(), b"\n", bar].concat())?;
            }
            printer.print(&mut reader, out)
        });
        match result {
            Ok(()) => {}
            Err(CopyStop::Read(e)) => cannot_show(ctx, file, &e),
            Err(CopyStop::Write) => return Ok(Exit::FAILURE),
        }
    }
    // Neither program fails because of a file that it cannot show.
    Ok(Exit::SUCCESS)
}

/// Prints files one after another, as if they were one.
struct PagerPrinter {
    squeeze: bool,
    numbers: bool,
    after_blank: bool,
    number: u64,
}

impl PagerPrinter {
    fn print(
        &mut self,
        reader: &mut input::InputFile<'_>,
        out: &mut OutStream,
    ) -> Result<(), CopyStop> {
        if !self.squeeze && !self.numbers {
            return input::copy_all(reader, out);
        }
        input::for_each_line(reader, b'\n', |line, ended| {
            let was_blank = std::mem::replace(&mut self.after_blank, line.is_empty());
            if self.squeeze && line.is_empty() && was_blank {
                return Ok(true);
            }
            self.number += 1;
            if self.numbers {
                input::write_output(out, format!("{:>7} ", self.number).as_bytes())?;
            }
            input::write_output(out, line)?;
            input::write_output(out, if ended { b"\n" } else { b"" })?;
            Ok(true)
        })
    }
}

/// Reports that a file is not shown, with the message of `more` or `less`.
fn cannot_show(ctx: &mut Ctx<'_>, file: &[u8], e: &std::io::Error) {
    let _ = ctx.stdout.flush();
    let text = box_sys::error_text(e);
    let directory = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
    let line = match (directory, ctx.name == "more") {
        (true, true) => [b"\n*** ", file, b": directory ***\n\n"].concat(),
        (true, false) => [file, b" is a directory\n"].concat(),
        (false, true) => [b"more: cannot open ", file, b": ", text.as_bytes(), b"\n"].concat(),
        (false, false) => [file, b": ", text.as_bytes(), b"\n"].concat(),
    };
    let _ = ctx.stderr.write_all(&line);
}
