//! The shell's knowledge of command names, apart from functions and aliases: the locations of
//! programs (`hash`) and the disabled builtins (`enable -n`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A remembered program: its file, and the number of times it was used.
type Location = (PathBuf, u32);

/// Remembered locations and disabled builtins.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    hashed: Rc<BTreeMap<Vec<u8>, Location>>,
    disabled: Rc<Vec<&'static str>>,
}

impl Commands {
    /// Returns the remembered file of a name.
    pub fn location(&self, name: &[u8]) -> Option<&Path> {
        self.hashed.get(name).map(|(file, _)| file.as_path())
    }

    /// Returns all remembered locations with their hit counts, sorted by name.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = (&[u8], &Path, u32)> {
        self.hashed.iter().map(|(name, (file, hits))| (name.as_slice(), file.as_path(), *hits))
    }

    /// Remembers the location of a program.
    pub fn remember_location(&mut self, name: &[u8], file: PathBuf, hits: u32) {
        Rc::make_mut(&mut self.hashed).insert(name.to_vec(), (file, hits));
    }

    /// Counts a use of a remembered location.
    pub fn count_hit(&mut self, name: &[u8]) {
        if let Some((_, hits)) = Rc::make_mut(&mut self.hashed).get_mut(name) {
            *hits += 1;
        }
    }

    /// Forgets a location and returns whether there was one.
    pub fn forget_location(&mut self, name: &[u8]) -> bool {
        Rc::make_mut(&mut self.hashed).remove(name).is_some()
    }

    /// Forgets all locations.
    pub fn forget_all(&mut self) {
        self.hashed = Rc::default();
    }

    /// Returns whether `enable -n` has disabled a builtin.
    pub fn is_disabled(&self, builtin: &str) -> bool {
        self.disabled.contains(&builtin)
    }

    /// Returns the disabled builtins.
    pub fn disabled_builtins(&self) -> impl Iterator<Item = &'static str> {
        self.disabled.iter().copied()
    }

    /// Switches a builtin on or off.
    pub fn enable_builtin(&mut self, builtin: &'static str, on: bool) {
        let list = Rc::make_mut(&mut self.disabled);
        list.retain(|name| *name != builtin);
        if !on {
            list.push(builtin);
        }
    }
}

/// The form that is sent to a spawned shell: paths as bytes, builtins by name.
#[derive(Serialize, Deserialize)]
struct ShippedCommands {
    hashed: Vec<(Vec<u8>, Vec<u8>, u32)>,
    disabled: Vec<String>,
}

impl Serialize for Commands {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes = |file: &Path| box_sys::path::to_bytes(file).to_vec();
        let hashed = self.locations().map(|(name, file, n)| (name.to_vec(), bytes(file), n));
        let disabled = self.disabled_builtins().map(str::to_owned);
        ShippedCommands { hashed: hashed.collect(), disabled: disabled.collect() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Commands {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Commands, D::Error> {
        let ShippedCommands { hashed, disabled } = ShippedCommands::deserialize(from)?;
        let path = |file: &[u8]| PathBuf::from(box_sys::path::from_bytes(file));
        let hashed = hashed.into_iter().map(|(name, file, n)| (name, (path(&file), n)));
        let disabled =
            disabled.iter().filter_map(|name| crate::builtin::find_builtin(name.as_bytes()));
        Ok(Commands {
            hashed: Rc::new(hashed.collect()),
            disabled: Rc::new(disabled.map(|b| b.name).collect()),
        })
    }
}
