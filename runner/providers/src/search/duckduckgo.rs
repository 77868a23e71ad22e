//! DuckDuckGo: the [Instant Answer API](https://duckduckgo.com/api), which needs no key. It answers
//! with what is known about a subject, not with the pages that a search finds.

use super::{
    RawResult, SearchFreshness, SearchProvider, SearchQuery, SearchSetup, list_at, text_at,
};
use crate::error::ProviderError;
use serde_json::Value;

/// The provider `duckduckgo`.
pub(super) struct DuckDuckGo;

impl SearchProvider for DuckDuckGo {
    fn name(&self) -> &'static str {
        "DuckDuckGo"
    }

    fn address(&self) -> &'static str {
        "https://api.duckduckgo.com/"
    }

    fn key_header(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn check(&self, query: &SearchQuery) -> Result<(), String> {
        match query.freshness {
            SearchFreshness::Any => Ok(()),
            _ => Err("has instant answers only, which have no date; leave freshness out".into()),
        }
    }

    fn parameters(
        &self,
        query: &SearchQuery,
        _setup: &SearchSetup,
        _from: u32,
        _count: u32,
    ) -> Result<Vec<(&'static str, String)>, ProviderError> {
        Ok(vec![
            ("q", query.query.clone()),
            ("format", "json".into()),
            ("no_html", "1".into()),
            ("no_redirect", "1".into()),
            ("skip_disambig", "1".into()),
            ("t", "wasibox".into()),
        ])
    }

    fn results(&self, answer: &Value) -> Result<Vec<RawResult>, String> {
        if answer.get("RelatedTopics").is_none() {
            return Err("it has no RelatedTopics".into());
        }
        let mut all = Vec::new();
        let address = text_at(answer, "/AbstractURL");
        // An answer such as that of `pi` has a text of its own, and often no page.
        let texts = [text_at(answer, "/Answer"), text_at(answer, "/AbstractText")];
        let snippet = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        if !address.is_empty() || !snippet.is_empty() {
            let source = "https://duckduckgo.com/";
            all.push(RawResult {
                title: text_at(answer, "/Heading"),
                url: if address.is_empty() { source.into() } else { address },
                snippet,
                date: None,
            });
        }
        all.extend(list_at(answer, "/Results").iter().map(topic));
        for found in list_at(answer, "/RelatedTopics") {
            match list_at(found, "/Topics") {
                [] => all.push(topic(found)),
                group => all.extend(group.iter().map(topic)),
            }
        }
        Ok(all)
    }
}

/// Returns a topic. Its text begins with its name.
fn topic(found: &Value) -> RawResult {
    let text = text_at(found, "/Text");
    let title = text.split(" - ").next().unwrap_or_default().to_owned();
    RawResult { title, url: text_at(found, "/FirstURL"), snippet: text, date: None }
}
