//! WebAssembly for scripts: modules are interpreted by Wasmi within this program, so they are under
//! its limits and need nothing of the sandbox's host.
//!
//! | file | contents |
//! |---|---|
//! | `binary` | a module whose start function is an export |
//! | `memory` | memories as buffers of the engine |
//! | `value` | values of both languages |
//!
//! Nothing here calls JavaScript. A function that a script has given to an instance suspends the
//! call ([`Step::Host`]); the script's side runs the function and resumes the call with its results.
//! All objects belong to one store, because instances may import from each other, and live as long
//! as the program.

mod binary;
mod memory;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use rquickjs::{
    Array, ArrayBuffer, Ctx, Error, Exception, IntoJs, Object, Persistent, Result, Value,
};
use wasmi::{
    Config, Engine, Extern, ExternType, Func, FuncType, Global, Instance, Memory, MemoryType,
    Module, Mutability, Ref, ResumableCall, ResumableCallHostTrap, Store, Table, TableType,
    TrapCode, Val, ValType,
};

use value::{from_js, parse_type, ref_from_js, ref_to_js, to_js, type_name};

/// The maximum depth of calls, as of the engine's own.
const DEPTH: usize = 4_000;

/// A call of a script's function, by which an execution is suspended.
#[derive(Debug)]
struct HostCall {
    callback: usize,
    arguments: Vec<Val>,
}

impl fmt::Display for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call of function {}", self.callback)
    }
}

impl wasmi::errors::HostError for HostCall {}

/// A suspended call.
struct SuspendedCall {
    call: ResumableCallHostTrap,
    /// The types of the results of the function that the script has called.
    results: Vec<ValType>,
}

/// A memory that a script sees as a buffer.
struct SeenMemory {
    memory: Memory,
    buffer: Persistent<ArrayBuffer<'static>>,
    address: *mut u8,
    size: usize,
}

/// All objects of the program.
struct WasmState {
    store: Store<()>,
    modules: Vec<Module>,
    externs: Vec<Extern>,
    /// The numbers of objects, so that each has one.
    numbers: HashMap<String, usize>,
    suspended: HashMap<usize, SuspendedCall>,
    last_ticket: usize,
    seen: HashMap<usize, SeenMemory>,
}

impl WasmState {
    fn new() -> WasmState {
        let mut config = Config::default();
        config.set_max_recursion_depth(DEPTH);
        WasmState {
            store: Store::new(&Engine::new(&config), ()),
            modules: Vec::new(),
            externs: Vec::new(),
            numbers: HashMap::new(),
            suspended: HashMap::new(),
            last_ticket: 0,
            seen: HashMap::new(),
        }
    }

    /// Returns the number of an object. Wasmi's handles cannot be compared, but their debug text has
    /// the index within the store.
    fn number_of(&mut self, object: Extern) -> usize {
        let next = self.externs.len();
        let number = *self.numbers.entry(format!("{object:?}")).or_insert(next);
        if number == next {
            self.externs.push(object);
        }
        number
    }

    fn func(&self, number: usize) -> Option<Func> {
        match self.externs.get(number) {
            Some(Extern::Func(func)) => Some(*func),
            _ => None,
        }
    }
}

thread_local! {
    static STATE: RefCell<WasmState> = RefCell::new(WasmState::new());
}

/// Throws an error of a kind, of which the script's side makes the class: `compile`, `link`,
/// `runtime` or `range`.
fn throw(ctx: &Ctx<'_>, kind: &str, message: &str) -> Error {
    let made = Exception::from_message(ctx.clone(), message);
    match made {
        Ok(exception) => {
            if let Err(error) = exception.as_object().set("wasm", kind) {
                return error;
            }
            exception.throw()
        }
        Err(error) => error,
    }
}

fn unknown(ctx: &Ctx<'_>) -> Error {
    throw(ctx, "link", "no such object")
}

