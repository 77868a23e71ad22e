//! The preview 1 flavour of a module: its WASIX imports become functions that return NOSYS, so that
//! any WASI preview 1 runtime can instantiate it.

use anyhow::{Context, Result, ensure};
use walrus::ir::Value;
use walrus::{ImportKind, Module, ValType};

/// WASIX's module name.
const WASIX: &str = "wasix_32v1";
/// `ERRNO_NOSYS` of WASI preview 1.
const NOSYS: i32 = 52;

/// Replaces every import from WASIX by a stub. Functions that return an errno return NOSYS; those
/// that return nothing trap, because they cannot report an error.
pub fn preview1_module(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = Module::from_buffer(wasm).context("not a WebAssembly module")?;
    let imports: Vec<_> = module
        .imports
        .iter()
        .filter(|i| i.module == WASIX)
        .map(|i| (i.name.clone(), i.kind.clone()))
        .collect();
    for (name, kind) in imports {
        let ImportKind::Function(id) = kind else {
            anyhow::bail!("{WASIX}.{name} is not a function");
        };
        let results = module.types.get(module.funcs.get(id).ty()).results().to_vec();
        ensure!(
            results.is_empty() || results == [ValType::I32],
            "{WASIX}.{name} returns {results:?}"
        );
        module.replace_imported_func(id, |(body, _)| {
            let mut body = body.func_body();
            if results.is_empty() {
                body.unreachable();
            } else {
                body.const_(Value::I32(NOSYS));
            }
        })?;
    }
    Ok(module.emit_wasm())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wasix_import_remains() {
        // (module (import "wasix_32v1" "proc_id" (func (param i32) (result i32)))
        //         (export "f" (func 0)))
        let wasm = b"\0asm\x01\0\0\0\x01\x06\x01\x60\x01\x7f\x01\x7f\x02\x16\x01\x0awasix_32v1\x07proc_id\0\0\x07\x05\x01\x01f\0\0";
        let out = preview1_module(wasm).expect("converts");
        let module = Module::from_buffer(&out).expect("valid");
        assert_eq!(module.imports.iter().count(), 0);
        assert_eq!(module.exports.iter().count(), 1);
    }
}
