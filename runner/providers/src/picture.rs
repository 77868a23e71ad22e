//! A picture from a text, by the interface of OpenAI's
//! [images endpoint](https://platform.openai.com/docs/api-reference/images/create), which other
//! servers have, too.

use crate::client::{KeyHeader, ProviderRequest, RequestStop, exchange, page_head};
use crate::clock::rfc3339;
use crate::error::ProviderError;
use crate::text::clean_text;
use crate::tools::WebTools;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};
use url::{Host, Url};
use wasibox_bridge::{BridgeLimits, BridgePolicy, RequestRules};

/// The tool's name, in settings and in errors.
const TOOL: &str = "generate_image";
/// The maximum number of characters of a prompt.
const PROMPT: usize = 4000;
/// The maximum number of bytes of a picture, and of an answer with one in base64.
const PICTURE: usize = 20 << 20;
const ANSWER: usize = 32 << 20;

/// A picture to make.
#[derive(Clone, Debug, Default)]
pub struct PictureQuery {
    pub prompt: String,
    /// `auto`, or width and height, such as `1024x1024`.
    pub size: Option<String>,
    pub quality: Option<PictureQuality>,
    pub style: Option<PictureStyle>,
}

/// The quality of a picture; which of them a model knows differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureQuality {
    Auto,
    Low,
    Medium,
    High,
    Standard,
    Hd,
}

/// The style of a picture, for models that know one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureStyle {
    Vivid,
    Natural,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureAnswer {
    pub bytes: Vec<u8>,
    /// Its media type, which its first bytes show.
    pub mime: &'static str,
    /// The end of its file's name.
    pub extension: &'static str,
    /// The prompt that the model has made of the given one.
    pub revised_prompt: Option<String>,
    pub generated_at: String,
}

fn setup_error(text: &str) -> ProviderError {
    ProviderError::Setup { tool: TOOL, text: text.into() }
}

impl WebTools {
    /// Returns whether pictures can be made, as far as the settings show it.
    ///
    /// # Errors
    /// Returns what is missing.
    pub fn check_pictures(&self) -> Result<(), ProviderError> {
        if self.settings().values(TOOL)?.has_key() { Ok(()) } else { Err(setup_error("set a key")) }
    }

    /// Makes a picture.
    ///
    /// # Errors
    /// Returns an error if the arguments do not fit, nothing is set up, a bound is reached, or the
    /// server does not answer with a picture.
    pub fn make_picture(
        &self,
        query: &PictureQuery,
        stop: &RequestStop,
    ) -> Result<PictureAnswer, ProviderError> {
        check_query(query)?;
        let values = self.settings().values(TOOL)?;
        let key = self.settings().key(&values)?.ok_or_else(|| setup_error("set a key"))?;
        let base = values.text("address").unwrap_or_default();
        let url = Url::parse(&format!("{}/images/generations", base.trim_end_matches('/')))
            .map_err(|e| setup_error(&format!("the address: {e}")))?;
        let provider = url.host_str().unwrap_or_default().to_owned();
        let model = values.text("model").unwrap_or_default();
        let mut body = json!({ "model": model, "prompt": query.prompt, "n": 1 });
        // The GPT models always answer in base64, and do not know the parameter.
        if !model.starts_with("gpt-image") {
            body["response_format"] = "b64_json".into();
        }
        for (name, value) in [
            ("size", query.size.clone().map(Value::from)),
            ("quality", query.quality.map(|quality| json!(quality))),
            ("style", query.style.map(|style| json!(style))),
        ] {
            if let Some(value) = value {
                body[name] = value;
            }
        }
        self.count_request(TOOL, values.count("daily"))?;
        let timeout = Duration::from_secs(values.count("timeout"));
        let request = ProviderRequest {
            provider: &provider,
            url: url.clone(),
            key: Some(KeyHeader { name: "Authorization", prefix: "Bearer ", key: &key }),
            body: Some(body.to_string()),
            most: ANSWER,
            timeout,
        };
        let answer = self.network().ask(&request, stop)?;
        let wrong =
            |text: &str| ProviderError::Answer { provider: provider.clone(), text: text.into() };
        let json: Value =
            serde_json::from_slice(&answer).map_err(|e| wrong(&format!("it is not JSON: {e}")))?;
        let first = json.pointer("/data/0").ok_or_else(|| wrong("it has no data"))?;
        let bytes = match (first["b64_json"].as_str(), first["url"].as_str()) {
            (Some(text), _) => {
                BASE64_STANDARD.decode(text).map_err(|_| wrong("its base64 is malformed"))?
            }
            (None, Some(place)) => self.fetch_picture(&url, place, timeout, stop)?,
            (None, None) => return Err(wrong("it has neither b64_json nor url")),
        };
        if bytes.len() > PICTURE {
            return Err(wrong(&format!("the picture has {} bytes", bytes.len())));
        }
        let (mime, extension) =
            picture_kind(&bytes).ok_or_else(|| wrong("it is not PNG, JPEG, WebP or GIF"))?;
        let revised = first["revised_prompt"].as_str().map(|text| clean_text(text, PROMPT));
        Ok(PictureAnswer {
            bytes,
            mime,
            extension,
            revised_prompt: revised.filter(|text| !text.is_empty()),
            generated_at: rfc3339(SystemTime::now()),
        })
    }