/// Throws the error of an execution, with V8's text.
fn throw_trap(ctx: &Ctx<'_>, error: &wasmi::Error) -> Error {
    let text = match error.as_trap_code() {
        Some(TrapCode::StackOverflow) => {
            return throw(ctx, "range", "Maximum call stack size exceeded");
        }
        Some(TrapCode::UnreachableCodeReached) => "unreachable",
        Some(TrapCode::MemoryOutOfBounds) => "memory access out of bounds",
        Some(TrapCode::TableOutOfBounds) => "table index is out of bounds",
        Some(TrapCode::IntegerDivisionByZero) => "divide by zero",
        Some(TrapCode::IntegerOverflow) => "divide result unrepresentable",
        Some(TrapCode::BadConversionToInteger) => "float unrepresentable in integer range",
        Some(TrapCode::IndirectCallToNull | TrapCode::BadSignature) => {
            "null function or function signature mismatch"
        }
        _ => return throw(ctx, "runtime", &error.to_string()),
    };
    throw(ctx, "runtime", text)
}

/// Returns the description of a type: its kind, then what the kind has.
fn describe<'js>(ctx: &Ctx<'js>, ty: &ExternType) -> Result<Array<'js>> {
    let out = Array::new(ctx.clone())?;
    let limits = |at: usize, min: u64, max: Option<u64>| -> Result<()> {
        out.set(at, min as f64)?;
        out.set(at + 1, max.map(|max| max as f64))
    };
    match ty {
        ExternType::Func(ty) => {
            out.set(0, "function")?;
            for (at, list) in [(1, ty.params()), (2, ty.results())] {
                out.set(at, list.iter().map(|ty| type_name(*ty)).collect::<Vec<_>>())?;
            }
        }
        ExternType::Table(ty) => {
            out.set(0, "table")?;
            out.set(1, type_name(ty.element().into()))?;
            limits(2, ty.minimum(), ty.maximum())?;
        }
        ExternType::Memory(ty) => {
            out.set(0, "memory")?;
            limits(1, ty.minimum(), ty.maximum())?;
        }
        ExternType::Global(ty) => {
            out.set(0, "global")?;
            out.set(1, type_name(ty.content()))?;
            out.set(2, ty.mutability() == Mutability::Var)?;
        }
    }
    Ok(out)
}

/// Compiles a module. Returns its number, its imports (module, name, type, place among what
/// [`instantiate`] takes) and its exports (name, type); with a start function, the last export is that function.
pub fn compile<'js>(ctx: Ctx<'js>, bytes: Value<'js>) -> Result<Object<'js>> {
    let bytes = crate::all_bytes(&bytes).unwrap_or_default();
    STATE.with_borrow_mut(|state| {
        let (binary, has_start) = match binary::with_start_exported(&bytes) {
            Some(binary) => (binary, true),
            None => (bytes, false),
        };
        let module = Module::new(state.store.engine(), &binary)
            .map_err(|error| throw(&ctx, "compile", &error.to_string()))?;
        let (imports, exports) = (Array::new(ctx.clone())?, Array::new(ctx.clone())?);
        // Wasmi takes imports by their kinds. Each has its place there.
        let mut places: Vec<_> = module.imports().enumerate().collect();
        for (at, (from, name)) in binary::import_names(&binary).into_iter().enumerate() {
            let found = places.iter().position(|(_, i)| i.module() == from && i.name() == name);
            let Some(found) = found else { continue };
            let (place, import) = places.remove(found);
            let one = Array::new(ctx.clone())?;
            one.set(0, from)?;
            one.set(1, name)?;
            one.set(2, describe(&ctx, import.ty())?)?;
            one.set(3, place)?;
            imports.set(at, one)?;
        }
        // The order is that of the text.
        for (at, name) in binary::export_names(&binary).into_iter().enumerate() {
            let Some(ty) = module.get_export(&name) else { continue };
            let one = Array::new(ctx.clone())?;
            one.set(0, name)?;
            one.set(1, describe(&ctx, &ty)?)?;
            exports.set(at, one)?;
        }
        let out = Object::new(ctx.clone())?;
        out.set("number", state.modules.len())?;
        out.set("imports", imports)?;
        out.set("exports", exports)?;
        out.set("hasStart", has_start)?;
        state.modules.push(module);
        Ok(out)
    })
}

