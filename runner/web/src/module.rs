//! What is asked of a program's module before it runs.

/// A module, as far as it matters to interpreters that are parked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// First values of its globals that can change, as bits.
    pub globals: Vec<u64>,
    /// It throws exceptions.
    pub throws: bool,
    /// It offers cells, and its memory can be prepared.
    pub has_cells: bool,
    pub can_be_prepared: bool,
}

/// Sections, by number.
const IMPORTS: u8 = 2;
const GLOBALS: u8 = 6;
const EXPORTS: u8 = 7;
const TAGS: u8 = 13;

/// Reads them; `None` if the module is none, or has something of somebody else's that can change.
pub fn facts(wasm: &[u8]) -> Option<Facts> {
    let mut rest = Bytes(wasm.strip_prefix(b"\0asm\x01\0\0\0")?);
    let mut facts = Facts::default();
    while !rest.0.is_empty() {
        let id = rest.byte()?;
        let len = rest.number()? as usize;
        let mut section = Bytes(rest.take(len)?);
        match id {
            IMPORTS => (0..section.number()?).try_for_each(|_| section.import())?,
            GLOBALS => {
                for _ in 0..section.number()? {
                    let (is_mutable, value) = section.global()?;
                    facts.globals.extend(is_mutable.then_some(value));
                }
            }
            EXPORTS => {
                let mut names = Vec::new();
                for _ in 0..section.number()? {
                    names.push(section.name()?);
                    section.byte()?;
                    section.number()?;
                }
                let has = |name: &str| names.contains(&name.as_bytes());
                facts.has_cells = has("wasibox_cell");
                facts.can_be_prepared = has("wasibox_prepare") && has("wasibox_resume");
            }
            TAGS => facts.throws = true,
            _ => {}
        }
    }
    Some(facts)
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number in LEB128, with its sign if it has one.
    fn leb(&mut self, is_signed: bool) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let fill = is_signed && byte & 0x40 != 0 && shift < 57;
                return Some(if fill { n | u64::MAX << (shift + 7) } else { n });
            }
        }
        None
    }

    fn number(&mut self) -> Option<u32> {
        u32::try_from(self.leb(false)?).ok()
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.take(len as usize)
    }

    /// An import, which must be of a function.
    fn import(&mut self) -> Option<()> {
        self.name()?;
        self.name()?;
        let kind = self.byte()?;
        self.number()?;
        (kind == 0).then_some(())
    }

    /// A global: whether it can change, and the number that it begins with.
    fn global(&mut self) -> Option<(bool, u64)> {
        let (_type, is_mutable) = (self.byte()?, self.byte()? == 1);
        let value = match self.byte()? {
            0x41 => self.leb(true)? & u64::from(u32::MAX),
            0x42 => self.leb(true)?,
            0x43 => u32::from_le_bytes(self.take(4)?.try_into().ok()?).into(),
            0x44 => u64::from_le_bytes(self.take(8)?.try_into().ok()?),
            _ => return None,
        };
        (self.byte()? == 0x0b).then_some((is_mutable, value))
    }
}
