//! The native part of the class `Session`.

use crate::call::{Call, OnOutput, lock_mutex};
use crate::settle::{js_error, run_as_promise};
use crate::tools::{Tool, ToolCalls};
use napi::bindgen_prelude::{Buffer, FnArgs, Function, Object};
use napi::{Env, Result};
use napi_derive::napi;
use std::path::Path;
use std::sync::Mutex;
use wasibox_sdk::{Chunk, Refusal, wasibox};

/// The result of a call. Everything except its output is JSON.
#[napi(object)]
pub struct NativeOutcome {
    /// The number of chunks of output that were passed to the event loop. Some of them may not have
    /// arrived yet.
    pub chunks: u32,
    pub stdout: Buffer,
    pub stderr: Buffer,
    pub rest: String,
}

/// A port of the host that leads to a port of a session.
#[napi]
pub struct NativeExposedPort(Mutex<Option<wasibox::ExposedPort>>);

#[napi]
impl NativeExposedPort {
    #[napi]
    pub fn port(&self) -> u32 {
        lock_mutex(&self.0).as_ref().map_or(0, |exposed| exposed.address().port().into())
    }

    /// Closes the port.
    #[napi]
    pub fn close(&self) {
        drop(lock_mutex(&self.0).take());
    }
}

/// A session.
#[napi]
pub struct NativeSession {
    /// The session's name. It is kept here because the session could return it only between calls.
    name: String,
    /// `None` once it is closed.
    session: Mutex<Option<wasibox::Session>>,
}

impl NativeSession {
    /// Wraps a session.
    ///
    /// # Errors
    /// Returns an error if the session has no history.
    pub fn new(session: wasibox::Session) -> std::result::Result<NativeSession, Refusal> {
        Ok(NativeSession { name: session.name()?, session: Mutex::new(Some(session)) })
    }

    fn get(&self) -> Result<wasibox::Session> {
        lock_mutex(&self.session).clone().ok_or_else(|| js_error(Refusal::closed()))
    }

    /// Returns a promise for the result of `act` on the session.
    fn with<'env, T>(
        &self,
        env: &'env Env,
        act: impl FnOnce(&wasibox::Session) -> std::result::Result<T, Refusal> + Send + 'static,
    ) -> Result<Object<'env>>
    where
        T: napi::bindgen_prelude::ToNapiValue + Send + 'static,
    {
        let session = self.get()?;
        run_as_promise(env, move || act(&session))
    }
}

