//! Shows the stack pointer of a module that a page puts back (`sdk/web/worker.js`): Python's, whose linker does not.

use anyhow::{Context, Result, ensure};
use wasmparser::{ExternalKind, Parser, Payload};

/// The name under which the linker exports it.
const NAME: &str = "__stack_pointer";
/// Sections and kinds of the binary format.
const EXPORTS: u8 = 7;
const GLOBAL: u8 = 3;

/// The module with an export of the only global of it that can change; as it was if there are several or none, or the export is
/// there.
pub fn shown(wasm: &[u8]) -> Result<Vec<u8>> {
    let (mut imported, mut own) = (0, Vec::new());
    let mut exports = None;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.context("not a WebAssembly module")? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Global(_)));
                }
            }
            Payload::GlobalSection(globals) => {
                for global in globals {
                    own.push(global?.ty.mutable);
                }
            }
            Payload::ExportSection(section) => exports = Some(section),
            _ => {}
        }
    }
    let as_it_was = || Ok(wasm.to_vec());
    let Some(exports) = exports else { return as_it_was() };
    let changing: Vec<usize> = (0..own.len()).filter(|n| own[*n]).collect();
    let [only] = changing[..] else { return as_it_was() };
    let range = exports.range();
    let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
    let mut count = 0;
    for export in exports {
        let export = export?;
        if export.kind == ExternalKind::Global && export.name == NAME {
            return as_it_was();
        }
        count += 1;
    }
    let (old_count, old_len) = (leb(count), leb(u32::try_from(range.len())?));
    let header = range.start - old_len.len() - 1;
    let is_shortest = wasm[header] == EXPORTS
        && wasm[header + 1..range.start] == old_len
        && wasm[range.clone()].starts_with(&old_count);
    ensure!(is_shortest, "numbers of the export section are longer than they need to be");
    let mut body = leb(count + 1);
    body.extend_from_slice(&wasm[range.start + old_count.len()..range.end]);
    body.push(NAME.len() as u8);
    body.extend_from_slice(NAME.as_bytes());
    body.push(GLOBAL);
    body.extend(leb(imported + u32::try_from(only)?));
    let mut out = wasm[..header].to_vec();
    out.push(EXPORTS);
    out.extend(leb(u32::try_from(body.len())?));
    out.extend(body);
    out.extend_from_slice(&wasm[range.end..]);
    Ok(out)
}

/// A number in LEB128.
fn leb(mut number: u32) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(module (global (mut i32) (i32.const 8)) (global i32 (i32.const 9)) (func) (export "f" (func 0)))`, and with
    /// `changing` the second global can change, too.
    fn module(changing: bool) -> Vec<u8> {
        let mut wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0".to_vec();
        wasm.extend([6, 11, 2, 0x7f, 1, 0x41, 8, 0x0b, 0x7f, changing.into(), 0x41, 9, 0x0b]);
        wasm.extend(b"\x07\x05\x01\x01f\0\0\x0a\x04\x01\x02\0\x0b");
        wasm
    }

    #[test]
    fn the_only_global_that_changes_is_shown() {
        let out = shown(&module(false)).expect("a module");
        let mut found = Vec::new();
        for payload in Parser::new(0).parse_all(&out) {
            if let Payload::ExportSection(exports) = payload.expect("valid") {
                found = exports
                    .into_iter()
                    .map(|e| e.map(|e| (e.name.to_owned(), e.kind, e.index)).expect("an export"))
                    .collect();
            }
        }
        let expected =
            [("f".to_owned(), ExternalKind::Func, 0), (NAME.to_owned(), ExternalKind::Global, 0)];
        assert_eq!(found, expected);
        assert_eq!(shown(&out).expect("a module"), out);
    }

    #[test]
    fn others_are_left_as_they_are() {
        assert_eq!(shown(&module(true)).expect("a module"), module(true));
        assert!(shown(b"no module").is_err());
    }
}
