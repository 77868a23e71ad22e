//! `parallel` (GNU parallel 20221122): runs a command for each of many arguments, several at a time.
//!
//! Deliberately absent: other hosts (`-S`), Perl code in replacement strings, `--results`,
//! `--resume`, `sem`.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `input` | the arguments: `:::`, `::::`, `-a`, standard input, their combinations |
//! | `template` | replacement strings |
//! | `jobs` | running commands, their output, `--halt`, the log |

mod input;
mod jobs;
mod options;
mod template;

use std::io::{Read, Write};

use box_applet::{Ctx, Ended, Exit};

use input::{ArgumentTuple, Input, SourceError};
use jobs::{Job, Jobs};
use options::{Flag, Grouping, Plan, SPEC};
use template::Template;

/// The status of an error of `parallel` itself.
const ERROR: Exit = Exit(255);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (own, sources) = input::split_sources(args);
    let p = SPEC.parse_or_exit(ctx, own, ERROR)?;
    if p.has_option(Flag::Cores) {
        let text = format!("{}\n", options::core_count());
        return Ok(ctx.print(&text));
    }
    let fail = |ctx: &mut Ctx<'_>, message: String| {
        ctx.error(format_args!("Error: {message}"));
        ERROR
    };
    let plan = Plan::new(&p).map_err(|message| fail(ctx, message))?;
    if plan.pipe {
        return run_pipe(ctx, &plan);
    }
    let mut input = Input::open(ctx, &plan, sources).map_err(|SourceError(m)| fail(ctx, m))?;
    let mut template =
        Template::parse(&plan.command, &plan.replacement, &input.names, plan.quotes_command);
    if !template.has_arguments() && !template.is_empty() {
        template.append_all();
    }
    let tag = plan.tag.as_ref().map(|t| Template::parse(t, &plan.replacement, &input.names, false));
    let mut jobs = Jobs::new(ctx, &plan).map_err(|message| fail(ctx, message))?;
    while let Some(tuple) = next_arguments(ctx, &mut input, &plan) {
        if plan.skips_empty && tuple.values.iter().all(Vec::is_empty) {
            continue;
        }
        let number = jobs.next_number();
        let job = Job {
            command: template.expand(&tuple, number, jobs.free_slot(), true),
            tag: tag.as_ref().map(|t| t.expand(&tuple, number, 0, false)),
            input: None,
        };
        if !jobs.run_job(ctx, job) {
            break;
        }
    }
    Ok(jobs.finish(ctx))
}

/// Returns the arguments of the next job.
fn next_arguments(ctx: &mut Ctx<'_>, input: &mut Input, plan: &Plan) -> Option<ArgumentTuple> {
    let first = input.next(ctx)?;
    let (most, bytes) = match plan.grouping {
        Grouping::One => return Some(first),
        Grouping::Count(n) => (n, usize::MAX),
        Grouping::All(bytes) => (plan.max_arguments.unwrap_or(usize::MAX), bytes),
    };
    let mut all = ArgumentTuple { values: first.values, context: plan.repeats_context };
    let mut used: usize = all.values.iter().map(|v| v.len() + 1).sum();
    let mut count = 1;
    while count < most {
        let Some(next) = input.peek(ctx) else { break };
        let length: usize = next.values.iter().map(|v| v.len() + 1).sum();
        if used + length > bytes {
            break;
        }
        used += length;
        count += 1;
        all.values.extend(input.next(ctx).map(|t| t.values).unwrap_or_default());
    }
    Some(all)
}

/// Runs the command for each block of standard input (`--pipe`).
fn run_pipe(ctx: &mut Ctx<'_>, plan: &Plan) -> Ended {
    let mut jobs = match Jobs::new(ctx, plan) {
        Ok(jobs) => jobs,
        Err(message) => {
            ctx.error(format_args!("Error: {message}"));
            return Ok(ERROR);
        }
    };
    let template = Template::parse(&plan.command, &plan.replacement, &[], plan.quotes_command);
    let nothing = ArgumentTuple { values: Vec::new(), context: false };
    let mut text = Vec::new();
    let mut ended = false;
    loop {
        let end = loop {
            match find_block(&text, plan, ended) {
                Some(end) => break end,
                None if ended => break text.len(),
                None => {
                    let mut part = (&mut ctx.stdin).take(1 << 16);
                    match part.read_to_end(&mut text) {
                        Ok(0) | Err(_) => ended = true,
                        Ok(_) => {}
                    }
                }
            }
        };
        if end == 0 {
            break;
        }
        let rest = text.split_off(end);
        let number = jobs.next_number();
        let job = Job {
            command: template.expand(&nothing, number, jobs.free_slot(), true),
            tag: None,
            input: Some(std::mem::replace(&mut text, rest)),
        };
        if !jobs.run_job(ctx, job) {
            break;
        }
    }
    let _ = ctx.stdout.flush();
    Ok(jobs.finish(ctx))
}

/// Returns the end of the first block: N lines, or the lines within the size of a block.
fn find_block(text: &[u8], plan: &Plan, ended: bool) -> Option<usize> {
    if let Grouping::Count(lines) = plan.grouping {
        let ends = text.iter().enumerate().filter(|(_, c)| **c == b'\n');
        return ends.map(|(at, _)| at + 1).nth(lines - 1);
    }
    if text.len() < plan.block {
        return ended.then_some(text.len());
    }
    let last = text[..plan.block].iter().rposition(|c| *c == b'\n');
    let next = || text[plan.block..].iter().position(|c| *c == b'\n').map(|at| plan.block + at);
    last.or_else(next).map(|at| at + 1)
}
