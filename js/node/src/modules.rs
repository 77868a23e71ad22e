//! ECMAScript modules: the engine requests names and sources, and the JavaScript half supplies
//! them.
//!
//! `lib/esm_loader.js` sets the hooks. `resolve` turns a specifier into a URL as Node does. `load`
//! returns the text of the module at a URL; for CommonJS, JSON and built-in modules these are a few
//! lines that export a value that was loaded another way. `meta` fills `import.meta`, and `refused`
//! makes the error for a text that the engine refuses. All rules of `package.json` thus stay in
//! Node's own code.

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Function, Module, Object, Persistent, Result, Value};
use std::cell::RefCell;

thread_local! {
    static HOOKS: RefCell<Option<ModuleHooks>> = const { RefCell::new(None) };
}

/// The functions of the JavaScript half that load modules.
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

/// The engine's resolver, which calls the hook `resolve`.
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

/// The engine's loader, which calls the hook `load`.
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

/// Evaluates a text as the module `name`. Returns its namespace, and a promise for its end.
pub fn run_module<'js>(
    ctx: Ctx<'js>,
    name: String,
    source: super::native::TextArgument,
) -> Result<Vec<Value<'js>>> {
    let (module, promise) = declare_module(&ctx, &name, source.0)?.eval()?;
    Ok(vec![module.namespace()?.into_value(), promise.into_value()])
}

/// Imports a module by its URL. Returns a promise for its namespace.
pub fn import_module<'js>(ctx: Ctx<'js>, url: String) -> Result<rquickjs::Promise<'js>> {
    Module::import(&ctx, url)
}
