//! The loop over inputs, and what the exit status says (jq manual, "--exit-status"):
//! 0, 1 for a last output of false or null, 2 for usage and files, 3 for a filter that does not
//! compile, 4 for no output, 5 for an error while running.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;

use box_applet::{Ctx, Exit};
use jaq_core::Vars;
use jaq_json::Val;
use jaq_std::input::RcIter;

use crate::functions::{Data, Kind};
use crate::input::Documents;
use crate::options::{self, Options};
use crate::output::{Colors, Style, write};
use crate::program::{self, Program};

/// Runs `jq`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let options = match options::parse(ctx, args) {
        Ok(o) => o,
        Err(exit) => return exit,
    };
    let Ok(code) = std::str::from_utf8(&options.filter) else {
        ctx.error("error: the filter is not UTF-8\njq: 1 compile error");
        return Exit(3);
    };
    let globals = globals(ctx, &options);
    let library = library(ctx, &options);
    let program = match program::compile(code, globals, library) {
        Ok(p) => p,
        Err(text) => {
            ctx.error(format_args!("error: {text}\njq: 1 compile error"));
            return Exit(3);
        }
    };
    match execute(ctx, &options, &program) {
        Ok(exit) => exit,
        // The dispatcher reports it when it flushes.
        Err(_) => Exit::USAGE,
    }
}

/// `$ENV`, `$ARGS`, `$__prog_args` and the variables of the command line.
fn globals(ctx: &Ctx<'_>, options: &Options) -> Vec<(String, Val)> {
    let text = |b: &[u8]| Val::utf8_str(b.to_vec());
    let env: jaq_json::Map = ctx.env.iter().map(|(k, v)| (text(k), text(v))).collect();
    let named: jaq_json::Map = options.named.iter().map(|(k, v)| (text(k), v.clone())).collect();
    let args: jaq_json::Map = [
        (text(b"positional"), options.positional.iter().cloned().collect()),
        (text(b"named"), Val::obj(named)),
    ]
    .into_iter()
    .collect();
    let mut out = vec![("ENV".to_string(), Val::obj(env)), ("ARGS".to_string(), Val::obj(args))];
    out.extend(
        options.named.iter().map(|(k, v)| (String::from_utf8_lossy(k).into_owned(), v.clone())),
    );
    out
}

/// Directories of modules: `-L`, else `~/.jq` as jq has it.
fn library(ctx: &Ctx<'_>, options: &Options) -> Vec<PathBuf> {
    if options.library.is_empty() {
        let home = ctx.env.get(b"HOME").unwrap_or(b"/");
        return vec![ctx.path(home).join(".jq")];
    }
    options.library.iter().map(|d| ctx.path(d)).collect()
}

/// What the last output was, for `-e`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    None,
    Falsy,
    Truthy,
}

