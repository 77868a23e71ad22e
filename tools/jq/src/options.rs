//! The command line of jq 1.8: options may be clustered and come after operands.

use crate::json::{self, Indent};
use crate::value::Value;
use box_applet::help::{HelpPage, HelpSection, words};
use box_applet::{Ctx, Exit};

/// The parsed command line.
#[derive(Debug, Default)]
pub struct JqOptions {
    /// The filter's text.
    pub filter: Vec<u8>,
    /// The file from which the filter was read, for messages.
    pub filter_file: Option<Vec<u8>>,
    pub files: Vec<Vec<u8>>,
    pub null_input: bool,
    pub raw_input: bool,
    pub slurp: bool,
    pub raw_output: bool,
    /// Whether values are written without newlines after them.
    pub join_output: bool,
    /// Whether a NUL follows each value (`--raw-output0`).
    pub nul_output: bool,
    pub ascii: bool,
    pub sort_keys: bool,
    pub color: bool,
    pub indent: Indent,
    pub exit_status: bool,
    pub seq: bool,
    pub stream: bool,
    pub stream_errors: bool,
    pub unbuffered: bool,
    /// `$name` variables in order.
    pub named: Vec<(Vec<u8>, Value)>,
    pub positional: Vec<Value>,
    pub library: Vec<Vec<u8>>,
}

/// The help.
pub const HELP: HelpPage = HelpPage::new(
    "[OPTION]... FILTER [FILE]...\n[OPTION]... -f FILE [FILE]...\n[OPTION]... --args \
        FILTER [STRING]...\n[OPTION]... --jsonargs FILTER [JSON]...",
    "Apply FILTER to each JSON value of the input, and print the results as JSON.",
    &[
        HelpSection::new(
            "Input",
            &[
                ("  -n, --null-input", "Run once with null; input and inputs read"),
                ("  -R, --raw-input", "Take each line as a string"),
                ("  -s, --slurp", "Take all values as one array"),
                ("      --stream", "Read values as a stream of [path, leaf] pairs"),
                ("      --stream-errors", "The same, with an array for each syntax error"),
                ("      --seq", "Read and write values with RS before each (RFC 7464)"),
                ("  -f, --from-file FILE", "Read the filter from FILE"),
                ("  -L, --library-path DIR", "Search modules in DIR"),
            ],
        ),
        HelpSection::new(
            "Output",
            &[
                ("  -r, --raw-output", "Print strings as text"),
                ("  -j, --join-output", "The same, without newlines"),
                ("      --raw-output0", "The same, with a NUL byte after each"),
                ("  -c, --compact-output", "Print each value in one line"),
                ("      --indent N", "Indent by N spaces, 0 to 7 (2)"),
                ("      --tab", "Indent by tabs"),
                ("  -S, --sort-keys", "Sort the keys of objects"),
                ("  -a, --ascii-output", "Print characters outside of ASCII as escapes"),
                ("  -C, --color-output", "Color the output"),
                ("  -M, --monochrome-output", "Do not color it"),
                ("      --unbuffered", "Write each result at once"),
                (
                    "  -e, --exit-status",
                    "End with status 1 if the last result is null or false, with 4 if there is no result",
                ),
            ],
        ),
        HelpSection::new(
            "Variables",
            &[
                ("      --arg NAME VALUE", "Set $NAME to a string"),
                ("      --argjson NAME JSON", "Set $NAME to a JSON value"),
                ("      --slurpfile NAME FILE", "Set $NAME to an array of the values in FILE"),
                ("      --rawfile NAME FILE", "Set $NAME to the text of FILE"),
                ("      --args", "Take the words that follow as strings of $ARGS.positional"),
                ("      --jsonargs", "Take them as JSON"),
            ],
        ),
        HelpSection::new(
            "Others",
            &[
                ("  -h, --help", words::HELP),
                ("  -V, --version", words::VERSION),
                ("  --", "Ends the options"),
            ],
        ),
    ],
)
.with_notes("$ARGS.named has all named variables, $ENV the environment.")
.reads_standard_input()
.with_examples(&[
    ("jq . FILE", "Print with indentation"),
    ("jq -r '.users[].name' FILE", "A field of each element, as text"),
    ("jq 'map(select(.age > 30))' FILE", "Elements that fulfil a condition"),
    ("jq -n --arg k v '{($k): 1}'", "Make JSON from variables"),
]);

