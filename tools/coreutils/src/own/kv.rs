//! `kv`: the session's key-value pairs, which outlive calls, undo and restore. The host can access
//! them, too (`runner kv`). They exist only in sessions that keep key-values.

use box_applet::opts::Spec;
use box_applet::{Ctx, Ended, Exit};
use box_sys::kv::{KV, KvAnswer, KvRequest, MAX_KEY, MAX_VALUE};
use std::fs::File;
use std::io::{self, Read, Write};

use crate::common::{input, quote};

const SPEC: Spec = Spec::new(
    "get KEY | set KEY [VALUE] | list [PREFIX] | delete KEY...",
    "Keep values between the calls of a session: get, set, list or delete them.",
    &[],
)
.with_footer(
    "Without VALUE, or if it is -, set reads standard input. A key has at most 4096 \
        bytes, a value 1 MiB. Values are not files: undo and restore of a session leave \
        them as they are.\n\nExit status: 0 if all went well, 1 if there is no such key, 2 \
        for all else.",
)
.posix_order();

const MISSING: Exit = Exit(1);
const FAILED: Exit = Exit(2);

/// The reason why a request has failed.
enum KvFailure {
    /// The session keeps no key-values.
    Nowhere,
    Node(io::Error),
    /// The host's message about a refusal.
    Refused(Vec<u8>),
}

impl From<io::Error> for KvFailure {
    fn from(e: io::Error) -> KvFailure {
        KvFailure::Node(e)
    }
}

/// Sends a request to the host.
fn ask_host(request: &KvRequest<'_>) -> Result<KvAnswer, KvFailure> {
    let node = File::options().read(true).write(true).open(KV);
    let mut node = node.map_err(|_| KvFailure::Nowhere)?;
    node.write_all(&request.encode())?;
    let mut answer = Vec::new();
    node.read_to_end(&mut answer)?;
    match KvAnswer::decode(&answer) {
        Some(KvAnswer::Refused(why)) => Err(KvFailure::Refused(why)),
        Some(answer) => Ok(answer),
        None => Err(KvFailure::Node(io::ErrorKind::InvalidData.into())),
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, FAILED)?;
    let Some((action, rest)) = p.operands.split_first() else {
        input::missing_operand(ctx, None);
        return Ok(FAILED);
    };
    let keys: &[Vec<u8>] = match (action.as_slice(), rest) {
        (b"get" | b"set" | b"delete", []) => {
            input::missing_operand(ctx, Some(action));
            return Ok(FAILED);
        }
        (b"get", [_, extra, ..]) | (b"list", [_, extra, ..]) | (b"set", [_, _, extra, ..]) => {
            input::extra_operand(ctx, extra);
            return Ok(FAILED);
        }
        (b"delete", keys) => keys,
        (b"get" | b"set", [key, ..]) => std::slice::from_ref(key),
        (b"list", _) => &[],
        _ => {
            input::usage_error(ctx, &[b"unknown action ", &quote::quote_in_sentence(action)]);
            return Ok(FAILED);
        }
    };
    if let Some(key) = keys.iter().find(|key| key.is_empty() || key.len() > MAX_KEY) {
        let why: &[u8] = if key.is_empty() { b"the key is empty" } else { b"the key is too long" };
        ctx.error_bytes(&[why]);
        return Ok(FAILED);
    }
    let done = match (action.as_slice(), rest) {
        (b"get", [key, ..]) => get(ctx, key),
        (b"set", [key, value @ ..]) => set(ctx, key, value.first()),
        (b"delete", keys) => delete_keys(ctx, keys),
        _ => list_keys(ctx, rest.first().map_or(b"", |prefix| prefix)),
    };
    Ok(done.unwrap_or_else(|failed| {
        match failed {
            KvFailure::Nowhere => ctx.error_bytes(&[
                b"no values are kept here, because this is not a session with a history",
            ]),
            KvFailure::Node(e) => ctx.error_bytes(&[box_sys::error_text(&e).as_bytes()]),
            KvFailure::Refused(why) => ctx.error_bytes(&[&why]),
        }
        FAILED
    }))
}

fn report_missing(ctx: &mut Ctx<'_>, key: &[u8]) -> Exit {
    ctx.error_bytes(&[b"no value ", &quote::quote_in_sentence(key)]);
    MISSING
}

/// Prints a value, which the host returns part by part.
fn get(ctx: &mut Ctx<'_>, key: &[u8]) -> Result<Exit, KvFailure> {
    let mut from = 0;
    loop {
        let KvAnswer::Value { len, bytes } = ask_host(&KvRequest::Get { key, from })? else {
            return Ok(report_missing(ctx, key));
        };
        ctx.stdout.write_all(&bytes)?;
        from += bytes.len() as u64;
        if from >= len || bytes.is_empty() {
            return Ok(Exit::SUCCESS);
        }
    }
}

fn set(ctx: &mut Ctx<'_>, key: &[u8], value: Option<&Vec<u8>>) -> Result<Exit, KvFailure> {
    let mut read = Vec::new();
    let value = match value {
        Some(value) if value != b"-" => value,
        _ => {
            (&mut ctx.stdin).take(MAX_VALUE as u64 + 1).read_to_end(&mut read)?;
            &read
        }
    };
    if value.len() > MAX_VALUE {
        ctx.error_bytes(&[b"the value is longer than 1 MiB"]);
        return Ok(FAILED);
    }
    ask_host(&KvRequest::Set { key, value })?;
    Ok(Exit::SUCCESS)
}

fn delete_keys(ctx: &mut Ctx<'_>, keys: &[Vec<u8>]) -> Result<Exit, KvFailure> {
    let mut exit = Exit::SUCCESS;
    for key in keys {
        if ask_host(&KvRequest::Delete { key })? == KvAnswer::Missing {
            exit = report_missing(ctx, key);
        }
    }
    Ok(exit)
}

fn list_keys(ctx: &mut Ctx<'_>, prefix: &[u8]) -> Result<Exit, KvFailure> {
    let mut after = Vec::new();
    loop {
        let KvAnswer::Keys { keys, more } = ask_host(&KvRequest::List { after: &after })? else {
            return Err(KvFailure::Node(io::ErrorKind::InvalidData.into()));
        };
        for key in keys.iter().filter(|key| key.starts_with(prefix)) {
            ctx.stdout.write_all(key)?;
            ctx.stdout.write_all(b"\n")?;
        }
        match keys.into_iter().next_back().filter(|_| more) {
            Some(last) => after = last,
            None => return Ok(Exit::SUCCESS),
        }
    }
}
