//! Measures calls through the crate and prints medians in milliseconds, as a line of JSON. Used by
//! `cargo xtask bench sdk`.

use std::path::PathBuf;
use std::time::Instant;
use wasibox_sdk::wasibox::{Engine, Error, Exec, Policy};
use wasibox_sdk::{Refusal, read_file, write_file};

const RUNS: usize = 200;

fn main() -> Result<(), Refusal> {
    let dist =
        std::env::var_os("WASIBOX_DIST").map_or_else(|| PathBuf::from("dist"), PathBuf::from);
    let engine = Engine::open(&dist.join("image.webc"))?;
    let s = engine.session(Policy::default())?;
    write_file(&s, "/tmp/data", &[7; 1_000_000], None)?;
    let script = median(|| Ok(s.exec(Exec::script("true")).map(drop)?))?;
    let command = median(|| Ok(s.exec(Exec::new(["true"])).map(drop)?))?;
    let read = median(|| match read_file(&s, "/tmp/data")?.len() {
        1_000_000 => Ok(()),
        _ => Err(Error::Refused("another file".into()).into()),
    })?;
    let times = serde_json::json!({ "true": script, "command": command, "read": read });
    println!("{}", serde_json::json!({ "peer": "crate", "times": times }));
    Ok(())
}

/// Returns the median time in milliseconds.
fn median(mut act: impl FnMut() -> Result<(), Refusal>) -> Result<f64, Refusal> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        act()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}
