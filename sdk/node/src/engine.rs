//! The native part of the class `Engine`, and the function that unpacks an image.

use crate::session::NativeSession;
use crate::settle::{js_error, run_as_promise};
use napi::bindgen_prelude::{Buffer, Function, Object};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result};
use napi_derive::napi;
use std::path::PathBuf;
use wasibox_sdk::{Opener, Refusal, wasibox};

/// An image, and the state that its sessions share.
#[napi]
pub struct NativeEngine(wasibox::Engine);

/// A JavaScript function that is called with lines. It does not keep the process alive.
type Progress = ThreadsafeFunction<String, (), String, napi::Status, false, true>;

fn progress_function(callback: &Function<'_, String, ()>) -> Result<Progress> {
    callback.build_threadsafe_function().weak::<true>().build()
}

/// Opens an engine with options in JSON.
#[napi(ts_return_type = "Promise<NativeEngine>")]
pub fn open_engine<'env>(
    env: &'env Env,
    options: String,
    progress: Function<'env, String, ()>,
) -> Result<Object<'env>> {
    let progress = progress_function(&progress)?;
    run_as_promise(env, move || {
        let report = move |line: &str| {
            progress.call(line.to_owned(), ThreadsafeFunctionCallMode::NonBlocking);
        };
        wasibox_sdk::engine_from_options(&options, report).map(NativeEngine)
    })
}

/// Unpacks a bundle's image and machine code. Returns the path of the image.
#[napi(ts_return_type = "Promise<string>")]
pub fn unpack<'env>(
    env: &'env Env,
    bundle: String,
    images: String,
    progress: Function<'env, String, ()>,
) -> Result<Object<'env>> {
    let progress = progress_function(&progress)?;
    run_as_promise(env, move || {
        let report = |step: wasibox::bundle::BundleStep| {
            progress.call(step.to_string(), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let (bundle, images) = (PathBuf::from(bundle), PathBuf::from(images));
        let artifacts = wasibox::default_artifact_dir();
        let image =
            wasibox::bundle::unpack_bundle(&bundle, &images, artifacts.as_deref(), &report)?;
        Ok(image.to_string_lossy().into_owned())
    })
}

#[napi]
impl NativeEngine {
    /// Opens or creates a session. `opener` has its options in JSON.
    #[napi(ts_return_type = "Promise<NativeSession>")]
    pub fn open<'env>(&self, env: &'env Env, opener: String) -> Result<Object<'env>> {
        let engine = self.0.clone();
        run_as_promise(env, move || NativeSession::new(Opener::parse(&opener)?.open(&engine)?))
    }

    /// Creates a session from the bytes of a snapshot.
    #[napi(ts_return_type = "Promise<NativeSession>")]
    pub fn load<'env>(&self, env: &'env Env, opener: String, from: Buffer) -> Result<Object<'env>> {
        let (engine, from) = (self.0.clone(), from.to_vec());
        run_as_promise(env, move || {
            NativeSession::new(Opener::parse(&opener)?.load_snapshot(&engine, from.as_slice())?)
        })
    }

    /// Creates a session from the file of a snapshot.
    #[napi(ts_return_type = "Promise<NativeSession>")]
    pub fn load_file<'env>(
        &self,
        env: &'env Env,
        opener: String,
        path: String,
    ) -> Result<Object<'env>> {
        let engine = self.0.clone();
        run_as_promise(env, move || {
            let file = std::fs::File::open(&path)
                .map_err(|e| Refusal::invalid_request(format!("{path}: {e}")))?;
            NativeSession::new(Opener::parse(&opener)?.load_snapshot(&engine, file)?)
        })
    }

    /// Returns the names of a store's sessions.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn sessions<'env>(&self, env: &'env Env, store: String) -> Result<Object<'env>> {
        let engine = self.0.clone();
        run_as_promise(env, move || {
            let all = engine.store(store.as_ref())?.list()?;
            Ok(all.into_iter().map(|info| info.name).collect::<Vec<String>>())
        })
    }

    /// Removes a session from a store.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn remove<'env>(
        &self,
        env: &'env Env,
        store: String,
        name: String,
    ) -> Result<Object<'env>> {
        let engine = self.0.clone();
        run_as_promise(env, move || Ok(engine.store(store.as_ref())?.remove(&name)?))
    }

    /// Returns the number of sessions that have a process now.
    #[napi]
    pub fn awake(&self) -> Result<u32> {
        u32::try_from(self.0.awake()).map_err(|e| js_error(Refusal::invalid_request(e)))
    }

    /// Waits until the warm workers are ready.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn warm_up<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let engine = self.0.clone();
        run_as_promise(env, move || {
            if let Some(pool) = engine.pool() {
                pool.warm_up();
            }
            Ok(())
        })
    }
}
