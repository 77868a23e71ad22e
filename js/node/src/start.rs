//! Runs the program, from the command line to the exit status: makes the engine and the bindings,
//! and runs Node's bootstrap.

use crate::library::{self, NodeLibrary};
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
    "messaging",
    "buffer",
    "watch",
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
    "workers",
    "shared_memory",
    "histogram",
    "webassembly",
    "url_pattern",
    "modules",
    "main",
    "positions",
    "strings",
    "cell",
    "intl_locale",
    "intl_decimal",
    "intl_number",
    "intl_skeleton",
    "intl_zone",
    "intl_date",
    "intl_words",
    "intl_text",
    "intl",
];
/// Files that replace files of Node's library. Each has the property of `native` that holds its
/// text, and its name in `lib/`.
const STAND_INS: &[(&str, &str)] = &[
    ("esmLoader", "esm_loader"),
    ("typescript", "typescript"),
    ("bundle", "bundle"),
    ("tlsWrap", "tls_wrap"),
    ("http2", "http2"),
];

/// The files of both tables, packed by `build.rs`: for each file its name, a zero byte, its text
/// and a zero byte, all compressed by Zstandard.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/parts.zst"));
/// The unpacked length of [`PACKED`].
const UNPACKED: usize = include!(concat!(env!("OUT_DIR"), "/parts.len"));

/// The unpacked files, which exist only during the preparation.
struct LibraryParts(String);

impl LibraryParts {
    fn unpack() -> std::io::Result<LibraryParts> {
        let damaged = || std::io::Error::new(std::io::ErrorKind::InvalidData, "not our parts");
        let mut text = vec![0; UNPACKED];
        let length = zstd_safe::decompress(&mut text[..], PACKED).map_err(|_| damaged())?;
        text.truncate(length);
        String::from_utf8(text).map(LibraryParts).map_err(|_| damaged())
    }

    /// Returns the text of a file by its name. Outside of the guest, the variable
    /// `WASIBOX_JS_PARTS` may name a folder to read files from, so developers need not rebuild
    /// after a change.
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

/// The number of bytes of the stack that scripts may use. The engine counts only the part of its
/// frames that lies in linear memory (`js/engine/c/wasi.h`), for which the linker reserves 8 MiB.
/// The other part lies on the sandbox's stack of 16 MiB. No kind of recursion in
/// `tests/escape/javascript/recursion.js` uses that up before it reaches this limit.
const STACK: usize = 1 << 20;

/// The fraction of the sandbox's stack that scripts may use if it is smaller than [`STACK`], as in
/// a web page (docs/decisions.md, "Stacks of workers").
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
    /// The engine that the preparation made.
    static PREPARED: RefCell<Option<PreparedEngine>> = const { RefCell::new(None) };
}

struct PreparedEngine {
    context: Context,
    runtime: Runtime,
    /// The function that runs a script.
    finish: Kept,
    /// The function that runs a cell.
    cell: Kept,
}

/// Runs the part of the program's work that `stage` names, as [`js_engine::program`] requires.
/// Returns the exit status.
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
    // The engine is not dropped, because its memory ends with the process.
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

/// An error of the preparation. Its text is for users.
#[derive(Debug, thiserror::Error)]
enum JsStartError {
    #[error("/usr/lib/js: {0}")]
    Library(#[from] std::io::Error),
    #[error("{0}")]
    Engine(#[from] rquickjs::Error),
    #[error("{0}")]
    Thrown(String),
}

/// Prepares the engine and the library, up to the point at which arguments matter.
fn prepare_engine() -> std::result::Result<(), JsStartError> {
    let library = Rc::new(NodeLibrary::open(&library::LIBRARY)?);
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

/// Runs the files of the JavaScript half. Returns its functions `goOn`, `cell` and `onRejection`.
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
                // The hook throws nothing itself. An error of the engine, such as lack of memory,
                // will occur again elsewhere.
                let _: Result<()> = handler.call((promise, handled, reason));
            }
        },
    )));
}

/// Runs the script, and returns the exit status.
fn finish_program(ctx: &Ctx<'_>, finish: &Kept) -> u8 {
    let status = finish.clone().restore(ctx).and_then(|f| f.call::<_, i32>(()));
    crate::native::terminal::restore_mode();
    match status.catch(ctx) {
        Ok(status) => (status & 255) as u8,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            7
        }
    }
}