    /// Fetches a picture that a server has left at an address: its own, or one that is public.
    fn fetch_picture(
        &self,
        server: &Url,
        place: &str,
        timeout: Duration,
        stop: &RequestStop,
    ) -> Result<Vec<u8>, ProviderError> {
        let wrong = |text: String| ProviderError::Answer {
            provider: server.host_str().unwrap_or_default().into(),
            text,
        };
        let url = Url::parse(place).map_err(|e| wrong(format!("the picture's address: {e}")))?;
        let is_own = url.origin() == server.origin();
        if !is_own && url.scheme() != "https" {
            return Err(wrong("the picture's address is not one of https".into()));
        }
        // An address in the host's own network would be allowed because the rule names it.
        if !is_own && !matches!(url.host(), Some(Host::Domain(name)) if name != "localhost") {
            return Err(wrong("the picture's address has no public name".into()));
        }
        let rule = if is_own {
            format!("GET {}/", server.origin().ascii_serialization())
        } else {
            // Public addresses only, because the rule names no network.
            format!("GET https://{}:*/", url.host_str().unwrap_or_default())
        };
        let rule = rule.parse().map_err(|e| wrong(format!("the picture's address: {e}")))?;
        let policy = BridgePolicy {
            rules: RequestRules { allow: vec![rule], deny: Vec::new() },
            limits: BridgeLimits { total: timeout, ..BridgeLimits::default() },
            ..BridgePolicy::default()
        };
        let head = page_head(url.as_str(), "image/*", timeout);
        let bridge = self.network().bridge(policy)?;
        let (response, body) = exchange(&bridge, &head, &[], PICTURE, stop)?;
        if response.status != 200 {
            return Err(wrong(format!("the picture's address answers with {}", response.status)));
        }
        Ok(body)
    }
}

fn check_query(query: &PictureQuery) -> Result<(), ProviderError> {
    let length = query.prompt.chars().count();
    if query.prompt.trim().is_empty() || length > PROMPT {
        let text = format!("a prompt has 1 to {PROMPT} characters; this one has {length}");
        return Err(ProviderError::Invalid(text));
    }
    let is_size = |size: &str| {
        let fits = |n: &str| n.parse().is_ok_and(|n: u32| (16..=8192).contains(&n));
        size == "auto" || size.split_once('x').is_some_and(|(w, h)| fits(w) && fits(h))
    };
    match &query.size {
        Some(size) if !is_size(size) => Err(ProviderError::Invalid(format!(
            "the size is auto, or WIDTHxHEIGHT such as 1024x1024, not '{}'",
            clean_text(size, 50)
        ))),
        _ => Ok(()),
    }
}

/// Returns the media type of a picture and the end of its file's name, by its first bytes.
fn picture_kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(("image/png", "png")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            Some(("image/webp", "webp"))
        }
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(("image/gif", "gif")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked() {
        let query = |prompt: &str, size: Option<&str>| PictureQuery {
            prompt: prompt.into(),
            size: size.map(str::to_owned),
            ..PictureQuery::default()
        };
        for good in
            [query("a cat", None), query("a cat", Some("1792x1024")), query("x", Some("auto"))]
        {
            assert!(check_query(&good).is_ok());
        }
        for wrong in [
            query("", None),
            query(" \n", None),
            query(&"x".repeat(4001), None),
            query("x", Some("big")),
            query("x", Some("1x1")),
            query("x", Some("99999x10")),
        ] {
            assert!(matches!(check_query(&wrong), Err(ProviderError::Invalid(_))));
        }
    }
}
