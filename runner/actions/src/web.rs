//! `web_search`, `fetch_page` and `generate_image`: the tools that use servers of others. They are
//! off unless the settings switch them on ([`crate::registry`]).
//!
//! Requests are the host's, never a guest's: a search and a picture go to the provider that the
//! settings name, a page is fetched under the network rules of the session's policy.

use crate::exec::ClientCall;
use crate::show::OUTPUT_FOLDER;
use crate::tool::{AnswerPart, ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use wasibox::files::{FileBytes, Request, UploadOf};
use wasibox::{Refusal, RefusalKind, bridge_policy};
use wasibox_providers::{
    PageAnswer, PageQuery, PictureQuality, PictureQuery, PictureStyle, ProviderError, RESULTS,
    RequestError, SearchAnswer, SearchFreshness, SearchQuery,
};

/// The scheme by which clients of the Model Context Protocol read a session's files.
const FILES: &str = "sandbox://";

/// The arguments of `web_search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WebSearch {
    /// At most 500 characters.
    query: String,
    /// 1 to 20.
    #[serde(default = "default_results")]
    max_results: u32,
    /// The age of results.
    #[serde(default)]
    freshness: SearchFreshness,
}

fn default_results() -> u32 {
    RESULTS
}

impl ToolAction for WebSearch {
    type Answer = SearchAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<SearchAnswer>, Refusal> {
        let WebSearch { query, max_results, freshness } = self;
        let query = SearchQuery { query, max_results, freshness };
        let tools = call.client.space().machine().web_tools();
        let answer = tools.search(&query, call.stop.requests()).map_err(provider_refusal)?;
        let text = results_text(&answer);
        Ok(ToolResult::new(answer, text))
    }
}

pub(crate) fn results_text(answer: &SearchAnswer) -> String {
    let mut out = String::new();
    for (number, found) in (1..).zip(&answer.results) {
        let _ = writeln!(out, "{number}. {}\n   {}", found.title, found.url);
        if let Some(date) = &found.published_date {
            let _ = writeln!(out, "   {date}");
        }
        if !found.snippet.is_empty() {
            let _ = writeln!(out, "   {}", found.snippet);
        }
    }
    if answer.results.is_empty() { "[no results]".into() } else { out }
}

/// The arguments of `fetch_page`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchPage {
    url: String,
    /// Continue here: nextOffset of the part before.
    #[serde(default)]
    offset: u64,
}

impl ToolAction for FetchPage {
    type Answer = PageAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<PageAnswer>, Refusal> {
        let machine = call.client.space().machine();
        let policy = bridge_policy(&machine.policy().network)?;
        let query = PageQuery { url: self.url, offset: self.offset };
        let tools = machine.web_tools();
        let page =
            tools.fetch_page(&query, policy, call.stop.requests()).map_err(provider_refusal)?;
        let text = page_text(&page);
        Ok(ToolResult::new(page, text))
    }
}

pub(crate) fn page_text(page: &PageAnswer) -> String {
    let mut text = String::new();
    if !page.title.is_empty() {
        let _ = writeln!(text, "# {}", page.title);
    }
    let _ = writeln!(text, "{}", page.url);
    for line in [&page.byline, &page.published_date].into_iter().flatten() {
        let _ = writeln!(text, "{line}");
    }
    let _ = write!(text, "\n{}", page.markdown);
    if let Some(next) = page.next_offset {
        let _ = write!(text, "\n[continue at offset {next}]");
    }
    text
}

/// The arguments of `generate_image`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateImage {
    /// At most 4,000 characters.
    prompt: String,
    /// `auto`, or width and height, such as 1024x1024.
    #[serde(default)]
    size: Option<String>,
    #[serde(default)]
    quality: Option<PictureQuality>,
    #[serde(default)]
    style: Option<PictureStyle>,
}

/// A picture in the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageAnswer {
    /// The picture's file, as a resource of the session: `sandbox:///output/NAME`.
    url: String,
    /// The prompt that the model has made of the given one.
    revised_prompt: Option<String>,
    generated_at: String,
}

impl ToolAction for GenerateImage {
    type Answer = ImageAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ImageAnswer>, Refusal> {
        // A picture costs money, so it is made only if it can be kept.
        let session = call.session()?;
        let GenerateImage { prompt, size, quality, style } = self;
        let query = PictureQuery { prompt, size, quality, style };
        let tools = call.client.space().machine().web_tools();
        let made = tools.make_picture(&query, call.stop.requests()).map_err(provider_refusal)?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|e| Refusal::new(RefusalKind::Internal, e))?;
        let day = made.generated_at.split('T').next().unwrap_or_default();
        let number = u32::from_le_bytes(random);
        let path = format!("{OUTPUT_FOLDER}image-{day}-{number:08x}.{}", made.extension);
        let data = FileBytes(made.bytes.clone());
        let upload = UploadOf { path: path.clone(), data, offset: None, mode: None };
        session.files(&Request::Upload(upload))?;
        let size = made.bytes.len() as u64;
        let mut text = format!("{path}: {size} bytes, {}", made.mime);
        if let Some(revised) = &made.revised_prompt {
            let _ = write!(text, "\nThe prompt as the model has revised it: {revised}");
        }
        let mime = made.mime.to_owned();
        let answer = ImageAnswer {
            url: format!("{FILES}{path}"),
            revised_prompt: made.revised_prompt,
            generated_at: made.generated_at,
        };
        let parts = vec![
            AnswerPart::Text(text),
            AnswerPart::Image { mime: mime.clone(), data: made.bytes },
            AnswerPart::Link { path, mime: Some(mime), size },
        ];
        Ok(ToolResult { answer, parts, doubled: Vec::new() })
    }
}

/// Returns the refusal for an error of a provider.
pub fn provider_refusal(error: ProviderError) -> Refusal {
    let kind = match &error {
        ProviderError::Invalid(_)
        | ProviderError::Unsupported { .. }
        | ProviderError::Kind { .. }
        | ProviderError::Inside(_) => RefusalKind::Invalid,
        ProviderError::Setup { .. } => RefusalKind::Missing,
        ProviderError::Daily { .. } | ProviderError::Quota { .. } => RefusalKind::Limit,
        ProviderError::Pace(_) => RefusalKind::Busy,
        ProviderError::Request(RequestError::Refused(_) | RequestError::Address { .. })
        | ProviderError::Key { .. } => RefusalKind::Denied,
        ProviderError::Request(RequestError::Timeout(_) | RequestError::Limit(_)) => {
            RefusalKind::Limit
        }
        ProviderError::Stopped => RefusalKind::Cancelled,
        // The provider cannot do it now. `Internal` would hide its reason from remote clients.
        ProviderError::Request(_) | ProviderError::Status { .. } | ProviderError::Answer { .. } => {
            RefusalKind::Busy
        }
        ProviderError::Settings(_) | ProviderError::Io(_) => {
            // The reason has paths of the host.
            let text = "the tools' settings cannot be used".to_owned();
            let detail = Some(error.to_string());
            return Refusal { detail, ..Refusal::new(RefusalKind::Internal, text) };
        }
    };
    Refusal::new(kind, error)
}