fn execute(ctx: &mut Ctx<'_>, options: &Options, program: &Program) -> io::Result<Exit> {
    let colors = options.color.then(|| Colors::new(ctx.env.get(b"JQ_COLORS").unwrap_or_default()));
    let style = Style {
        indent: options.indent,
        sort_keys: options.sort_keys,
        ascii: options.ascii,
        colors,
    };
    let filename = RefCell::new(Val::Null);
    let stderr = RefCell::new(Vec::new());
    let documents = if options.null_input && options.files.is_empty() {
        // Only `input` and `inputs` read; most programs with -n never do.
        None
    } else {
        Some(Documents::open(ctx, options, &filename))
    };
    let mut status = 0;
    if let Some(d) = &documents {
        for message in &d.failures {
            ctx.error(format_args!("error: {message}"));
            status = 2;
        }
    }
    let lazy: Box<dyn Iterator<Item = Result<Val, String>> + '_> = match documents {
        Some(d) => Box::new(d),
        None => {
            let closed = box_applet::Input::new(box_applet::Source::Closed);
            let stdin = std::mem::replace(&mut ctx.stdin, closed);
            Box::new(Lazy { stdin: Some(stdin), options, documents: None })
        }
    };
    let inputs = RcIter::new(lazy);
    let data =
        Data { lut: &program.filter.lut, inputs: &inputs, filename: &filename, stderr: &stderr };
    let vars = Vars::new(program.variables.clone());
    let context = jaq_core::Ctx::<Kind>::new(&data, vars);
    let mut last = Last::None;
    let mut once = options.null_input.then_some(Ok(Val::Null));
    loop {
        let input = if options.null_input { once.take() } else { (&inputs).next() };
        let Some(input) = input else { break };
        let value = match input {
            Ok(v) => v,
            Err(e) => {
                ctx.error(format_args!("error (at <stdin>:0): {e}"));
                status = 2;
                break;
            }
        };
        for result in program.filter.id.run((context.clone(), value)) {
            drain(ctx, &stderr);
            match result {
                Ok(v) => {
                    last = if matches!(v, Val::Null | Val::Bool(false)) {
                        Last::Falsy
                    } else {
                        Last::Truthy
                    };
                    print(ctx, options, &style, &v)?;
                }
                Err(exception) => match exception.get_err() {
                    Ok(e) => {
                        ctx.error(format_args!(
                            "error (at <stdin>:0){}",
                            error_text(&e.into_val())
                        ));
                        status = 5;
                    }
                    Err(other) => {
                        let code = other.get_halt().unwrap_or(5);
                        drain(ctx, &stderr);
                        return Ok(Exit((code & 0xff) as u8));
                    }
                },
            }
        }
        drain(ctx, &stderr);
    }
    Ok(Exit(match (status, options.exit_status, last) {
        (0, true, Last::None) => 4,
        (0, true, Last::Falsy) => 1,
        (s, _, _) => s,
    }))
}

/// Standard input that is read only when a filter asks for it.
struct Lazy<'o> {
    stdin: Option<box_applet::Input>,
    options: &'o Options,
    documents: Option<std::vec::IntoIter<Result<Val, String>>>,
}

impl Iterator for Lazy<'_> {
    type Item = Result<Val, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(stdin) = self.stdin.take() {
            self.documents = Some(crate::input::from_stream(stdin, self.options).into_iter());
        }
        self.documents.as_mut()?.next()
    }
}

/// Writes what `debug` and `stderr` left.
fn drain(ctx: &mut Ctx<'_>, stderr: &RefCell<Vec<u8>>) {
    let text = std::mem::take(&mut *stderr.borrow_mut());
    if !text.is_empty() {
        let _ = ctx.stdout.flush();
        let _ = ctx.stderr.write_all(&text);
    }
}

/// How an uncaught error is shown: strings as they are, other values as JSON.
fn error_text(v: &Val) -> String {
    match v {
        Val::TStr(s) => format!(": {}", String::from_utf8_lossy(s)),
        Val::Obj(_) | Val::Arr(_) => {
            format!(" (not a string): {}", String::from_utf8_lossy(&crate::output::compact(v)))
        }
        other => {
            format!(" (not a string): {}", String::from_utf8_lossy(&crate::output::compact(other)))
        }
    }
}

fn print(ctx: &mut Ctx<'_>, options: &Options, style: &Style, v: &Val) -> io::Result<()> {
    if options.seq {
        ctx.stdout.write_all(b"\x1e")?;
    }
    match v {
        Val::TStr(s) | Val::BStr(s) if options.raw_output && !options.ascii => {
            ctx.stdout.write_all(s)?
        }
        other => write(&mut ctx.stdout, other, style)?,
    }
    if options.nul_output {
        ctx.stdout.write_all(b"\0")?;
    } else if !options.join_output {
        ctx.stdout.write_all(b"\n")?;
    }
    if options.unbuffered {
        ctx.stdout.flush()?;
    }
    Ok(())
}
