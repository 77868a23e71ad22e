//! Safe wrappers of the functions of QuickJS that the JavaScript program needs and that `rquickjs`
//! offers only by raw pointers: bytes of buffers, strings that are not well-formed, errors that
//! scripts cannot catch ([`interrupt`]), shared buffers ([`shared`]), and the value that follows
//! promises (`continuation`, in the guest). The crate also exports the functions by which a runtime prepares the program ([`stages`]) and runs its cells ([`cells`]).
//!
//! # Invariants
//! - This is the only crate of the program with `unsafe`.
//! - Bytes are copied in both directions, so no reference into the engine's memory outlives a call.
//! - Nothing here runs JavaScript.

pub mod cells;
#[cfg(target_os = "wasi")]
pub mod continuation;
pub mod environment;
pub mod interrupt;
pub mod shared;
pub mod stages;
pub mod wasm;
pub mod zone;

use rquickjs::{ArrayBuffer, Ctx, Error, Result, String as JsString, TypedArray, Value, qjs};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Returns the memory of an `ArrayBuffer` or `Uint8Array`; `None` for any other value and for
/// detached ones.
fn buffer_memory(value: &Value<'_>) -> Option<NonNull<[u8]>> {
    let object = value.as_object()?;
    if object.is_typed_array::<u8>() {
        return TypedArray::<u8>::from_object(object.clone()).ok()?.as_raw();
    }
    // SAFETY: the value is live and only read. JUSTIFICATION: rquickjs tests for an `ArrayBuffer`
    // by requesting its memory, which leaves an exception pending if the value is not one.
    if unsafe { qjs::JS_IsArrayBuffer(value.as_raw()) } {
        return ArrayBuffer::from_object(object.clone())?.as_raw();
    }
    None
}

/// Returns the number of bytes of a buffer.
pub fn byte_length(value: &Value<'_>) -> Option<usize> {
    buffer_memory(value).map(|m| m.len())
}

/// Returns a copy of the bytes `start..end` of a buffer. Both numbers are clamped to its length.
pub fn copy_bytes(value: &Value<'_>, start: usize, end: usize) -> Option<Vec<u8>> {
    let memory = buffer_memory(value)?;
    if memory.is_empty() {
        return Some(Vec::new());
    }
    // SAFETY: the engine has just returned this address and length, no JavaScript runs until the
    // copy is made, and the slice does not outlive this function. JUSTIFICATION: rquickjs has no
    // safe access to a buffer's bytes.
    let all = unsafe { memory.as_ref() };
    let end = end.min(all.len());
    Some(all[start.min(end)..end].to_vec())
}

/// Returns all bytes of a buffer.
pub fn all_bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    copy_bytes(value, 0, usize::MAX)
}

/// Copies as many bytes of `from` into a buffer at `at` as there is room for, and returns their
/// number.
pub fn write(value: &Value<'_>, at: usize, from: &[u8]) -> Option<usize> {
    let mut memory = buffer_memory(value)?;
    if memory.is_empty() {
        return Some(0);
    }
    // SAFETY: as in `copy_bytes`; `from` is Rust's own memory, never the engine's, and JavaScript
    // shares its buffers with no other thread. JUSTIFICATION: rquickjs has no safe access to a
    // buffer's bytes.
    let all = unsafe { memory.as_mut() };
    let at = at.min(all.len());
    let n = from.len().min(all.len() - at);
    all[at..at + n].copy_from_slice(&from[..n]);
    Some(n)
}

/// Returns a string as UTF-8, with U+FFFD for each lone surrogate (`USVString` of Web IDL).
pub fn to_utf8(string: &JsString<'_>) -> Result<String> {
    string.to_string().or_else(|_| Ok(from_wtf8(&to_wtf8(string)?)))
}

/// Returns a string in the engine's own encoding (WTF-8): UTF-8 that encodes lone surrogates like
/// other code points.
fn to_wtf8(string: &JsString<'_>) -> Result<Vec<u8>> {
    let ctx = string.ctx().as_raw().as_ptr();
    let mut length = 0;
    // The bindings' type of a size differs: u32 on the guest.
    #[allow(clippy::unnecessary_cast)]
    // SAFETY: the context is live, and the string is one of its own; the result is NUL-terminated
    // memory of `length` bytes that stays valid until it is freed below. JUSTIFICATION: rquickjs
    // refuses strings with lone surrogates.
    unsafe {
        let text = qjs::JS_ToCStringLen(ctx, &mut length, string.as_value().as_raw());
        if text.is_null() {
            return Err(Error::Exception);
        }
        let copy = std::slice::from_raw_parts(text.cast::<u8>(), length as usize).to_vec();
        qjs::JS_FreeCString(ctx, text);
        Ok(copy)
    }
}