#[napi]
impl NativeSession {
    /// Runs a call. `on_output` is called with `(is_stderr, bytes)` in the loop.
    #[napi(ts_return_type = "Promise<NativeOutcome>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        options: String,
        stdin: Buffer,
        on_output: Option<Function<'env, FnArgs<(bool, Buffer)>, ()>>,
        call: &Call,
    ) -> Result<Object<'env>> {
        let session = self.get()?;
        let exec = wasibox_sdk::parse_call(&options, stdin.to_vec()).map_err(js_error)?;
        let control = call.0.clone();
        *lock_mutex(&control.interrupt) = session.interrupter();
        let on_output = on_output.as_ref().map(OnOutput::new).transpose()?;
        run_as_promise(env, move || {
            let pass_chunk = |is_stderr: bool, bytes: &[u8]| {
                if let Some(on_output) = &on_output {
                    on_output.give_bytes(&control, is_stderr, bytes);
                }
            };
            let chunk: Option<Chunk<'_>> = on_output.is_some().then_some(&pass_chunk);
            let outcome = wasibox_sdk::run(&session, exec, &control.cancel, chunk)?;
            let (stdout, stderr, rest) = wasibox_sdk::outcome_parts(outcome);
            Ok(NativeOutcome {
                stdout: stdout.into(),
                stderr: stderr.into(),
                rest,
                chunks: control.chunk_count(),
            })
        })
    }

    /// Ends the running call or, if there is none, the next one.
    #[napi]
    pub fn interrupt(&self) -> Result<()> {
        self.get()?.interrupter().interrupt();
        Ok(())
    }

    /// Replaces the functions that guests may call.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn set_tools<'env>(
        &self,
        env: &'env Env,
        tools: Vec<Tool<'env>>,
        calls: &ToolCalls,
    ) -> Result<Object<'env>> {
        let tools = tools.iter().map(|one| crate::tools::host_tool(one, calls));
        let tools = tools.collect::<Result<Vec<_>>>()?;
        self.with(env, move |s| Ok(s.set_tools(tools)?))
    }

    /// Carries out a request of the protocol; request and answer are JSON.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn apply<'env>(&self, env: &'env Env, request: String) -> Result<Object<'env>> {
        self.with(env, move |s| wasibox_sdk::apply_request(s, &request))
    }

    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn read<'env>(&self, env: &'env Env, path: String) -> Result<Object<'env>> {
        self.with(env, move |s| Ok(Buffer::from(wasibox_sdk::read_file(s, &path)?)))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        path: String,
        data: Buffer,
        mode: Option<u16>,
    ) -> Result<Object<'env>> {
        let data = data.to_vec();
        self.with(env, move |s| wasibox_sdk::write_file(s, &path, &data, mode))
    }

    #[napi]
    pub fn name(&self) -> String {
        self.name.clone()
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn directory<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.with(env, |s| Ok(String::from_utf8_lossy(&s.directory()?).into_owned()))
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn log<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.with(env, wasibox_sdk::session_log)
    }

    #[napi(ts_return_type = "Promise<NativeSession>")]
    pub fn fork<'env>(&self, env: &'env Env, name: Option<String>) -> Result<Object<'env>> {
        self.with(env, move |s| NativeSession::new(wasibox_sdk::fork_session(s, name.as_deref())?))
    }

    #[napi(ts_return_type = "Promise<NativeSession[]>")]
    pub fn fork_many<'env>(&self, env: &'env Env, count: u32) -> Result<Object<'env>> {
        self.with(env, move |s| {
            let forks = wasibox_sdk::fork_sessions(s, count)?;
            forks.into_iter().map(NativeSession::new).collect::<std::result::Result<Vec<_>, _>>()
        })
    }

    /// Returns a snapshot of the session as bytes.
    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn export<'env>(&self, env: &'env Env, all: bool) -> Result<Object<'env>> {
        self.with(env, move |s| {
            let mut out = Vec::new();
            s.snapshot(all, &mut out)?;
            Ok(Buffer::from(out))
        })
    }

    /// Writes a snapshot of the session to a file, which afterwards is complete or does not exist.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn export_file<'env>(
        &self,
        env: &'env Env,
        path: String,
        all: bool,
    ) -> Result<Object<'env>> {
        self.with(env, move |s| wasibox_sdk::export_file(s, Path::new(&path), all))
    }

    #[napi(ts_return_type = "Promise<Buffer | null>")]
    pub fn value<'env>(&self, env: &'env Env, key: String) -> Result<Object<'env>> {
        self.with(env, move |s| Ok(s.value(key.as_bytes())?.map(Buffer::from)))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn set_value<'env>(
        &self,
        env: &'env Env,
        key: String,
        value: Buffer,
    ) -> Result<Object<'env>> {
        let value = value.to_vec();
        self.with(env, move |s| Ok(s.set_value(key.as_bytes(), &value)?))
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn remove_value<'env>(&self, env: &'env Env, key: String) -> Result<Object<'env>> {
        self.with(env, move |s| Ok(s.remove_value(key.as_bytes())?))
    }

    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn keys<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let text = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
        self.with(env, move |s| Ok(s.keys()?.into_iter().map(text).collect::<Vec<String>>()))
    }

    /// Listens at a port of the host that leads to a port of the session.
    #[napi(ts_return_type = "Promise<NativeExposedPort>")]
    pub fn expose<'env>(&self, env: &'env Env, port: u32, host_port: u32) -> Result<Object<'env>> {
        self.with(env, move |s| {
            let number = |n: u32| {
                u16::try_from(n).map_err(|_| Refusal::invalid_request(format!("{n} is no port")))
            };
            let exposed = wasibox_sdk::expose_port(s, number(port)?, number(host_port)?)?;
            Ok(NativeExposedPort(Mutex::new(Some(exposed))))
        })
    }

    /// Frees the session's process and memory until the next call.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn park<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.with(env, |s| {
            s.park();
            Ok(())
        })
    }

    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn is_awake<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.with(env, |s| Ok(s.is_awake()))
    }

    /// Returns the names of the walls that this host lacks; `null` if the session has no process of
    /// its own.
    #[napi(ts_return_type = "Promise<string[] | null>")]
    pub fn missing_walls<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        self.with(env, |s| {
            let named =
                |walls: wasibox::Walls| walls.missing_walls().into_iter().map(str::to_owned);
            Ok(s.walls().map(|walls| named(walls).collect::<Vec<String>>()))
        })
    }

    #[napi]
    pub fn is_closed(&self) -> bool {
        lock_mutex(&self.session).is_none()
    }

    /// Closes the session. A running call still runs to its end.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let session = lock_mutex(&self.session).take();
        run_as_promise(env, move || {
            drop(session);
            Ok(())
        })
    }
}

impl Drop for NativeSession {
    fn drop(&mut self) {
        // Ending a process takes a moment, and JavaScript may be collecting garbage here.
        if let Some(session) = lock_mutex(&self.session).take() {
            let _ = wasibox_sdk::spawn_job(move || drop(session));
        }
    }
}
