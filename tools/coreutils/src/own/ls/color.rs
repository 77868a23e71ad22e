//! Colours of names by `LS_COLORS` (`dir_colors(5)`).

use box_sys::{FileKind, Stat};

use super::entry::LsEntry;

/// Escape sequences by kind of file and by suffix.
#[derive(Clone)]
pub(super) struct LsColors {
    codes: Vec<(Vec<u8>, Vec<u8>)>,
    suffixes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// GNU's built-in codes, which apply unless `LS_COLORS` overrides them.
const DEFAULTS: [(&str, &str); 14] = [
    ("di", "01;34"),
    ("ln", "01;36"),
    ("pi", "33"),
    ("so", "01;35"),
    ("bd", "01;33"),
    ("cd", "01;33"),
    ("mi", ""),
    ("or", ""),
    ("ex", "01;32"),
    ("su", "37;41"),
    ("sg", "30;43"),
    ("st", "37;44"),
    ("ow", "34;42"),
    ("tw", "30;42"),
];

impl LsColors {
    pub(super) fn new(variable: Option<&[u8]>) -> LsColors {
        let mut codes: Vec<(Vec<u8>, Vec<u8>)> =
            DEFAULTS.iter().map(|(k, v)| (k.as_bytes().to_vec(), v.as_bytes().to_vec())).collect();
        let mut suffixes = Vec::new();
        for part in variable.unwrap_or_default().split(|c| *c == b':') {
            let Some(eq) = part.iter().rposition(|c| *c == b'=') else { continue };
            let (key, value) = (&part[..eq], &part[eq + 1..]);
            match key.strip_prefix(b"*") {
                Some(s) => suffixes.push((s.to_vec(), value.to_vec())),
                None => codes.push((key.to_vec(), value.to_vec())),
            }
        }
        LsColors { codes, suffixes }
    }

    fn color_code(&self, key: &str) -> Option<&[u8]> {
        let found = self.codes.iter().rev().find(|(k, _)| k == key.as_bytes())?;
        Some(found.1.as_slice()).filter(|v| !v.is_empty() && *v != b"0" && *v != b"00")
    }

    /// Returns whether the colours depend on whether links are broken, which requires looking up
    /// the targets.
    pub(super) fn marks_broken_links(&self) -> bool {
        self.color_code("or").is_some()
            || self.color_code("mi").is_some()
            || self.color_code("ln") == Some(b"target")
    }

    /// Returns the code for an entry, if it is coloured.
    pub(super) fn entry_color(&self, e: &LsEntry) -> Option<&[u8]> {
        if e.kind == Some(FileKind::Symlink) {
            let (_, target) = e.target.as_ref()?;
            if target.is_none() && self.marks_broken_links() {
                return self.color_code("or").or_else(|| self.color_code("ln"));
            }
            if self.color_code("ln") == Some(b"target") {
                return self.of_file(&e.name, target.as_ref());
            }
            return self.color_code("ln");
        }
        self.of_file(&e.name, e.stat.as_ref())
    }

    /// Returns the code for the target of a link.
    pub(super) fn of_target(&self, name: &[u8], stat: Option<&Stat>) -> Option<&[u8]> {
        match stat {
            Some(_) => self.of_file(name, stat),
            None if self.marks_broken_links() => {
                self.color_code("mi").or_else(|| self.color_code("or"))
            }
            None => None,
        }
    }

    fn of_file(&self, name: &[u8], stat: Option<&Stat>) -> Option<&[u8]> {
        let s = stat?;
        let special = match s.kind {
            FileKind::Dir => match (s.mode & 0o1000 != 0, s.mode & 0o002 != 0) {
                (true, true) => self.color_code("tw"),
                (false, true) => self.color_code("ow"),
                (true, false) => self.color_code("st"),
                _ => None,
            }
            .or_else(|| self.color_code("di")),
            FileKind::Symlink => self.color_code("ln"),
            FileKind::Fifo => self.color_code("pi"),
            FileKind::Socket => self.color_code("so"),
            FileKind::BlockDevice => self.color_code("bd"),
            FileKind::CharDevice => self.color_code("cd"),
            FileKind::File if s.mode & 0o4000 != 0 => self.color_code("su"),
            FileKind::File if s.mode & 0o2000 != 0 => self.color_code("sg"),
            FileKind::File if s.mode & 0o111 != 0 => self.color_code("ex"),
            FileKind::File => None,
        };
        if special.is_some() || s.kind != FileKind::File {
            return special;
        }
        let suffix = self
            .suffixes
            .iter()
            .rev()
            .find(|(x, _)| name.to_ascii_lowercase().ends_with(&x.to_ascii_lowercase()));
        suffix
            .map(|(_, v)| v.as_slice())
            .filter(|v| !v.is_empty())
            .or_else(|| self.color_code("fi"))
    }
}
