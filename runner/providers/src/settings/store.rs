//! The file of settings: which tools are on, and their values.
//!
//! It is TOML, a table for each tool:
//!
//! ```toml
//! [web_search]
//! enabled = true
//! provider = "brave"
//! key = """
//! -----BEGIN AGE ENCRYPTED FILE-----
//! ..."""
//! ```
//!
//! Beside it are the identity for the keys (`.key`), the counts of the day (`.usage`) and a lock
//! (`.lock`), all with the file's name. A program that runs notices changes of other programs,
//! because each use looks at the file's time and length.

use super::field::{FieldKind, KEY_TARGET, SettingField, ValueError, fields_of};
use super::vault::{KeyVault, VaultError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use zeroize::Zeroizing;

/// The maximum number of bytes of the file.
const MAX_FILE: u64 = 1 << 20;

/// The reason why settings cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{path}: {source}")]
    File { path: PathBuf, source: std::io::Error },
    #[error("{path}: {text}")]
    Format { path: PathBuf, text: String },
    #[error("{tool} has no setting '{name}'{}", known(.tool))]
    Unknown { tool: String, name: String },
    #[error("{tool}: {name}: {error}")]
    Value { tool: String, name: String, error: ValueError },
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("there is no file for settings")]
    Nowhere,
}

fn known(tool: &str) -> String {
    let names: Vec<&str> = fields_of(tool).iter().map(|field| field.name).collect();
    if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) }
}

/// The settings of one tool, as saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTool {
    /// Whether the tool is on, if that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The values; a key is encrypted.
    #[serde(flatten)]
    pub values: BTreeMap<String, SavedValue>,
}

/// A value, as saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SavedValue {
    Count(u64),
    Text(String),
}

impl SavedValue {
    fn text(&self) -> String {
        match self {
            SavedValue::Count(count) => count.to_string(),
            SavedValue::Text(text) => text.clone(),
        }
    }
}

/// The settings of all tools, by name.
pub type SavedTools = BTreeMap<String, SavedTool>;

/// A change of a setting: its new value, or `None` for its default.
pub type SettingChange = (String, Option<String>);

/// The settings that have been changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeReport {
    /// Whether a key was removed because it was meant for another server.
    pub key_removed: bool,
}

/// The time and length of a file, by which a change is noticed.
type FileStamp = Option<(SystemTime, u64)>;

/// The file of settings, or none.
#[derive(Debug)]
pub struct SettingsStore {
    path: Option<PathBuf>,
    read: Mutex<Option<(FileStamp, Arc<SavedTools>)>>,
}

impl Default for SettingsStore {
    fn default() -> SettingsStore {
        SettingsStore::none()
    }
}

impl SettingsStore {
    /// Names the file, which is made with the first change.
    pub fn new(path: impl Into<PathBuf>) -> SettingsStore {
        SettingsStore { path: Some(path.into()), read: Mutex::default() }
    }

    /// Returns settings that are all defaults and cannot be changed.
    pub fn none() -> SettingsStore {
        SettingsStore { path: None, read: Mutex::default() }
    }

    /// Returns the file's path.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the path of a file beside the settings.
    pub(crate) fn beside(&self, extension: &str) -> Option<PathBuf> {
        Some(self.path.as_ref()?.with_extension(extension))
    }

    fn vault(&self) -> Result<KeyVault, SettingsError> {
        Ok(KeyVault::new(self.beside("key").ok_or(SettingsError::Nowhere)?))
    }

    /// Returns the settings.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is malformed.
    pub fn load(&self) -> Result<Arc<SavedTools>, SettingsError> {
        let Some(path) = &self.path else { return Ok(Arc::default()) };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = match std::fs::metadata(path) {
            Ok(found) => Some((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len())),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(SettingsError::File { path: path.clone(), source }),
        };
        if let Some((known, tools)) = &*read
            && *known == stamp
        {
            return Ok(tools.clone());
        }
        let tools = Arc::new(if stamp.is_some() { read_file(path)? } else { SavedTools::new() });
        *read = Some((stamp, tools.clone()));
        Ok(tools)
    }

    /// Returns whether a tool is on, if the settings say so. If the file cannot be read now, what
    /// it said before holds.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and never could.
    pub fn is_enabled(&self, tool: &str) -> Result<Option<bool>, SettingsError> {
        let tools = self.load().or_else(|error| {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.as_ref().map(|(_, tools)| tools.clone()).ok_or(error)
        })?;
        Ok(tools.get(tool).and_then(|saved| saved.enabled))
    }

