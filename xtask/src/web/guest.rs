//! Converts guests' modules for pages (`sdk/web/worker.js`). The stack pointer is exported, so that
//! an instance can be restored, and the memory gets a maximum.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use wasmparser::{ExternalKind, Parser, Payload};

/// The maximum memory of a process in bytes, which is the session's limit. Engines do not notify a
/// page of growth, so the module has to declare the maximum.
const MEMORY: u64 = 2 << 30;
/// The size of a page in bytes.
const PAGE: u64 = 65536;

/// The name under which the linker exports the stack pointer.
const NAME: &str = "__stack_pointer";
/// Sections and kinds of the binary format.
const MEMORIES: u8 = 5;
const EXPORTS: u8 = 7;
const GLOBAL: u8 = 3;

/// Converts a module for pages.
pub fn for_pages(wasm: &[u8]) -> Result<Vec<u8>> {
    bound_memory(&export_global(wasm)?)
}

/// Sets the maximum of the memory that the module defines. A module without a memory of its own, or
/// with a lower maximum, is unchanged.
fn bound_memory(wasm: &[u8]) -> Result<Vec<u8>> {
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::MemorySection(section) = payload.context("not a WebAssembly module")? else {
            continue;
        };
        let range = section.range();
        let memories = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        let [memory] = memories[..] else { bail!("a guest has {} memories", memories.len()) };
        let most = MEMORY / PAGE;
        ensure!(!memory.memory64 && !memory.shared, "a guest's memory is 64-bit or shared");
        ensure!(memory.initial <= most, "a guest begins with {} pages", memory.initial);
        if memory.maximum.is_some_and(|end| end <= most) {
            break;
        }
        const HAS_MAXIMUM: u8 = 1;
        let mut body = vec![1, HAS_MAXIMUM];
        body.extend(leb128_bytes(u32::try_from(memory.initial)?));
        body.extend(leb128_bytes(u32::try_from(most)?));
        return replace_section(wasm, MEMORIES, range, &body);
    }
    Ok(wasm.to_vec())
}

/// Replaces the body of a section; `old` is the range of the old body.
fn replace_section(wasm: &[u8], section: u8, old: Range<u64>, body: &[u8]) -> Result<Vec<u8>> {
    let old = usize::try_from(old.start)?..usize::try_from(old.end)?;
    let old_len = leb128_bytes(u32::try_from(old.len())?);
    let header = old.start - old_len.len() - 1;
    let is_shortest = wasm[header] == section && wasm[header + 1..old.start] == old_len;
    ensure!(is_shortest, "the length of section {section} is longer than it needs to be");
    let mut out = wasm[..header].to_vec();
    out.push(section);
    out.extend(leb128_bytes(u32::try_from(body.len())?));
    out.extend_from_slice(body);
    out.extend_from_slice(&wasm[old.end..]);
    Ok(out)
}

/// Exports the module's only mutable global. A module with several or none, or with that export, is
/// unchanged.
fn export_global(wasm: &[u8]) -> Result<Vec<u8>> {
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
    let old = usize::try_from(range.start)?..usize::try_from(range.end)?;
    let mut count = 0;
    for export in exports {
        let export = export?;
        if export.kind == ExternalKind::Global && export.name == NAME {
            return as_it_was();
        }
        count += 1;
    }
    let old_count = leb128_bytes(count);
    ensure!(wasm[old.clone()].starts_with(&old_count), "the count of exports is padded");
    let mut body = leb128_bytes(count + 1);
    body.extend_from_slice(&wasm[old.start + old_count.len()..old.end]);
    body.push(NAME.len() as u8);
    body.extend_from_slice(NAME.as_bytes());
    body.push(GLOBAL);
    body.extend(leb128_bytes(imported + u32::try_from(only)?));
    replace_section(wasm, EXPORTS, range, &body)
}

/// Returns a number in LEB128.
fn leb128_bytes(mut number: u32) -> Vec<u8> {
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

    /// Returns `(module (global (mut i32) (i32.const 8)) (global i32 (i32.const 9)) (func) (export
    /// "f" (func 0)))`; with `changing` the second global is mutable, too.
    fn module(changing: bool) -> Vec<u8> {
        let mut wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0".to_vec();
        wasm.extend([6, 11, 2, 0x7f, 1, 0x41, 8, 0x0b, 0x7f, changing.into(), 0x41, 9, 0x0b]);
        wasm.extend(b"\x07\x05\x01\x01f\0\0\x0a\x04\x01\x02\0\x0b");
        wasm
    }

    #[test]
    fn the_only_global_that_changes_is_shown() {
        let out = export_global(&module(false)).expect("a module");
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
        assert_eq!(export_global(&out).expect("a module"), out);
    }

    #[test]
    fn a_memory_has_an_end() {
        let with = |memory: &[u8]| [b"\0asm\x01\0\0\0\x05", memory, b"\x07\x01\0"].concat();
        // (module (memory 300)), (module (memory 300 32768))
        let without = with(b"\x04\x01\0\xac\x02");
        let expected = with(b"\x07\x01\x01\xac\x02\x80\x80\x02");
        assert_eq!(bound_memory(&without).expect("a module"), expected);
        assert_eq!(bound_memory(&expected).expect("a module"), expected);
        let small = with(b"\x04\x01\x01\x01\x02");
        assert_eq!(bound_memory(&small).expect("a module"), small);
        // (module (memory 40000))
        assert!(bound_memory(&with(b"\x05\x01\0\xc0\xb8\x02")).is_err());
    }

    #[test]
    fn others_are_left_as_they_are() {
        assert_eq!(export_global(&module(true)).expect("a module"), module(true));
        assert!(export_global(b"no module").is_err());
    }
}
