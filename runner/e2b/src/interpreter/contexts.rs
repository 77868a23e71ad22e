//! The contexts of a sandbox: interpreters whose variables stay from one execution to the next.
//!
//! The first contexts are the session's own interpreters and its shell, so their variables are
//! kept with the session: over a pause, and in forks. Further contexts are programs beside the
//! session's calls, which end with a pause.

use super::child::ChildContext;
use crate::fault::{Fault, RpcCode};
use crate::record::random_text;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wasibox::lock_mutex;
use wasibox_actions::CallStop;

/// The maximum number of contexts that clients create.
const CONTEXTS: usize = 16;

/// The language of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanguage {
    Python,
    JavaScript,
    TypeScript,
    Bash,
}

impl CodeLanguage {
    /// Returns the language of a name; Python if there is none.
    ///
    /// # Errors
    /// If there is no such language here.
    pub fn named(name: Option<&str>) -> Result<CodeLanguage, Fault> {
        match name.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "" | "python" => Ok(CodeLanguage::Python),
            "javascript" | "js" => Ok(CodeLanguage::JavaScript),
            "typescript" | "ts" => Ok(CodeLanguage::TypeScript),
            "bash" => Ok(CodeLanguage::Bash),
            _ => Err(Fault::invalid(
                "the languages here are python, javascript, typescript and bash",
            )),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            CodeLanguage::Python => "python",
            CodeLanguage::JavaScript => "javascript",
            CodeLanguage::TypeScript => "typescript",
            CodeLanguage::Bash => "bash",
        }
    }
}

/// A context.
pub struct CodeContext {
    pub id: String,
    pub language: CodeLanguage,
    pub cwd: String,
    /// The number of executions so far. It is locked while one runs.
    pub count: tokio::sync::Mutex<u64>,
    /// The program of a context that a client has created; otherwise it is the session's own
    /// interpreter.
    pub child: Option<ChildContext>,
    stop: Mutex<Option<Arc<CallStop>>>,
}

impl CodeContext {
    /// Makes a context.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new(
        language: CodeLanguage,
        cwd: String,
        child: Option<ChildContext>,
    ) -> Result<CodeContext, Fault> {
        let (id, count, stop) = (random_text(26)?, tokio::sync::Mutex::new(0), Mutex::default());
        Ok(CodeContext { id, language, cwd, count, child, stop })
    }

    /// Describes the context.
    pub fn describe(&self) -> Value {
        json!({ "id": self.id, "language": self.language.name(), "cwd": self.cwd })
    }

    /// Sets the handle that stops the running execution.
    pub fn set_stop(&self, stop: Option<Arc<CallStop>>) {
        *lock_mutex(&self.stop) = stop;
    }

    fn end(&self) {
        if let Some(stop) = lock_mutex(&self.stop).take() {
            stop.stop();
        }
        if let Some(child) = &self.child {
            child.end();
        }
    }
}

/// The contexts of a sandbox, in the order in which they began.
#[derive(Default)]
pub struct ContextTable(Mutex<Vec<Arc<CodeContext>>>);

impl ContextTable {
    /// Returns the contexts, after making those that every sandbox has.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn list(&self) -> Result<Vec<Arc<CodeContext>>, Fault> {
        let mut all = lock_mutex(&self.0);
        if all.is_empty() {
            for language in [CodeLanguage::Python, CodeLanguage::JavaScript] {
                all.push(Arc::new(CodeContext::new(language, wasibox::HOME.into(), None)?));
            }
        }
        Ok(all.clone())
    }

    /// Returns the first context of a language.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn of_language(&self, language: CodeLanguage) -> Result<Arc<CodeContext>, Fault> {
        // TypeScript runs where JavaScript does.
        let shown = |l| if l == CodeLanguage::TypeScript { CodeLanguage::JavaScript } else { l };
        let all = self.list()?;
        let is_it = |c: &&Arc<CodeContext>| c.child.is_none() && c.language == shown(language);
        if let Some(found) = all.iter().find(is_it) {
            return Ok(found.clone());
        }
        let made = Arc::new(CodeContext::new(language, wasibox::HOME.into(), None)?);
        lock_mutex(&self.0).push(made.clone());
        Ok(made)
    }

    /// Returns a context; `default` is that of Python.
    ///
    /// # Errors
    /// If there is none of this id.
    pub fn find(&self, id: &str) -> Result<Arc<CodeContext>, Fault> {
        if id == "default" {
            return self.of_language(CodeLanguage::Python);
        }
        let shown: String = id.chars().take(64).collect();
        let found = self.list()?.into_iter().find(|context| context.id == id);
        found.ok_or_else(|| Fault::missing(format!("Context {shown} not found")))
    }

    /// Adds a context.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(&self, context: CodeContext) -> Result<Arc<CodeContext>, Fault> {
        self.list()?;
        let mut all = lock_mutex(&self.0);
        if all.iter().filter(|context| context.child.is_some()).count() >= CONTEXTS {
            context.end();
            let text = format!("there are {CONTEXTS} contexts already");
            return Err(Fault::new(RpcCode::ResourceExhausted, text));
        }
        let context = Arc::new(context);
        all.push(context.clone());
        Ok(context)
    }

    /// Removes a context. The session's own interpreters stay.
    ///
    /// # Errors
    /// If there is none of this id.
    pub fn remove(&self, id: &str) -> Result<(), Fault> {
        let context = self.find(id)?;
        context.end();
        lock_mutex(&self.0).retain(|other| !Arc::ptr_eq(other, &context));
        Ok(())
    }

    /// Ends all executions and all contexts that clients have created.
    pub fn end_all(&self) {
        for context in lock_mutex(&self.0).drain(..) {
            context.end();
        }
    }
}