    /// Switches a tool on or off.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub fn enable(&self, tool: &str, enabled: bool) -> Result<(), SettingsError> {
        self.change(|tools| {
            tools.entry(tool.to_owned()).or_default().enabled = Some(enabled);
            Ok(())
        })
    }

    /// Changes settings of a tool: all of them, or none.
    ///
    /// # Errors
    /// Returns an error if there is no such setting, a value does not fit, or the file cannot be
    /// read or written.
    pub fn set(
        &self,
        tool: &str,
        changes: &[SettingChange],
    ) -> Result<ChangeReport, SettingsError> {
        let vault = self.vault()?;
        let mut report = ChangeReport::default();
        self.change(|tools| {
            let saved = tools.entry(tool.to_owned()).or_default();
            let before = saved.clone();
            for (name, value) in changes {
                let field = find_field(tool, name)?;
                match value {
                    None => saved.values.remove(name),
                    Some(value) => {
                        let wrong = |error| SettingsError::Value {
                            tool: tool.to_owned(),
                            name: name.clone(),
                            error,
                        };
                        field.check(value).map_err(wrong)?;
                        let value = match (field.kind, value.parse()) {
                            (FieldKind::Key, _) => SavedValue::Text(vault.lock_key(value)?),
                            (FieldKind::Count { .. }, Ok(count)) => SavedValue::Count(count),
                            _ => SavedValue::Text(value.clone()),
                        };
                        saved.values.insert(name.clone(), value)
                    }
                };
            }
            let is_elsewhere =
                KEY_TARGET.iter().any(|name| saved.values.get(*name) != before.values.get(*name));
            let has_new = changes.iter().any(|(name, _)| name == "key");
            if is_elsewhere && !has_new {
                report.key_removed = saved.values.remove("key").is_some();
            }
            Ok(())
        })?;
        Ok(report)
    }

    /// Returns the values that a tool has: those that are set, and the defaults.
    ///
    /// # Errors
    /// The same as [`SettingsStore::load`].
    pub fn values(&self, tool: &str) -> Result<ToolValues, SettingsError> {
        let saved = self.load()?.get(tool).cloned().unwrap_or_default();
        Ok(ToolValues { tool: tool.to_owned(), saved })
    }

    /// Returns a tool's key.
    ///
    /// # Errors
    /// Returns an error if the key cannot be decrypted.
    pub fn key(&self, values: &ToolValues) -> Result<Option<Zeroizing<String>>, SettingsError> {
        match values.saved.values.get("key") {
            None => Ok(None),
            Some(locked) => Ok(Some(self.vault()?.open_key(&locked.text())?)),
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&mut SavedTools) -> Result<(), SettingsError>,
    ) -> Result<(), SettingsError> {
        let path = self.path.as_deref().ok_or(SettingsError::Nowhere)?;
        let failed = |source| SettingsError::File { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let lock = private_options().create(true).truncate(false).open(path.with_extension("lock"));
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut tools = match read_file(path) {
            Err(SettingsError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                SavedTools::new()
            }
            other => other?,
        };
        change(&mut tools)?;
        tools.retain(|_, saved| *saved != SavedTool::default());
        let text = toml::to_string(&tools)
            .map_err(|e| SettingsError::Format { path: path.to_owned(), text: e.to_string() })?;
        let new = path.with_extension("new");
        let write = || {
            let mut file = private_options().create(true).truncate(true).open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        };
        write().map_err(failed)?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(())
    }
}

/// Returns options for a file that only its owner may read.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn read_file(path: &Path) -> Result<SavedTools, SettingsError> {
    let failed = |source| SettingsError::File { path: path.to_owned(), source };
    let wrong = |text: String| SettingsError::Format { path: path.to_owned(), text };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_FILE {
        return Err(wrong(format!("more than {MAX_FILE} bytes")));
    }
    // The message alone: the text around a mistake may be a key that somebody wrote by hand.
    let tools: SavedTools = toml::from_str(&text).map_err(|e| wrong(e.message().to_owned()))?;
    for (tool, saved) in &tools {
        for (name, value) in &saved.values {
            let field = find_field(tool, name)?;
            // A key is encrypted here, and is checked when it is used.
            if field.kind != FieldKind::Key {
                let wrong =
                    |error| SettingsError::Value { tool: tool.clone(), name: name.clone(), error };
                field.check(&value.text()).map_err(wrong)?;
            }
        }
    }
    Ok(tools)
}

fn find_field(tool: &str, name: &str) -> Result<&'static SettingField, SettingsError> {
    let unknown = || SettingsError::Unknown { tool: tool.to_owned(), name: name.to_owned() };
    fields_of(tool).iter().find(|field| field.name == name).ok_or_else(unknown)
}

/// The values of a tool's settings.
#[derive(Clone, Debug)]
pub struct ToolValues {
    tool: String,
    saved: SavedTool,
}