/// Returns whether bytes are a valid module.
pub fn validate(bytes: Value<'_>) -> bool {
    let bytes = crate::all_bytes(&bytes).unwrap_or_default();
    STATE.with_borrow(|state| Module::validate(state.store.engine(), &bytes).is_ok())
}

/// Returns the contents of a module's custom sections of a name.
pub fn custom_sections<'js>(ctx: Ctx<'js>, number: usize, name: String) -> Result<Array<'js>> {
    STATE.with_borrow(|state| {
        let out = Array::new(ctx.clone())?;
        let module = state.modules.get(number).ok_or_else(|| unknown(&ctx))?;
        for (at, section) in module.custom_sections().filter(|s| s.name() == name).enumerate() {
            out.set(at, ArrayBuffer::new(ctx.clone(), section.data())?)?;
        }
        Ok(out)
    })
}

/// Makes an instance from the numbers of its imports. Returns the names and numbers of its exports.
pub fn instantiate<'js>(ctx: Ctx<'js>, number: usize, imports: Vec<usize>) -> Result<Array<'js>> {
    STATE.with_borrow_mut(|state| {
        let module = state.modules.get(number).cloned().ok_or_else(|| unknown(&ctx))?;
        let found: Option<Vec<Extern>> =
            imports.iter().map(|n| state.externs.get(*n).cloned()).collect();
        let found = found.ok_or_else(|| unknown(&ctx))?;
        let instance =
            Instance::new(&mut state.store, &module, &found).map_err(|error| {
                match error.as_trap_code() {
                    Some(_) => throw_trap(&ctx, &error),
                    None => throw(&ctx, "link", &error.to_string()),
                }
            })?;
        let exports: Vec<(String, Extern)> = instance
            .exports(&state.store)
            .map(|export| (export.name().to_owned(), export.into_extern()))
            .collect();
        let list = Array::new(ctx.clone())?;
        for (at, (name, object)) in exports.into_iter().enumerate() {
            let one = Array::new(ctx.clone())?;
            one.set(0, name)?;
            one.set(1, state.number_of(object))?;
            list.set(at, one)?;
        }
        memory::refresh(state, &ctx)?;
        Ok(list)
    })
}

/// Makes a function of a script's function with a number.
pub fn host_function(
    ctx: Ctx<'_>,
    params: Vec<String>,
    results: Vec<String>,
    callback: usize,
) -> Result<usize> {
    let types = |names: &[String]| names.iter().map(|name| parse_type(&ctx, name)).collect();
    let (params, results): (Result<Vec<ValType>>, Result<Vec<ValType>>) =
        (types(&params), types(&results));
    let ty = FuncType::new(params?, results?);
    STATE.with_borrow_mut(|state| {
        let func = Func::new(&mut state.store, ty, move |_, arguments, _| {
            let arguments = arguments.to_vec();
            Err(wasmi::Error::host(HostCall { callback, arguments }))
        });
        Ok(state.number_of(Extern::Func(func)))
    })
}

/// Returns a step of an execution as an array: `[0, result...]` at its end, `[1, callback, ticket,
/// argument...]` if a script's function is to be called.
fn step<'js>(
    ctx: &Ctx<'js>,
    state: &mut WasmState,
    outcome: std::result::Result<ResumableCall, wasmi::Error>,
    results: &[Val],
) -> Result<Array<'js>> {
    memory::refresh(state, ctx)?;
    let out = Array::new(ctx.clone())?;
    let values = match outcome.map_err(|error| throw_trap(ctx, &error))? {
        ResumableCall::Finished => {
            out.set(0, 0)?;
            results.to_vec()
        }
        ResumableCall::HostTrap(call) => {
            let Some(HostCall { callback, arguments }) = call.host_error().downcast_ref() else {
                return Err(throw(ctx, "runtime", &call.host_error().to_string()));
            };
            let (callback, arguments) = (*callback, arguments.clone());
            let results = call.host_func().ty(&state.store).results().to_vec();
            state.last_ticket += 1;
            state.suspended.insert(state.last_ticket, SuspendedCall { call, results });
            out.set(0, 1)?;
            out.set(1, callback)?;
            out.set(2, state.last_ticket)?;
            arguments
        }
        ResumableCall::OutOfFuel(_) => return Err(throw(ctx, "runtime", "out of fuel")),
    };
    let first = if out.get::<usize>(0)? == 0 { 1 } else { 3 };
    for (at, value) in values.into_iter().enumerate() {
        out.set(first + at, to_js(ctx, state, value)?)?;
    }
    Ok(out)
}

