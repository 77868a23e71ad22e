//! Scripts with a time limit (`timeout` of `vm`), and scripts that Ctrl-C ends (`breakOnSigint`).
//! The engine checks both every few thousand steps.

use super::terminal;
use js_engine::interrupt;
use rquickjs::function::Func;
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Returns whether the engine must end the running code.
pub fn is_over() -> bool {
    DEADLINE.get().is_some_and(|d| Instant::now() >= d) || terminal::is_interrupted()
}

/// Calls a function. Returns its result in an array, or nothing if the function was ended after
/// `time` milliseconds, or by an interrupt of the keyboard. Within another such call, the earlier
/// deadline counts.
fn within<'js>(
    ctx: Ctx<'js>,
    time: f64,
    function: Function<'js>,
) -> Result<Option<Vec<Value<'js>>>> {
    let outer = DEADLINE.get();
    let time = Duration::try_from_secs_f64(time / 1e3).unwrap_or(Duration::MAX);
    let own = Instant::now().checked_add(time);
    let deadline = [outer, own].into_iter().flatten().min();
    DEADLINE.set(deadline);
    let result = function.call::<_, Value>(());
    DEADLINE.set(outer);
    match interrupt::unless_interrupted(&ctx, result) {
        Some(result) => Ok(Some(vec![result?])),
        None if terminal::is_interrupted() => Ok(None),
        // The cell ends, or the deadline of the outer call has passed.
        None if own.is_none_or(|own| Instant::now() < own) => {
            let error = crate::cells::ending_error(&ctx);
            Err(error.unwrap_or_else(|| interrupt::throw_uncatchable(&ctx, "interrupted")))
        }
        None => Ok(None),
    }
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("within", Func::from(within))
}
