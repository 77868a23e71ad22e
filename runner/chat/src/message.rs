//! The messages of a chat, in the form of the chat completions API of OpenAI, which Ollama, vLLM,
//! llama.cpp and others have, too.

use serde::{Deserialize, Serialize};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    System,
    User,
    Assistant,
    /// The result of a call.
    Tool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: ChatRole,
    /// The text. An assistant that only calls tools has none.
    #[serde(default)]
    pub content: Option<String>,
    /// The calls that an assistant asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ModelCall>,
    /// The call that a result belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl ChatMessage {
    /// Creates a message that is text alone.
    pub fn text(role: ChatRole, text: impl Into<String>) -> ChatMessage {
        ChatMessage { role, content: Some(text.into()), tool_calls: Vec::new(), tool_call_id: None }
    }

    /// Creates the result of a call.
    pub fn result(call: &ModelCall, text: impl Into<String>) -> ChatMessage {
        ChatMessage {
            tool_call_id: Some(call.id.clone()),
            ..ChatMessage::text(ChatRole::Tool, text)
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    pub id: String,
    #[serde(rename = "type", default = "function_type")]
    pub kind: String,
    pub function: CalledFunction,
}

/// The tool and the arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalledFunction {
    pub name: String,
    /// The arguments as JSON, as the model wrote it.
    #[serde(default)]
    pub arguments: String,
}

/// Returns the one type of a call.
pub(crate) fn function_type() -> String {
    "function".to_owned()
}

/// The tokens of requests and answers, as the server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    #[serde(default)]
    pub prompt_tokens: u64,
    #[serde(default)]
    pub completion_tokens: u64,
}

impl TokenCounts {
    /// Adds the counts of another request.
    pub fn add(&mut self, other: TokenCounts) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }

    /// Returns the tokens of both kinds.
    pub fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}
