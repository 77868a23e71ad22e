//! The state that all calls share.

use crate::client::ProviderNetwork;
use crate::error::ProviderError;
use crate::page::PageCache;
use crate::search::cache::SearchCache;
use crate::search::pace::RequestPace;
use crate::settings::SettingsStore;
use crate::usage::DailyUsage;
use std::sync::Arc;

/// The tools that use servers of others, with their settings.
#[derive(Debug)]
pub struct WebTools {
    settings: Arc<SettingsStore>,
    network: ProviderNetwork,
    usage: DailyUsage,
    searches: SearchCache,
    pages: PageCache,
    pace: RequestPace,
}

impl WebTools {
    /// Makes the tools with these settings; requests go through `proxy`, if there is one.
    pub fn new(settings: Arc<SettingsStore>, proxy: Option<String>) -> WebTools {
        WebTools {
            settings,
            network: ProviderNetwork::new(proxy),
            usage: DailyUsage::default(),
            searches: SearchCache::default(),
            pages: PageCache::default(),
            pace: RequestPace::default(),
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Arc<SettingsStore> {
        &self.settings
    }

    pub(crate) fn network(&self) -> &ProviderNetwork {
        &self.network
    }

    pub(crate) fn searches(&self) -> &SearchCache {
        &self.searches
    }

    pub(crate) fn pages(&self) -> &PageCache {
        &self.pages
    }

    pub(crate) fn pace(&self) -> &RequestPace {
        &self.pace
    }

    /// Counts a request of a tool.
    pub(crate) fn count_request(&self, tool: &'static str, most: u64) -> Result<(), ProviderError> {
        self.usage.count(&self.settings, tool, most)
    }
}
