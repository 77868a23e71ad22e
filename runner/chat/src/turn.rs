//! A prompt, the model's answers, and the tools that it calls.

use crate::endpoint::{Endpoint, EndpointError};
use crate::message::{ChatMessage, ChatRole, ModelCall, TokenCounts};
use crate::record::{ChatRecord, RecordError};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wasibox_actions::{AnswerPart, CallStop, Client, ClientCall, Registry, ToolScope};
use wasibox_bridge::BridgeExchange;

/// The maximum number of bytes of a result that a model gets.
const MAX_RESULT: usize = 48 << 10;

/// The settings of a chat.
#[derive(Clone, Debug)]
pub struct ChatOptions {
    pub model: String,
    /// Text that is added to the description of the machine, which every chat begins with.
    pub system: Option<String>,
    /// Names of tools that run only if the view approves; `all` stands for all that change
    /// something.
    pub approve: Vec<String>,
    /// The maximum number of answers in one turn.
    pub steps: u32,
    /// The maximum number of tokens of the whole chat.
    pub max_tokens: Option<u64>,
}

/// The reason why a turn has failed.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// The way a turn has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model has given its answer.
    Answered,
    /// The user has stopped the turn.
    Stopped,
    /// The turn had as many answers as it may have.
    Steps,
    /// The chat has used all its tokens.
    Budget,
}

/// A call that has ended.
#[derive(Debug)]
pub struct CallReport<'a> {
    pub name: &'a str,
    /// Whether the tool did what it was asked for; a command with another status than 0 did.
    pub is_done: bool,
    pub duration: Duration,
    /// The result as the model gets it.
    pub text: &'a str,
    /// The status of a command.
    pub status: Option<i64>,
}

/// The place where a chat is shown.
pub trait ChatView {
    /// Shows text of the model as it comes.
    fn show_text(&mut self, text: &str);
    /// Shows that a call begins.
    fn begin_call(&mut self, name: &str, arguments: &Map<String, Value>);
    /// Shows the end of a call.
    fn end_call(&mut self, report: &CallReport<'_>);
    /// Asks whether a call may be made.
    fn approve(&mut self, name: &str, arguments: &Map<String, Value>) -> bool;
}

/// A handle that stops a turn from another thread.
#[derive(Default)]
pub struct TurnStop {
    is_stopped: AtomicBool,
    running: Mutex<RunningStep>,
}

#[derive(Default)]
struct RunningStep {
    request: Option<Arc<BridgeExchange>>,
    call: Option<Arc<CallStop>>,
}

impl TurnStop {
    /// Ends the turn's request or command, and prevents further ones.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        let running = self.lock_running();
        if let Some(request) = &running.request {
            request.give_up();
        }
        if let Some(call) = &running.call {
            call.stop();
        }
    }

