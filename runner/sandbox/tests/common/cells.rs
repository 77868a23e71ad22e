//! Cells of one language, which the file that includes this names by `INTERPRETER`, `PROGRAM` and
//! `TIMEOUT`, in the image of `dist/` or of the folder that `WASIBOX_DIST` names
//! (`cargo xtask dist` makes it).

use super::{INTERPRETER, PROGRAM, TIMEOUT};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use wasibox_image::Image;
use wasibox_sandbox::streams::{Capture, OutputMeter};
use wasibox_sandbox::{CellRun, Policy, RunSpec, SessionSandbox, artifact};

pub static IMAGE: LazyLock<Arc<Image>> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist");
    let dist = std::env::var_os("WASIBOX_DIST").map_or(here, PathBuf::from);
    let image = dist.join("image.webc");
    let open = Image::open(&image);
    Arc::new(open.unwrap_or_else(|e| panic!("{}: {e}; cargo xtask dist makes it", image.display())))
});

pub fn sandbox() -> SessionSandbox {
    let quiet = Arc::new(|_: &str| {});
    SessionSandbox::new(IMAGE.clone(), Policy::default(), artifact::default_dir(), quiet).unwrap()
}

pub struct Ran {
    pub cell: CellRun,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn value(&self) -> &str {
        self.cell.value.as_deref().map_or("", |v| std::str::from_utf8(v).unwrap())
    }

    pub fn json(&self) -> &str {
        self.cell.json.as_deref().map_or("", |v| std::str::from_utf8(v).unwrap())
    }

    pub fn status(&self) -> u8 {
        self.cell.run.status.code()
    }
}

pub fn with(sandbox: &SessionSandbox, code: &str, change: impl FnOnce(&mut RunSpec)) -> Ran {
    let meter = OutputMeter::new(None);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let mut spec = RunSpec {
        argv: vec![PROGRAM.as_bytes().to_vec()],
        env: vec![b"PATH=/usr/bin:/bin".to_vec(), b"HOME=/home/user".to_vec()],
        cwd: "/home/user".into(),
        stdin: None,
        stdout: out.clone(),
        stderr: err.clone(),
        timeout: Some(TIMEOUT),
        keep: false,
    };
    change(&mut spec);
    let cell = sandbox.cell(INTERPRETER, spec, code.as_bytes()).unwrap();
    let text = |c: &Capture| String::from_utf8(c.take_output()).unwrap();
    Ran { cell, out: text(&out), err: text(&err) }
}

pub fn any(sandbox: &SessionSandbox, code: &str) -> Ran {
    let ran = with(sandbox, code, |_| {});
    assert!(!ran.cell.is_gone, "{code}: {}", ran.err);
    ran
}

/// Runs a cell that must succeed, and returns its value.
pub fn cell(sandbox: &SessionSandbox, code: &str) -> String {
    let ran = any(sandbox, code);
    assert_eq!(ran.status(), 0, "{code}: {}", ran.err);
    ran.value().to_owned()
}

/// Parks the interpreter in one sandbox and restores it in another. Returns the number of bytes.
pub fn move_over(from: &SessionSandbox, to: &SessionSandbox, fork: bool) -> usize {
    let change = from.cell_changes(INTERPRETER, true).unwrap();
    to.restore_cell(INTERPRETER, &change.module, &[&change.layer], &change.rest, fork).unwrap();
    change.layer.len()
}
