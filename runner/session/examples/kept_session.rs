//! A session that is kept in a store: each run of this program continues where the last one ended.
//!
//! ```sh
//! cargo run -p wasibox --example kept_session dist/image.webc work.wbx
//! ```
//!
//! The program `runner` beside the image runs the guests, each session in a jailed process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wasibox::{Error, Sandbox};

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [image, store] = args.as_slice() else {
        eprintln!("usage: kept_session IMAGE STORE");
        return ExitCode::from(2);
    };
    match run(image, store, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("kept_session: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the runs in a variable of the session's shell, which is kept as its files are.
pub fn run(image: &Path, store: &Path, out: &mut dyn Write) -> Result<(), Error> {
    let session = Sandbox::builder(image).store(store, "counter").build()?;
    let outcome = session.exec("runs=$((runs + 1)); echo \"run $runs\"")?;
    out.write_all(&outcome.stdout)?;
    writeln!(out, "{} commits", session.history()?.len())?;
    Ok(())
}
