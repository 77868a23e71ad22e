//! What a tool is.

use crate::client::Call;
use crate::machine::Machine;
use crate::refusal::Refusal;
use crate::{files, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a client must be allowed to use a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// To look: nothing is changed.
    Read,
    /// To change files and values.
    Write,
    /// To run programs.
    Run,
    /// To move sessions to other states, make them and go to others.
    Manage,
}

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Write, Scope::Run, Scope::Manage];

    /// Its name, as token files have it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Run => "run",
            Scope::Manage => "manage",
        }
    }

    /// The scope of that name.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// What a client may know of a tool beforehand, in MCP's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May change or remove what is there.
    pub destructive: bool,
    /// Twice the same is as once.
    pub idempotent: bool,
    /// May reach what is outside of the session, if the policy allows it.
    pub open_world: bool,
}

impl Hints {
    /// Looks only.
    pub const LOOKS: Hints =
        Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Adds, and removes nothing.
    pub const ADDS: Hints =
        Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// Replaces what is there.
    pub const CHANGES: Hints = Hints { destructive: true, ..Hints::ADDS };
    /// Replaces what is there, and twice is as once.
    pub const SETS: Hints = Hints { idempotent: true, ..Hints::CHANGES };
    /// Runs programs.
    pub const RUNS: Hints = Hints { open_world: true, ..Hints::CHANGES };
}

/// A part of a result as models take it in.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    /// A picture.
    Image {
        mime: String,
        data: Vec<u8>,
    },
    /// Bytes of a file.
    Blob {
        path: String,
        mime: String,
        data: Vec<u8>,
    },
    /// A file that can be fetched.
    Link {
        path: String,
        mime: Option<String>,
        size: u64,
    },
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Done<T = Value> {
    /// For programs, as the tool's schema of answers has it.
    pub answer: T,
    /// For models.
    pub parts: Vec<Part>,
    /// Where the answer has bytes (as base64) that are among the parts, too: JSON pointers.
    pub doubled: Vec<&'static str>,
}

impl<T> Done<T> {
    /// An answer, and the same in words.
    pub fn new(answer: T, text: impl Into<String>) -> Done<T> {
        Done { answer, parts: vec![Part::Text(text.into())], doubled: Vec::new() }
    }
}

/// What a tool does. The type is its arguments.
pub(crate) trait Action: DeserializeOwned + JsonSchema {
    type Answer: Serialize + JsonSchema;

    /// Does it.
    ///
    /// # Errors
    /// Why it was not done.
    fn act(self, call: &Call<'_>) -> Result<Done<Self::Answer>, Refusal>;
}

/// A tool.
pub struct Tool {
    pub name: &'static str,
    /// For people, in a list.
    pub title: &'static str,
    /// For models: what it does, exactly.
    pub text: &'static str,
    pub scope: Scope,
    pub hints: Hints,
    pub(crate) how: How,
    /// Whether an image has what it takes.
    pub(crate) is_there: fn(&Machine) -> bool,
}

/// How a tool does what it does.
pub(crate) enum How {
    Action {
        input: fn() -> Value,
        output: fn() -> Value,
        run: fn(Value, &Call<'_>) -> Result<Done, Refusal>,
    },
    /// A request about files, by the names of its variant and of its answer's.
    Files(files::Names),
}

impl Tool {
    pub(crate) const fn of<A: Action>(
        name: &'static str,
        title: &'static str,
        text: &'static str,
        scope: Scope,
        hints: Hints,
    ) -> Tool {
        let how = How::Action {
            input: schema::of::<A>,
            output: schema::of_answer::<A::Answer>,
            run: run::<A>,
        };
        Tool { name, title, text, scope, hints, how, is_there: |_| true }
    }

    /// The schema of its arguments, as short as can be.
    pub fn input(&self) -> Map<String, Value> {
        schema::input(match &self.how {
            How::Action { input, .. } => input(),
            How::Files(names) => names.input(),
        })
    }

    /// The schema of its answers.
    pub fn output(&self) -> Map<String, Value> {
        schema::output(match &self.how {
            How::Action { output, .. } => output(),
            How::Files(names) => names.output(),
        })
    }

    /// Does it; blocks until it is done.
    ///
    /// # Errors
    /// Why it was not done.
    pub fn run(&self, arguments: Map<String, Value>, call: &Call<'_>) -> Result<Done, Refusal> {
        match &self.how {
            How::Action { run, .. } => run(Value::Object(arguments), call),
            How::Files(names) => names.run(arguments, call),
        }
    }
}

fn run<A: Action>(arguments: Value, call: &Call<'_>) -> Result<Done, Refusal> {
    let action: A = serde_json::from_value(arguments).map_err(Refusal::invalid)?;
    let Done { answer, parts, doubled } = action.act(call)?;
    let answer = serde_json::to_value(answer)
        .map_err(|e| Refusal::new(crate::refusal::Kind::Internal, e))?;
    Ok(Done { answer, parts, doubled })
}
