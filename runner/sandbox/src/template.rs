//! The initial memory of a program, kept separately from its code.
//!
//! A module's active data segments are the initial content of its memory. The engine copies them
//! into each new memory. For a program with megabytes of constants, this copying is most of the
//! cost of starting a process. Here they are cut out of the module, before it is compiled, and
//! written as one *template* file, which [`crate::memory`] maps copy-on-write into each process:
//! pages are shared until one is written to.
//!
//! The same pass determines whether an instance may serve one process after another: everything
//! that the guest can change must then be reset. Memory and numeric globals can be reset (the
//! globals are exported for this purpose, by [`global_name`]). A module with instructions that
//! change tables or drop segments, with exceptions or with a start function is not reused.
//!
//! A module that does not fit (no memory of its own, segments at computed places or far apart) is
//! left as it is and has an empty template.

use crate::track::PART;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
pub use wasibox_kernel::parked::ALIGN;
use wasibox_kernel::parked::PreparedHeader;
use wasmparser::{
    BinaryReaderError, ConstExpr, DataKind, ExternalKind, Operator, Parser, Payload, TypeRef,
    ValType,
};

/// The largest template in bytes. A template that would be mostly gaps is not made either, because
/// two segments far apart would turn a module of some bytes into a file of hundreds of megabytes.
const MAX_SIZE: usize = 1 << 30;
const MAX_GAPS: usize = 16 << 20;
const MAGIC: &[u8; 16] = b"wasibox memory 1";
/// Magic, start, length, flags, size, digest.
const HEAD: usize = 73;

/// A module without its data, and the template file's content.
pub struct SplitModule {
    pub wasm: Vec<u8>,
    pub template: Vec<u8>,
}

/// The template as mapped: the open file and its layout.
#[derive(Debug)]
pub struct MemoryTemplate {
    pub file: File,
    /// Its address in the guest's memory; a multiple of [`ALIGN`].
    pub start: usize,
    /// Its length, a multiple of [`ALIGN`]; 0 if the module keeps its segments.
    pub len: usize,
    /// Whether an instance may be used again once memory and globals are reset.
    pub reusable: bool,
    /// Whether memory and globals are all that its processes can change.
    pub plain: bool,
    /// Bytes of the memory at the start, a multiple of [`ALIGN`]; 0 if the module determines them.
    pub size: usize,
    /// The digest of the prepared memory; zeros if the template is the module's.
    pub digest: [u8; 32],
    /// The file, mapped at the first comparison.
    map: OnceLock<Option<memmap2::Mmap>>,
}

