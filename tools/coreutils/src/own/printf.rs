//! `printf` (POSIX XCU printf; GNU manual "printf invocation"). [`box_text::printf::command`]
//! interprets the format; this file has GNU's messages.

use std::io::Write;
use std::ops::ControlFlow::{self, Break, Continue};

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit};
use box_text::escape::EscapeDialect;
use box_text::printf::command::{self, PrintfHooks, PrintfProblem, ProblemVerdict};

use crate::common::{input, quote};

const HELP: HelpPage = HelpPage::new(
    "FORMAT [ARGUMENT]...",
    "Print the ARGUMENTs by FORMAT, again and again until all are printed.",
    &[HelpSection::new(
        "FORMAT",
        &[
            ("  %s, %c", "The text, or its first character"),
            ("  %d, %i, %u, %o, %x, %X", "A whole number: decimal, octal, hexadecimal"),
            ("  %f, %e, %g, %a", "A number with a fraction; in capitals with %E, %G, %A"),
            ("  %b", "The text, its escapes decoded; octal ones begin with \\0"),
            ("  %q", "The text, quoted for a shell"),
            ("  %%", "A percent sign"),
            ("  \\n, \\t, \\\\, \\\", \\a, \\b, \\e, \\f, \\r, \\v", "As in C"),
            (
                "  \\NNN, \\xHH, \\uHHHH, \\UHHHHHHHH",
                "A byte in octal or hexadecimal, or a character by its number",
            ),
            ("  \\c", "Ends the output"),
        ],
    )],
)
.with_notes(
    "The % may be followed by -, +, space, # or 0, a width, and a \
        precision: %-8s, %05.2f. With * the next ARGUMENT gives the number.",
)
.with_examples(&[
    ("printf '%s\\n' *.txt", "Each name in a line"),
    ("printf '%03d\\n' 7", "Prints 007"),
]);

struct PrintfApplet<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    /// Whether a write to standard output has failed.
    refused: bool,
}

impl PrintfHooks for PrintfApplet<'_, '_> {
    const ESCAPES: EscapeDialect = EscapeDialect::GnuFormat;
    const OWN: &'static [u8] = b"q";

    fn complain(&mut self, out: &mut Vec<u8>, problem: PrintfProblem<'_>) -> ProblemVerdict {
        let _ = self.passed(out);
        let count;
        let (parts, after): (&[&[u8]], ProblemVerdict) = match problem {
            PrintfProblem::Number { text, used, range } => {
                let why: &[u8] = match (used, range) {
                    (0, _) => b": expected a numeric value",
                    (_, true) => b": Numerical result out of range",
                    (_, false) => b": value not completely converted",
                };
                (&[&quote::quote_in_sentence(text), why], ProblemVerdict::Failed)
            }
            PrintfProblem::Ignored(behind) => {
                let why = b": character(s) following character constant have been ignored";
                (&[b"warning: ", behind, why], ProblemVerdict::Warned)
            }
            PrintfProblem::Escape(_) => {
                (&[b"missing hexadecimal number in escape"], ProblemVerdict::Ends)
            }
            PrintfProblem::Conversion { text, .. } | PrintfProblem::Width(text) => {
                (&[b"%", text, b": invalid conversion specification"], ProblemVerdict::Ends)
            }
            PrintfProblem::Count { what, n } => {
                count = format!("invalid {what}: '{n}'");
                (&[count.as_bytes()], ProblemVerdict::Ends)
            }
            PrintfProblem::Excess(first) => {
                let why = b"warning: ignoring excess arguments, starting with ";
                (&[why, &quote::quote_in_sentence(first)], ProblemVerdict::Warned)
            }
            // `%(` is not a conversion here.
            PrintfProblem::Time(_) => return ProblemVerdict::Ends,
        };
        self.ctx.error_bytes(parts);
        after
    }

    fn passed(&mut self, out: &mut Vec<u8>) -> ControlFlow<()> {
        self.refused |= self.ctx.stdout.write_all(out).is_err();
        out.clear();
        if self.refused { Break(()) } else { Continue(()) }
    }

    fn quoted(&self, text: &[u8]) -> Vec<u8> {
        quote::quote_name(text, quote::QuoteStyle::ShellEscape)
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let args = match args {
        [first, ..] if first == b"--help" => return Ok(ctx.print(&HELP.text(&ctx.name))),
        [first, ..] if first == b"--version" => return Ok(ctx.print(&ctx.version())),
        [first, rest @ ..] if first == b"--" => rest,
        all => all,
    };
    let Some((format, args)) = args.split_first() else {
        return Err(input::missing_operand(ctx, None));
    };
    let args: Vec<&Vec<u8>> = args.iter().collect();
    let mut applet = PrintfApplet { ctx, refused: false };
    let (mut out, failed) = command::run(&mut applet, format, &args);
    let refused = applet.passed(&mut out).is_break();
    Ok(if failed || refused { Exit::FAILURE } else { Exit::SUCCESS })
}
