//! Values of both languages. References to functions are their numbers for scripts, and references
//! to values of scripts are numbers for WebAssembly.

use rquickjs::{BigInt, Ctx, IntoJs, Result, Value};
use wasmi::{Extern, ExternRef, F32, F64, Nullable, Ref, RefType, Val, ValType};

use super::{WasmState, throw};

pub(super) fn type_name(ty: ValType) -> &'static str {
    match ty {
        ValType::I32 => "i32",
        ValType::I64 => "i64",
        ValType::F32 => "f32",
        ValType::F64 => "f64",
        ValType::V128 => "v128",
        ValType::FuncRef => "funcref",
        ValType::ExternRef => "externref",
    }
}

pub(super) fn parse_type(ctx: &Ctx<'_>, name: &str) -> Result<ValType> {
    Ok(match name {
        "i32" => ValType::I32,
        "i64" => ValType::I64,
        "f32" => ValType::F32,
        "f64" => ValType::F64,
        "v128" => ValType::V128,
        "funcref" | "anyfunc" => ValType::FuncRef,
        "externref" => ValType::ExternRef,
        _ => return Err(throw(ctx, "link", "unknown type of values")),
    })
}

/// Converts a value that the script's side has already converted to the type.
pub(super) fn from_js<'js>(
    ctx: &Ctx<'js>,
    state: &mut WasmState,
    ty: ValType,
    value: Value<'js>,
) -> Result<Val> {
    Ok(match ty {
        ValType::I32 => Val::I32(value.get()?),
        ValType::I64 => Val::I64(value.get::<BigInt>()?.to_i64()?),
        ValType::F32 => Val::F32(F32::from(value.get::<f64>()? as f32)),
        ValType::F64 => Val::F64(F64::from(value.get::<f64>()?)),
        ValType::V128 => {
            return Err(throw(ctx, "type", "type incompatibility when transforming from/to JS"));
        }
        ValType::FuncRef => match ref_from_js(ctx, state, RefType::Func, value)? {
            Ref::Func(func) => Val::FuncRef(func),
            Ref::Extern(_) => Val::FuncRef(Nullable::Null),
        },
        ValType::ExternRef => match ref_from_js(ctx, state, RefType::Extern, value)? {
            Ref::Extern(reference) => Val::ExternRef(reference),
            Ref::Func(_) => Val::ExternRef(Nullable::Null),
        },
    })
}

pub(super) fn to_js<'js>(ctx: &Ctx<'js>, state: &mut WasmState, value: Val) -> Result<Value<'js>> {
    match value {
        Val::I32(n) => n.into_js(ctx),
        Val::I64(n) => BigInt::from_i64(ctx.clone(), n)?.into_js(ctx),
        Val::F32(n) => f64::from(n.to_float()).into_js(ctx),
        Val::F64(n) => n.to_float().into_js(ctx),
        Val::V128(_) => {
            Err(throw(ctx, "type", "type incompatibility when transforming from/to JS"))
        }
        Val::FuncRef(func) => ref_to_js(ctx, state, Ref::Func(func)),
        Val::ExternRef(reference) => ref_to_js(ctx, state, Ref::Extern(reference)),
    }
}

/// Returns the reference for a number; null stands for null.
pub(super) fn ref_from_js(
    ctx: &Ctx<'_>,
    state: &mut WasmState,
    ty: RefType,
    value: Value<'_>,
) -> Result<Ref> {
    if value.is_null() || value.is_undefined() {
        return Ok(Ref::null(ty));
    }
    let number: usize = value.get()?;
    if ty == RefType::Extern {
        return Ok(Ref::Extern(Nullable::Val(ExternRef::new(&mut state.store, number))));
    }
    let func = state.func(number).ok_or_else(|| throw(ctx, "type", "no such function"))?;
    Ok(Ref::Func(Nullable::Val(func)))
}

pub(super) fn ref_to_js<'js>(
    ctx: &Ctx<'js>,
    state: &mut WasmState,
    value: Ref,
) -> Result<Value<'js>> {
    match value {
        Ref::Func(Nullable::Val(func)) => state.number_of(Extern::Func(func)).into_js(ctx),
        Ref::Extern(Nullable::Val(reference)) => {
            let number = reference.data(&state.store).downcast_ref::<usize>().copied();
            number.into_js(ctx)
        }
        Ref::Func(Nullable::Null) | Ref::Extern(Nullable::Null) => Ok(Value::new_null(ctx.clone())),
    }
}