impl MemoryTemplate {
    /// Opens a template file's content, whose integrity the caller has checked.
    pub fn open(file: File) -> io::Result<MemoryTemplate> {
        let mut head = [0; HEAD];
        (&file).read_exact(&mut head)?;
        let number = |at: usize| {
            let n = u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
            usize::try_from(n).ok().filter(|n| n % ALIGN == 0 && *n < 1 << 32)
        };
        let (start, len, size) = (number(16), number(24), number(33));
        let stored = file.metadata()?.len();
        match (start, len, size) {
            (Some(start), Some(len), Some(size))
                if head[..16] == *MAGIC && stored == (ALIGN + len) as u64 =>
            {
                Ok(MemoryTemplate {
                    file,
                    start,
                    len,
                    reusable: head[32] & 1 != 0,
                    plain: head[32] & 2 != 0,
                    size,
                    digest: head[41..HEAD].try_into().unwrap_or_default(),
                    map: OnceLock::new(),
                })
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Creates a template that lives in memory only.
    pub fn in_memory(content: &[u8]) -> io::Result<MemoryTemplate> {
        use rustix::fs::{MemfdFlags, memfd_create};
        let mut file = File::from(memfd_create("wasibox-template", MemfdFlags::CLOEXEC)?);
        file.write_all(content)?;
        io::Seek::rewind(&mut file)?;
        MemoryTemplate::open(file)
    }

    /// Returns the offset of the first mapped byte in the file.
    pub fn offset(&self) -> u64 {
        ALIGN as u64
    }

    /// Copies a part of the template.
    pub fn read(&self, at: usize, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, self.offset() + at as u64)
    }

    /// Maps the content for [`MemoryTemplate::part`]; returns false if that is not possible.
    pub fn map_content(&self) -> bool {
        self.mapped_content().is_some()
    }

    fn mapped_content(&self) -> Option<&[u8]> {
        // JUSTIFICATION: reading a part with a system call takes four times as long as comparing
        // it. SAFETY: the file is replaced by rename only, never written in place or shortened.
        let map = self.map.get_or_init(|| unsafe { memmap2::Mmap::map(&self.file) }.ok());
        map.as_deref()
    }

    /// Returns the part with that number of a memory that begins with this template; `None` if the
    /// template cannot be mapped.
    pub fn part(&self, number: usize) -> Option<&[u8]> {
        static ZEROS: [u8; PART] = [0; PART];
        let at = number.checked_mul(PART)?;
        match at.checked_sub(self.start).filter(|at| *at < self.len) {
            Some(at) => {
                let from = self.offset() as usize + at;
                self.mapped_content()?.get(from..from + PART)
            }
            None => Some(&ZEROS),
        }
    }
}

/// Returns the name under which the mutable global number `n` is exported so that it can be reset.
pub fn global_name(n: impl std::fmt::Display) -> String {
    format!("wasibox.global.{n}")
}

/// Returns the content of a template file for memories that begin as `memory` is now.
pub fn of_memory(memory: &[u8], of: &MemoryTemplate) -> Option<Vec<u8>> {
    let what = PreparedHeader::from_memory(memory, of.reusable, of.plain);
    if what.len > MAX_SIZE || !memory.len().is_multiple_of(ALIGN) {
        return None;
    }
    let end = memory.len().min(what.start + what.len);
    let mut out = template_content(what, &memory[what.start..end]);
    let digest = what.content_digest(&out[ALIGN..]);
    out[41..HEAD].copy_from_slice(&digest);
    Some(out)
}

/// Returns the file's content for a template of a module, which itself determines the size of its
/// memory.
fn of_module(start: usize, bytes: &[u8], is_reusable: bool, is_plain: bool) -> Vec<u8> {
    let len = bytes.len().next_multiple_of(ALIGN);
    template_content(PreparedHeader { start, len, is_reusable, is_plain, size: 0 }, bytes)
}

/// Returns head and content.
fn template_content(what: PreparedHeader, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ALIGN + what.len);
    out.extend_from_slice(&what.header_bytes());
    out.resize(ALIGN, 0);
    out.extend_from_slice(bytes);
    out.resize(ALIGN + what.len, 0);
    out
}

/// Separates a module from its data.
pub fn split_module(wasm: Vec<u8>) -> SplitModule {
    // The engine reports modules that do not parse.
    match ModuleSurvey::survey_module(&wasm).ok().flatten().and_then(|s| s.rewrite(&wasm)) {
        Some(split) => split,
        None => SplitModule { template: of_module(0, &[], false, false), wasm },
    }
}

/// A data segment: its place in memory, or `None` for a passive one.
struct Segment<'a> {
    at: Option<usize>,
    data: &'a [u8],
}

/// The parts of a module that matter here.
#[derive(Default)]
struct ModuleSurvey<'a> {
    segments: Vec<Segment<'a>>,
    /// Bytes of the module's memory at the start.
    memory: Option<u64>,
    /// Indices of mutable globals.
    globals: Vec<u32>,
    exports: Vec<(&'a str, ExternalKind, u32)>,
    plain: bool,
    /// Whether the module throws: exceptions stay in the instance's store until the store is
    /// dropped.
    throws: bool,
}

