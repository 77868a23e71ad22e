//! Ending scripts from outside: errors that no `catch` of a script sees.

use rquickjs::{Ctx, Error, Exception, Result, Value, qjs};

/// Throws an error that only the engine's caller sees: `catch` and `finally` of scripts are passed
/// by.
pub fn throw_uncatchable(ctx: &Ctx<'_>, text: &str) -> Error {
    let made = Exception::from_message(ctx.clone(), text);
    let Ok(exception) = made else { return Error::Exception };
    let value = exception.into_object().into_value();
    // SAFETY: a live context and one of its errors, of which one flag is set. JUSTIFICATION:
    // rquickjs throws such errors from its handler of interrupts only.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
    ctx.throw(value)
}

/// Takes the error that is being thrown if it is one that scripts cannot catch; the context is then
/// without a pending error.
pub fn take_uncatchable<'js>(ctx: &Ctx<'js>) -> Option<Value<'js>> {
    let value = ctx.catch();
    if value.is_uncatchable_error() {
        return Some(value);
    }
    // Thrown again as it was.
    ctx.throw(value);
    None
}

/// Passes a result on, unless it is the error of an interrupt: then `None`.
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
    fn scripts_do_not_see_it() {
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
