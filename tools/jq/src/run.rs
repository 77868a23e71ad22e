//! The loop over inputs, and the exit status (jq manual, "--exit-status"): 0; with `-e`, 1 if the
//! last output was false or null, and 4 if there was none; 2 for errors of usage and files; 3 for a
//! program that does not compile; 5 for input that is not JSON, and for an error at the last input.

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use box_applet::{Ctx, Ended, Exit};

use crate::builtins::{JqHost, JqInputs, JqStreams};
use crate::input::Documents;
use crate::json::{JsonColors, JsonStyle, to_text, write};
use crate::machine::{JqMachine, JqProgram, JqStop};
use crate::options::{self, JqOptions};
use crate::program::{self, ModulePaths};
use crate::value::{Map, Value};

/// Runs `jq`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let options = options::parse(ctx, args)?;
    let Ok(code) = std::str::from_utf8(&options.filter) else {
        ctx.error("error: the program is not UTF-8\njq: 1 compile error");
        return Ok(Exit(3));
    };
    let env = env_object(ctx);
    let globals = global_variables(&options, &env);
    let paths = module_paths(ctx, &options);
    let program = match program::compile_program(code, globals, &paths) {
        Ok(p) => p,
        Err(text) => {
            ctx.error(format_args!("error: {text}\njq: 1 compile error"));
            return Ok(Exit(3));
        }
    };
    let colors = options.color.then(|| {
        let (colors, valid) = JsonColors::new(ctx.env.get(b"JQ_COLORS").unwrap_or_default());
        if !valid {
            let _ = ctx.stderr.write_all(b"Failed to set $JQ_COLORS\n");
        }
        colors
    });
    let style = JsonStyle {
        indent: options.indent,
        sort_keys: options.sort_keys,
        ascii: options.ascii,
        colors,
    };
    let streams = Rc::new(JqStreams::take(ctx));
    let mut documents = Documents::new(ctx, &options, streams.clone());
    let mut job =
        JqRun { options: &options, style: &style, program: &program, streams, last: None };
    let ended = job.all(ctx, &mut documents, env, &paths);
    job.streams.give_back(ctx);
    Ok(match ended {
        Ok(exit) => exit,
        // The dispatcher reports it when it flushes.
        Err(_) => Exit::USAGE,
    })
}

fn text_value(b: &[u8]) -> Value {
    Value::bytes(b)
}

fn key_text(b: &[u8]) -> crate::value::Str {
    std::rc::Rc::new(crate::value::text_from_bytes(b.to_vec()))
}

/// Returns the environment as an object.
fn env_object(ctx: &Ctx<'_>) -> Value {
    Value::obj(ctx.env.iter().map(|(k, v)| (key_text(k), text_value(v))).collect::<Map>())
}

/// Returns `$ENV`, `$ARGS` and the variables of the command line.
fn global_variables(options: &JqOptions, env: &Value) -> Vec<(String, Value)> {
    let named: Map = options.named.iter().map(|(k, v)| (key_text(k), v.clone())).collect();
    let args: Map = [
        (key_text(b"positional"), options.positional.iter().cloned().collect()),
        (key_text(b"named"), Value::obj(named)),
    ]
    .into_iter()
    .collect();
    let mut out = vec![("ENV".to_string(), env.clone()), ("ARGS".to_string(), Value::obj(args))];
    out.extend(options.named.iter().map(|(k, v)| (key_text(k).to_string(), v.clone())));
    out
}

fn module_paths(ctx: &Ctx<'_>, options: &JqOptions) -> ModulePaths {
    let home = ctx.path(ctx.env.get(b"HOME").unwrap_or(b"/")).join(".jq");
    let library = if options.library.is_empty() {
        vec![home.clone()]
    } else {
        options.library.iter().map(|d| ctx.path(d)).collect()
    };
    let origin = match &options.filter_file {
        Some(f) => ctx.path(f).parent().map_or_else(|| ctx.cwd.clone(), |p| p.to_path_buf()),
        None => ctx.cwd.clone(),
    };
    ModulePaths { library, origin, home, cwd: ctx.cwd.clone() }
}

/// The end of the outputs for one input.
enum OutputsEnd {
    /// All outputs were printed. The value says whether the last one was true; `None` if there was
    /// none.
    Done(Option<bool>),
    Failed,
    Halted(i32),
}

struct JqRun<'j> {
    options: &'j JqOptions,
    style: &'j JsonStyle,
    program: &'j JqProgram,
    streams: Rc<JqStreams>,
    /// Whether the last output was true; inputs without outputs do not count.
    last: Option<bool>,
}

