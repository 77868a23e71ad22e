//! Elliptic curves, by `js_curves`; that crate documents their names and formats.

use super::super::{BufferArgument, TextArgument};
use super::give;
use rquickjs::function::Func;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

/// Returns the bytes as a buffer, or nothing for an invalid key or point.
fn maybe(ctx: Ctx<'_>, made: Option<Vec<u8>>) -> Result<Option<ArrayBuffer<'_>>> {
    made.map(|bytes| ArrayBuffer::new(ctx, bytes)).transpose()
}

fn public<'js>(
    ctx: Ctx<'js>,
    curve: TextArgument,
    key: BufferArgument,
) -> Result<Option<ArrayBuffer<'js>>> {
    maybe(ctx, js_curves::public_point(&curve.0, &key.0))
}

fn point<'js>(
    ctx: Ctx<'js>,
    curve: TextArgument,
    point: BufferArgument,
    compress: bool,
) -> Result<Option<ArrayBuffer<'js>>> {
    maybe(ctx, js_curves::convert_point(&curve.0, &point.0, compress))
}

fn shared<'js>(
    ctx: Ctx<'js>,
    curve: TextArgument,
    key: BufferArgument,
    point: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    give(ctx, js_curves::shared_secret(&curve.0, &key.0, &point.0))
}

fn sign<'js>(
    ctx: Ctx<'js>,
    curve: TextArgument,
    key: BufferArgument,
    digest: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    give(ctx, js_curves::sign_digest(&curve.0, &key.0, &digest.0))
}

fn verify(
    curve: TextArgument,
    point: BufferArgument,
    digest: BufferArgument,
    signature: BufferArgument,
) -> bool {
    js_curves::verify_signature(&curve.0, &point.0, &digest.0, &signature.0)
}

fn ed_public<'js>(ctx: Ctx<'js>, seed: BufferArgument) -> Result<ArrayBuffer<'js>> {
    give(ctx, js_curves::ed_public(&seed.0))
}

fn ed_sign<'js>(
    ctx: Ctx<'js>,
    seed: BufferArgument,
    data: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    give(ctx, js_curves::ed_sign(&seed.0, &data.0))
}

fn ed_verify(public: BufferArgument, data: BufferArgument, signature: BufferArgument) -> bool {
    js_curves::ed_verify(&public.0, &data.0, &signature.0)
}

fn x25519<'js>(
    ctx: Ctx<'js>,
    key: BufferArgument,
    point: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    give(ctx, js_curves::x25519_shared(&key.0, &point.0))
}

pub fn install(native: &Object<'_>) -> Result<()> {
    native.set("ecPublic", Func::from(public))?;
    native.set("ecPoint", Func::from(point))?;
    native.set("ecShared", Func::from(shared))?;
    native.set("ecSign", Func::from(sign))?;
    native.set("ecVerify", Func::from(verify))?;
    native.set("edPublic", Func::from(ed_public))?;
    native.set("edSign", Func::from(ed_sign))?;
    native.set("edVerify", Func::from(ed_verify))?;
    native.set("x25519", Func::from(x25519))
}
