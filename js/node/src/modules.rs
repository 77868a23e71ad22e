//! ECMAScript modules: the engine asks for names and sources, the JavaScript half answers.
//!
//! `lib/esm_loader.js` sets two hooks. One resolves a specifier to a URL as Node does; the other
//! returns the text of the module at a URL (for CommonJS, JSON and built-in modules a few lines
//! that export a value that was loaded another way). So all rules of `package.json` stay in Node's
//! own code.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Function, Module, Object, Persistent, Result, Value};
use std::cell::RefCell;

thread_local! {
    static HOOKS: RefCell<Option<ModuleHooks>> = const { RefCell::new(None) };
}

/// The JavaScript half.
struct ModuleHooks {
    resolve: Persistent<Function<'static>>,
    load: Persistent<Function<'static>>,
    meta: Persistent<Function<'static>>,
    refused: Persistent<Function<'static>>,
}

/// Sets the hooks: `resolve(specifier, parent, type)`, `load(url)`, `meta(object, url)`,
/// `refused(error, url, source)`.
pub fn set_hooks<'js>(
    ctx: Ctx<'js>,
    resolve: Function<'js>,
    load: Function<'js>,
    meta: Function<'js>,
    refused: Function<'js>,
) {
    let hooks = ModuleHooks {
        resolve: Persistent::save(&ctx, resolve),
        load: Persistent::save(&ctx, load),
        meta: Persistent::save(&ctx, meta),
        refused: Persistent::save(&ctx, refused),
    };
    HOOKS.with_borrow_mut(|h| *h = Some(hooks));
}

fn call_hook<'js>(
    ctx: &Ctx<'js>,
    which: impl FnOnce(&ModuleHooks) -> &Persistent<Function<'static>>,
) -> Result<Function<'js>> {
    match HOOKS.with_borrow(|h| h.as_ref().map(|h| which(h).clone())) {
        Some(function) => function.restore(ctx),
        None => Err(Error::new_loading("no module loader")),
    }
}

/// Asks `resolve`.
pub struct JsResolver;

impl Resolver for JsResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let kind = match attributes {
            Some(a) => a.get("type")?,
            None => None,
        };
        call_hook(ctx, |h| &h.resolve)?.call((name, base, kind))
    }
}

/// Asks `load`.
pub struct JsLoader;

impl Loader for JsLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let source: String = call_hook(ctx, |h| &h.load)?.call((name,))?;
        declare_module(ctx, name, source)
    }
}

fn declare_module<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: String,
) -> Result<Module<'js, Declared>> {
    let module = match Module::declare(ctx.clone(), name, source.clone()) {
        Ok(module) => module,
        Err(Error::Exception) => {
            let error =
                call_hook(ctx, |h| &h.refused)?.call::<_, Value>((ctx.catch(), name, source))?;
            return Err(ctx.throw(error));
        }
        Err(error) => return Err(error),
    };
    let meta: Object = module.meta()?;
    call_hook(ctx, |h| &h.meta)?.call::<_, ()>((meta, name))?;
    Ok(module)
}

/// Evaluates a text as the module `name`: its namespace and the promise of its end.
pub fn run_module<'js>(
    ctx: Ctx<'js>,
    name: String,
    source: super::native::TextArgument,
) -> Result<Vec<Value<'js>>> {
    let (module, promise) = declare_module(&ctx, &name, source.0)?.eval()?;
    Ok(vec![module.namespace()?.into_value(), promise.into_value()])
}

/// Returns the promise of a module's namespace, imported by its URL.
pub fn import_module<'js>(ctx: Ctx<'js>, url: String) -> Result<rquickjs::Promise<'js>> {
    Module::import(&ctx, url)
}