    /// Prepares for another turn.
    pub fn clear(&self) {
        self.is_stopped.store(false, Ordering::Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    pub(crate) fn hold_request(&self, request: &Arc<BridgeExchange>) {
        self.lock_running().request = Some(request.clone());
        if self.is_stopped() {
            request.give_up();
        }
    }

    pub(crate) fn forget_request(&self) {
        self.lock_running().request = None;
    }

    fn hold_call(&self, call: &Arc<CallStop>) {
        self.lock_running().call = Some(call.clone());
        if self.is_stopped() {
            call.stop();
        }
    }

    fn forget_call(&self) {
        self.lock_running().call = None;
    }

    fn lock_running(&self) -> MutexGuard<'_, RunningStep> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A chat on a session.
pub struct Chat {
    endpoint: Endpoint,
    registry: Arc<Registry>,
    client: Client,
    options: ChatOptions,
    record: ChatRecord,
    messages: Vec<ChatMessage>,
    tokens: TokenCounts,
    tools: Vec<Value>,
}

impl Chat {
    /// Creates a chat that continues with the messages of its log.
    pub fn new(
        endpoint: Endpoint,
        registry: Arc<Registry>,
        client: Client,
        options: ChatOptions,
        (record, messages, tokens): (ChatRecord, Vec<ChatMessage>, TokenCounts),
    ) -> Chat {
        let tools = registry
            .tools()
            .map(|listed| {
                let (tool, parameters) = (listed.tool, &*listed.input);
                let function = json!({
                    "name": tool.name, "description": tool.text, "parameters": parameters,
                });
                json!({ "type": "function", "function": function })
            })
            .collect();
        Chat { endpoint, registry, client, options, record, messages, tokens, tools }
    }

    /// Returns the messages, without the description of the machine.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Returns the tokens of all requests.
    pub fn tokens(&self) -> TokenCounts {
        self.tokens
    }

    pub fn model(&self) -> &str {
        &self.options.model
    }

    pub fn set_model(&mut self, model: &str) {
        self.options.model = model.to_owned();
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Runs a tool for the user, and returns its text.
    ///
    /// # Errors
    /// Returns the tool's reason if it refuses.
    pub fn run_tool(&self, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
        let listed = self.registry.get(name).ok_or_else(|| format!("there is no tool '{name}'"))?;
        let call = ClientCall { client: &self.client, stop: &CallStop::default(), emit: None };
        let done = listed.tool.run(arguments, &call).map_err(|refusal| refusal.text)?;
        Ok(text_of(&done.parts))
    }

    /// Sends a prompt, and lets the model call tools until it answers without a call.
    ///
    /// # Errors
    /// Returns an error if the endpoint does not answer, or the log cannot be written. The chat can
    /// go on after both.
    pub fn run_turn(
        &mut self,
        prompt: &str,
        view: &mut dyn ChatView,
        stop: &TurnStop,
    ) -> Result<TurnEnd, ChatError> {
        self.add(ChatMessage::text(ChatRole::User, prompt), None)?;
        for _ in 0..self.options.steps {
            if self.options.max_tokens.is_some_and(|most| self.tokens.total() >= most) {
                return Ok(TurnEnd::Budget);
            }
            let mut messages = vec![self.description()];
            messages.extend(self.messages.iter().cloned());
            let asked =
                self.endpoint.ask(&self.options.model, &messages, &self.tools, stop, &mut |text| {
                    view.show_text(text)
                });
            let answer = match asked {
                Err(EndpointError::Stopped) => return Ok(TurnEnd::Stopped),
                asked => asked?,
            };
            self.tokens.add(answer.tokens);
            let calls = answer.message.tool_calls.clone();
            self.add(answer.message, Some(answer.tokens))?;
            if calls.is_empty() {
                return Ok(TurnEnd::Answered);
            }
            for call in &calls {
                let text = if stop.is_stopped() {
                    "The user has stopped the turn; the call was not made.".to_owned()
                } else {
                    self.run_call(call, view, stop)
                };
                self.add(ChatMessage::result(call, text), None)?;
            }
            if stop.is_stopped() {
                return Ok(TurnEnd::Stopped);
            }
        }
        Ok(TurnEnd::Steps)
    }

    fn add(&mut self, message: ChatMessage, tokens: Option<TokenCounts>) -> Result<(), ChatError> {
        self.record.add(&message, tokens)?;
        self.messages.push(message);
        Ok(())
    }

    /// Returns the message that describes the machine.
    fn description(&self) -> ChatMessage {
        let mut text = self.registry.summary().to_owned();
        if let Some(more) = &self.options.system {
            text += "\n\n";
            text += more;
        }
        ChatMessage::text(ChatRole::System, text)
    }

    /// Runs a call of the model. Returns the text that the model gets.
    fn run_call(&self, call: &ModelCall, view: &mut dyn ChatView, stop: &TurnStop) -> String {
        let name = call.function.name.as_str();
        let Some(listed) = self.registry.get(name) else {
            return format!("There is no tool '{name}'.");
        };
        let text = call.function.arguments.trim();
        let arguments = serde_json::from_str(if text.is_empty() { "{}" } else { text });
        let arguments: Map<String, Value> = match arguments {
            Ok(arguments) => arguments,
            Err(why) => return format!("The arguments are not a JSON object: {why}"),
        };
        let is_asked =
            self.options.approve.iter().any(|asked| {
                asked == name || asked == "all" && listed.tool.scope != ToolScope::Read
            });
        if is_asked && !view.approve(name, &arguments) {
            return "The user has not approved this call.".to_owned();
        }
        view.begin_call(name, &arguments);
        let begun = Instant::now();
        let call_stop = Arc::new(CallStop::default());
        stop.hold_call(&call_stop);
        let context = ClientCall { client: &self.client, stop: &call_stop, emit: None };
        let done = listed.tool.run(arguments, &context);
        stop.forget_call();
        let (is_done, status, text) = match &done {
            Ok(done) => (true, done.answer["exit_code"].as_i64(), text_of(&done.parts)),
            Err(refusal) => (false, None, format!("Refused: {}", refusal.text)),
        };
        let text = shorten(text);
        let duration = begun.elapsed();
        view.end_call(&CallReport { name, is_done, duration, text: &text, status });
        text
    }
}

/// Returns the parts of a result as text. Pictures are named, because not every endpoint takes
/// them in the result of a call.
fn text_of(parts: &[AnswerPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        AnswerPart::Text(text) => text.clone(),
        AnswerPart::Image { mime, data } => format!("[a picture, {mime}, {} bytes]", data.len()),
        AnswerPart::Blob { path, mime, data } => {
            format!("[{path}: {mime}, {} bytes]", data.len())
        }
        AnswerPart::Link { path, size, .. } => format!("[{path}: {size} bytes]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Cuts the middle out of a text that is too long for a model.
fn shorten(text: String) -> String {
    if text.len() <= MAX_RESULT {
        return text;
    }
    let (first, last) = (
        text.floor_char_boundary(MAX_RESULT / 2),
        text.ceil_char_boundary(text.len() - MAX_RESULT / 2),
    );
    format!("{}\n[{} bytes are left out]\n{}", &text[..first], last - first, &text[last..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_keeps_its_ends() {
        let long = format!("begin{}end", "ö".repeat(MAX_RESULT));
        let short = shorten(long.clone());
        assert!(short.len() < MAX_RESULT + 100);
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert_eq!(shorten("short".into()), "short");
    }
}
