//! The engine's information about its own values, and the compiling of scripts.

use super::TextArgument;
use rquickjs::function::Func;
use rquickjs::promise::PromiseState;
use rquickjs::{Array, Ctx, Object, Promise, Result, Value};

/// Evaluates a script under a name, and returns its completion value.
fn evaluate<'js>(
    ctx: Ctx<'js>,
    source: TextArgument,
    name: TextArgument,
    strict: bool,
) -> Result<Value<'js>> {
    js_engine::run_script(&ctx, &source.0, &name.0, strict)
}

/// Returns the state of a promise as V8 numbers it: 0 pending, 1 fulfilled, 2 rejected.
fn promise_state(promise: Promise<'_>) -> u8 {
    match promise.state() {
        PromiseState::Pending => 0,
        PromiseState::Resolved => 1,
        PromiseState::Rejected => 2,
    }
}

/// Returns the value or reason of a settled promise; `undefined` for a pending one.
fn promise_result<'js>(ctx: Ctx<'js>, promise: Promise<'js>) -> Result<Value<'js>> {
    match promise.result::<Value>() {
        None => Ok(Value::new_undefined(ctx)),
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => Ok(ctx.catch()),
    }
}

/// Returns the target and handler of a proxy; nothing for any other value.
fn proxy_details<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Option<Array<'js>>> {
    let Some(proxy) = value.into_proxy() else { return Ok(None) };
    let out = Array::new(ctx)?;
    out.set(0, proxy.target()?)?;
    out.set(1, proxy.handler()?)?;
    Ok(Some(out))
}

fn class_number(value: Value<'_>) -> u32 {
    js_engine::class_number(&value)
}

/// Runs promise jobs until none is left.
fn run_jobs(ctx: Ctx<'_>) -> Result<()> {
    while ctx.execute_pending_job() {
        if let Some(error) = crate::cells::ending_error(&ctx) {
            return Err(error);
        }
    }
    Ok(())
}

/// Returns the value that follows promises.
#[cfg(target_os = "wasi")]
fn continuation(ctx: Ctx<'_>) -> Value<'_> {
    js_engine::continuation::continuation(&ctx)
}

/// Sets the value that follows promises.
#[cfg(target_os = "wasi")]
fn set_continuation<'js>(ctx: Ctx<'js>, value: Value<'js>) {
    js_engine::continuation::set_continuation(&ctx, value);
}

fn check_syntax(ctx: Ctx<'_>, source: TextArgument, name: TextArgument) -> Result<()> {
    js_engine::check_script(&ctx, &source.0, &name.0)
}

/// Makes a realm. Returns its global object and its number.
fn new_realm<'js>(ctx: Ctx<'js>) -> Result<Array<'js>> {
    let (global, number) = js_engine::new_realm(&ctx)?;
    let out = Array::new(ctx)?;
    out.set(0, global)?;
    out.set(1, number)?;
    Ok(out)
}

/// Evaluates a script under a name in a realm, and returns its completion value.
fn evaluate_in<'js>(
    ctx: Ctx<'js>,
    realm: usize,
    source: TextArgument,
    name: TextArgument,
) -> Result<Value<'js>> {
    js_engine::run_in_realm(&ctx, realm, &source.0, &name.0)
}

/// Returns an undetectable object, which tests of test262 request from their host.
fn undetectable<'js>(ctx: Ctx<'js>) -> Result<Value<'js>> {
    js_engine::undetectable_object(&ctx)
}

/// Returns whether `eval` and similar functions may compile code. The sandbox's file system has a
/// node for this, which a policy may remove (`Vfs::forbid_code_from_strings`). The result is also
/// `true` if there is no `/.box`, as in other runtimes.
fn strings_allowed() -> bool {
    #[cfg(target_os = "wasi")]
    return std::fs::metadata("/.box/code-from-strings").is_ok()
        || std::fs::metadata("/.box").is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound);
    // Outside of the guest there is no policy. Tests set this variable.
    #[cfg(not(target_os = "wasi"))]
    return std::env::var_os("WASIBOX_JS_NO_STRINGS").is_none();
}

/// Frees unreachable cycles of objects.
fn collect(ctx: Ctx<'_>) {
    ctx.run_gc();
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("evaluate", Func::from(evaluate))?;
    native.set("promiseState", Func::from(promise_state))?;
    native.set("promiseResult", Func::from(promise_result))?;
    native.set("proxyDetails", Func::from(proxy_details))?;
    native.set("classNumber", Func::from(class_number))?;
    native.set("runJobs", Func::from(run_jobs))?;
    // Outside of the guest the engine has no such value (`js_engine::continuation`).
    #[cfg(target_os = "wasi")]
    {
        native.set("continuation", Func::from(continuation))?;
        native.set("setContinuation", Func::from(set_continuation))?;
    }
    native.set("checkSyntax", Func::from(check_syntax))?;
    native.set("newRealm", Func::from(new_realm))?;
    native.set("evaluateIn", Func::from(evaluate_in))?;
    native.set("undetectable", Func::from(undetectable))?;
    native.set("stringsAllowed", Func::from(strings_allowed))?;
    native.set("gc", Func::from(collect))
}
