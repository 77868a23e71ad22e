//! Runs the blocks of Rust in `README.md` and `docs/` as they are. Each runs in a process and a
//! folder of its own, with the files that readers are assumed to have: `dist`, `image.webc`, and
//! `job.py`. `build.rs` generates the functions.

use std::os::unix::fs::symlink;
use std::process::Command;

use wasibox_sessions::dist;

/// The value of a block: nothing or a `Result`, as for rustdoc.
trait End {
    fn check(self);
}

impl End for () {
    fn check(self) {}
}

impl<E: std::fmt::Debug> End for Result<(), E> {
    fn check(self) {
        self.expect("the block's result");
    }
}

fn check<T: End>(block: impl FnOnce() -> T) {
    block().check();
}

include!(concat!(env!("OUT_DIR"), "/documents.rs"));

#[test]
fn blocks_of_rust_run() {
    let dist = dist().canonicalize().expect("dist");
    let mut failed = Vec::new();
    for block in BLOCKS {
        let folder = tempfile::tempdir().expect("a folder");
        symlink(&dist, folder.path().join("dist")).expect("dist");
        symlink(dist.join("image.webc"), folder.path().join("image.webc")).expect("image.webc");
        std::fs::write(folder.path().join("job.py"), "print(6 * 7)\n").expect("job.py");
        let mut run = Command::new(std::env::current_exe().expect("this program"));
        run.args(["--exact", "--ignored", "--nocapture", block]).current_dir(folder.path());
        let done = run.env("WASIBOX_WORKER", dist.join("runner")).output().expect("a run");
        let said = String::from_utf8_lossy(&done.stdout);
        if !done.status.success() || !said.contains("1 passed") {
            failed.push(format!("{block}: {said}{}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    assert!(!BLOCKS.is_empty() && failed.is_empty(), "{}", failed.join("\n"));
}