/// Calls a function. Its arguments have been converted to the types of its parameters.
pub fn call<'js>(ctx: Ctx<'js>, number: usize, arguments: Vec<Value<'js>>) -> Result<Array<'js>> {
    STATE.with_borrow_mut(|state| {
        let func = state.func(number).ok_or_else(|| unknown(&ctx))?;
        let ty = func.ty(&state.store);
        let mut values = Vec::with_capacity(arguments.len());
        for (ty, value) in ty.params().iter().zip(arguments) {
            values.push(from_js(&ctx, state, *ty, value)?);
        }
        let mut results: Vec<Val> =
            ty.results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
        let outcome = func.call_resumable(&mut state.store, &values, &mut results);
        step(&ctx, state, outcome, &results)
    })
}

/// Continues a suspended call with the results of the script's function.
pub fn resume<'js>(
    ctx: Ctx<'js>,
    ticket: usize,
    given: Vec<Value<'js>>,
    number: usize,
) -> Result<Array<'js>> {
    STATE.with_borrow_mut(|state| {
        let SuspendedCall { call, results } =
            state.suspended.remove(&ticket).ok_or_else(|| unknown(&ctx))?;
        let func = state.func(number).ok_or_else(|| unknown(&ctx))?;
        let mut values = Vec::with_capacity(given.len());
        for (ty, value) in results.iter().zip(given) {
            values.push(from_js(&ctx, state, *ty, value)?);
        }
        let mut results: Vec<Val> =
            func.ty(&state.store).results().iter().map(|ty| Val::default_for_ty(*ty)).collect();
        let outcome = call.resume(&mut state.store, &values, &mut results);
        step(&ctx, state, outcome, &results)
    })
}

/// Abandons a suspended call, because the script's function has thrown.
pub fn abandon(ticket: usize) {
    STATE.with_borrow_mut(|state| drop(state.suspended.remove(&ticket)));
}

/// Returns the type of an object.
pub fn type_of<'js>(ctx: Ctx<'js>, number: usize) -> Result<Array<'js>> {
    STATE.with_borrow(|state| {
        let object = state.externs.get(number).ok_or_else(|| unknown(&ctx))?;
        describe(&ctx, &object.ty(&state.store))
    })
}

/// Makes a memory.
pub fn new_memory(ctx: Ctx<'_>, min: u32, max: Option<u32>) -> Result<usize> {
    STATE.with_borrow_mut(|state| {
        let made = Memory::new(&mut state.store, MemoryType::new(min, max));
        let made = made.map_err(|error| throw(&ctx, "range", &error.to_string()))?;
        Ok(state.number_of(Extern::Memory(made)))
    })
}

/// Makes a table whose elements are all the same.
pub fn new_table<'js>(
    ctx: Ctx<'js>,
    element: String,
    min: u32,
    max: Option<u32>,
    init: Value<'js>,
) -> Result<usize> {
    let element = match parse_type(&ctx, &element)? {
        ValType::FuncRef => wasmi::RefType::Func,
        _ => wasmi::RefType::Extern,
    };
    STATE.with_borrow_mut(|state| {
        let init = ref_from_js(&ctx, state, element, init)?;
        let made = Table::new(&mut state.store, TableType::new(element, min, max), init);
        let made = made.map_err(|error| throw(&ctx, "range", &error.to_string()))?;
        Ok(state.number_of(Extern::Table(made)))
    })
}

/// Makes a global variable.
pub fn new_global<'js>(
    ctx: Ctx<'js>,
    ty: String,
    is_mutable: bool,
    value: Value<'js>,
) -> Result<usize> {
    let ty = parse_type(&ctx, &ty)?;
    STATE.with_borrow_mut(|state| {
        let value = from_js(&ctx, state, ty, value)?;
        let mutability = if is_mutable { Mutability::Var } else { Mutability::Const };
        let made = Global::new(&mut state.store, value, mutability);
        Ok(state.number_of(Extern::Global(made)))
    })
}