impl ToolValues {
    /// Returns a value that is set.
    pub fn own(&self, name: &str) -> Option<String> {
        self.saved.values.get(name).map(SavedValue::text)
    }

    /// Returns a value, or its default.
    pub fn text(&self, name: &str) -> Option<String> {
        let field = fields_of(&self.tool).iter().find(|field| field.name == name);
        self.own(name).or_else(|| field?.default.map(str::to_owned))
    }

    /// Returns a number, or its default.
    pub fn count(&self, name: &str) -> u64 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// Returns whether a key is set.
    pub fn has_key(&self) -> bool {
        self.saved.values.contains_key("key")
    }

    /// Returns what may be shown: each setting with its value; of a key, whether it is set.
    pub fn shown(&self) -> BTreeMap<String, serde_json::Value> {
        let shown = fields_of(&self.tool).iter().map(|field| {
            let value = match (field.kind, self.saved.values.get(field.name)) {
                (FieldKind::Key, value) => value.is_some().into(),
                (_, None) => serde_json::Value::Null,
                (_, Some(SavedValue::Count(count))) => (*count).into(),
                (_, Some(SavedValue::Text(text))) => text.clone().into(),
            };
            (field.name.to_owned(), value)
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> SettingChange {
        (name.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn settings_are_kept_and_keys_are_not_readable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/tools.toml");
        let store = SettingsStore::new(&path);
        assert_eq!(store.is_enabled("web_search").unwrap(), None);
        store
            .set(
                "web_search",
                &[set("provider", "brave"), set("key", "0123456789"), set("daily", "7")],
            )
            .unwrap();
        store.enable("web_search", true).unwrap();
        store.enable("kv_set", false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("0123456789") && text.contains("BEGIN AGE"), "{text}");
        let other = SettingsStore::new(&path);
        assert_eq!(other.is_enabled("web_search").unwrap(), Some(true));
        assert_eq!(other.is_enabled("kv_set").unwrap(), Some(false));
        let values = other.values("web_search").unwrap();
        assert_eq!((values.count("daily"), values.count("keep")), (7, 900));
        assert_eq!(values.text("safe-search").as_deref(), Some("moderate"));
        assert_eq!(other.key(&values).unwrap().unwrap().as_str(), "0123456789");
        assert_eq!(values.shown()["key"], true);
        assert!(!format!("{:?}", values.shown()).contains("0123456789"));
    }

    #[test]
    fn a_key_does_not_follow_to_another_server() {
        let dir = tempfile::tempdir().unwrap();
        let store = SettingsStore::new(dir.path().join("tools.toml"));
        store.set("web_search", &[set("provider", "brave"), set("key", "0123456789")]).unwrap();
        assert!(!store.set("web_search", &[set("provider", "brave")]).unwrap().key_removed);
        let moved = store.set("web_search", &[set("address", "https://evil.example/")]).unwrap();
        assert!(moved.key_removed);
        assert!(!store.values("web_search").unwrap().has_key());
        let both = [set("provider", "serpapi"), set("key", "9876543210")];
        assert!(!store.set("web_search", &both).unwrap().key_removed);
        assert!(store.values("web_search").unwrap().has_key());
    }

    #[test]
    fn mistakes_change_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tools.toml");
        let store = SettingsStore::new(&path);
        for (changes, text) in [
            (
                vec![set("daily", "5"), set("frob", "1")],
                "web_search has no setting 'frob'; it has address, daily",
            ),
            (
                vec![set("daily", "5"), set("provider", "bing")],
                "web_search: provider: expected one of brave",
            ),
        ] {
            let why = store.set("web_search", &changes).unwrap_err().to_string();
            assert!(why.starts_with(text), "{why}");
        }
        assert!(store.load().unwrap().is_empty());
        for (text, why) in [
            ("[web_search]\ndaily = 'x'\n", "web_search: daily: expected a whole number"),
            ("[web_search]\nkey = [1]\n", "tools.toml"),
            ("nonsense", "tools.toml"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = store.load().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(matches!(SettingsStore::none().enable("x", true), Err(SettingsError::Nowhere)));
    }

    #[test]
    fn changes_of_another_program_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tools.toml");
        let (one, two) = (SettingsStore::new(&path), SettingsStore::new(&path));
        assert_eq!(one.is_enabled("fetch_page").unwrap(), None);
        two.enable("fetch_page", true).unwrap();
        assert_eq!(one.is_enabled("fetch_page").unwrap(), Some(true));
        two.enable("fetch_page", false).unwrap();
        assert_eq!(one.is_enabled("fetch_page").unwrap(), Some(false));
        // What was read before holds while the file is malformed.
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(one.is_enabled("fetch_page").unwrap(), Some(false));
        assert!(SettingsStore::new(&path).is_enabled("fetch_page").is_err());
    }
}
