//! The modules that a program of `execute_code` may import, as the policy file says.
//!
//! A list is enforced in three places, the first of which no program can bypass:
//! - the machine: files of Python modules that are neither on the list nor needed by a module on it
//!   are absent, and no second program can be started, because it would not know the list;
//! - the interpreter: Node's library refuses built-in modules that are not listed; Python's
//!   function that creates built-in modules is removed, or, if the list has a package with such
//!   modules, an importer refuses the others;
//! - `import`, whose error names the list, also for modules that the interpreter has loaded for its
//!   own use.

use super::put_file;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wasibox::{Exec, Limits, Policy};
use wasibox::{Refusal, RefusalKind};

/// The Python program that computes which modules a list excludes.
const CLOSURE: &str = "/tmp/.execute_code/closure.py";
/// The time limit of that program, which runs once in a server's life.
const CLOSURE_TIMEOUT: Duration = Duration::from_secs(120);
/// Modules that start other programs. A list that contains one of them permits other programs.
const PROCESS_MODULES: [&str; 3] = ["subprocess", "multiprocessing", "child_process"];

/// The lists of a machine, by language. The data derived from a list is computed on first use.
#[derive(Default)]
pub(crate) struct ModuleLists {
    known: Mutex<BTreeMap<&'static str, Arc<ModuleList>>>,
}

/// The modules that may be imported.
#[derive(Serialize)]
pub(crate) struct ModuleList {
    allowed: Vec<String>,
    /// Python's built-in modules that stay available.
    builtins: Vec<String>,
    /// Paths that are hidden.
    #[serde(skip)]
    absent: Vec<String>,
}

/// The output of `closure.py`.
#[derive(Default, Deserialize)]
struct ModuleClosure {
    absent: Vec<String>,
    builtins: Vec<String>,
}

impl ModuleLists {
    /// Returns the list of a language, if it has one.
    pub fn list_for(
        &self,
        machine: &Machine,
        language: &'static str,
    ) -> Result<Option<Arc<ModuleList>>, Refusal> {
        let Some(allowed) = machine.tools().execute_code.modules.get(language) else {
            return Ok(None);
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = known.get(language) {
            return Ok(Some(list.clone()));
        }
        let ModuleClosure { absent, builtins } = match language {
            "python" => module_closure(machine, allowed)?,
            _ => ModuleClosure::default(),
        };
        let list = Arc::new(ModuleList { allowed: allowed.clone(), builtins, absent });
        known.insert(language, list.clone());
        Ok(Some(list))
    }
}

impl ModuleList {
    /// Returns the paths that are hidden from the program.
    pub fn absent_paths(&self) -> &[String] {
        &self.absent
    }

    /// Returns the limits of a program with this list: it may start other processes only if the
    /// list contains one of `PROCESS_MODULES`.
    pub fn limits_for(&self, limits: Limits) -> Limits {
        let begins = |name: &String| PROCESS_MODULES.contains(&name.trim_start_matches("node:"));
        if self.allowed.iter().any(begins) {
            limits
        } else {
            Limits { processes: 1, spawns: 1, ..limits }
        }
    }

    /// Returns the list as JSON, as `run.py` and `run.cjs` read it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Computes the closure of a list in an interpreter of the image.
fn module_closure(machine: &Machine, allowed: &[String]) -> Result<ModuleClosure, Refusal> {
    let limits = Limits { timeout: Some(CLOSURE_TIMEOUT), ..Limits::default() };
    let policy = Policy { limits, fresh_programs: true, ..Policy::default() };
    let session = machine.engine().session(policy)?;
    put_file(&session, CLOSURE, include_bytes!("closure.py").to_vec())?;
    let command = ["python3", CLOSURE].into_iter().chain(allowed.iter().map(String::as_str));
    let outcome = session.exec(Exec::new(command))?;
    serde_json::from_slice(&outcome.stdout).map_err(|_| {
        let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
        Refusal::new(
            RefusalKind::Internal,
            format!("the list of modules cannot be enforced: {stderr}"),
        )
    })
}
