//! Errors that end a script from outside: no `catch` in the script sees them.

use rquickjs::{Ctx, Error, Exception, Result, Value, qjs};

/// Throws an error that only the engine's caller sees: the script's `catch` and `finally` blocks do
/// not run.
pub fn throw_uncatchable(ctx: &Ctx<'_>, text: &str) -> Error {
    let made = Exception::from_message(ctx.clone(), text);
    let Ok(exception) = made else { return Error::Exception };
    let value = exception.into_object().into_value();
    // SAFETY: the context is live, the value is one of its errors, and the call sets a flag of that
    // error. JUSTIFICATION: rquickjs throws such errors only from its interrupt handler.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
    ctx.throw(value)
}

/// Takes the pending error if scripts cannot catch it; the context then has no pending error.
pub fn take_uncatchable<'js>(ctx: &Ctx<'js>) -> Option<Value<'js>> {
    let value = ctx.catch();
    if value.is_uncatchable_error() {
        return Some(value);
    }
    // Any other error stays pending.
    ctx.throw(value);
    None
}

/// Returns the result, or `None` if it is the error of an interrupt.
pub fn unless_interrupted<'js, T>(ctx: &Ctx<'js>, result: Result<T>) -> Option<Result<T>> {
    match result {
        Err(Error::Exception) if take_uncatchable(ctx).is_some() => None,
        result => Some(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::function::Func;
    use rquickjs::{Context, Runtime};

    #[test]
    fn scripts_do_not_see_uncatchable_errors() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            let end = |ctx: Ctx<'_>| -> Result<()> { Err(throw_uncatchable(&ctx, "end")) };
            ctx.globals().set("end", Func::from(end)).unwrap();
            let script =
                "globalThis.seen = 0; try { end() } catch { seen = 1 } finally { seen += 2 }";
            let result = ctx.eval::<(), _>(script);
            assert!(unless_interrupted(&ctx, result).is_none());
            assert_eq!(ctx.eval::<i32, _>("seen").unwrap(), 0);
            let result = ctx.eval::<(), _>("throw new Error('other')");
            assert!(matches!(unless_interrupted(&ctx, result), Some(Err(Error::Exception))));
            assert!(ctx.catch().is_error());
        });
    }
}