/// Decodes WTF-8, with U+FFFD for each encoded surrogate (ED A0..BF xx) and for all other malformed
/// bytes.
fn from_wtf8(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(3).position(|w| w[0] == 0xed && (0xa0..=0xbf).contains(&w[1]))
    {
        out.push_str(&String::from_utf8_lossy(&rest[..at]));
        out.push(char::REPLACEMENT_CHARACTER);
        rest = &rest[at + 3..];
    }
    out.push_str(&String::from_utf8_lossy(rest));
    out
}

/// Returns a string's UTF-16 units.
pub fn to_utf16(string: &JsString<'_>) -> Result<Vec<u16>> {
    match string.to_string() {
        Ok(text) => Ok(text.encode_utf16().collect()),
        Err(_) => Ok(wtf8_units(&to_wtf8(string)?)),
    }
}

/// Returns the UTF-16 units of a string in WTF-8 ([`to_wtf8`]).
fn wtf8_units(wtf8: &[u8]) -> Vec<u16> {
    let mut out = Vec::new();
    let mut rest = wtf8;
    let lone = |w: &[u8]| w[0] == 0xed && (0xa0..=0xbf).contains(&w[1]);
    while let Some(at) = rest.windows(3).position(lone) {
        out.extend(String::from_utf8_lossy(&rest[..at]).encode_utf16());
        out.push(0xd000 | u16::from(rest[at + 1] & 0x3f) << 6 | u16::from(rest[at + 2] & 0x3f));
        rest = &rest[at + 3..];
    }
    out.extend(String::from_utf8_lossy(rest).encode_utf16());
    out
}

/// Makes a string of any UTF-16 units, including lone surrogates.
pub fn from_utf16<'js>(ctx: &Ctx<'js>, units: &[u16]) -> Result<Value<'js>> {
    // SAFETY: the context is live, and the pointer and the length are those of one slice. The value
    // that is made from the result owns it.
    // JUSTIFICATION: rquickjs makes strings only from UTF-8, which has no lone surrogates.
    let value = unsafe {
        let raw = qjs::JS_NewStringUTF16(ctx.as_raw().as_ptr(), units.as_ptr(), units.len() as _);
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Value::from_raw(ctx.clone(), raw)
    };
    Ok(value)
}

/// Returns the engine's number for the class of an object (maps, generators and so on have one
/// each), which does not depend on its prototype; 0 for primitives.
pub fn class_number(value: &Value<'_>) -> u32 {
    if !value.is_object() {
        return 0;
    }
    // SAFETY: the value belongs to a live context and is only read. JUSTIFICATION: rquickjs
    // distinguishes only a few classes.
    unsafe { qjs::JS_GetClassID(value.as_raw()) }
}

/// Returns an object that `typeof`, `==` and conditions treat like `undefined`, as they treat
/// `document.all` in browsers (Annex B.3.6 of ECMA-262). It is a function that returns null.
pub fn undetectable_object<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let function = rquickjs::Function::new(ctx.clone(), || None::<bool>)?.into_value();
    // SAFETY: the context is live, the object is one of its own, and the call sets one flag of it.
    // JUSTIFICATION: rquickjs does not offer this.
    unsafe { qjs::JS_SetIsHTMLDDA(ctx.as_raw().as_ptr(), function.as_raw()) };
    Ok(function)
}

/// Returns the number of bytes that the engine has allocated, and the number of these that are in
/// use. This visits all objects.
pub fn heap_usage(ctx: &Ctx<'_>) -> (u64, u64) {
    let mut usage = std::mem::MaybeUninit::<qjs::JSMemoryUsage>::uninit();
    // SAFETY: the runtime is live, and the engine fills the whole structure. JUSTIFICATION:
    // rquickjs offers this only with its `Runtime`, which a function called by a script cannot
    // reach.
    let usage = unsafe {
        qjs::JS_ComputeMemoryUsage(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), usage.as_mut_ptr());
        usage.assume_init()
    };
    (usage.malloc_size.unsigned_abs(), usage.memory_used_size.unsigned_abs())
}

/// Returns a text with the zero byte after it that the engine requires. Zero bytes within the text
/// stay as they are.
fn nul_terminated(source: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(source.len() + 1);
    bytes.extend_from_slice(source.as_bytes());
    bytes.push(0);
    bytes
}

/// Compiles a script of the global scope, and runs it unless `flags` forbid that.
fn eval_script<'js>(ctx: &Ctx<'js>, source: &str, name: &str, flags: u32) -> Result<Value<'js>> {
    eval_in(ctx, ctx.as_raw(), source, name, flags)
}

