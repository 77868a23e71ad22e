//! Makes JavaScript functions host tools.

use crate::call::lock_mutex;
use crate::settle::js_error;
use futures_channel::oneshot::{Sender, channel};
use napi::bindgen_prelude::{FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use wasibox_sdk::wasibox::HostTool;

/// The result of a tool call as JSON, or the reason why it failed.
type JsToolResult = std::result::Result<String, String>;

/// The tool calls that JavaScript has not settled yet, by number.
#[derive(Default)]
struct PendingToolCalls {
    last: u32,
    waiting: HashMap<u32, Sender<JsToolResult>>,
}

/// The calls of a session's tools.
#[napi]
#[derive(Default)]
pub struct ToolCalls(Arc<Mutex<PendingToolCalls>>);

#[napi]
impl ToolCalls {
    #[napi(constructor)]
    pub fn new() -> ToolCalls {
        ToolCalls::default()
    }

    /// Settles a call: `text` is its result as JSON or, unless `ok`, the reason why it failed. The
    /// result of an abandoned call is ignored.
    #[napi]
    pub fn settle(&self, call: u32, ok: bool, text: String) {
        if let Some(sender) = lock_mutex(&self.0).waiting.remove(&call) {
            let _ = sender.send(if ok { Ok(text) } else { Err(text) });
        }
    }
}

/// The number of a call and its arguments as JSON; without arguments, the call was abandoned.
type Arguments = (u32, Option<String>);
/// The function that executes calls. It does not keep the process alive itself; the promise of the
/// session's call does.
type Act = ThreadsafeFunction<Arguments, (), FnArgs<Arguments>, Status, false, true>;

/// A function that guests may call: its description in JSON, and the function that executes a call.
#[napi(object, object_to_js = false)]
pub struct Tool<'env> {
    pub definition: String,
    pub act: Function<'env, FnArgs<Arguments>, ()>,
}

/// A call in progress. If it is dropped before it is settled, it notifies JavaScript.
struct ToolCallGuard {
    number: u32,
    calls: Arc<Mutex<PendingToolCalls>>,
    act: Arc<Act>,
}

impl Drop for ToolCallGuard {
    fn drop(&mut self) {
        if lock_mutex(&self.calls).waiting.remove(&self.number).is_some() {
            self.act.call((self.number, None), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// Returns a host tool whose calls JavaScript settles through `calls`.
///
/// # Errors
/// Returns an error if the description of the tool is invalid.
pub fn host_tool(tool: &Tool<'_>, calls: &ToolCalls) -> Result<HostTool> {
    let act = tool.act.build_threadsafe_function::<Arguments>().weak::<true>();
    let act: Arc<Act> = Arc::new(act.build_callback(|ctx| Ok(FnArgs::from(ctx.value)))?);
    let calls = calls.0.clone();
    let begun = move |arguments: String| {
        let (sender, receiver) = channel();
        let number = {
            let mut pending = lock_mutex(&calls);
            pending.last = pending.last.wrapping_add(1);
            let number = pending.last;
            pending.waiting.insert(number, sender);
            number
        };
        let under_way = ToolCallGuard { number, calls: calls.clone(), act: act.clone() };
        let called = act.call((number, Some(arguments)), ThreadsafeFunctionCallMode::NonBlocking);
        async move {
            let _under_way = under_way;
            let ended = || "the event loop of the program has ended".to_owned();
            if called != Status::Ok {
                return Err(ended());
            }
            receiver.await.unwrap_or_else(|_| Err(ended()))
        }
    };
    wasibox_sdk::async_tool(&tool.definition, begun).map_err(js_error)
}