impl JqRun<'_> {
    fn all(
        &mut self,
        ctx: &mut Ctx<'_>,
        documents: &mut Documents,
        env: Value,
        paths: &ModulePaths,
    ) -> io::Result<Exit> {
        let zone = Rc::new(ctx.zone());
        let library =
            paths.library.iter().map(|p| p.display().to_string().into()).collect::<Value>();
        let streams = self.streams.clone();
        let modules = |name: &str| program::describe_module(name, paths);
        let mut failed = false;
        let mut broken = false;
        let mut patterns = HashMap::new();
        let mut given_null = false;
        loop {
            let input = if self.options.null_input {
                (!std::mem::replace(&mut given_null, true)).then_some(Ok(Value::Null))
            } else {
                documents.next()
            };
            let Some(input) = input else { break };
            let value = match input {
                Ok(v) => v,
                Err(message) if self.options.seq => {
                    self.print_error(ctx, format_args!("ignoring parse error: {message}"));
                    continue;
                }
                Err(message) => {
                    self.print_error(ctx, format_args!("parse error: {message}"));
                    broken = true;
                    break;
                }
            };
            let mut host = JqHost {
                inputs: documents,
                env: env.clone(),
                library: library.clone(),
                streams: &streams,
                modules: &modules,
                halted: None,
                zone: zone.clone(),
                patterns,
            };
            let end = self.one(ctx, &mut host, value)?;
            patterns = host.patterns;
            failed = false;
            match end {
                OutputsEnd::Done(None) => {}
                OutputsEnd::Done(last) => self.last = last,
                OutputsEnd::Failed => failed = true,
                OutputsEnd::Halted(status) => return Ok(Exit((status & 0xff) as u8)),
            }
        }
        for message in &documents.failures {
            self.print_error(ctx, message);
        }
        let status = if !documents.failures.is_empty() {
            2
        } else if broken || failed {
            5
        } else if self.options.exit_status {
            match self.last {
                None => 4,
                Some(false) => 1,
                Some(true) => 0,
            }
        } else {
            0
        };
        Ok(Exit(status))
    }

    /// Prints all outputs for one input.
    fn one(
        &mut self,
        ctx: &mut Ctx<'_>,
        host: &mut JqHost<'_>,
        value: Value,
    ) -> io::Result<OutputsEnd> {
        let mut machine = JqMachine::new(self.program, value);
        let mut last = None;
        while let Some(result) = machine.next(host) {
            match result {
                Ok(v) => {
                    last = Some(v.is_truthy());
                    if let Some(problem) = self.print_value(&v)? {
                        let place = host.inputs.position();
                        self.print_error(ctx, format_args!("error (at {place}): {problem}"));
                        return Ok(OutputsEnd::Failed);
                    }
                }
                Err(JqStop::Halt) => return Ok(OutputsEnd::Halted(host.halted.unwrap_or(5))),
                Err(JqStop::Break) => {
                    let place = host.inputs.position();
                    self.print_error(ctx, format_args!("error (at {place}): break"));
                    return Ok(OutputsEnd::Failed);
                }
                Err(JqStop::Error(e)) => {
                    let place = host.inputs.position();
                    let (note, shown) = match &e {
                        Value::Str(s) => ("", s.to_string()),
                        other => (" (not a string)", to_text(other)),
                    };
                    self.print_error(ctx, format_args!("error (at {place}){note}: {shown}"));
                    return Ok(OutputsEnd::Failed);
                }
            }
        }
        Ok(OutputsEnd::Done(last))
    }

    /// Prints a message, after flushing standard output.
    fn print_error(&self, ctx: &mut Ctx<'_>, message: impl std::fmt::Display) {
        self.streams.flush();
        ctx.error(message);
    }

    /// Prints an output; returns the reason if it cannot be printed.
    fn print_value(&self, v: &Value) -> io::Result<Option<&'static str>> {
        let o = self.options;
        let mut out = self.streams.out.borrow_mut();
        match v {
            Value::Str(s) if o.raw_output && !o.ascii => {
                if o.nul_output && s.contains('\0') {
                    return Ok(Some(
                        "Cannot dump a string containing NUL with --raw-output0 option",
                    ));
                }
                out.write_all(s.as_bytes())?;
            }
            other => {
                if o.seq {
                    out.write_all(b"\x1e")?;
                }
                write(&mut *out, other, self.style)?;
            }
        }
        if o.nul_output {
            out.write_all(b"\0")?;
        } else if !o.join_output {
            out.write_all(b"\n")?;
        }
        if o.unbuffered {
            out.flush()?;
        }
        Ok(None)
    }
}