/// The meaning of positional arguments after the filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Positional {
    Files,
    Strings,
    Json,
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JqFlag {
    NullInput,
    RawInput,
    Slurp,
    Compact,
    RawOutput,
    RawOutput0,
    JoinOutput,
    Ascii,
    SortKeys,
    Color,
    Monochrome,
    Tab,
    Indent,
    Unbuffered,
    Stream,
    StreamErrors,
    Seq,
    FromFile,
    LibraryPath,
    Arg,
    ArgJson,
    SlurpFile,
    RawFile,
    Args,
    JsonArgs,
    ExitStatus,
    Version,
    Help,
    /// Accepted without effect.
    Nothing,
}

/// Letter and long name of each option.
const FLAGS: &[(Option<u8>, &str, JqFlag)] = &[
    (Some(b'n'), "null-input", JqFlag::NullInput),
    (Some(b'R'), "raw-input", JqFlag::RawInput),
    (Some(b's'), "slurp", JqFlag::Slurp),
    (Some(b'c'), "compact-output", JqFlag::Compact),
    (Some(b'r'), "raw-output", JqFlag::RawOutput),
    (None, "raw-output0", JqFlag::RawOutput0),
    (Some(b'j'), "join-output", JqFlag::JoinOutput),
    (Some(b'a'), "ascii-output", JqFlag::Ascii),
    (Some(b'S'), "sort-keys", JqFlag::SortKeys),
    (Some(b'C'), "color-output", JqFlag::Color),
    (Some(b'M'), "monochrome-output", JqFlag::Monochrome),
    (None, "tab", JqFlag::Tab),
    (None, "indent", JqFlag::Indent),
    (None, "unbuffered", JqFlag::Unbuffered),
    (None, "stream", JqFlag::Stream),
    (None, "stream-errors", JqFlag::StreamErrors),
    (None, "seq", JqFlag::Seq),
    (Some(b'f'), "from-file", JqFlag::FromFile),
    (Some(b'L'), "library-path", JqFlag::LibraryPath),
    (None, "arg", JqFlag::Arg),
    (None, "argjson", JqFlag::ArgJson),
    (None, "slurpfile", JqFlag::SlurpFile),
    (None, "rawfile", JqFlag::RawFile),
    (None, "args", JqFlag::Args),
    (None, "jsonargs", JqFlag::JsonArgs),
    (Some(b'e'), "exit-status", JqFlag::ExitStatus),
    (Some(b'V'), "version", JqFlag::Version),
    (Some(b'h'), "help", JqFlag::Help),
    (Some(b'b'), "binary", JqFlag::Nothing),
    (None, "build-configuration", JqFlag::Nothing),
    (None, "debug-dump-disasm", JqFlag::Nothing),
    (None, "debug-trace", JqFlag::Nothing),
];

/// The command line while it is read.
struct JqReader<'a> {
    options: JqOptions,
    filter: Option<Vec<u8>>,
    from_file: bool,
    positional: Positional,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

