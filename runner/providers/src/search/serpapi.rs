//! SerpApi: the [Google Search API](https://serpapi.com/search-api). Its key is a parameter of the
//! address.

use super::{
    RawResult, SafeSearch, SearchFreshness, SearchProvider, SearchQuery, SearchSetup, list_at,
    setup_error, text_at,
};
use crate::error::ProviderError;
use serde_json::Value;

/// The number of results on a page of Google.
const PAGE: u32 = 10;
/// The text of the error that stands for a search without results.
const NOTHING: &str = "hasn't returned any results";

/// The provider `serpapi`.
pub(super) struct SerpApi;

impl SearchProvider for SerpApi {
    fn name(&self) -> &'static str {
        "SerpApi"
    }

    fn address(&self) -> &'static str {
        "https://serpapi.com/search.json"
    }

    fn key_header(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn page(&self) -> u32 {
        PAGE
    }

    fn parameters(
        &self,
        query: &SearchQuery,
        setup: &SearchSetup,
        from: u32,
        count: u32,
    ) -> Result<Vec<(&'static str, String)>, ProviderError> {
        let key = setup.key.as_ref().ok_or_else(|| setup_error("set the key for SerpApi"))?;
        // Google knows two degrees only.
        let safe = if setup.safe == SafeSearch::Off { "off" } else { "active" };
        let mut all = vec![
            ("engine", "google".into()),
            ("q", query.query.clone()),
            ("num", count.to_string()),
            ("start", from.to_string()),
            ("safe", safe.into()),
            ("api_key", key.as_str().to_owned()),
        ];
        let age = match query.freshness {
            SearchFreshness::Any => None,
            SearchFreshness::Day => Some("qdr:d"),
            SearchFreshness::Week => Some("qdr:w"),
            SearchFreshness::Month => Some("qdr:m"),
        };
        all.extend(age.map(|age| ("tbs", age.to_owned())));
        Ok(all)
    }

    fn results(&self, answer: &Value) -> Result<Vec<RawResult>, String> {
        match answer["error"].as_str() {
            Some(text) if text.contains(NOTHING) => return Ok(Vec::new()),
            Some(text) => return Err(text.to_owned()),
            None => {}
        }
        if answer["search_metadata"]["status"] != "Success" {
            return Err("its status is not 'Success'".into());
        }
        let result = |found: &Value| {
            let date = text_at(found, "/date");
            RawResult {
                title: text_at(found, "/title"),
                url: text_at(found, "/link"),
                snippet: text_at(found, "/snippet"),
                date: (!date.is_empty()).then_some(date),
            }
        };
        Ok(list_at(answer, "/organic_results").iter().map(result).collect())
    }
}
