//! Results as blocks of content.

use crate::resources::file_uri;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use wasibox_actions::{AnswerPart, Refusal, ToolResult};

/// Returns a result: the answer as structured content, and the blocks that models read.
pub fn call_result(done: ToolResult) -> CallToolResult {
    let ToolResult { mut answer, parts, doubled } = done;
    for pointer in doubled {
        // The bytes are in a block of their own.
        if let Some(data) = answer.pointer_mut(pointer) {
            *data = Value::String(String::new());
        }
    }
    let mut result = CallToolResult::success(parts.into_iter().map(content_block).collect());
    result.structured_content = Some(answer);
    result
}

/// Returns the result of a refused call.
pub fn refusal_result(refusal: &Refusal) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(refusal.text.clone())])
}

fn content_block(part: AnswerPart) -> ContentBlock {
    match part {
        AnswerPart::Text(text) => ContentBlock::text(text),
        AnswerPart::Image { mime, data } => ContentBlock::image(BASE64_STANDARD.encode(data), mime),
        AnswerPart::Blob { path, mime, data } => {
            ContentBlock::resource(resource_contents(&file_uri(&path), &mime, data))
        }
        AnswerPart::Link { path, mime, size } => {
            ContentBlock::resource_link(file_resource(&path, mime, size))
        }
    }
}

/// Returns a file's contents: as text if the bytes and the type permit it, otherwise as data.
pub fn resource_contents(uri: &str, mime: &str, data: Vec<u8>) -> ResourceContents {
    let is_text = !["image/", "audio/", "video/", "font/"].iter().any(|k| mime.starts_with(k));
    let made = match String::from_utf8(data) {
        Ok(text) if is_text => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(BASE64_STANDARD.encode(text), uri),
        Err(e) => ResourceContents::blob(BASE64_STANDARD.encode(e.as_bytes()), uri),
    };
    made.with_mime_type(mime)
}

/// Returns the resource of a readable file.
pub fn file_resource(path: &str, mime: Option<String>, size: u64) -> Resource {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut made = Resource::new(file_uri(path), name);
    (made.mime_type, made.size) = (mime, Some(size));
    made
}
