//! `printf` (POSIX XCU printf; GNU manual "printf invocation"). The walk over the format is
//! [`box_text::printf::command`]; here are GNU's messages.

use std::io::Write;
use std::ops::ControlFlow::{self, Break, Continue};

use box_applet::{Ctx, Ended, Exit};
use box_text::escape::Dialect;
use box_text::printf::command::{self, After, Host, Problem};

use crate::common::{input, quote};

const HELP: &str = "Usage: printf FORMAT [ARGUMENT]...
  or:  printf OPTION
Print ARGUMENT(s) according to FORMAT, or execute according to OPTION:

      --help     display this help and exit
      --version  output version information and exit

FORMAT controls the output as in C printf.  Interpreted sequences are:

  \\\"      double quote
  \\\\      backslash
  \\a \\b \\c \\e \\f \\n \\r \\t \\v   as in echo -e
  \\NNN    byte with octal value NNN (1 to 3 digits)
  \\xHH    byte with hexadecimal value HH (1 to 2 digits)
  \\uHHHH  Unicode character with hex value HHHH (4 digits)
  \\UHHHHHHHH  Unicode character with hex value HHHHHHHH (8 digits)
  %%      a single %
  %b      ARGUMENT as a string with '\\' escapes interpreted,
          except that octal escapes are of the form \\0 or \\0NNN
  %q      ARGUMENT is printed in a format that can be reused as shell input
and all C format specifications ending with one of diouxXfeEgGcs.
";

struct Applet<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    /// Standard output has refused to take more.
    refused: bool,
}

impl Host for Applet<'_, '_> {
    const ESCAPES: Dialect = Dialect::GnuFormat;
    const OWN: &'static [u8] = b"q";

    fn complain(&mut self, out: &mut Vec<u8>, problem: Problem<'_>) -> After {
        let _ = self.passed(out);
        let count;
        let (parts, after): (&[&[u8]], After) = match problem {
            Problem::Number { text, used, range } => {
                let why: &[u8] = match (used, range) {
                    (0, _) => b": expected a numeric value",
                    (_, true) => b": Numerical result out of range",
                    (_, false) => b": value not completely converted",
                };
                (&[&quote::always(text), why], After::Failed)
            }
            Problem::Ignored(behind) => {
                let why = b": character(s) following character constant have been ignored";
                (&[b"warning: ", behind, why], After::Warned)
            }
            Problem::Escape(_) => (&[b"missing hexadecimal number in escape"], After::Ends),
            Problem::Conversion { text, .. } | Problem::Width(text) => {
                (&[b"%", text, b": invalid conversion specification"], After::Ends)
            }
            Problem::Count { what, n } => {
                count = format!("invalid {what}: '{n}'");
                (&[count.as_bytes()], After::Ends)
            }
            Problem::Excess(first) => {
                let why = b"warning: ignoring excess arguments, starting with ";
                (&[why, &quote::always(first)], After::Warned)
            }
            // `%(` is no conversion here.
            Problem::Time(_) => return After::Ends,
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
        quote::quoted(text, quote::Style::ShellEscape)
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let args = match args {
        [first, ..] if first == b"--help" => return Ok(ctx.print(HELP)),
        [first, ..] if first == b"--version" => return Ok(ctx.print(&ctx.version())),
        [first, rest @ ..] if first == b"--" => rest,
        all => all,
    };
    let Some((format, args)) = args.split_first() else {
        return Err(input::missing_operand(ctx, None));
    };
    let args: Vec<&Vec<u8>> = args.iter().collect();
    let mut applet = Applet { ctx, refused: false };
    let (mut out, failed) = command::run(&mut applet, format, &args);
    let refused = applet.passed(&mut out).is_break();
    Ok(if failed || refused { Exit::FAILURE } else { Exit::SUCCESS })
}