fn table(state: &WasmState, ctx: &Ctx<'_>, number: usize) -> Result<Table> {
    match state.externs.get(number) {
        Some(Extern::Table(table)) => Ok(*table),
        _ => Err(unknown(ctx)),
    }
}

/// Returns the number of elements of a table.
pub fn table_size(ctx: Ctx<'_>, number: usize) -> Result<f64> {
    STATE.with_borrow(|state| Ok(table(state, &ctx, number)?.size(&state.store) as f64))
}

/// Returns an element of a table.
pub fn table_get<'js>(ctx: Ctx<'js>, number: usize, at: f64) -> Result<Value<'js>> {
    STATE.with_borrow_mut(|state| {
        let found = table(state, &ctx, number)?.get(&state.store, at as u64);
        let found: Ref = found.ok_or_else(|| throw(&ctx, "range", "invalid address in table"))?;
        ref_to_js(&ctx, state, found)
    })
}

/// Sets an element of a table.
pub fn table_set<'js>(ctx: Ctx<'js>, number: usize, at: f64, value: Value<'js>) -> Result<()> {
    STATE.with_borrow_mut(|state| {
        let table = table(state, &ctx, number)?;
        let value = ref_from_js(&ctx, state, table.ty(&state.store).element(), value)?;
        let done = table.set(&mut state.store, at as u64, value);
        done.map_err(|_| throw(&ctx, "range", "invalid address in table"))
    })
}

/// Adds elements to a table, and returns its previous size.
pub fn table_grow<'js>(ctx: Ctx<'js>, number: usize, by: f64, value: Value<'js>) -> Result<f64> {
    STATE.with_borrow_mut(|state| {
        let table = table(state, &ctx, number)?;
        let value = ref_from_js(&ctx, state, table.ty(&state.store).element(), value)?;
        let before = table.grow(&mut state.store, by as u64, value);
        before.map(|before| before as f64).map_err(|_| throw(&ctx, "range", "failed to grow table"))
    })
}

fn global(state: &WasmState, ctx: &Ctx<'_>, number: usize) -> Result<Global> {
    match state.externs.get(number) {
        Some(Extern::Global(global)) => Ok(*global),
        _ => Err(unknown(ctx)),
    }
}

/// Returns the value of a global variable.
pub fn global_get<'js>(ctx: Ctx<'js>, number: usize) -> Result<Value<'js>> {
    STATE.with_borrow_mut(|state| {
        let value = global(state, &ctx, number)?.get(&state.store);
        to_js(&ctx, state, value)
    })
}

/// Sets a global variable, which must be mutable.
pub fn global_set<'js>(ctx: Ctx<'js>, number: usize, value: Value<'js>) -> Result<()> {
    STATE.with_borrow_mut(|state| {
        let global = global(state, &ctx, number)?;
        let value = from_js(&ctx, state, global.ty(&state.store).content(), value)?;
        let done = global.set(&mut state.store, value);
        done.map_err(|error| throw(&ctx, "link", &error.to_string()))
    })
}

/// Returns the buffer of a memory, the same one until the memory grows.
pub fn memory_buffer<'js>(ctx: Ctx<'js>, number: usize) -> Result<Value<'js>> {
    STATE.with_borrow_mut(|state| memory::buffer(state, &ctx, number)?.into_js(&ctx))
}

/// Adds pages to a memory, and returns its previous size in pages.
pub fn memory_grow(ctx: Ctx<'_>, number: usize, by: f64) -> Result<f64> {
    STATE.with_borrow_mut(|state| {
        let memory = memory::memory(state, &ctx, number)?;
        let before = memory.grow(&mut state.store, by as u64);
        let before = before.map_err(|_| throw(&ctx, "range", "Maximum memory size exceeded"))?;
        memory::replace(state, &ctx, number)?;
        Ok(before as f64)
    })
}
