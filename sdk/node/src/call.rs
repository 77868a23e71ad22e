//! The class `Call`, by which a call can be ended from outside. It also limits the output that
//! waits for its reader.

use napi::bindgen_prelude::{Buffer, FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use napi_derive::napi;
use std::sync::{Arc, Condvar, Mutex};
pub use wasibox_sdk::lock_mutex;
use wasibox_sdk::wasibox;

/// The maximum number of chunks of output that wait for their reader. When it is reached, the guest
/// waits.
const CHUNKS: u32 = 64;

/// The state of a call that other threads share.
pub struct CallControl {
    pub cancel: wasibox::Cancel,
    /// Interrupts the call's session, once the session is known.
    pub interrupt: Mutex<wasibox::Interrupt>,
    room: Mutex<OutputRoom>,
    changed: Condvar,
}

struct OutputRoom {
    /// The number of chunks that may be passed on before the reader takes another one.
    left: u32,
    /// Whether output no longer waits for the reader.
    is_lifted: bool,
    /// The number of chunks that were passed on.
    passed: u32,
}

impl CallControl {
    /// Returns the number of chunks that were passed on.
    pub fn chunk_count(&self) -> u32 {
        lock_mutex(&self.room).passed
    }

    /// Waits until there is room for one more chunk, and takes that room.
    fn wait_for_room(&self) {
        let room = lock_mutex(&self.room);
        let full = |room: &mut OutputRoom| room.left == 0 && !room.is_lifted;
        let mut room = self.changed.wait_while(room, full).unwrap_or_else(|e| e.into_inner());
        room.left = room.left.saturating_sub(1);
        room.passed += 1;
    }

    fn lift_bound(&self) {
        lock_mutex(&self.room).is_lifted = true;
        self.changed.notify_all();
    }
}

/// A call that is running or will begin.
#[napi]
pub struct Call(pub(crate) Arc<CallControl>);

#[napi]
impl Call {
    #[napi(constructor)]
    #[allow(clippy::new_without_default, reason = "only JavaScript makes one")]
    pub fn new() -> Call {
        Call(Arc::new(CallControl {
            cancel: wasibox::Cancel::default(),
            interrupt: Mutex::default(),
            room: Mutex::new(OutputRoom { left: CHUNKS, is_lifted: false, passed: 0 }),
            changed: Condvar::new(),
        }))
    }

    /// Ends the call, or prevents it from beginning.
    #[napi]
    pub fn cancel(&self) {
        let interrupt = lock_mutex(&self.0.interrupt).clone();
        self.0.cancel.cancel(&interrupt);
        self.0.lift_bound();
    }

    /// Notes that the reader has taken a chunk.
    #[napi]
    pub fn taken(&self) {
        lock_mutex(&self.0.room).left += 1;
        self.0.changed.notify_all();
    }

    /// Lets output continue without waiting for its reader.
    #[napi]
    pub fn lift(&self) {
        self.0.lift_bound();
    }
}

/// A JavaScript function that takes output: whether it is standard error, and the bytes.
///
/// It keeps the event loop alive until the call has dropped it, so pending output still arrives.
pub struct OnOutput(ThreadsafeFunction<(bool, Buffer), (), FnArgs<(bool, Buffer)>, Status, false>);

impl OnOutput {
    /// Creates a receiver that calls `function` in the event loop.
    ///
    /// # Errors
    /// Returns an error if Node cannot create one.
    pub fn new(function: &Function<'_, FnArgs<(bool, Buffer)>, ()>) -> Result<OnOutput> {
        let built = function.build_threadsafe_function::<(bool, Buffer)>();
        Ok(OnOutput(built.build_callback(|ctx| Ok(FnArgs::from(ctx.value)))?))
    }

    /// Passes bytes to the event loop as soon as there is room.
    pub fn give_bytes(&self, control: &CallControl, is_stderr: bool, bytes: &[u8]) {
        control.wait_for_room();
        // The result is ignored, because a loop that has ended has no reader.
        self.0.call((is_stderr, Buffer::from(bytes)), ThreadsafeFunctionCallMode::NonBlocking);
    }
}
