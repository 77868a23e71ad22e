//! What `-fvisibility=hidden` and a shared library do elsewhere: one relocatable
//! object whose only global name is its module's entry.
//!
//! Extension modules are written to be loaded one by one, so they use the same C
//! names for different things: NumPy's two generators share 75 functions that
//! were compiled differently, pandas has copies of NumPy's. In one static link
//! the first would silently win. Here every defined symbol of a module except
//! its entry becomes local, and the entry is renamed after the module's dotted
//! name, since `PyInit_NAME` tells only the last part.
//!
//! The format: "Linking" of the WebAssembly tool conventions, version 2. Names
//! of COMDAT groups go, too: groups of equal names in two modules would be
//! folded into one, and local symbols of the other would point to nothing.

use anyhow::{Context, Result, bail, ensure};

const MAGIC: &[u8] = b"\0asm\x01\0\0\0";
const CUSTOM: u8 = 0;
const LINKING: &[u8] = b"linking";
const VERSION: u32 = 2;

/// Subsections.
const COMDATS: u8 = 7;
const SYMBOLS: u8 = 8;

/// Kinds of symbols.
const DATA: u8 = 1;
const SECTION: u8 = 3;

/// Flags of symbols.
const BINDING: u32 = 0x3;
const LOCAL: u32 = 0x2;
const UNDEFINED: u32 = 0x10;
const EXPLICIT_NAME: u32 = 0x40;

/// A position in bytes that come from a compiler: anything unexpected is an error.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).context("unexpected end")?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u32> {
        let mut value: u64 = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).context("a number beyond 32 bits");
            }
        }
        bail!("a number without an end")
    }

    fn take(&mut self) -> Result<&'a [u8]> {
        let len = self.number()? as usize;
        let end = self.at.checked_add(len).context("a length beyond the file")?;
        let bytes = self.bytes.get(self.at..end).context("unexpected end")?;
        self.at = end;
        Ok(bytes)
    }
}

fn put(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    put(out, u32::try_from(bytes.len()).context("a section beyond 4 GiB")?);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Makes all defined symbols local except `entry`, which becomes `name`.
pub fn hide(object: &[u8], entry: &str, name: &str) -> Result<Vec<u8>> {
    ensure!(object.starts_with(MAGIC), "not a WebAssembly object");
    let mut reader = Reader { bytes: object, at: MAGIC.len() };
    let mut out = MAGIC.to_vec();
    let mut found = false;
    while !reader.done() {
        let id = reader.byte()?;
        let body = reader.take()?;
        out.push(id);
        let mut inner = Reader::new(body);
        if id == CUSTOM && inner.take()? == LINKING {
            let mut new = Vec::new();
            put_bytes(&mut new, LINKING)?;
            found |= linking(&mut inner, &mut new, entry, name)?;
            put_bytes(&mut out, &new)?;
        } else {
            put_bytes(&mut out, body)?;
        }
    }
    ensure!(found, "{entry} is not defined");
    Ok(out)
}

fn linking(reader: &mut Reader, out: &mut Vec<u8>, entry: &str, name: &str) -> Result<bool> {
    let version = reader.number()?;
    ensure!(version == VERSION, "linking section of version {version}");
    put(out, version);
    let mut found = false;
    while !reader.done() {
        let kind = reader.byte()?;
        let body = reader.take()?;
        match kind {
            COMDATS => {}
            SYMBOLS => {
                let mut new = Vec::new();
                found |= symbols(&mut Reader::new(body), &mut new, entry, name)?;
                out.push(kind);
                put_bytes(out, &new)?;
            }
            _ => {
                out.push(kind);
                put_bytes(out, body)?;
            }
        }
    }
    Ok(found)
}

fn symbols(reader: &mut Reader, out: &mut Vec<u8>, entry: &str, name: &str) -> Result<bool> {
    let count = reader.number()?;
    put(out, count);
    let mut found = false;
    for _ in 0..count {
        let kind = reader.byte()?;
        let flags = reader.number()?;
        out.push(kind);
        if kind == SECTION {
            put(out, flags);
            put(out, reader.number()?);
            continue;
        }
        let defined = flags & UNDEFINED == 0;
        // Everything but data begins with an index; an undefined symbol has no
        // name of its own unless it says so.
        let index = if kind == DATA { None } else { Some(reader.number()?) };
        let named = kind == DATA || defined || flags & EXPLICIT_NAME != 0;
        let own = if named { reader.take()? } else { &[] };
        let is_entry = defined && own == entry.as_bytes();
        found |= is_entry;
        let hidden = if defined && !is_entry { (flags & !BINDING) | LOCAL } else { flags };
        put(out, hidden);
        if let Some(index) = index {
            put(out, index);
        }
        if named {
            put_bytes(out, if is_entry { name.as_bytes() } else { own })?;
        }
        if kind == DATA && defined {
            for _ in 0..3 {
                put(out, reader.number()?);
            }
        }
    }
    ensure!(reader.done(), "bytes after the last symbol");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object whose linking section has these symbols and one group.
    fn object(symbols: &[&[u8]]) -> Vec<u8> {
        let mut table = Vec::new();
        put(&mut table, u32::try_from(symbols.len()).expect("few"));
        symbols.iter().for_each(|symbol| table.extend_from_slice(symbol));
        let mut body = Vec::new();
        put_bytes(&mut body, LINKING).expect("short");
        put(&mut body, VERSION);
        for (kind, bytes) in [(COMDATS, &b"\x00"[..]), (SYMBOLS, &table)] {
            body.push(kind);
            put_bytes(&mut body, bytes).expect("short");
        }
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(b"\x01\x01\x00");
        out.push(CUSTOM);
        put_bytes(&mut out, &body).expect("short");
        out
    }

    #[test]
    fn only_the_entry_stays_global() {
        let before = object(&[
            b"\x00\x04\x02\x06PyInit",    // the entry, hidden
            b"\x00\x01\x03\x01w",         // a weak function
            b"\x00\x10\x00",              // an import under its own name
            b"\x00\x50\x01\x01x",         // an import under another name
            b"\x01\x00\x01d\x00\x04\x08", // data
            b"\x01\x10\x01u",             // somebody else's data
            b"\x03\x02\x05",              // a section
            b"\x02\x80\x01\x00\x01g",     // a global that must not be stripped
        ]);
        let after = hide(&before, "PyInit", "PyInit_a.b").expect("an object");
        let table: &[&[u8]] = &[
            b"\x00\x04\x02\x0aPyInit_a.b",
            b"\x00\x02\x03\x01w",
            b"\x00\x10\x00",
            b"\x00\x50\x01\x01x",
            b"\x01\x02\x01d\x00\x04\x08",
            b"\x01\x10\x01u",
            b"\x03\x02\x05",
            b"\x02\x82\x01\x00\x01g",
        ];
        let mut expected = object(table);
        // The groups are gone: kind, length and one byte, and the section's length with them.
        let at = MAGIC.len() + 3;
        expected[at + 1] -= 3;
        expected.drain(at + 2 + 8 + 1..at + 2 + 8 + 1 + 3);
        assert_eq!(after, expected);
    }

    #[test]
    fn what_is_no_such_object_is_refused() {
        hide(b"ELF", "e", "n").expect_err("not wasm");
        hide(MAGIC, "e", "n").expect_err("no symbols");
        let whole = object(&[b"\x00\x00\x00\x01e"]);
        hide(&whole, "e", "n").expect("whole");
        hide(&whole, "f", "n").expect_err("another entry");
        for end in MAGIC.len() + 4..whole.len() {
            hide(&whole[..end], "e", "n").expect_err("cut off");
        }
    }
}
