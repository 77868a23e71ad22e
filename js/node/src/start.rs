//! From the command line to the exit status: engine, bindings, Node's bootstrap.

use crate::library::NodeLibrary;
use crate::{modules, native};
use js_engine::stages::StartStage;
use rquickjs::function::Func;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Persistent, Result, Runtime};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

/// The files of the JavaScript half, in the order in which they are run.
const PARTS: &[&str] = &[
    "boot",
    "values",
    "buffer",
    "files",
    "copy",
    "process",
    "streams",
    "http_parser",
    "net",
    "outside",
    "zlib",
    "compress",
    "crypto",
    "crypto_ciphers",
    "crypto_der",
    "crypto_keys",
    "crypto_sign",
    "crypto_agree",
    "source_maps",
    "serdes",
    "modules",
    "main",
    "positions",
    "strings",
    "cell",
];
/// Files that stand for ones of Node's library, by the property of `native` that has their text.
const STAND_INS: &[(&str, &str)] = &[
    ("esmLoader", "esm_loader"),
    ("typescript", "typescript"),
    ("bundle", "bundle"),
    ("tlsWrap", "tls_wrap"),
    ("http2", "http2"),
];

/// All of them, made by `build.rs`: each file's name, a zero byte, its text, a zero byte; packed by
/// Zstandard.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/parts.zst"));
/// The length of that unpacked.
const UNPACKED: usize = include!(concat!(env!("OUT_DIR"), "/parts.len"));

/// The files by their names, for as long as the preparation takes.
struct LibraryParts(String);

impl LibraryParts {
    fn unpack() -> std::io::Result<LibraryParts> {
        let damaged = || std::io::Error::new(std::io::ErrorKind::InvalidData, "not our parts");
        let mut text = vec![0; UNPACKED];
        let length = zstd_safe::decompress(&mut text[..], PACKED).map_err(|_| damaged())?;
        text.truncate(length);
        String::from_utf8(text).map(LibraryParts).map_err(|_| damaged())
    }

    /// Returns a file's text. Outside of an image the file is read from the folder that this
    /// variable names, so that developers need not rebuild after a change.
    fn text(&self, name: &str) -> String {
        #[cfg(not(target_os = "wasi"))]
        if let Some(folder) = std::env::var_os("WASIBOX_JS_PARTS") {
            let file = std::path::Path::new(&folder).join(name).with_extension("js");
            if let Ok(text) = std::fs::read_to_string(file) {
                return text;
            }
        }
        let mut words = self.0.split('\0');
        let found = words.by_ref().position(|word| word == name).and_then(|_| words.next());
        found.unwrap_or_default().to_string()
    }
}

/// Bytes of the stack that scripts may use. The engine counts the part of its frames that lies in
/// linear memory (`js/engine/c/wasi.h`), of which the linker gives 8 MiB; the other part lies on
/// the sandbox's stack of 16 MiB, which by `tests/escape/javascript/recursion.js` no way of
/// recursion uses up before this.
const STACK: usize = 1 << 20;

/// The part of the sandbox's stack that it is where that is smaller, as in a page
/// (docs/decisions.md, "Stacks of workers").
const SHARE: (usize, usize) = (11, 16);

/// Returns the number of bytes of stack that scripts of this process may use.
fn stack_size() -> usize {
    let (part, whole) = SHARE;
    box_sys::engine_stack().map_or(STACK, |bytes| STACK.min(bytes / whole * part))
}

/// The number of bytes allocated before the first collection of cycles, in the preparation and in
/// later processes.
const COLLECT: usize = 8 << 20;

thread_local! {
    /// The prepared state: the engine and the function that continues.
    static PREPARED: RefCell<Option<PreparedEngine>> = const { RefCell::new(None) };
}

struct PreparedEngine {
    context: Context,
    runtime: Runtime,
    finish: Kept,
    cell: Kept,
}

/// Runs the program, for `js_engine`.
pub fn run_program(stage: StartStage) -> u8 {
    if stage != StartStage::Resume
        && let Err(error) = prepare_engine()
    {
        // There is no other way to report the error.
        let _ = writeln!(std::io::stderr(), "node: {error}");
        return 1;
    }
    if stage == StartStage::Prepare {
        return 0;
    }
    #[cfg(not(target_os = "wasi"))]
    if let Some(file) = std::env::var_os("WASIBOX_JS_CELLS") {
        return crate::cells::of_file(std::path::Path::new(&file)).unwrap_or(1);
    }
    native::files::adopt(box_sys::take_inherited());
    // The engine is not torn down: its memory goes with the process.
    let Some(prepared) = PREPARED.take() else { return 1 };
    let prepared = std::mem::ManuallyDrop::new(prepared);
    prepared.runtime.set_max_stack_size(stack_size());
    prepared.context.with(|ctx| finish_program(&ctx, &prepared.finish))
}