impl<'a> ModuleSurvey<'a> {
    fn survey_module(wasm: &'a [u8]) -> Result<Option<ModuleSurvey<'a>>, BinaryReaderError> {
        let mut s = ModuleSurvey { plain: true, ..ModuleSurvey::default() };
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(r) => {
                    for import in r.into_imports() {
                        // An imported memory, table or global.
                        let TypeRef::Func(_) = import?.ty else { return Ok(None) };
                    }
                }
                Payload::MemorySection(r) => {
                    for m in r {
                        let m = m?;
                        let plain = !m.memory64 && !m.shared && m.page_size_log2.is_none();
                        if s.memory.is_some() || !plain {
                            return Ok(None);
                        }
                        s.memory = Some(m.initial.saturating_mul(64 << 10));
                    }
                }
                Payload::GlobalSection(r) => {
                    for (i, g) in r.into_iter().enumerate() {
                        let ty = g?.ty;
                        if ty.mutable {
                            s.globals.push(i as u32);
                            s.plain &= matches!(
                                ty.content_type,
                                ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64
                            );
                        }
                    }
                }
                Payload::ExportSection(r) => {
                    for e in r {
                        let e = e?;
                        s.exports.push((e.name, e.kind, e.index));
                    }
                }
                Payload::StartSection { .. } => s.plain = false,
                Payload::TagSection(_) => s.throws = true,
                Payload::CodeSectionEntry(body) if s.plain => {
                    for op in body.get_operators_reader()? {
                        s.plain &= !keeps_state(&op?);
                    }
                }
                Payload::DataSection(r) => {
                    for d in r {
                        let d = d?;
                        let at = match d.kind {
                            DataKind::Passive => None,
                            DataKind::Active { memory_index: 0, offset_expr } => {
                                let Some(at) = constant_value(&offset_expr)? else {
                                    return Ok(None);
                                };
                                Some(at as usize)
                            }
                            DataKind::Active { .. } => return Ok(None),
                        };
                        s.segments.push(Segment { at, data: d.data });
                    }
                }
                _ => {}
            }
        }
        Ok(Some(s))
    }

    fn rewrite(self, wasm: &[u8]) -> Option<SplitModule> {
        let memory = usize::try_from(self.memory?).ok()?;
        let active = || self.segments.iter().filter_map(|s| s.at.map(|at| (at, s.data)));
        // An out-of-bounds segment must trap when the process starts: leave it to the engine.
        if active().any(|(at, data)| at.checked_add(data.len()).is_none_or(|end| end > memory)) {
            return None;
        }
        let filled = || active().filter(|(_, data)| !data.is_empty());
        let first = filled().map(|(at, _)| at).min().unwrap_or(0);
        let end = filled().map(|(at, data)| at + data.len()).max().unwrap_or(0);
        let start = first / ALIGN * ALIGN;
        let len = end.saturating_sub(start);
        let data = filled().fold(0usize, |n, (_, data)| n.saturating_add(data.len()));
        if len > MAX_SIZE || len > MAX_GAPS.saturating_add(data.saturating_mul(4)) {
            return None;
        }
        let mut bytes = vec![0; len];
        for (at, data) in filled() {
            bytes[at - start..][..data.len()].copy_from_slice(data);
        }
        Some(SplitModule {
            wasm: self.without_data(wasm)?,
            template: of_module(start, &bytes, self.plain && !self.throws, self.plain),
        })
    }

    /// Returns the module with empty active segments and exported globals.
    fn without_data(&self, wasm: &[u8]) -> Option<Vec<u8>> {
        let mut out = wasm.get(..8)?.to_vec();
        let mut rest = wasm.get(8..)?;
        while let Some((&id, after)) = rest.split_first() {
            let (len, header) = leb_u32(after)?;
            let whole = 1 + header + len as usize;
            match id {
                7 if self.plain => put_section(&mut out, 7, &self.export_section()),
                11 => put_section(&mut out, 11, &self.data_section()),
                _ => out.extend_from_slice(rest.get(..whole)?),
            }
            rest = rest.get(whole..)?;
        }
        Some(out)
    }

    fn data_section(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_leb(&mut out, self.segments.len() as u32);
        for s in &self.segments {
            match s.at {
                // An empty segment at `i32.const 0`.
                Some(_) => out.extend_from_slice(&[0, 0x41, 0, 0x0b, 0]),
                None => {
                    out.push(1);
                    put_leb(&mut out, s.data.len() as u32);
                    out.extend_from_slice(s.data);
                }
            }
        }
        out
    }

    fn export_section(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_leb(&mut out, (self.exports.len() + self.globals.len()) as u32);
        let mut put = |name: &str, kind: u8, index: u32| {
            put_leb(&mut out, name.len() as u32);
            out.extend_from_slice(name.as_bytes());
            out.push(kind);
            put_leb(&mut out, index);
        };
        for (name, kind, index) in &self.exports {
            let kind = match kind {
                ExternalKind::Func | ExternalKind::FuncExact => 0,
                ExternalKind::Table => 1,
                ExternalKind::Memory => 2,
                ExternalKind::Global => 3,
                ExternalKind::Tag => 4,
            };
            put(name, kind, *index);
        }
        for n in &self.globals {
            put(&global_name(*n), 3, *n);
        }
        out
    }
}

/// Returns whether an instruction changes state that only a new instance could reset.
fn keeps_state(op: &Operator<'_>) -> bool {
    matches!(
        op,
        Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableInit { .. }
            | Operator::TableCopy { .. }
            | Operator::TableFill { .. }
            | Operator::ElemDrop { .. }
            | Operator::DataDrop { .. }
    )
}

/// Returns the value of `i32.const N`.
fn constant_value(e: &ConstExpr<'_>) -> Result<Option<u32>, BinaryReaderError> {
    let mut ops = e.get_operators_reader();
    let first = ops.read()?;
    Ok(match (first, ops.read()?) {
        (Operator::I32Const { value }, Operator::End) => Some(value as u32),
        _ => None,
    })
}

fn put_section(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    out.push(id);
    put_leb(out, body.len() as u32);
    out.extend_from_slice(body);
}

