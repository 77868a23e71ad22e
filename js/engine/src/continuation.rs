//! The value that follows promises, which Node's `AsyncLocalStorage` rests on.
//!
//! A patch of QuickJS (`js/engine/c/0001-values-follow-promises.patch`) lets each job and each
//! reaction of a promise keep the value that was set when it was made; the engine sets this value
//! again while the job runs. V8 calls it the continuation-preserved embedder data. The patch is
//! applied for the guest only.

use rquickjs::{Ctx, Value, qjs};

unsafe extern "C" {
    fn JS_GetContinuation(ctx: *mut qjs::JSContext) -> qjs::JSValue;
    fn JS_SetContinuation(ctx: *mut qjs::JSContext, value: qjs::JSValue);
}

/// Returns the value that jobs keep that are made now; `undefined` at first.
pub fn continuation<'js>(ctx: &Ctx<'js>) -> Value<'js> {
    // SAFETY: the context is live, and the engine returns a value that its caller owns.
    // JUSTIFICATION: the function comes from a patch, so rquickjs does not know it.
    unsafe { Value::from_raw(ctx.clone(), JS_GetContinuation(ctx.as_raw().as_ptr())) }
}

/// Sets the value that jobs keep that are made from now on.
pub fn set_continuation<'js>(ctx: &Ctx<'js>, value: Value<'js>) {
    // SAFETY: the context is live, and the engine takes over a value of the same runtime, which
    // this function owns: a duplicate of the argument. JUSTIFICATION: as above.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        JS_SetContinuation(raw, qjs::JS_DupValue(raw, value.as_raw()));
    }
}
