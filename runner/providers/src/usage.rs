//! The number of requests in a day, kept in a file beside the settings, so that it also holds across
//! programs.

use crate::clock::day_of;
use crate::error::ProviderError;
use crate::settings::{SettingsStore, private_options};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The maximum number of bytes of the file.
const MAX_FILE: u64 = 64 << 10;

/// The requests of one day, by tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DayCounts {
    day: u64,
    counts: BTreeMap<String, u64>,
}

impl DayCounts {
    /// Counts a request; returns false if there were `most` of the tool already.
    fn count(&mut self, tool: &str, most: u64, day: u64) -> bool {
        if self.day != day {
            *self = DayCounts { day, counts: BTreeMap::new() };
        }
        let count = self.counts.entry(tool.to_owned()).or_default();
        let is_allowed = *count < most;
        *count += u64::from(is_allowed);
        is_allowed
    }
}

/// The counts of tools' requests.
#[derive(Debug, Default)]
pub(crate) struct DailyUsage {
    /// The counts if there is no file for settings.
    memory: Mutex<DayCounts>,
}

impl DailyUsage {
    /// Counts a request of a tool.
    ///
    /// # Errors
    /// Returns an error if the day's requests are used up, or the file cannot be written.
    pub(crate) fn count(
        &self,
        settings: &SettingsStore,
        tool: &'static str,
        most: u64,
    ) -> Result<(), ProviderError> {
        let day = day_of(SystemTime::now());
        let is_allowed = match settings.beside("usage") {
            None => {
                let mut counts = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
                counts.count(tool, most, day)
            }
            Some(path) => {
                let mut file = private_options().create(true).truncate(false).open(path)?;
                file.lock()?;
                let mut text = String::new();
                (&file).take(MAX_FILE).read_to_string(&mut text)?;
                // A damaged file counts from 0, rather than making the tool useless.
                let mut counts: DayCounts = serde_json::from_str(&text).unwrap_or_default();
                let is_allowed = counts.count(tool, most, day);
                if is_allowed {
                    let text = serde_json::to_string(&counts).map_err(std::io::Error::other)?;
                    file.seek(SeekFrom::Start(0))?;
                    file.set_len(0)?;
                    file.write_all(text.as_bytes())?;
                }
                is_allowed
            }
        };
        if is_allowed { Ok(()) } else { Err(ProviderError::Daily { tool, most }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_bound_in_all_programs() {
        let dir = tempfile::tempdir().unwrap();
        let settings = SettingsStore::new(dir.path().join("tools.toml"));
        let (one, two) = (DailyUsage::default(), DailyUsage::default());
        one.count(&settings, "web_search", 2).unwrap();
        two.count(&settings, "web_search", 2).unwrap();
        let third = one.count(&settings, "web_search", 2);
        assert!(matches!(third, Err(ProviderError::Daily { most: 2, .. })));
        one.count(&settings, "fetch_page", 2).unwrap();
        let alone = DailyUsage::default();
        alone.count(&SettingsStore::none(), "web_search", 1).unwrap();
        assert!(alone.count(&SettingsStore::none(), "web_search", 1).is_err());
    }

    #[test]
    fn the_next_day_begins_at_nothing() {
        let mut counts = DayCounts::default();
        assert!(counts.count("x", 1, 5) && !counts.count("x", 1, 5) && counts.count("x", 1, 6));
    }
}