/// Parses the command line. The error is the exit status; a message or the help has been printed.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<JqOptions, Exit> {
    let mut reader = JqReader {
        options: JqOptions { indent: Indent::Spaces(2), ..JqOptions::default() },
        filter: None,
        from_file: false,
        positional: Positional::Files,
        rest: args.iter(),
    };
    let mut only_operands = false;
    while let Some(arg) = reader.rest.next() {
        // A negative number is a filter, not an option.
        let optional = |c: &u8| *c == b'-' || c.is_ascii_alphabetic();
        if only_operands || arg.first() != Some(&b'-') || !arg.get(1).is_some_and(optional) {
            reader.take_operand(ctx, arg)?;
        } else if arg == b"--" {
            only_operands = true;
        } else if let Some(long) = arg.strip_prefix(b"--") {
            let found = FLAGS.iter().find(|(_, name, _)| name.as_bytes() == long);
            let (.., flag) = found.ok_or_else(|| report_unknown(ctx, arg))?;
            reader.take_flag(ctx, *flag, arg)?;
        } else {
            for (at, letter) in arg.iter().enumerate().skip(1) {
                let found = FLAGS.iter().find(|(short, ..)| *short == Some(*letter));
                let (.., flag) = found.ok_or_else(|| report_unknown(ctx, arg))?;
                let attached = &arg[at + 1..];
                if *flag == JqFlag::LibraryPath && !attached.is_empty() {
                    reader.options.library.push(attached.to_vec());
                    break;
                }
                reader.take_flag(ctx, *flag, arg)?;
            }
        }
    }
    finish_options(ctx, reader.options, reader.filter, reader.from_file)
}

impl JqReader<'_> {
    /// Handles an operand: the filter, or one after it.
    fn take_operand(&mut self, ctx: &mut Ctx<'_>, arg: &[u8]) -> Result<(), Exit> {
        match self.positional {
            _ if self.filter.is_none() => self.filter = Some(arg.to_vec()),
            Positional::Files => self.options.files.push(arg.to_vec()),
            Positional::Strings => self.options.positional.push(Value::bytes(arg.to_vec())),
            Positional::Json => match json::parse_one(arg) {
                Ok(value) => self.options.positional.push(value),
                Err(_) => {
                    let text = String::from_utf8_lossy(arg);
                    let message = format!("Invalid JSON text passed to --jsonargs: {text}");
                    return Err(report_usage(ctx, &message));
                }
            },
        }
        Ok(())
    }

    /// Applies an option, which was written as `arg`.
    fn take_flag(&mut self, ctx: &mut Ctx<'_>, flag: JqFlag, arg: &[u8]) -> Result<(), Exit> {
        let o = &mut self.options;
        match flag {
            JqFlag::NullInput => o.null_input = true,
            JqFlag::RawInput => o.raw_input = true,
            JqFlag::Slurp => o.slurp = true,
            JqFlag::Compact => o.indent = Indent::None,
            JqFlag::RawOutput => o.raw_output = true,
            JqFlag::RawOutput0 => (o.raw_output, o.nul_output) = (true, true),
            JqFlag::JoinOutput => (o.raw_output, o.join_output) = (true, true),
            JqFlag::Ascii => o.ascii = true,
            JqFlag::SortKeys => o.sort_keys = true,
            JqFlag::Color => o.color = true,
            JqFlag::Monochrome => o.color = false,
            JqFlag::Tab => o.indent = Indent::Tab,
            JqFlag::Unbuffered => o.unbuffered = true,
            JqFlag::Stream => o.stream = true,
            JqFlag::StreamErrors => (o.stream, o.stream_errors) = (true, true),
            JqFlag::Seq => o.seq = true,
            JqFlag::ExitStatus => o.exit_status = true,
            JqFlag::FromFile => self.from_file = true,
            JqFlag::Args => self.positional = Positional::Strings,
            JqFlag::JsonArgs => self.positional = Positional::Json,
            JqFlag::Help => return Err(ctx.print(&HELP.text(&ctx.name))),
            JqFlag::Version => return Err(ctx.print(&ctx.version())),
            JqFlag::Nothing => {}
            JqFlag::Indent => {
                let [columns] = self.take_parameters(ctx, arg)?;
                self.options.indent = parse_indent(ctx, &columns)?;
            }
            JqFlag::LibraryPath => {
                let [path] = self.take_parameters(ctx, arg)?;
                self.options.library.push(path);
            }
            JqFlag::Arg | JqFlag::ArgJson | JqFlag::SlurpFile | JqFlag::RawFile => {
                let [name, text] = self.take_parameters(ctx, arg)?;
                let value = match flag {
                    JqFlag::Arg => Value::bytes(text),
                    JqFlag::ArgJson => json::parse_one(&text)
                        .map_err(|_| report_usage(ctx, "Invalid JSON text passed to --argjson"))?,
                    _ => file_value(ctx, flag == JqFlag::RawFile, &name, &text)?,
                };
                bind_variable(&mut self.options, &name, value);
            }
        }
        Ok(())
    }

    /// Returns the words that an option takes after it.
    fn take_parameters<const N: usize>(
        &mut self,
        ctx: &mut Ctx<'_>,
        arg: &[u8],
    ) -> Result<[Vec<u8>; N], Exit> {
        let words: Vec<Vec<u8>> = self.rest.by_ref().take(N).cloned().collect();
        <[Vec<u8>; N]>::try_from(words).map_err(|_| {
            let name = String::from_utf8_lossy(arg);
            let what = match &*name {
                "--arg" => " (e.g. --arg varname value)",
                "--argjson" => " (e.g. --argjson varname text)",
                "--slurpfile" | "--rawfile" => " (e.g. --rawfile varname filename)",
                _ => "",
            };
            let count = if N == 1 { "one parameter" } else { "two parameters" };
            report_usage(ctx, &format!("{name} takes {count}{what}"))
        })
    }
}

