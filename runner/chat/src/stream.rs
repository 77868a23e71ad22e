//! Server-sent events (WHATWG HTML, 9.2) with chunks of an answer, put together.

use crate::message::{CalledFunction, ModelCall, TokenCounts, function_type};
use serde::Deserialize;

/// The maximum number of bytes of an event, of an answer's text and of the arguments of its calls.
const MAX_EVENT: usize = 8 << 20;
const MAX_TEXT: usize = 16 << 20;
/// The maximum number of calls of one answer.
const MAX_CALLS: usize = 64;

/// The reason why a stream is not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    #[error("the server's answer is not that of the chat completions API: {0}")]
    Malformed(String),
    #[error("the server's answer is too long")]
    Long,
    /// An error in the stream, in the server's words.
    #[error("the server reports: {0}")]
    Server(String),
}

/// A chunk of a stream, or a whole answer.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<TokenCounts>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Delta,
}

#[derive(Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: FunctionDelta,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

/// An answer that is being put together.
#[derive(Debug, Default)]
pub struct AnswerBuilder {
    /// The bytes of lines and events that are not complete.
    line: Vec<u8>,
    data: Vec<u8>,
    pub text: String,
    pub calls: Vec<ModelCall>,
    pub tokens: TokenCounts,
    is_done: bool,
}

impl AnswerBuilder {
    /// Adds bytes of a stream of events, and passes new text to `emit`.
    ///
    /// # Errors
    /// Returns an error if an event is too long or not a chunk of an answer.
    pub fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) -> Result<(), StreamError> {
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                if self.line.len() > MAX_EVENT {
                    return Err(StreamError::Long);
                }
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            self.take_line(&line, emit)?;
        }
        Ok(())
    }

    /// Ends the stream: the last event may lack its empty line.
    ///
    /// # Errors
    /// The same as [`AnswerBuilder::push`].
    pub fn finish(&mut self, emit: &mut dyn FnMut(&str)) -> Result<(), StreamError> {
        self.push(b"\n\n", emit)
    }

    fn take_line(&mut self, line: &[u8], emit: &mut dyn FnMut(&str)) -> Result<(), StreamError> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return if data.is_empty() { Ok(()) } else { self.take_event(&data, emit) };
        }
        let Some(value) = line.strip_prefix(b"data:") else { return Ok(()) };
        if !self.data.is_empty() {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        if self.data.len() > MAX_EVENT { Err(StreamError::Long) } else { Ok(()) }
    }

    fn take_event(&mut self, data: &[u8], emit: &mut dyn FnMut(&str)) -> Result<(), StreamError> {
        if data == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        if self.is_done { Ok(()) } else { self.take_chunk(data, emit) }
    }

    /// Adds a chunk, or a whole answer.
    ///
    /// # Errors
    /// Returns an error if the text is not one of these, or the answer becomes too long.
    pub fn take_chunk(
        &mut self,
        json: &[u8],
        emit: &mut dyn FnMut(&str),
    ) -> Result<(), StreamError> {
        let chunk: Chunk =
            serde_json::from_slice(json).map_err(|why| StreamError::Malformed(why.to_string()))?;
        if let Some(error) = chunk.error {
            let text = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(StreamError::Server(text.chars().take(500).collect()));
        }
        if let Some(tokens) = chunk.usage {
            self.tokens = tokens;
        }
        // Only one answer is asked for.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
            emit(&text);
            self.text += &text;
        }
        for (at, call) in choice.delta.tool_calls.into_iter().flatten().enumerate() {
            self.take_call(call.index.unwrap_or(at), call)?;
        }
        let arguments: usize = self.calls.iter().map(|call| call.function.arguments.len()).sum();
        if self.text.len() + arguments > MAX_TEXT { Err(StreamError::Long) } else { Ok(()) }
    }

    fn take_call(&mut self, index: usize, delta: CallDelta) -> Result<(), StreamError> {
        if index >= MAX_CALLS {
            return Err(StreamError::Long);
        }
        while self.calls.len() <= index {
            let id = format!("call-{}", self.calls.len());
            let function = CalledFunction::default();
            self.calls.push(ModelCall { id, kind: function_type(), function });
        }
        let call = &mut self.calls[index];
        if let Some(id) = delta.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        call.function.name += &delta.function.name.unwrap_or_default();
        call.function.arguments += &delta.function.arguments.unwrap_or_default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(stream: &[u8], piece: usize) -> Result<(AnswerBuilder, String), StreamError> {
        let (mut made, mut shown) = (AnswerBuilder::default(), String::new());
        for part in stream.chunks(piece) {
            made.push(part, &mut |text| shown += text)?;
        }
        made.finish(&mut |text| shown += text)?;
        Ok((made, shown))
    }

    /// The form is that of OpenAI's reference of the chat completions API, section "Streaming".
    const STREAM: &str = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        ": a comment\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me l\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ook: ö\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",",
        "\"type\":\"function\",\"function\":{\"name\":\"sandbox_exec\",\"arguments\":\"\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
        "\"function\":{\"arguments\":\"{\\\"command\\\":\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
        "\"function\":{\"arguments\":\"\\\"ls\\\"}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":5}}\n\n",
        "data: [DONE]\n\n",
    );

    #[test]
    fn pieces_of_any_size_make_the_same_answer() {
        for piece in [1, 7, 4096] {
            let (made, shown) = built(STREAM.as_bytes(), piece).unwrap();
            assert_eq!((&*made.text, &*shown), ("Let me look: ö", "Let me look: ö"));
            assert_eq!(made.calls.len(), 1);
            assert_eq!((&*made.calls[0].id, &*made.calls[0].function.name), ("c1", "sandbox_exec"));
            assert_eq!(made.calls[0].function.arguments, "{\"command\":\"ls\"}");
            assert_eq!(made.tokens.total(), 17);
        }
    }

    #[test]
    fn a_stream_that_is_no_answer_is_an_error() {
        for (stream, is_expected) in [
            ("data: <html>\n\n", StreamError::Malformed as fn(String) -> StreamError),
            ("data: {\"error\":{\"message\":\"no such model\"}}\n\n", StreamError::Server),
        ] {
            let error = built(stream.as_bytes(), 64).unwrap_err();
            let same = std::mem::discriminant(&is_expected(String::new()));
            assert_eq!(std::mem::discriminant(&error), same, "{error}");
        }
        let many = r#"{"choices":[{"delta":{"tool_calls":[{"index":4000000000}]}}]}"#;
        let far = AnswerBuilder::default().take_chunk(many.as_bytes(), &mut |_| ());
        assert_eq!(far.unwrap_err(), StreamError::Long);
        let mut long = AnswerBuilder::default();
        let line = vec![b'x'; 1 << 20];
        let all = (0..9).try_for_each(|_| long.push(&line, &mut |_| ()));
        assert_eq!(all, Err(StreamError::Long));
    }
}
