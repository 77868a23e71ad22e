//! Functions that the JavaScript half calls: the object `native`.
//!
//! They are few and plain: they take and return numbers, strings, buffers and arrays. From them,
//! `lib/` builds everything that looks like Node's internal bindings. A function whose system call
//! fails throws the name of the error as a string (`"ENOENT"`), and the caller makes Node's error
//! from it.

pub mod compress;
pub mod crypto;
pub mod deadline;
pub mod encoding;
pub mod files;
pub mod intl;
pub mod language;
pub mod network;
pub mod process;
pub mod terminal;
pub mod text;
pub mod transform;
pub mod wasm;

use rquickjs::{Ctx, Error, FromJs, IntoJs, Object, Result, String as JsString, Value};
use std::io;

/// A string argument that is made well-formed (`USVString` of Web IDL).
pub struct TextArgument(pub String);

impl<'js> FromJs<'js> for TextArgument {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        Ok(TextArgument(js_engine::to_utf8(&JsString::from_js(ctx, value)?)?))
    }
}

/// The bytes of a buffer argument.
pub struct BufferArgument(pub Vec<u8>);

impl<'js> FromJs<'js> for BufferArgument {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        js_engine::all_bytes(&value)
            .map(BufferArgument)
            .ok_or_else(|| Error::new_from_js("value", "buffer"))
    }
}

/// Throws the name of a system call's error. The native function must return the result.
pub fn throw_io_error(ctx: &Ctx<'_>, error: &io::Error) -> Error {
    throw_text(ctx, errno_name(error))
}

/// Throws a plain string. The native function must return the result.
pub fn throw_text(ctx: &Ctx<'_>, text: &str) -> Error {
    match text.into_js(ctx) {
        Ok(value) => ctx.throw(value),
        Err(error) => error,
    }
}

/// Returns the symbolic name of an error (`errno(3)`).
fn errno_name(error: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    if let Some(name) = error.raw_os_error().and_then(raw_name) {
        return name;
    }
    match error.kind() {
        K::NotFound => "ENOENT",
        K::PermissionDenied => "EACCES",
        K::AlreadyExists => "EEXIST",
        K::InvalidInput | K::InvalidData => "EINVAL",
        K::BrokenPipe => "EPIPE",
        K::WouldBlock => "EAGAIN",
        K::Interrupted => "EINTR",
        K::Unsupported => "ENOSYS",
        K::IsADirectory => "EISDIR",
        K::NotADirectory => "ENOTDIR",
        K::DirectoryNotEmpty => "ENOTEMPTY",
        K::StorageFull => "ENOSPC",
        K::OutOfMemory => "ENOMEM",
        _ => "EIO",
    }
}

/// Returns the name of an error number. The numbers are those of WASI preview 1 (`wasi/api.h`) on
/// the guest, and those of Linux elsewhere.
#[rustfmt::skip]
fn raw_name(code: i32) -> Option<&'static str> {
    #[cfg(target_os = "wasi")]
    const NAMES: &[(i32, &str)] = &[
        (3, "EADDRINUSE"), (4, "EADDRNOTAVAIL"), (5, "EAFNOSUPPORT"), (13, "ECONNABORTED"), (14, "ECONNREFUSED"),
        (15, "ECONNRESET"), (23, "EHOSTUNREACH"), (26, "EINPROGRESS"), (30, "EISCONN"), (40, "ENETUNREACH"),
        (53, "ENOTCONN"), (57, "ENOTSOCK"), (73, "ETIMEDOUT"),
        (1, "E2BIG"), (2, "EACCES"), (6, "EAGAIN"), (8, "EBADF"), (10, "EBUSY"), (12, "ECHILD"), (20, "EEXIST"),
        (21, "EFAULT"), (22, "EFBIG"), (27, "EINTR"), (28, "EINVAL"), (29, "EIO"), (31, "EISDIR"), (32, "ELOOP"),
        (33, "EMFILE"), (34, "EMLINK"), (37, "ENAMETOOLONG"), (41, "ENFILE"), (43, "ENODEV"), (44, "ENOENT"),
        (45, "ENOEXEC"), (48, "ENOMEM"), (51, "ENOSPC"), (52, "ENOSYS"), (54, "ENOTDIR"), (55, "ENOTEMPTY"),
        (58, "ENOTSUP"), (59, "ENOTTY"), (60, "ENXIO"), (61, "EOVERFLOW"), (63, "EPERM"), (64, "EPIPE"),
        (69, "EROFS"), (70, "ESPIPE"), (71, "ESRCH"), (74, "ETXTBSY"), (75, "EXDEV"), (76, "EPERM"),
    ];
    #[cfg(not(target_os = "wasi"))]
    const NAMES: &[(i32, &str)] = &[
        (1, "EPERM"), (2, "ENOENT"), (3, "ESRCH"), (4, "EINTR"), (5, "EIO"), (6, "ENXIO"), (7, "E2BIG"), (8, "ENOEXEC"),
        (9, "EBADF"), (10, "ECHILD"), (11, "EAGAIN"), (12, "ENOMEM"), (13, "EACCES"), (16, "EBUSY"), (17, "EEXIST"),
        (18, "EXDEV"), (19, "ENODEV"), (20, "ENOTDIR"), (21, "EISDIR"), (22, "EINVAL"), (24, "EMFILE"), (25, "ENOTTY"),
        (26, "ETXTBSY"), (27, "EFBIG"), (28, "ENOSPC"), (29, "ESPIPE"), (30, "EROFS"), (31, "EMLINK"), (32, "EPIPE"),
        (36, "ENAMETOOLONG"), (38, "ENOSYS"), (39, "ENOTEMPTY"), (40, "ELOOP"), (95, "ENOTSUP"),
        (98, "EADDRINUSE"), (99, "EADDRNOTAVAIL"), (101, "ENETUNREACH"), (103, "ECONNABORTED"), (104, "ECONNRESET"),
        (106, "EISCONN"), (107, "ENOTCONN"), (110, "ETIMEDOUT"), (111, "ECONNREFUSED"), (113, "EHOSTUNREACH"),
    ];
    NAMES.iter().find(|(n, _)| *n == code).map(|(_, name)| *name)
}

/// Returns the object with all native functions.
pub fn native_object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    language::install(ctx, &native)?;
    deadline::install(ctx, &native)?;
    files::install(ctx, &native)?;
    process::install(ctx, &native)?;
    terminal::install(ctx, &native)?;
    network::install(ctx, &native)?;
    text::install(ctx, &native)?;
    encoding::install(ctx, &native)?;
    intl::install(ctx, &native)?;
    compress::install(ctx, &native)?;
    crypto::install(ctx, &native)?;
    wasm::install(ctx, &native)?;
    transform::install(ctx, &native)?;
    Ok(native)
}
