//! `tool`: calls functions that the embedder of the session has registered. Arguments and results
//! are JSON.
//!
//! | file | contents |
//! |---|---|
//! | `arguments` | conversion of a command line to a JSON object, by the tool's schema |
//! | `help` | the text of `tool NAME --help`, generated from the schema |
//! | `host` | requests to the host |
//!
//! The host checks that arguments fit the schema. This applet only converts words to the values
//! that they most likely mean.

mod arguments;
mod help;
mod host;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::tools::{MAX_ARGUMENTS, ToolFailure};
use host::{HostToolInfo, ToolCallFailure};
use serde_json::Value;
use std::io::{Read, Write};

/// An option of `tool`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolFlag {
    Json,
    List,
    RawOutput,
}

const SPEC: Spec<ToolFlag> = Spec::new(
    "[OPTION]... [NAME [--ARGUMENT VALUE]... [JSON | -]]",
    "Call a tool of this session's host, or list its tools.",
    &[
        Opt::new(ToolFlag::List, 'l', "list").with_help("List the tools, as without NAME"),
        Opt::new(ToolFlag::Json, 'j', "json").with_help("List them as JSON, with their schemas"),
        Opt::new(ToolFlag::RawOutput, 'r', "raw-output")
            .with_help("Print a result that is a string as text, not as JSON"),
    ],
)
.with_footer(
    "The arguments of a tool are options by their names, which tool NAME --help lists. A \
        list is an option that is given several times; --FLAG is true and --no-FLAG false; \
        all other values are JSON. Words without an option fill the required \
        arguments, in their order. JSON is an object of arguments; - reads it from standard \
        input. The result is printed as JSON.\n\nExit status: 0 if the tool gave a result, \
        1 if it failed or a limit was reached, 2 if the arguments are wrong, 126 if the \
        policy does not allow it, 127 if there is no such tool.",
)
.posix_order();

const DENIED: Exit = Exit(126);
const UNKNOWN: Exit = Exit(127);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let done = match p.operands.split_first() {
        Some((name, rest)) if !p.has_option(ToolFlag::List) => run_tool(
            ctx,
            name,
            rest,
            p.has_option(ToolFlag::Json),
            p.has_option(ToolFlag::RawOutput),
        ),
        _ => print_list(ctx, p.has_option(ToolFlag::Json)),
    };
    Ok(match done {
        Ok(exit) => ctx.finish(Ok(exit)),
        Err(failed) => report_failure(ctx, &failed),
    })
}

/// Reports why there is no result; returns the exit status.
fn report_failure(ctx: &mut Ctx<'_>, failed: &ToolCallFailure) -> Exit {
    let (text, exit) = match failed {
        ToolCallFailure::Nowhere => ("this session's host has no tools".into(), UNKNOWN),
        ToolCallFailure::Node(e) => (box_sys::error_text(e), Exit::FAILURE),
        ToolCallFailure::Host(kind, why) => {
            let exit = match kind {
                ToolFailure::Unknown => UNKNOWN,
                ToolFailure::Denied => DENIED,
                ToolFailure::Arguments => Exit::USAGE,
                ToolFailure::Tool
                | ToolFailure::Limit
                | ToolFailure::Cancelled
                | ToolFailure::Request => Exit::FAILURE,
            };
            (String::from_utf8_lossy(why).into_owned(), exit)
        }
    };
    for line in text.lines() {
        ctx.error(line);
    }
    exit
}

fn print_list(ctx: &mut Ctx<'_>, as_json: bool) -> Result<Exit, ToolCallFailure> {
    let tools = match host::list_tools() {
        // In a session without host tools the list is empty, so that scripts can always ask for it.
        Err(ToolCallFailure::Nowhere) => Vec::new(),
        tools => tools?,
    };
    let out = if as_json {
        let all = tools.into_iter().map(|t| t.definition).collect();
        format!("{}\n", Value::Array(all))
    } else {
        help::tools_table(&tools)
    };
    ctx.stdout.write_all(out.as_bytes())?;
    Ok(Exit::SUCCESS)
}

fn run_tool(
    ctx: &mut Ctx<'_>,
    name: &[u8],
    words: &[Vec<u8>],
    as_json: bool,
    raw: bool,
) -> Result<Exit, ToolCallFailure> {
    let tools = host::list_tools()?;
    let Some(tool) = tools.into_iter().find(|t| t.name().as_bytes() == name) else {
        // The host reports whether the tool does not exist or may not be called.
        return host::call_tool(name, b"{}").map(|_| UNKNOWN);
    };
    if as_json {
        ctx.stdout.write_all(format!("{}\n", tool.definition).as_bytes())?;
        return Ok(Exit::SUCCESS);
    }
    if arguments::wants_help(words) {
        ctx.stdout.write_all(help::tool_help(&ctx.name, &tool).as_bytes())?;
        return Ok(Exit::SUCCESS);
    }
    let mut read = || {
        let mut json = Vec::new();
        (&mut ctx.stdin).take(MAX_ARGUMENTS as u64 + 1).read_to_end(&mut json)?;
        Ok(json)
    };
    let arguments = match arguments::parse(tool.schema(), words, &mut read) {
        Ok(arguments) => arguments,
        Err(why) => {
            ctx.error(format_args!("{}: {why}", tool.name()));
            let hint = format!("Try '{} {} --help' for more information.\n", ctx.name, tool.name());
            ctx.stderr.write_all(hint.as_bytes())?;
            return Ok(Exit::USAGE);
        }
    };
    if arguments.len() > MAX_ARGUMENTS {
        ctx.error(format_args!("{}: the arguments are longer than 1 MiB", tool.name()));
        return Ok(Exit::USAGE);
    }
    let result = host::call_tool(name, &arguments).map_err(|failed| name_failure(failed, &tool))?;
    print_result(ctx, &result, raw)?;
    Ok(Exit::SUCCESS)
}

/// Adds the tool's name to each line of a failure's message, as commands do.
fn name_failure(failed: ToolCallFailure, tool: &HostToolInfo) -> ToolCallFailure {
    match failed {
        ToolCallFailure::Host(
            kind @ (ToolFailure::Arguments | ToolFailure::Tool | ToolFailure::Limit),
            why,
        ) => {
            let lines = String::from_utf8_lossy(&why).into_owned();
            let lines: Vec<_> = lines.lines().map(|l| format!("{}: {l}", tool.name())).collect();
            ToolCallFailure::Host(kind, lines.join("\n").into_bytes())
        }
        other => other,
    }
}

fn print_result(ctx: &mut Ctx<'_>, result: &[u8], raw: bool) -> std::io::Result<()> {
    let text = if raw && result.first() == Some(&b'"') {
        serde_json::from_slice::<String>(result).ok()
    } else {
        None
    };
    ctx.stdout.write_all(text.as_ref().map_or(result, |text| text.as_bytes()))?;
    ctx.stdout.write_all(b"\n")
}
