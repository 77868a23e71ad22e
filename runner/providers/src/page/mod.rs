//! A page of the web as Markdown: its article, without menus and advertisements.
//!
//! | file | contents |
//! |---|---|
//! | `decode` | the bytes of a page as text, by the encoding that it names |
//! | `convert` | HTML as Markdown |

mod convert;
mod decode;

use crate::client::{RequestStop, exchange, header, page_head};
use crate::clock::rfc3339;
use crate::error::ProviderError;
use crate::search::cache::AnswerCache;
use crate::text::{clean_lines, clean_text};
use crate::tools::WebTools;
use convert::PageText;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::{Duration, SystemTime};
use url::Url;
use wasibox_bridge::BridgePolicy;

/// The tool's name, in settings and in errors.
const TOOL: &str = "fetch_page";
/// The maximum number of bytes of a page.
const PAGE: usize = 4 << 20;
const ACCEPT: &str = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, \
                      application/json;q=0.7, */*;q=0.1";

/// A page to fetch.
#[derive(Clone, Debug)]
pub struct PageQuery {
    pub url: String,
    /// The number of characters of the page's Markdown that are left out at its beginning.
    pub offset: u64,
}

/// A page, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageAnswer {
    /// The address after redirects.
    pub url: String,
    pub title: String,
    pub byline: Option<String>,
    pub published_date: Option<String>,
    pub markdown: String,
    /// The offset at which the page continues.
    pub next_offset: Option<u64>,
    /// Whether the page is that of an earlier call.
    pub cached: bool,
    pub fetched_at: String,
}

/// A page, whole.
#[derive(Clone, Debug)]
pub(crate) struct WholePage {
    url: String,
    text: PageText,
    fetched_at: String,
}

/// The pages that were fetched, by a text that stands for the rules, and their address.
pub(crate) type PageCache = AnswerCache<(String, String), WholePage>;

impl WebTools {
    /// Fetches a page by the rules of `policy`, which also judge each redirect.
    ///
    /// # Errors
    /// Returns an error if the rules do not allow the request, a bound is reached, there is no
    /// answer, or it is not text.
    pub fn fetch_page(
        &self,
        query: &PageQuery,
        policy: BridgePolicy,
        stop: &RequestStop,
    ) -> Result<PageAnswer, ProviderError> {
        let invalid = |e| ProviderError::Invalid(format!("{}: {e}", query.url));
        let mut url = Url::parse(query.url.trim()).map_err(invalid)?;
        url.set_fragment(None);
        let values = self.settings().values(TOOL)?;
        let keep = Duration::from_secs(values.count("keep"));
        // A page that other rules allowed must not answer here.
        let key = (format!("{:?}", policy.rules), url.to_string());
        let kept = self.pages().get(&key, keep);
        let cached = kept.is_some();
        let page = match kept {
            Some(page) => page,
            None => {
                let timeout = Duration::from_secs(values.count("timeout"));
                let page = self.fetch_whole(&url, policy, values.count("daily"), timeout, stop)?;
                self.pages().put(key, page.clone(), keep);
                page
            }
        };
        Ok(part_of(page, query.offset, values.count("characters"), cached))
    }

    fn fetch_whole(
        &self,
        url: &Url,
        policy: BridgePolicy,
        daily: u64,
        timeout: Duration,
        stop: &RequestStop,
    ) -> Result<WholePage, ProviderError> {
        let head = page_head(url.as_str(), ACCEPT, timeout);
        let bridge = self.network().bridge(policy)?;
        if bridge.is_for_guest(&head) {
            return Err(ProviderError::Inside(url.to_string()));
        }
        self.count_request(TOOL, daily)?;
        let (response, body) = exchange(&bridge, &head, &[], PAGE, stop)?;
        let provider = || Url::parse(&response.url).ok()?.host_str().map(str::to_owned);
        if response.status != 200 {
            return Err(ProviderError::Status {
                provider: provider().unwrap_or_else(|| response.url.clone()),
                status: response.status,
                text: crate::client::error_text(&body),
            });
        }
        let content_type = header(&response, "Content-Type").unwrap_or("text/html");
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
        let is_text = kind.starts_with("text/")
            || kind.ends_with("json")
            || kind.ends_with("xml")
            || kind == "application/javascript";
        if !is_text && !is_html {
            return Err(ProviderError::Kind { url: response.url, kind: clean_text(&kind, 100) });
        }
        let text = decode::decode_page(&body, content_type);
        let text = if is_html {
            convert::convert_page(text, response.url.clone())?
        } else {
            PageText { markdown: clean_lines(&text), ..PageText::default() }
        };
        let fetched_at = rfc3339(SystemTime::now());
        Ok(WholePage { url: response.url, text, fetched_at })
    }
}

/// Returns the part of a page that begins at `offset`, cut at the end of a line if one is near.
fn part_of(page: WholePage, offset: u64, most: u64, cached: bool) -> PageAnswer {
    let WholePage { url, text, fetched_at } = page;
    let (from, most) = (usize::try_from(offset).unwrap_or(usize::MAX), most as usize);
    let start = text.markdown.char_indices().nth(from).map_or(text.markdown.len(), |(at, _)| at);
    let rest = &text.markdown[start..];
    let (markdown, next_offset) = match rest.char_indices().nth(most) {
        None => (rest.to_owned(), None),
        Some((end, _)) => {
            let line = rest[..end].rfind('\n').map(|at| at + 1).filter(|at| *at > end / 2);
            let part = &rest[..line.unwrap_or(end)];
            (part.to_owned(), Some(offset + part.chars().count() as u64))
        }
    };
    let PageText { title, byline, published_date, .. } = text;
    PageAnswer { url, title, byline, published_date, markdown, next_offset, cached, fetched_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        let whole = "one\ntwo\nthree äöü\n".repeat(50);
        let page = WholePage {
            url: "https://a.example/".into(),
            text: PageText { markdown: whole.clone(), ..PageText::default() },
            fetched_at: String::new(),
        };
        let (mut offset, mut read) = (0, String::new());
        loop {
            let part = part_of(page.clone(), offset, 100, false);
            assert!(part.markdown.chars().count() <= 100 && !part.markdown.is_empty());
            read += &part.markdown;
            match part.next_offset {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(read, whole);
        assert_eq!(part_of(page, 1 << 40, 100, false).markdown, "");
    }
}