/// Compiles a script of the global scope of `realm`, and runs it unless `flags` forbid that. The
/// realm must be a context of the same runtime as `ctx` and must not have been freed.
fn eval_in<'js>(
    ctx: &Ctx<'js>,
    realm: NonNull<qjs::JSContext>,
    source: &str,
    name: &str,
    flags: u32,
) -> Result<Value<'js>> {
    let text = nul_terminated(source);
    // The engine reads the name up to its first zero byte, which is good enough for messages.
    let name = nul_terminated(name);
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | flags;
    // SAFETY: the context is live, both texts end with zero bytes, and the caller owns the value.
    // Values and a pending exception belong to the runtime, which all realms share.
    // JUSTIFICATION: rquickjs refuses texts with zero bytes, and compiles scripts only to run them.
    unsafe {
        let value = qjs::JS_Eval(
            realm.as_ptr(),
            text.as_ptr().cast(),
            source.len() as _,
            name.as_ptr().cast(),
            flags as _,
        );
        if qjs::JS_IsException(value) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), value))
    }
}

/// Compiles a script without running it.
///
/// # Errors
/// Throws the script's syntax error.
pub fn check_script(ctx: &Ctx<'_>, source: &str, name: &str) -> Result<()> {
    eval_script(ctx, source, name, qjs::JS_EVAL_FLAG_COMPILE_ONLY).map(drop)
}

/// Runs a script and returns its completion value.
pub fn run_script<'js>(
    ctx: &Ctx<'js>,
    source: &str,
    name: &str,
    strict: bool,
) -> Result<Value<'js>> {
    eval_script(ctx, source, name, if strict { qjs::JS_EVAL_FLAG_STRICT } else { 0 })
}

thread_local! {
    /// The realms that [`new_realm`] has made, in the order of their numbers. They are never freed.
    static REALMS: RefCell<Vec<NonNull<qjs::JSContext>>> = const { RefCell::new(Vec::new()) };
}

/// Makes a realm, which has built-in objects of its own. Returns its global object, and its number
/// for [`run_in_realm`]. The realm lives as long as the engine.
pub fn new_realm<'js>(ctx: &Ctx<'js>) -> Result<(Value<'js>, usize)> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the runtime is live. The new context is never freed, so the object's functions stay
    // valid. The value that is made from the object owns it. JUSTIFICATION: rquickjs makes a
    // context only from its `Runtime`, which a function called by a script cannot reach.
    unsafe {
        let realm =
            NonNull::new(qjs::JS_NewContext(qjs::JS_GetRuntime(raw))).ok_or(Error::Allocation)?;
        let number = REALMS.with_borrow_mut(|realms| {
            realms.push(realm);
            realms.len() - 1
        });
        Ok((Value::from_raw(ctx.clone(), qjs::JS_GetGlobalObject(realm.as_ptr())), number))
    }
}

/// Runs a script in the realm with a number from [`new_realm`], and returns its completion value.
pub fn run_in_realm<'js>(
    ctx: &Ctx<'js>,
    realm: usize,
    source: &str,
    name: &str,
) -> Result<Value<'js>> {
    let realm = REALMS.with_borrow(|realms| realms.get(realm).copied());
    let realm = realm.ok_or_else(|| Error::new_from_js("number", "realm"))?;
    eval_in(ctx, realm, source, name, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::{Context, Runtime};

    fn with(f: impl FnOnce(Ctx<'_>)) {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(f);
    }

    #[test]
    fn the_heap_grows_by_what_is_kept() {
        with(|ctx| {
            let (all, used) = heap_usage(&ctx);
            assert!(0 < used && used <= all, "{used} of {all}");
            ctx.eval::<(), _>("globalThis.kept = 'x'.repeat(1 << 20) + 1").unwrap();
            assert!(heap_usage(&ctx).0 >= all + (1 << 20));
        });
    }

    #[test]
    fn bytes_go_both_ways() {
        with(|ctx| {
            let view: Value =
                ctx.eval("globalThis.b = new Uint8Array([1, 2, 3, 4]).subarray(1)").unwrap();
            assert_eq!(all_bytes(&view).unwrap(), [2, 3, 4]);
            assert_eq!(copy_bytes(&view, 1, 2).unwrap(), [3]);
            assert_eq!(copy_bytes(&view, 9, 2).unwrap(), []);
            assert_eq!(write(&view, 2, &[7, 8]), Some(1));
            assert_eq!(ctx.eval::<String, _>("b.join()").unwrap(), "2,3,7");
            assert!(all_bytes(&ctx.eval::<Value, _>("({})").unwrap()).is_none());
        });
    }

    #[test]
    fn lone_surrogates_become_one_replacement() {
        with(|ctx| {
            let text: JsString = ctx.eval(r#""a\ud800b\udfff\u{1f600}""#).unwrap();
            assert_eq!(to_utf8(&text).unwrap(), "a\u{fffd}b\u{fffd}\u{1f600}");
            assert_eq!(to_utf16(&text).unwrap(), [0x61, 0xd800, 0x62, 0xdfff, 0xd83d, 0xde00]);
            ctx.globals().set("s", from_utf16(&ctx, &[0xd800, 0x61]).unwrap()).unwrap();
            assert!(ctx.eval::<bool, _>(r#"s === "\ud800a""#).unwrap());
        });
    }
}
