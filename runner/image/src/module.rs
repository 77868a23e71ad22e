//! Facts about a program's module that are needed before it runs, without an engine.

/// The facts about a module that matter for parking interpreters.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// Initial values of its mutable globals, as bits.
    pub globals: Vec<u64>,
    /// Whether the module throws exceptions.
    pub throws: bool,
    /// Whether the module can run cells.
    pub has_cells: bool,
    /// Whether the module's memory can be prepared.
    pub can_be_prepared: bool,
}

/// Numbers of the sections.
const IMPORTS: u8 = 2;
const GLOBALS: u8 = 6;
const EXPORTS: u8 = 7;
const TAGS: u8 = 13;

/// Reads the facts about a module. Returns `None` for an invalid module, and for one that imports
/// mutable state.
pub fn module_facts(wasm: &[u8]) -> Option<Facts> {
    let mut rest = ModuleBytes(wasm.strip_prefix(b"\0asm\x01\0\0\0")?);
    let mut facts = Facts::default();
    while !rest.0.is_empty() {
        let id = rest.take_byte()?;
        let len = rest.take_number()? as usize;
        let mut section = ModuleBytes(rest.take(len)?);
        match id {
            IMPORTS => (0..section.take_number()?).try_for_each(|_| section.take_import())?,
            GLOBALS => {
                for _ in 0..section.take_number()? {
                    let (is_mutable, value) = section.take_global()?;
                    facts.globals.extend(is_mutable.then_some(value));
                }
            }
            EXPORTS => {
                let mut names = Vec::new();
                for _ in 0..section.take_number()? {
                    names.push(section.name()?);
                    section.take_byte()?;
                    section.take_number()?;
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

struct ModuleBytes<'a>(&'a [u8]);

impl<'a> ModuleBytes<'a> {
    fn take_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a LEB128 number, signed if `is_signed`.
    fn take_leb(&mut self, is_signed: bool) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take_byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let fill = is_signed && byte & 0x40 != 0 && shift < 57;
                return Some(if fill { n | u64::MAX << (shift + 7) } else { n });
            }
        }
        None
    }

    fn take_number(&mut self) -> Option<u32> {
        u32::try_from(self.take_leb(false)?).ok()
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.take_number()?;
        self.take(len as usize)
    }

    /// Reads an import, which must be a function.
    fn take_import(&mut self) -> Option<()> {
        self.name()?;
        self.name()?;
        let kind = self.take_byte()?;
        self.take_number()?;
        (kind == 0).then_some(())
    }

    /// Reads a global: whether it is mutable, and its initial value.
    fn take_global(&mut self) -> Option<(bool, u64)> {
        let (_type, is_mutable) = (self.take_byte()?, self.take_byte()? == 1);
        let value = match self.take_byte()? {
            0x41 => self.take_leb(true)? & u64::from(u32::MAX),
            0x42 => self.take_leb(true)?,
            0x43 => u32::from_le_bytes(self.take(4)?.try_into().ok()?).into(),
            0x44 => u64::from_le_bytes(self.take(8)?.try_into().ok()?),
            _ => return None,
        };
        (self.take_byte()? == 0x0b).then_some((is_mutable, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(id: u8, body: &[u8]) -> Vec<u8> {
        [&[id, body.len() as u8], body].concat()
    }

    fn module(sections: &[Vec<u8>]) -> Vec<u8> {
        [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
    }

    fn exports(names: &[&str]) -> Vec<u8> {
        let each = names.iter().flat_map(|n| [&[n.len() as u8], n.as_bytes(), &[0, 0]].concat());
        section(EXPORTS, &[vec![names.len() as u8], each.collect()].concat())
    }

    #[test]
    fn facts_are_read_from_sections() {
        // A stack pointer of 8 MiB, a constant, -1 as i64, 1.0 as f32 and as f64; all except the
        // constant are mutable.
        let globals = [
            b"\x05\x7f\x01\x41\x80\x80\x80\x04\x0b\x7f\0\x41\x05\x0b\x7e\x01\x42\x7f\x0b"
                .as_slice(),
            b"\x7d\x01\x43\0\0\x80\x3f\x0b\x7c\x01\x44\0\0\0\0\0\0\xf0\x3f\x0b",
        ];
        let found = module_facts(&module(&[
            section(IMPORTS, b"\x01\x01a\x01b\0\x03"),
            section(GLOBALS, &globals.concat()),
            exports(&["memory", "wasibox_cell", "wasibox_prepare"]),
            section(TAGS, b"\0"),
        ]));
        let globals = vec![8 << 20, u64::MAX, 0x3f80_0000, 0x3ff0_0000_0000_0000];
        let expected = Facts { globals, throws: true, has_cells: true, can_be_prepared: false };
        assert_eq!(found, Some(expected));
        let both = module_facts(&module(&[exports(&["wasibox_prepare", "wasibox_resume"])]));
        assert_eq!(both, Some(Facts { can_be_prepared: true, ..Facts::default() }));
    }

    #[test]
    fn invalid_modules_are_refused() {
        let good = module(&[section(GLOBALS, b"\x01\x7f\x01\x41\x05\x0b"), exports(&["a"])]);
        assert!(module_facts(&good).is_some() && module_facts(b"no module").is_none());
        for end in 9..good.len() {
            // A module that is cut between two sections is a valid module, too.
            assert_eq!(module_facts(&good[..end]).is_some(), end == 8 + 8, "{end}");
        }
        // An imported memory, and a computed value.
        assert_eq!(module_facts(&module(&[section(IMPORTS, b"\x01\x01a\x01b\x02\0\x01")])), None);
        assert_eq!(module_facts(&module(&[section(GLOBALS, b"\x01\x7f\x01\x23\0\x0b")])), None);
    }
}
