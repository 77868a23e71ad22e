//! The parts of a module's text (WebAssembly core specification 5.5) that scripts need and Wasmi
//! does not give: the order of imports and exports, and start functions. A start function may call functions of
//! scripts, which suspends the call; so it is made an export, and called after the instantiation.

/// The name of the export that is the start function. No other text has it.
pub const START: &str = "\u{0}start";

const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;
const START_SECTION: u8 = 8;
/// The length of the magic number and the version.
const HEAD: usize = 8;

/// Reads an unsigned number in LEB128 at `*at`.
fn read_u32(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}

fn write_u32(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a name.
fn read_name(bytes: &[u8], at: &mut usize) -> Option<String> {
    let length = read_u32(bytes, at)? as usize;
    let end = at.checked_add(length)?;
    let name = String::from_utf8(bytes.get(*at..end)?.to_vec()).ok()?;
    *at = end;
    Some(name)
}

/// Skips the limits of a table or memory.
fn skip_limits(bytes: &[u8], at: &mut usize) -> Option<()> {
    let flags = *bytes.get(*at)?;
    *at += 1;
    read_u32(bytes, at)?;
    if flags & 1 != 0 {
        read_u32(bytes, at)?;
    }
    Some(())
}

/// Returns the modules and names of the imports in their order.
pub fn import_names(bytes: &[u8]) -> Vec<(String, String)> {
    let read = || {
        let sections = sections(bytes)?;
        let (_, content) = sections.into_iter().find(|(kind, _)| *kind == IMPORTS)?;
        let mut at = 0;
        let mut names = Vec::new();
        for _ in 0..read_u32(content, &mut at)? {
            names.push((read_name(content, &mut at)?, read_name(content, &mut at)?));
            let kind = *content.get(at)?;
            at += 1;
            match kind {
                0 => drop(read_u32(content, &mut at)?),
                1 => {
                    at += 1;
                    skip_limits(content, &mut at)?;
                }
                2 => skip_limits(content, &mut at)?,
                _ => at += 2,
            }
        }
        Some(names)
    };
    read().unwrap_or_default()
}

/// Returns the sections: their kinds and contents.
fn sections(bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut out = Vec::new();
    let mut at = HEAD;
    while at < bytes.len() {
        let kind = bytes[at];
        at += 1;
        let size = read_u32(bytes, &mut at)? as usize;
        out.push((kind, bytes.get(at..at.checked_add(size)?)?));
        at += size;
    }
    Some(out)
}

/// Returns the names of the exports in their order, without that of the start function.
pub fn export_names(bytes: &[u8]) -> Vec<String> {
    let read = || {
        let sections = sections(bytes)?;
        let (_, content) = sections.into_iter().find(|(kind, _)| *kind == EXPORTS)?;
        let mut at = 0;
        let count = read_u32(content, &mut at)?;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(read_name(content, &mut at)?);
            at += 1;
            read_u32(content, &mut at)?;
        }
        Some(names)
    };
    let mut names = read().unwrap_or_default();
    names.retain(|name| name != START);
    names
}

/// Returns a module in which the start function is an export, and no start function; `None` if there
/// is none or the text is not valid.
pub fn with_start_exported(bytes: &[u8]) -> Option<Vec<u8>> {
    let sections = sections(bytes)?;
    let (_, start) = sections.iter().find(|(kind, _)| *kind == START_SECTION)?;
    let function = read_u32(start, &mut 0)?;
    let mut export = Vec::new();
    write_u32(&mut export, START.len() as u32);
    export.extend_from_slice(START.as_bytes());
    export.push(0);
    write_u32(&mut export, function);
    let mut out = bytes.get(..HEAD)?.to_vec();
    let mut put = |kind: u8, content: &[u8]| {
        out.push(kind);
        write_u32(&mut out, content.len() as u32);
        out.extend_from_slice(content);
    };
    let has_exports = sections.iter().any(|(kind, _)| *kind == EXPORTS);
    for (kind, content) in sections {
        if kind == EXPORTS {
            let mut at = 0;
            let count = read_u32(content, &mut at)?;
            let mut longer = Vec::new();
            write_u32(&mut longer, count.checked_add(1)?);
            longer.extend_from_slice(&content[at..]);
            longer.extend_from_slice(&export);
            put(kind, &longer);
        } else if kind == START_SECTION {
            // Exports come directly before it.
            if !has_exports {
                put(EXPORTS, &[&[1], &export[..]].concat());
            }
        } else {
            put(kind, content);
        }
    }
    Some(out)
}
