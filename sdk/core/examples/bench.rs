//! How long a call and a megabyte of a file take by the crate: `cargo xtask bench sdk`.

use std::path::PathBuf;
use std::time::Instant;
use wasibox_sdk::wasibox::files::{Answer, Data, Request, UploadOf};
use wasibox_sdk::wasibox::{Engine, Error, Exec, Policy};

const RUNS: usize = 200;

fn main() -> Result<(), Error> {
    let dist =
        std::env::var_os("WASIBOX_DIST").map_or_else(|| PathBuf::from("dist"), PathBuf::from);
    let engine = Engine::open(&dist.join("image.webc"))?;
    let s = engine.session(Policy::default())?;
    let data = Data(vec![7; 1_000_000]);
    let path = "/tmp/data".to_owned();
    s.files(&Request::Upload(UploadOf { path: path.clone(), data, offset: None, mode: None }))?;
    report("exec true", || s.exec(Exec::new(["true"])).map(drop))?;
    report("read 1 MB", || {
        let request = Request::Download { path: path.clone(), offset: 0, limit: Some(8 << 20) };
        match s.files(&request)? {
            Answer::Data { data, .. } if data.0.len() == 1_000_000 => Ok(()),
            _ => Err(Error::Refused("another file".into())),
        }
    })
}

fn report(name: &str, mut act: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begun = Instant::now();
        act()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("crate   {name}: median {:.3} ms, best {:.3} ms", times[RUNS / 2], times[0]);
    Ok(())
}
