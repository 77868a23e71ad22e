//! Which modules a program of `execute_code` may import, as the policy file has it.
//!
//! A list is kept in three places, the first of which no program can get around:
//! - the machine: files of Python's modules that are neither on the list nor needed by what is on it are not there, and
//!   no second program can be begun, which would know nothing of the list;
//! - the interpreter: Node's library refuses built-in modules by itself; Python has lost what makes modules of its own
//!   program's parts, or, if the list has a package with such parts, is asked not to make others;
//! - `import`, which says clearly why it fails, of modules too that the interpreter has loaded for itself.

use super::put_file;
use crate::machine::Machine;
use crate::refusal::{Refusal, RefusalKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wasibox::{Exec, Limits, Policy};

/// Python's program that finds out what a list leaves out.
const CLOSURE: &str = "/tmp/.execute_code/closure.py";
/// What that may take, once in a server's life.
const PATIENCE: Duration = Duration::from_secs(120);
/// Modules that begin other programs: who has one of them on the list may.
const BEGINNING: [&str; 3] = ["subprocess", "multiprocessing", "child_process"];

/// The lists of a machine, by language; what follows from each is found out when it is first needed.
#[derive(Default)]
pub(crate) struct ModuleLists {
    known: Mutex<BTreeMap<&'static str, Arc<ModuleList>>>,
}

/// What may be imported.
#[derive(Serialize)]
pub(crate) struct ModuleList {
    allowed: Vec<String>,
    /// Modules of Python without a file that stay.
    builtins: Vec<String>,
    /// Paths that are not there.
    #[serde(skip)]
    absent: Vec<String>,
}

/// What `closure.py` prints.
#[derive(Default, Deserialize)]
struct ModuleClosure {
    absent: Vec<String>,
    builtins: Vec<String>,
}

impl ModuleLists {
    /// The list of a language, if it has one.
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
    /// Paths that are not there for the program.
    pub fn absent_paths(&self) -> &[String] {
        &self.absent
    }

    /// The limits of a program that has this list: unless it may begin others, there is none but itself.
    pub fn limits_for(&self, limits: Limits) -> Limits {
        let begins = |name: &String| BEGINNING.contains(&name.trim_start_matches("node:"));
        match self.allowed.iter().any(begins) {
            true => limits,
            false => Limits { processes: 1, spawns: 1, ..limits },
        }
    }

    /// What the programs that run others read.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Asks an interpreter of the image.
fn module_closure(machine: &Machine, allowed: &[String]) -> Result<ModuleClosure, Refusal> {
    let limits = Limits { timeout: Some(PATIENCE), ..Limits::default() };
    let policy = Policy { limits, fresh_programs: true, ..Policy::default() };
    let session = machine.engine().session(policy)?;
    put_file(&session, CLOSURE, include_bytes!("closure.py").to_vec())?;
    let command = ["python3", CLOSURE].into_iter().chain(allowed.iter().map(String::as_str));
    let outcome = session.exec(Exec::new(command))?;
    serde_json::from_slice(&outcome.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        Refusal::new(RefusalKind::Internal, format!("the list of modules cannot be kept: {said}"))
    })
}
