//! Parses a policy file: any text, or a valid file with some bytes changed. The result must be a
//! policy with numbers in range, or an error with a position in the text. The parser's own files
//! are compiled here, without the engine that its crate also contains.
#![no_main]

extern crate self as wasibox_sandbox;

#[allow(dead_code, unused_imports)]
#[path = "../../../runner/session/src/policy/mod.rs"]
mod policy;
#[path = "../../../runner/sandbox/src/policy.rs"]
mod sandbox_policy;

pub use sandbox_policy::{Limits, Policy, Workspace, WorkspaceKind};
pub use wasibox_vfs::{DiskLimits, MountSpec};

use libfuzzer_sys::fuzz_target;
use policy::PolicyFile;
use std::path::Path;
use wasibox_fuzz::patched;

const GOOD: &str = "preset = 'strict'\nfresh-python = true\n[limits]\ntimeout = 1.5e3\ncpu = 0\nmemory = '1G'\n\
    output = 'none'\nfile-size = 7\nprocesses = 3\npipes = 9\ninodes = 10\n[[mount]]\nhost = 'd'\nguest = '/d'\n\
    writable = true\nquota = '1M'\n[workspace]\nzip = 'p.zip'\nguest = '/src'\n";

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = if how % 2 == 0 { rest.to_vec() } else { patched(GOOD.as_bytes(), rest) };
    let Ok(text) = String::from_utf8(bytes) else { return };
    match PolicyFile::parse(&text, Path::new("/dir")) {
        Ok(file) => {
            let policy = file.policy();
            assert!(policy.limits.processes > 0 && policy.limits.disk.pipes > 0);
            assert!(policy.mounts.iter().all(|m| m.guest.starts_with('/') && m.host.is_absolute()));
            assert!(policy.workspace.is_none_or(|w| w.guest.starts_with('/')));
        }
        Err(m) => {
            assert!(m.line >= 1 && m.line <= text.matches('\n').count() + 1, "{m}");
            assert!(m.column >= 1 && !m.message.is_empty() && !m.message.contains('\n'), "{m:?}");
        }
    }
});