fn parse_indent(ctx: &mut Ctx<'_>, columns: &[u8]) -> Result<Indent, Exit> {
    match std::str::from_utf8(columns).ok().and_then(|t| t.parse::<i64>().ok()) {
        Some(0) => Ok(Indent::None),
        Some(n @ 1..=7) => Ok(Indent::Spaces(n as usize)),
        Some(n) if n > 7 => Err(report_usage(ctx, "Cannot indent more than 7 characters")),
        Some(_) => Err(report_usage(ctx, "Cannot indent less than 0 characters")),
        None => Err(report_usage(ctx, "--indent takes a number")),
    }
}

fn finish_options(
    ctx: &mut Ctx<'_>,
    mut o: JqOptions,
    filter: Option<Vec<u8>>,
    from_file: bool,
) -> Result<JqOptions, Exit> {
    match (filter, from_file) {
        (Some(file), true) => {
            match std::fs::read(ctx.path(&file)) {
                Ok(text) => o.filter = text,
                Err(e) => {
                    let text = box_sys::error_text(&e);
                    let name = String::from_utf8_lossy(&file).into_owned();
                    ctx.error(format_args!("error: Could not open {name}: {text}"));
                    return Err(Exit::USAGE);
                }
            }
            o.filter_file = Some(file);
        }
        (Some(text), false) => o.filter = text,
        (None, _) => o.filter = b".".to_vec(),
    }
    Ok(o)
}

/// Binds a variable. Later bindings of a name do not replace earlier ones, as in jq.
fn bind_variable(o: &mut JqOptions, name: &[u8], value: Value) {
    if !o.named.iter().any(|(n, _)| n == name) {
        o.named.push((name.to_vec(), value));
    }
}

fn file_value(ctx: &mut Ctx<'_>, raw: bool, name: &[u8], file: &[u8]) -> Result<Value, Exit> {
    let shown = String::from_utf8_lossy(file).into_owned();
    let name = String::from_utf8_lossy(name).into_owned();
    let data = match std::fs::read(ctx.path(file)) {
        Ok(d) => d,
        Err(e) => {
            let text = box_sys::error_text(&e);
            return Err(report_usage(
                ctx,
                &format!(
                    "Bad JSON in --{} {name} {shown}: Could not open {shown}: {text}",
                    if raw { "rawfile" } else { "slurpfile" }
                ),
            ));
        }
    };
    if raw {
        return Ok(Value::bytes(data));
    }
    json::parse_many(&data)
        .map(Value::arr)
        .map_err(|e| report_usage(ctx, &format!("Bad JSON in --slurpfile {name} {shown}: {e}")))
}

fn report_unknown(ctx: &mut Ctx<'_>, arg: &[u8]) -> Exit {
    let text = format!("Unknown option: {}", String::from_utf8_lossy(arg));
    report_usage(ctx, &text)
}

/// Reports a usage error in jq's form, and returns status 2.
fn report_usage(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(format_args!("{message}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.org"));
    Exit::USAGE
}
