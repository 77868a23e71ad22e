//! Web search by the interfaces that providers document.
//!
//! | file | contents |
//! |---|---|
//! | `brave`, `serpapi`, `google`, `duckduckgo` | a provider: its request, its answer |
//! | `cache` | answers that are given again for a while |
//! | `pace` | the time from one request to the next |
//!
//! A query goes through [`WebTools::search`]: settings, what the provider can do, the cache, its
//! turn, the day's bound, the request, cleaning.

mod brave;
pub(crate) mod cache;
mod duckduckgo;
mod google;
pub(crate) mod pace;
mod serpapi;

use crate::client::{KeyHeader, ProviderRequest, RequestStop};
use crate::clock::rfc3339;
use crate::error::ProviderError;
use crate::settings::ToolValues;
use crate::text::{clean_text, clean_url};
use crate::tools::WebTools;
use cache::CacheKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::time::{Duration, SystemTime};
use url::Url;
use zeroize::Zeroizing;

/// The tool's name, in settings and in errors.
pub(crate) const TOOL: &str = "web_search";
/// The maximum number of characters of a query.
pub const MAX_QUERY: usize = 500;
/// The number of results that a query gets if it does not say, and at most.
pub const RESULTS: u32 = 10;
pub const MAX_RESULTS: u32 = 20;
/// The maximum numbers of characters in a result.
const TITLE: usize = 300;
const SNIPPET: usize = 1000;
const DATE: usize = 40;
/// The maximum number of bytes of an answer.
const ANSWER: usize = 4 << 20;

/// A query.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub query: String,
    /// The maximum number of results, from 1 to [`MAX_RESULTS`].
    pub max_results: u32,
    pub freshness: SearchFreshness,
}

/// The age of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchFreshness {
    #[default]
    Any,
    Day,
    Week,
    Month,
}

/// Results of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    pub query: String,
    pub results: Vec<SearchResult>,
    /// Whether the results are those of an earlier call.
    pub cached: bool,
    pub searched_at: String,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    pub title: String,
    pub url: String,
    pub snippet: String,
    /// As the provider writes it.
    pub published_date: Option<String>,
}

/// A result as a provider writes it.
#[derive(Debug, Default)]
struct RawResult {
    title: String,
    url: String,
    snippet: String,
    date: Option<String>,
}

/// The filter for results that are unfit for some readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SafeSearch {
    Off,
    Moderate,
    Strict,
}

/// A search service.
trait SearchProvider {
    /// Returns the name for people.
    fn name(&self) -> &'static str;
    /// Returns the address of its interface.
    fn address(&self) -> &'static str;
    /// Returns the header of the key, with the text before it; `None` if the key is not a header.
    fn key_header(&self) -> Option<(&'static str, &'static str)>;
    /// Returns whether it needs a key.
    fn needs_key(&self) -> bool {
        true
    }
    /// Returns the maximum number of results of a request.
    fn page(&self) -> u32 {
        MAX_RESULTS
    }

    /// Checks that the provider can do what the query asks for.
    ///
    /// # Errors
    /// Returns what it cannot do.
    fn check(&self, _query: &SearchQuery) -> Result<(), String> {
        Ok(())
    }

    /// Returns the parameters of the request for `count` results after the first `from`.
    ///
    /// # Errors
    /// Returns the setting that is missing.
    fn parameters(
        &self,
        query: &SearchQuery,
        setup: &SearchSetup,
        from: u32,
        count: u32,
    ) -> Result<Vec<(&'static str, String)>, ProviderError>;

    /// Returns the results in an answer.
    ///
    /// # Errors
    /// Returns the reason for which it is not an answer.
    fn results(&self, answer: &Value) -> Result<Vec<RawResult>, String>;
}

/// The settings of a search.
struct SearchSetup {
    provider: &'static dyn SearchProvider,
    address: Url,
    key: Option<Zeroizing<String>>,
    engine: Option<String>,
    safe: SafeSearch,
    values: ToolValues,
}

fn provider_named(name: &str) -> Option<&'static dyn SearchProvider> {
    Some(match name {
        "brave" => &brave::Brave,
        "serpapi" => &serpapi::SerpApi,
        "google" => &google::Google,
        "duckduckgo" => &duckduckgo::DuckDuckGo,
        _ => return None,
    })
}

fn setup_error(text: impl Into<String>) -> ProviderError {
    ProviderError::Setup { tool: TOOL, text: text.into() }
}

impl WebTools {
    /// Returns whether the search has what it needs, as far as the settings show it.
    ///
    /// # Errors
    /// Returns what is missing.
    pub fn check_search(&self) -> Result<(), ProviderError> {
        let values = self.settings().values(TOOL)?;
        let name = values.text("provider").ok_or_else(|| setup_error("set a provider"))?;
        let provider = provider_named(&name).ok_or_else(|| setup_error("set a provider"))?;
        if provider.needs_key() && !values.has_key() {
            return Err(setup_error(format!("set the key for {}", provider.name())));
        }
        if name == "google" && values.text("engine").is_none() {
            return Err(setup_error("set the engine, the ID of a Programmable Search Engine"));
        }
        Ok(())
    }

    fn search_setup(&self) -> Result<SearchSetup, ProviderError> {
        self.check_search()?;
        let values = self.settings().values(TOOL)?;
        let provider = values.text("provider").and_then(|name| provider_named(&name));
        let provider = provider.ok_or_else(|| setup_error("set a provider"))?;
        let address = values.own("address").unwrap_or_else(|| provider.address().to_owned());
        let address = Url::parse(&address).map_err(|e| setup_error(format!("the address: {e}")))?;
        let key = if provider.needs_key() { self.settings().key(&values)? } else { None };
        let safe = match values.text("safe-search").as_deref() {
            Some("off") => SafeSearch::Off,
            Some("strict") => SafeSearch::Strict,
            _ => SafeSearch::Moderate,
        };
        let engine = values.text("engine");
        Ok(SearchSetup { provider, address, key, engine, safe, values })
    }

