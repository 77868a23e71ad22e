//! The interpreter of WebAssembly, as `native.wasm`.

use js_engine::wasm;
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

/// Defines `native.wasm`.
pub fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    let made = Object::new(ctx.clone())?;
    made.set("compile", Func::from(wasm::compile))?;
    made.set("validate", Func::from(wasm::validate))?;
    made.set("customSections", Func::from(wasm::custom_sections))?;
    made.set("instantiate", Func::from(wasm::instantiate))?;
    made.set("hostFunction", Func::from(wasm::host_function))?;
    made.set("call", Func::from(wasm::call))?;
    made.set("resume", Func::from(wasm::resume))?;
    made.set("abandon", Func::from(wasm::abandon))?;
    made.set("typeOf", Func::from(wasm::type_of))?;
    made.set("newMemory", Func::from(wasm::new_memory))?;
    made.set("memoryBuffer", Func::from(wasm::memory_buffer))?;
    made.set("memoryGrow", Func::from(wasm::memory_grow))?;
    made.set("newTable", Func::from(wasm::new_table))?;
    made.set("tableSize", Func::from(wasm::table_size))?;
    made.set("tableGet", Func::from(wasm::table_get))?;
    made.set("tableSet", Func::from(wasm::table_set))?;
    made.set("tableGrow", Func::from(wasm::table_grow))?;
    made.set("newGlobal", Func::from(wasm::new_global))?;
    made.set("globalGet", Func::from(wasm::global_get))?;
    made.set("globalSet", Func::from(wasm::global_set))?;
    native.set("wasm", made)
}