fn put_leb(out: &mut Vec<u8>, mut n: u32) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Decodes a LEB128 number; returns it and its length in bytes.
fn leb_u32(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut n = 0u64;
    for (i, b) in bytes.iter().take(5).enumerate() {
        n |= u64::from(b & 0x7f) << (7 * i);
        if b & 0x80 == 0 {
            return Some((u32::try_from(n).ok()?, i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a module with a memory of one page, exported as `m`, a mutable global, `more`, and a
    /// data segment.
    fn module(more: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 6] = [
            b"\0asm\x01\0\0\0",
            b"\x05\x03\x01\0\x01",
            b"\x06\x06\x01\x7f\x01\x41\x05\x0b",
            b"\x07\x05\x01\x01m\x02\0",
            more,
            b"\x0b\x08\x01\0\x41\x10\x0b\x02hi",
        ];
        parts.concat()
    }

    #[test]
    fn data_goes_to_the_template_and_globals_are_exported() {
        let s = split_module(module(b""));
        let t = MemoryTemplate::in_memory(&s.template).unwrap();
        assert!(t.reusable);
        assert_eq!((t.start, t.len), (0, ALIGN));
        let mut bytes = vec![0; ALIGN];
        t.read(0, &mut bytes).unwrap();
        assert_eq!(&bytes[15..19], b"\0hi\0");
        let mut exports = Vec::new();
        for payload in Parser::new(0).parse_all(&s.wasm) {
            match payload.unwrap() {
                Payload::ExportSection(r) => exports.extend(r.into_iter().map(|e| e.unwrap().name)),
                Payload::DataSection(r) => {
                    assert!(r.into_iter().all(|d| d.unwrap().data.is_empty()));
                }
                _ => {}
            }
        }
        assert_eq!(exports, ["m", "wasibox.global.0"]);
    }

    /// Two segments of a byte each, 512 MiB apart.
    #[test]
    fn segments_far_apart_stay_in_the_module() {
        let wasm = [
            b"\0asm\x01\0\0\0".as_slice(),
            b"\x05\x05\x01\0\x80\x80\x01",
            b"\x0b\x11\x02\0\x41\0\x0b\x01a\0\x41\x80\x80\x80\x80\x02\x0b\x01b",
        ]
        .concat();
        assert!(ModuleSurvey::survey_module(&wasm).unwrap().unwrap().segments.len() == 2);
        let s = split_module(wasm.clone());
        assert!(s.wasm == wasm && s.template.len() <= 2 * ALIGN);
        assert_eq!(MemoryTemplate::in_memory(&s.template).unwrap().len, 0);
    }

    #[test]
    fn what_cannot_be_put_back_is_not_reused() {
        // A start function.
        let s = split_module(module(b"\x08\x01\0"));
        assert!(!MemoryTemplate::in_memory(&s.template).unwrap().reusable);
        // Not a module at all: unchanged, with an empty template.
        let s = split_module(Vec::from(b"not wasm"));
        assert_eq!(s.wasm, b"not wasm");
        assert_eq!(MemoryTemplate::in_memory(&s.template).unwrap().len, 0);
    }

    #[test]
    fn a_memory_becomes_a_template() {
        let like = MemoryTemplate::in_memory(&split_module(module(b"")).template).unwrap();
        let mut memory = vec![0; 4 * ALIGN];
        memory[ALIGN + 7] = 1;
        memory[2 * ALIGN] = 2;
        let t = MemoryTemplate::in_memory(&of_memory(&memory, &like).unwrap()).unwrap();
        assert_eq!((t.start, t.len, t.size, t.reusable), (ALIGN, 2 * ALIGN, 4 * ALIGN, true));
        let mut bytes = vec![0; 2 * ALIGN];
        t.read(0, &mut bytes).unwrap();
        assert!(bytes == memory[ALIGN..3 * ALIGN]);
        for at in [0, ALIGN, 2 * ALIGN, 3 * ALIGN] {
            assert_eq!(t.part(at / PART), Some(&memory[at..at + PART]));
        }
        let again = MemoryTemplate::in_memory(&of_memory(&memory, &like).unwrap()).unwrap();
        memory[3 * ALIGN - 1] = 1;
        let other = MemoryTemplate::in_memory(&of_memory(&memory, &like).unwrap()).unwrap();
        assert!(t.digest == again.digest && t.digest != other.digest && t.digest != like.digest);
        assert!(of_memory(&[1, 2], &like).is_none());
    }

    #[test]
    fn a_damaged_template_is_refused() {
        let good = split_module(module(b"")).template;
        for at in [0, 17, 24, 30] {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert!(MemoryTemplate::in_memory(&bad).is_err(), "byte {at}");
        }
        assert!(MemoryTemplate::in_memory(&good[..good.len() - 1]).is_err());
    }
}
