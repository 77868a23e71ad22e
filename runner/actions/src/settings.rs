//! A tool and its settings as people see them, on the command line and in pages; trying a tool.

use crate::category::ToolCategory;
use crate::registry::ToolState;
use crate::tool::ToolEntry;
use crate::web::{page_text, results_text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wasibox_providers::settings::{SettingsError, settings_schema};
use wasibox_providers::{
    BridgePolicy, PageQuery, PictureQuery, ProviderError, RESULTS, RequestStop, SearchFreshness,
    SearchQuery, WebTools,
};

/// A tool, whether it is on, and its settings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ToolSheet {
    /// The tool's name.
    pub id: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub category: ToolCategory,
    /// The name of its picture in the set Lucide.
    pub icon: &'static str,
    /// Whether the settings have it on.
    pub enabled: bool,
    /// Whether a server offers it; null without a server.
    pub state: Option<ToolState>,
    /// What it lacks.
    pub problem: Option<String>,
    /// The values that are set; of a key, whether it is set.
    pub settings: BTreeMap<String, Value>,
    /// JSON Schema of the settings.
    pub schema: Value,
}

impl ToolSheet {
    /// Describes a tool.
    ///
    /// # Errors
    /// Returns an error if the settings cannot be read.
    pub fn new(
        tool: &ToolEntry,
        web: &WebTools,
        state: Option<ToolState>,
    ) -> Result<ToolSheet, SettingsError> {
        let (category, icon) = ToolCategory::of_tool(tool.name);
        let enabled = web.settings().is_enabled(tool.name)?.unwrap_or(!tool.is_off);
        let missing = match tool.name {
            "web_search" => web.check_search().err(),
            "generate_image" => web.check_pictures().err(),
            _ => None,
        };
        let problem = match (missing, state) {
            (Some(error), _) => Some(error.to_string()),
            (None, Some(ToolState::Unready)) if tool.name == "fetch_page" => {
                Some("the policy allows no requests (--allow)".into())
            }
            (None, Some(ToolState::Unready)) => Some("the image has no program for it".into()),
            (None, Some(ToolState::Excluded)) => Some("the policy leaves it out".into()),
            (None, _) => None,
        };
        Ok(ToolSheet {
            id: tool.name,
            title: tool.title,
            description: tool.text,
            category,
            icon,
            enabled,
            state,
            problem,
            settings: web.settings().values(tool.name)?.shown(),
            schema: settings_schema(tool.name),
        })
    }
}

/// The answer of a tool that was tried.
#[derive(Clone, Debug)]
pub struct ToolTest {
    /// The answer for programs.
    pub answer: Value,
    /// The answer in words.
    pub text: String,
    /// The picture that was made.
    pub picture: Option<Vec<u8>>,
}

/// What a test asks if nothing is given.
const QUERY: &str = "Rust programming language";
const PAGE: &str = "https://example.com/";
const PROMPT: &str = "A small red circle on a white ground";

/// Calls a tool of the web as a model would, without a session. `network` has the rules for a page.
///
/// # Errors
/// Returns the tool's error.
pub fn test_web_tool(
    web: &WebTools,
    network: BridgePolicy,
    tool: &str,
    input: Option<&str>,
    stop: &RequestStop,
) -> Result<ToolTest, ProviderError> {
    let (answer, text, picture) = match tool {
        "web_search" => {
            let query = SearchQuery {
                query: input.unwrap_or(QUERY).to_owned(),
                max_results: RESULTS,
                freshness: SearchFreshness::Any,
            };
            let found = web.search(&query, stop)?;
            (json!(found), results_text(&found), None)
        }
        "fetch_page" => {
            let url = input.unwrap_or(PAGE).to_owned();
            let page = web.fetch_page(&PageQuery { url, offset: 0 }, network, stop)?;
            (json!(page), page_text(&page), None)
        }
        _ => {
            let prompt = input.unwrap_or(PROMPT).to_owned();
            let made =
                web.make_picture(&PictureQuery { prompt, ..PictureQuery::default() }, stop)?;
            let size = made.bytes.len();
            let answer = json!({
                "size": size,
                "mimeType": made.mime,
                "revisedPrompt": made.revised_prompt,
                "generatedAt": made.generated_at,
            });
            (answer, format!("a picture of {size} bytes, {}", made.mime), Some(made.bytes))
        }
    };
    Ok(ToolTest { answer, text, picture })
}