    /// Searches the web.
    ///
    /// # Errors
    /// Returns an error if the query does not fit, nothing is set up, a bound is reached, or the
    /// provider does not answer.
    pub fn search(
        &self,
        query: &SearchQuery,
        stop: &RequestStop,
    ) -> Result<SearchAnswer, ProviderError> {
        let query = checked_query(query)?;
        let setup = self.search_setup()?;
        let provider = setup.provider;
        let unsupported = |text| ProviderError::Unsupported { provider: provider.name(), text };
        provider.check(&query).map_err(unsupported)?;
        let key = CacheKey {
            place: format!("{} {} {:?}", provider.name(), setup.address, setup.engine),
            safe: setup.safe,
            query: query.query.clone(),
            results: query.max_results,
            freshness: query.freshness,
        };
        let keep = Duration::from_secs(setup.values.count("keep"));
        if let Some(kept) = self.searches().get(&key, keep) {
            return Ok(SearchAnswer { cached: true, ..kept });
        }
        let mut results: Vec<SearchResult> = Vec::new();
        let mut seen = HashSet::new();
        let mut from = 0;
        while from < query.max_results {
            let count = provider.page().min(query.max_results - from);
            let found = self.search_page(&query, &setup, from, count, stop)?;
            let is_last = found.len() < count as usize;
            for result in found.into_iter().filter_map(clean_result) {
                if results.len() < query.max_results as usize && seen.insert(result.url.clone()) {
                    results.push(result);
                }
            }
            if is_last {
                break;
            }
            from += count;
        }
        let searched_at = rfc3339(SystemTime::now());
        let answer = SearchAnswer { query: query.query, results, cached: false, searched_at };
        self.searches().put(key, answer.clone(), keep);
        Ok(answer)
    }

    fn search_page(
        &self,
        query: &SearchQuery,
        setup: &SearchSetup,
        from: u32,
        count: u32,
        stop: &RequestStop,
    ) -> Result<Vec<RawResult>, ProviderError> {
        let provider = setup.provider;
        let mut url = setup.address.clone();
        url.query_pairs_mut().extend_pairs(provider.parameters(query, setup, from, count)?);
        let header = provider.key_header().zip(setup.key.as_ref());
        let key = header.map(|((name, prefix), key)| KeyHeader { name, prefix, key });
        let interval = Duration::from_millis(setup.values.count("interval"));
        self.pace().wait_turn(interval, stop)?;
        self.count_request(TOOL, setup.values.count("daily"))?;
        let request = ProviderRequest {
            provider: provider.name(),
            url,
            key,
            body: None,
            most: ANSWER,
            timeout: Duration::from_secs(setup.values.count("timeout")),
        };
        let answer = self.network().ask(&request, stop).map_err(|e| setup.hide_key(e))?;
        let wrong =
            |text| setup.hide_key(ProviderError::Answer { provider: provider.name().into(), text });
        let json: Value =
            serde_json::from_slice(&answer).map_err(|e| wrong(format!("it is not JSON: {e}")))?;
        provider.results(&json).map_err(wrong)
    }
}

impl SearchSetup {
    /// Returns an error without the key. That of a provider with a key in its address is not known
    /// to the bridge.
    fn hide_key(&self, error: ProviderError) -> ProviderError {
        let Some(key) = &self.key else { return error };
        let hide = |text: String| text.replace(key.as_str(), "***");
        match error {
            ProviderError::Key { provider, status, text } => {
                ProviderError::Key { provider, status, text: hide(text) }
            }
            ProviderError::Quota { provider, retry_after, text } => {
                ProviderError::Quota { provider, retry_after, text: hide(text) }
            }
            ProviderError::Status { provider, status, text } => {
                ProviderError::Status { provider, status, text: hide(text) }
            }
            ProviderError::Answer { provider, text } => {
                ProviderError::Answer { provider, text: hide(text) }
            }
            error => error,
        }
    }
}

fn checked_query(query: &SearchQuery) -> Result<SearchQuery, ProviderError> {
    let invalid = |text: String| Err(ProviderError::Invalid(text));
    let text = query.query.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if !(1..=MAX_QUERY).contains(&length) || text.chars().any(char::is_control) {
        return invalid(format!(
            "a query has 1 to {MAX_QUERY} characters and no control characters; this one has {length}"
        ));
    }
    if !(1..=MAX_RESULTS).contains(&query.max_results) {
        return invalid(format!("maxResults is from 1 to {MAX_RESULTS}"));
    }
    Ok(SearchQuery { query: text, ..query.clone() })
}

/// Returns a result fit for a model; `None` if its address is not one of the web.
fn clean_result(raw: RawResult) -> Option<SearchResult> {
    let url = clean_url(&raw.url)?;
    let title = clean_text(&raw.title, TITLE);
    let date = raw.date.map(|date| clean_text(&date, DATE)).filter(|date| !date.is_empty());
    Some(SearchResult {
        title: if title.is_empty() { url.clone() } else { title },
        url,
        snippet: clean_text(&raw.snippet, SNIPPET),
        published_date: date,
    })
}

/// Returns the text at a place of an answer; an empty one if there is none.
fn text_at(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the list at a place of an answer. Providers leave it out if it is empty.
fn list_at<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    value.pointer(place).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
