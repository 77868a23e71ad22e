//! The command line of jq 1.8: options may be clustered and come after operands.

use std::io::Write;

use crate::json::{self, Indent};
use crate::value::Value;
use box_applet::{Ctx, Exit};

/// The parsed command line.
#[derive(Debug)]
pub struct Options {
    /// The filter's text.
    pub filter: Vec<u8>,
    /// Where the filter's text was read from, for messages.
    pub filter_file: Option<Vec<u8>>,
    pub files: Vec<Vec<u8>>,
    pub null_input: bool,
    pub raw_input: bool,
    pub slurp: bool,
    pub raw_output: bool,
    /// No newline after each value.
    pub join_output: bool,
    /// NUL after each value (`--raw-output0`).
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

/// Usage text, as jq prints it for `-h`.
pub const HELP: &str = "\
Usage:\tjq [OPTIONS] FILTER [FILES...]
\tjq [OPTIONS] -f FILE [FILES...]
\tjq [OPTIONS] --args FILTER [ARGUMENTS...]
\tjq [OPTIONS] --jsonargs FILTER [JSON_VALUES...]

jq is a tool for processing JSON inputs, applying the given filter to
its JSON text inputs and producing the filter's results as JSON on
standard output.

Command options:
  -n, --null-input          use `null` as the single input value;
  -R, --raw-input           read each line as string instead of JSON;
  -s, --slurp               read all inputs into an array and use it as
                            the single input value;
  -c, --compact-output      compact instead of pretty-printed output;
  -r, --raw-output          output strings without escapes and quotes;
      --raw-output0         implies -r and output NUL after each output;
  -j, --join-output         implies -r and output without newline after
                            each output;
  -a, --ascii-output        output strings by only ASCII characters
                            using escape sequences;
  -S, --sort-keys           sort keys of each object on output;
  -C, --color-output        colorize JSON output;
  -M, --monochrome-output   disable colored output;
      --tab                 use tabs for indentation;
      --indent n            use n spaces for indentation (max 7 spaces);
      --unbuffered          flush output stream after each output;
      --stream              parse the input value in streaming fashion;
      --stream-errors       implies --stream and report parse error as
                            an array;
      --seq                 parse input/output as application/json-seq;
  -f, --from-file           load the filter from a file;
  -L, --library-path dir    search modules from the directory;
      --arg name value      set $name to the string value;
      --argjson name value  set $name to the JSON value;
      --slurpfile name file set $name to an array of JSON values read
                            from the file;
      --rawfile name file   set $name to string contents of file;
      --args                consume remaining arguments as positional
                            string values;
      --jsonargs            consume remaining arguments as positional
                            JSON values;
  -e, --exit-status         set exit status code based on the output;
  -V, --version             show the version;
  -h, --help                show the help;
  --                        terminates argument processing;

Named arguments are also available as $ARGS.named[], while
positional arguments are available as $ARGS.positional[].
";

/// How positional arguments after the filter are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Positional {
    Files,
    Strings,
    Json,
}

