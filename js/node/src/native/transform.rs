//! TypeScript, JSX and places of syntax errors: offers the crate `js-transform` to the JavaScript
//! half.
//!
//! A function returns `{ error }` for a text that it refuses, because the caller makes an error
//! from it that names the file.

use super::TextArgument;
use js_transform::module::ImportKind;
use js_transform::{CompilerOptions, JsSyntaxError, Jsx, Output, SourceKind};
use rquickjs::function::{Func, Opt};
use rquickjs::{Ctx, Object, Result};

fn kind(name: Option<String>) -> Option<SourceKind> {
    match name.as_deref() {
        Some("module") => Some(SourceKind::Module),
        Some("commonjs") => Some(SourceKind::CommonJs),
        Some("either") => Some(SourceKind::Either),
        _ => None,
    }
}

fn options(from: &Object<'_>) -> Result<CompilerOptions> {
    let jsx: Option<String> = from.get("jsx")?;
    Ok(CompilerOptions {
        kind: kind(from.get("kind")?),
        jsx: match jsx.as_deref() {
            Some("react-jsx") => Jsx::Automatic,
            Some("react-jsxdev") => Jsx::Development,
            _ => Jsx::Classic,
        },
        jsx_factory: from.get("jsxFactory")?,
        jsx_fragment: from.get("jsxFragmentFactory")?,
        jsx_import_source: from.get("jsxImportSource")?,
        experimental_decorators: from.get::<_, Option<bool>>("experimentalDecorators")?
            == Some(true),
        emit_decorator_metadata: from.get::<_, Option<bool>>("emitDecoratorMetadata")?
            == Some(true),
        assign_fields: from.get::<_, Option<bool>>("assignFields")? == Some(true),
        verbatim_module_syntax: from.get::<_, Option<bool>>("verbatimModuleSyntax")? == Some(true),
    })
}

fn refused<'js>(ctx: &Ctx<'js>, error: &JsSyntaxError) -> Result<Object<'js>> {
    let place = Object::new(ctx.clone())?;
    place.set("message", &*error.message)?;
    place.set("line", error.line)?;
    place.set("column", error.column)?;
    place.set("length", error.length)?;
    place.set("text", &*error.text)?;
    let out = Object::new(ctx.clone())?;
    out.set("error", place)?;
    Ok(out)
}

fn made<'js>(ctx: &Ctx<'js>, output: &Output) -> Result<Object<'js>> {
    let out = Object::new(ctx.clone())?;
    out.set("code", &*output.code)?;
    out.set("mappings", &*output.mappings)?;
    Ok(out)
}

/// Returns `{ code, mappings, module }` of a text.
fn transform<'js>(
    ctx: Ctx<'js>,
    source: TextArgument,
    filename: TextArgument,
    settings: Object<'js>,
) -> Result<Object<'js>> {
    match js_transform::transform::transform_source(&source.0, &filename.0, &options(&settings)?) {
        Ok((output, module)) => {
            let out = made(&ctx, &output)?;
            out.set("module", module)?;
            Ok(out)
        }
        Err(error) => refused(&ctx, &error),
    }
}

/// Returns `{ error }` for a text with a syntax error, and nothing for a valid one.
fn check<'js>(
    ctx: Ctx<'js>,
    source: TextArgument,
    filename: TextArgument,
    of: Opt<String>,
) -> Result<Option<Object<'js>>> {
    match js_transform::check::check_syntax(&source.0, &filename.0, kind(of.0)) {
        Ok(()) => Ok(None),
        Err(error) => refused(&ctx, &error).map(Some),
    }
}

fn is_module(source: TextArgument, filename: TextArgument) -> bool {
    js_transform::check::is_module(&source.0, &filename.0)
}

/// Returns `{ code, mappings }` of a text in JavaScript, minified.
fn minify<'js>(
    ctx: Ctx<'js>,
    source: TextArgument,
    filename: TextArgument,
    of: String,
) -> Result<Object<'js>> {
    let kind = kind(Some(of)).unwrap_or(SourceKind::Module);
    match js_transform::minify::minify_program(&source.0, &filename.0, kind) {
        Ok(output) => made(&ctx, &output),
        Err(error) => refused(&ctx, &error),
    }
}

/// Returns `{ code, mappings, module, waits, requests, exports, stars }` of a module for a bundle.
fn module_body<'js>(
    ctx: Ctx<'js>,
    source: TextArgument,
    filename: TextArgument,
    settings: Object<'js>,
    waits: bool,
) -> Result<Object<'js>> {
    let settings = options(&settings)?;
    let body = match js_transform::module::bundle_body(&source.0, &filename.0, &settings, waits) {
        Ok(body) => body,
        Err(error) => return refused(&ctx, &error),
    };
    let out = made(&ctx, &body.output)?;
    out.set("module", body.module)?;
    out.set("waits", body.waits)?;
    let mut requests = Vec::new();
    for request in body.requests {
        let one = Object::new(ctx.clone())?;
        one.set("specifier", request.specifier)?;
        one.set(
            "how",
            match request.how {
                ImportKind::Import => "import",
                ImportKind::Dynamic => "dynamic",
                ImportKind::Require => "require",
            },
        )?;
        one.set("names", request.names)?;
        requests.push(one);
    }
    out.set("requests", requests)?;
    let mut exports = Vec::new();
    for export in body.exports {
        let one = Object::new(ctx.clone())?;
        one.set("name", export.name)?;
        if let Some((specifier, imported)) = export.from {
            one.set("specifier", specifier)?;
            one.set("imported", imported)?;
        }
        exports.push(one);
    }
    out.set("exports", exports)?;
    out.set("stars", body.stars)?;
    Ok(out)
}

/// Returns the declaration of the helpers that a text uses; nothing if it uses none.
fn helpers(code: TextArgument) -> Option<String> {
    js_transform::helpers(&code.0)
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("transform", Func::from(transform))?;
    native.set("checkText", Func::from(check))?;
    native.set("isModuleText", Func::from(is_module))?;
    native.set("helpers", Func::from(helpers))?;
    native.set("minify", Func::from(minify))?;
    native.set("moduleBody", Func::from(module_body))
}
