//! Google: the [Custom Search JSON API](https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list).
//! Its key goes in the header `X-Goog-Api-Key`, which all of Google's interfaces take instead of the
//! parameter `key`, so that it is in no address.

use super::{
    RawResult, SafeSearch, SearchFreshness, SearchProvider, SearchQuery, SearchSetup, list_at,
    setup_error, text_at,
};
use crate::error::ProviderError;
use serde_json::Value;

/// The maximum number of results of a request.
const PAGE: u32 = 10;
/// The places at which pages say when they were published.
const DATES: &[&str] = &[
    "/pagemap/metatags/0/article:published_time",
    "/pagemap/metatags/0/og:published_time",
    "/pagemap/metatags/0/date",
    "/pagemap/newsarticle/0/datepublished",
];

/// The provider `google`.
pub(super) struct Google;

impl SearchProvider for Google {
    fn name(&self) -> &'static str {
        "Google Custom Search"
    }

    fn address(&self) -> &'static str {
        "https://www.googleapis.com/customsearch/v1"
    }

    fn key_header(&self) -> Option<(&'static str, &'static str)> {
        Some(("X-Goog-Api-Key", ""))
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
        let engine = setup.engine.clone().ok_or_else(|| setup_error("set the engine (cx)"))?;
        // The interface knows two degrees only.
        let safe = if setup.safe == SafeSearch::Off { "off" } else { "active" };
        let mut all = vec![
            ("cx", engine),
            ("q", query.query.clone()),
            ("num", count.to_string()),
            ("start", (from + 1).to_string()),
            ("safe", safe.into()),
        ];
        let age = match query.freshness {
            SearchFreshness::Any => None,
            SearchFreshness::Day => Some("d1"),
            SearchFreshness::Week => Some("w1"),
            SearchFreshness::Month => Some("m1"),
        };
        all.extend(age.map(|age| ("dateRestrict", age.to_owned())));
        Ok(all)
    }

    fn results(&self, answer: &Value) -> Result<Vec<RawResult>, String> {
        if answer["kind"] != "customsearch#search" {
            return Err("its kind is not 'customsearch#search'".into());
        }
        let result = |found: &Value| RawResult {
            title: text_at(found, "/title"),
            url: text_at(found, "/link"),
            snippet: text_at(found, "/snippet"),
            date: DATES.iter().map(|place| text_at(found, place)).find(|date| !date.is_empty()),
        };
        Ok(list_at(answer, "/items").iter().map(result).collect())
    }
}
