//! Opens sessions of the built image for the tests of this crate. `WASIBOX_DIST` names the folder
//! with `runner` and `image.webc`; the default is `dist` in the checkout.
#![forbid(unsafe_code)]

pub mod faults;
pub mod http;
pub mod mcp;
pub mod server;
pub mod wheels;

use std::path::PathBuf;
use std::time::Duration;
use wasibox::{Engine, EngineOptions, Isolation, Limits, Policy, PoolOptions, Session};

/// A time limit that is long enough on a busy machine.
pub const LONG: Duration = Duration::from_secs(120);

/// Returns the folder of the build.
pub fn dist() -> PathBuf {
    let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist").into();
    std::env::var_os("WASIBOX_DIST").map_or_else(beside, PathBuf::from)
}

/// Returns options for an engine of the built image.
pub fn options(isolation: Isolation) -> EngineOptions {
    let pool = PoolOptions {
        program: Some(dist().join("runner")),
        warm: 1,
        ..PoolOptions::new(dist().join("image.webc"))
    };
    EngineOptions { isolation, pool, awake: 4, idle: None }
}

/// Returns an engine of the built image.
pub fn engine(isolation: Isolation) -> Engine {
    Engine::new(options(isolation)).expect("an engine")
}

/// Returns a policy whose time limit ends a call that hangs.
pub fn policy() -> Policy {
    Policy { limits: Limits { timeout: Some(LONG), ..Limits::default() }, ..Policy::default() }
}

/// Runs a script. Returns its output on both streams, and its status unless that is 0.
pub fn sh(s: &Session, script: &str) -> String {
    shown(s.exec(script).expect("a call"))
}

/// Runs a Python cell. Returns its output and its value.
pub fn py(s: &Session, code: &str) -> String {
    let o = s.python(code).expect("a call");
    let value = o.value.clone();
    shown(o) + &value.unwrap_or_default()
}

/// Runs a JavaScript cell. Returns its output and its value.
pub fn js(s: &Session, code: &str) -> String {
    let o = s.javascript(code).expect("a call");
    let value = o.value.clone();
    shown(o) + &value.unwrap_or_default()
}

fn shown(o: wasibox::Outcome) -> String {
    let mut out = String::from_utf8_lossy(&o.stdout).into_owned();
    out += &String::from_utf8_lossy(&o.stderr);
    if o.exit_code != 0 {
        out += &format!("[{}]", o.exit_code);
    }
    out
}
