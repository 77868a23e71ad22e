//! Brave Search: the [Web Search API](https://api-dashboard.search.brave.com/api-reference/web/search/get).

use super::{
    RawResult, SafeSearch, SearchFreshness, SearchProvider, SearchQuery, SearchSetup, list_at,
    text_at,
};
use crate::error::ProviderError;
use serde_json::Value;

/// The interface's limits of a query.
const CHARACTERS: usize = 400;
const WORDS: usize = 50;

/// The provider `brave`.
pub(super) struct Brave;

impl SearchProvider for Brave {
    fn name(&self) -> &'static str {
        "Brave Search"
    }

    fn address(&self) -> &'static str {
        "https://api.search.brave.com/res/v1/web/search"
    }

    fn key_header(&self) -> Option<(&'static str, &'static str)> {
        Some(("X-Subscription-Token", ""))
    }

    fn check(&self, query: &SearchQuery) -> Result<(), String> {
        let words = query.query.split(' ').count();
        if query.query.chars().count() > CHARACTERS || words > WORDS {
            return Err(format!(
                "takes queries of at most {CHARACTERS} characters and {WORDS} words"
            ));
        }
        Ok(())
    }

    fn parameters(
        &self,
        query: &SearchQuery,
        setup: &SearchSetup,
        _from: u32,
        count: u32,
    ) -> Result<Vec<(&'static str, String)>, ProviderError> {
        let safe = match setup.safe {
            SafeSearch::Off => "off",
            SafeSearch::Moderate => "moderate",
            SafeSearch::Strict => "strict",
        };
        let mut all = vec![
            ("q", query.query.clone()),
            ("count", count.to_string()),
            ("safesearch", safe.into()),
            ("text_decorations", "false".into()),
            ("result_filter", "web".into()),
        ];
        let age = match query.freshness {
            SearchFreshness::Any => None,
            SearchFreshness::Day => Some("pd"),
            SearchFreshness::Week => Some("pw"),
            SearchFreshness::Month => Some("pm"),
        };
        all.extend(age.map(|age| ("freshness", age.to_owned())));
        Ok(all)
    }

    fn results(&self, answer: &Value) -> Result<Vec<RawResult>, String> {
        if answer["type"] != "search" {
            return Err("its type is not 'search'".into());
        }
        let result = |found: &Value| {
            let date = [text_at(found, "/page_age"), text_at(found, "/age")];
            RawResult {
                title: text_at(found, "/title"),
                url: text_at(found, "/url"),
                snippet: text_at(found, "/description"),
                date: date.into_iter().find(|date| !date.is_empty()),
            }
        };
        Ok(list_at(answer, "/web/results").iter().map(result).collect())
    }
}