/// Calls `f` with the function that runs a cell; `None` if nothing is prepared.
pub fn with_cell<T>(f: impl for<'js> FnOnce(&Ctx<'js>, Function<'js>) -> T) -> Option<T> {
    let (context, cell) = PREPARED.with_borrow(|p| {
        let prepared = p.as_ref()?;
        prepared.runtime.set_max_stack_size(stack_size());
        Some((prepared.context.clone(), prepared.cell.clone()))
    })?;
    context.with(|ctx| Some(f(&ctx, cell.restore(&ctx).ok()?)))
}

/// The error as a text for people.
#[derive(Debug, thiserror::Error)]
enum JsStartError {
    #[error("/usr/lib/js: {0}")]
    Library(#[from] std::io::Error),
    #[error("{0}")]
    Engine(#[from] rquickjs::Error),
    #[error("{0}")]
    Thrown(String),
}

/// Prepares engine and library up to where arguments matter.
fn prepare_engine() -> std::result::Result<(), JsStartError> {
    let library = Rc::new(NodeLibrary::open()?);
    let parts = LibraryParts::unpack()?;
    let runtime = Runtime::new()?;
    runtime.set_max_stack_size(STACK);
    runtime.set_gc_threshold(COLLECT);
    runtime.set_loader(modules::JsResolver, modules::JsLoader);
    let context = Context::full(&runtime)?;
    runtime.set_interrupt_handler(Some(Box::new(native::deadline::is_over)));
    let [finish, cell, rejected] = context.with(|ctx| {
        js_engine::shared::enable_shared_buffers(&ctx);
        let made = boot_library(&ctx, &library, &parts).catch(&ctx);
        made.map_err(|e| JsStartError::Thrown(e.to_string()))
    })?;
    track_rejections(&runtime, rejected);
    library.forget_piece();
    // Without this, a process that continues from here would collect the prepared objects at its
    // first allocation.
    runtime.run_gc();
    let prepared = usize::try_from(runtime.memory_usage().malloc_size).unwrap_or(0);
    runtime.set_gc_threshold(prepared + COLLECT);
    PREPARED.set(Some(PreparedEngine { context, runtime, finish, cell }));
    Ok(())
}

/// A function of the JavaScript half.
type Kept = Persistent<Function<'static>>;

/// Runs the JavaScript half; its functions `goOn`, `cell` and `onRejection`.
fn boot_library(
    ctx: &Ctx<'_>,
    library: &Rc<NodeLibrary>,
    parts: &LibraryParts,
) -> Result<[Kept; 3]> {
    let native = native::native_object(ctx)?;
    let names: Vec<String> = library.names().map(str::to_string).collect();
    native.set("libraryNames", names)?;
    let library = library.clone();
    native.set("librarySource", Func::from(move |name: String| library.module_source(&name)))?;
    for (property, name) in STAND_INS {
        native.set(*property, parts.text(name))?;
    }
    native.set("setModuleHooks", Func::from(modules::set_hooks))?;
    native.set("runModule", Func::from(modules::run_module))?;
    native.set("importModule", Func::from(modules::import_module))?;
    let host = Object::new(ctx.clone())?;
    for name in PARTS {
        let mut options = rquickjs::context::EvalOptions::default();
        options.strict = false;
        options.filename = Some(format!("host:{name}"));
        let part: Function = ctx.eval_with_options(parts.text(name), options)?;
        part.call::<_, ()>((native.clone(), host.clone()))?;
    }
    host.get::<_, Function>("prepare")?.call::<_, ()>(())?;
    let kept = |name| -> Result<Kept> { Ok(Persistent::save(ctx, host.get::<_, Function>(name)?)) };
    Ok([kept("goOn")?, kept("cell")?, kept("onRejection")?])
}

/// Calls `host.onRejection(promise, handled, reason)` for promises without a handler.
fn track_rejections(runtime: &Runtime, handler: Kept) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        move |ctx: Ctx<'_>, promise, reason, handled| {
            if let Ok(handler) = handler.clone().restore(&ctx) {
                // The hook throws nothing; an error of the engine's own (memory) is met again.
                let _: Result<()> = handler.call((promise, handled, reason));
            }
        },
    )));
}

/// Runs the script; the exit status.
fn finish_program(ctx: &Ctx<'_>, finish: &Kept) -> u8 {
    let status = finish.clone().restore(ctx).and_then(|f| f.call::<_, i32>(()));
    match status.catch(ctx) {
        Ok(status) => (status & 255) as u8,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            7
        }
    }
}