/// Parses the command line; `Err` after a message or help.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Options, Exit> {
    let mut o = Options {
        filter: Vec::new(),
        filter_file: None,
        files: Vec::new(),
        null_input: false,
        raw_input: false,
        slurp: false,
        raw_output: false,
        join_output: false,
        nul_output: false,
        ascii: false,
        sort_keys: false,
        color: false,
        indent: Indent::Spaces(2),
        exit_status: false,
        seq: false,
        stream: false,
        stream_errors: false,
        unbuffered: false,
        named: Vec::new(),
        positional: Vec::new(),
        library: Vec::new(),
    };
    let mut filter = None;
    let mut from_file = false;
    let mut positional = Positional::Files;
    let mut only_operands = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        // A negative number is a program.
        let optional = |c: &u8| *c == b'-' || c.is_ascii_alphabetic();
        let operand =
            only_operands || arg.first() != Some(&b'-') || !arg.get(1).is_some_and(optional);
        if operand {
            match (filter.is_none(), positional) {
                (true, _) => filter = Some(arg.clone()),
                (false, Positional::Files) => o.files.push(arg.clone()),
                (false, Positional::Strings) => o.positional.push(Value::bytes(arg.clone())),
                (false, Positional::Json) => match json::parse_one(arg) {
                    Ok(v) => o.positional.push(v),
                    Err(_) => {
                        let text = String::from_utf8_lossy(arg).into_owned();
                        return Err(bad(
                            ctx,
                            &format!("Invalid JSON text passed to --jsonargs: {text}"),
                        ));
                    }
                },
            }
            continue;
        }
        let mut next = |ctx: &mut Ctx<'_>, n: usize| -> Result<Vec<Vec<u8>>, Exit> {
            let got: Vec<Vec<u8>> = args.by_ref().take(n).cloned().collect();
            if got.len() == n {
                return Ok(got);
            }
            let name = String::from_utf8_lossy(arg).into_owned();
            let what = match name.as_str() {
                "--arg" => " (e.g. --arg varname value)",
                "--argjson" => " (e.g. --argjson varname text)",
                "--slurpfile" | "--rawfile" => " (e.g. --rawfile varname filename)",
                _ => "",
            };
            let count = if n == 1 { "one parameter" } else { "two parameters" };
            Err(bad(ctx, &format!("{name} takes {count}{what}")))
        };
        let Some(long) = arg.strip_prefix(b"--") else {
            for &c in &arg[1..] {
                match c {
                    b'n' => o.null_input = true,
                    b'R' => o.raw_input = true,
                    b's' => o.slurp = true,
                    b'c' => o.indent = Indent::None,
                    b'r' => o.raw_output = true,
                    b'j' => (o.raw_output, o.join_output) = (true, true),
                    b'a' => o.ascii = true,
                    b'S' => o.sort_keys = true,
                    b'C' => o.color = true,
                    b'M' => o.color = false,
                    b'e' => o.exit_status = true,
                    b'f' => from_file = true,
                    b'b' => {}
                    b'L' => o.library.extend(next(ctx, 1)?),
                    b'h' => return Err(help(ctx)),
                    b'V' => return Err(version(ctx)),
                    _ => return Err(unknown(ctx, arg)),
                }
                if c == b'L' {
                    break;
                }
            }
            continue;
        };
        match long {
            b"" => only_operands = true,
            b"null-input" => o.null_input = true,
            b"raw-input" => o.raw_input = true,
            b"slurp" => o.slurp = true,
            b"compact-output" => o.indent = Indent::None,
            b"raw-output" => o.raw_output = true,
            b"raw-output0" => (o.raw_output, o.nul_output) = (true, true),
            b"join-output" => (o.raw_output, o.join_output) = (true, true),
            b"ascii-output" => o.ascii = true,
            b"sort-keys" => o.sort_keys = true,
            b"color-output" => o.color = true,
            b"monochrome-output" => o.color = false,
            b"tab" => o.indent = Indent::Tab,
            b"indent" => {
                let text = next(ctx, 1)?;
                let n = std::str::from_utf8(&text[0]).ok().and_then(|t| t.parse::<i64>().ok());
                o.indent = match n {
                    Some(0) => Indent::None,
                    Some(n @ 1..=7) => Indent::Spaces(n as usize),
                    Some(n) if n > 7 => {
                        return Err(bad(ctx, "Cannot indent more than 7 characters"));
                    }
                    Some(_) => return Err(bad(ctx, "Cannot indent less than 0 characters")),
                    None => return Err(bad(ctx, "--indent takes a number")),
                };
            }
            b"unbuffered" => o.unbuffered = true,
            b"stream" => o.stream = true,
            b"stream-errors" => (o.stream, o.stream_errors) = (true, true),
            b"seq" => o.seq = true,
            b"exit-status" => o.exit_status = true,
            b"from-file" => from_file = true,
            b"library-path" => o.library.extend(next(ctx, 1)?),
            b"arg" => {
                let two = next(ctx, 2)?;
                bind(&mut o, &two[0], Value::bytes(two[1].clone()));
            }
            b"argjson" => {
                let two = next(ctx, 2)?;
                match json::parse_one(&two[1]) {
                    Ok(v) => bind(&mut o, &two[0], v),
                    Err(_) => return Err(bad(ctx, "Invalid JSON text passed to --argjson")),
                }
            }
            b"slurpfile" | b"rawfile" => {
                let two = next(ctx, 2)?;
                let value = file_value(ctx, long == b"rawfile", &two[0], &two[1])?;
                bind(&mut o, &two[0], value);
            }
            b"args" => positional = Positional::Strings,
            b"jsonargs" => positional = Positional::Json,
            b"help" => return Err(help(ctx)),
            b"version" => return Err(version(ctx)),
            b"binary" | b"build-configuration" | b"debug-dump-disasm" | b"debug-trace" => {}
            _ => return Err(unknown(ctx, arg)),
        }
    }
    finish(ctx, o, filter, from_file)
}

fn finish(
    ctx: &mut Ctx<'_>,
    mut o: Options,
    filter: Option<Vec<u8>>,
    from_file: bool,
) -> Result<Options, Exit> {
    match (filter, from_file) {
        (Some(file), true) => {
            match std::fs::read(ctx.path(&file)) {
                Ok(text) => o.filter = text,
                Err(e) => {
                    let text = box_sys::strerror(&e);
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

/// Later bindings of a name do not replace earlier ones, as in jq.
fn bind(o: &mut Options, name: &[u8], value: Value) {
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
            let text = box_sys::strerror(&e);
            return Err(bad(
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
        .map_err(|e| bad(ctx, &format!("Bad JSON in --slurpfile {name} {shown}: {e}")))
}

fn help(ctx: &mut Ctx<'_>) -> Exit {
    let _ = ctx.stdout.write_all(HELP.as_bytes());
    Exit::SUCCESS
}

fn version(ctx: &mut Ctx<'_>) -> Exit {
    let _ = ctx.stdout.write_all(b"jq-1.8.1\n");
    Exit::SUCCESS
}

fn unknown(ctx: &mut Ctx<'_>, arg: &[u8]) -> Exit {
    let text = format!("Unknown option: {}", String::from_utf8_lossy(arg));
    bad(ctx, &text)
}

/// A usage error in jq's form, status 2.
fn bad(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(format_args!("{message}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.org"));
    Exit::USAGE
}
