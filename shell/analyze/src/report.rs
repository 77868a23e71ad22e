//! The result of an analysis.

/// A word of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptWord {
    /// The word's text after quote removal, or its source spelling if `dynamic`.
    pub text: Vec<u8>,
    /// Whether the text is known only when the script runs.
    pub dynamic: bool,
    /// Whether tilde, brace or pathname expansion will change the text.
    pub expands: bool,
}

impl ScriptWord {
    pub(crate) fn fixed_text(text: impl Into<Vec<u8>>) -> ScriptWord {
        ScriptWord { text: text.into(), dynamic: false, expands: false }
    }

    /// Returns the text, if all of it is known.
    pub fn known_text(&self) -> Option<&[u8]> {
        (!self.dynamic && !self.expands).then_some(self.text.as_slice())
    }

    /// Returns the part from `at` on.
    pub(crate) fn tail_from(&self, at: usize) -> ScriptWord {
        ScriptWord { text: self.text.get(at..).unwrap_or_default().to_vec(), ..*self }
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text.starts_with(prefix)
    }
}

/// The context of a finding: the constructs around it, outermost first, for example `function f`,
/// `pipeline`, `substitution`, `trap EXIT`, `bash -c`.
pub type Context = Vec<String>;

/// The kind of command that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandNameKind {
    Builtin,
    /// A function defined in this script (the definition may come later or not at all at run time).
    Function,
    /// A program of the image.
    Applet,
    /// A name with a slash.
    Path,
    /// A name that is not known, or that is not static.
    Unknown,
}

/// The kinds of command that a name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandScope {
    /// Functions, builtins and programs.
    Any,
    /// Builtins and programs, as for `command name`.
    NoFunction,
    /// Builtins only, as for `builtin name`.
    Builtin,
    /// Programs only, as for commands run by `env`, `xargs` and similar programs.
    Program,
}

/// A command that may run.
#[derive(Clone, Debug)]
pub struct CommandUse {
    pub name: ScriptWord,
    pub kind: CommandNameKind,
    pub args: Vec<ScriptWord>,
    /// Whether more arguments are added when it runs (`xargs`).
    pub more_args: bool,
    pub line: u32,
    pub context: Context,
    pub(crate) resolve: CommandScope,
}

/// The way in which a command uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Read,
    /// The file is created or changed, or its metadata is changed.
    Write,
    Delete,
    /// The file's content runs as code.
    Execute,
}

/// A file that may be used. Its path is as written; a relative one is relative to the working
/// directory at the time of the use.
#[derive(Clone, Debug)]
pub struct FileUse {
    pub path: ScriptWord,
    pub access: Access,
    /// `redirection` or the command's name.
    pub by: Vec<u8>,
    pub line: u32,
    pub context: Context,
}

/// A redirection.
#[derive(Clone, Debug)]
pub struct Redirection {
    /// The descriptor as written, or the operator's default.
    pub fd: String,
    pub op: &'static str,
    /// The file, descriptor number, here-string or here-document's delimiter.
    pub target: ScriptWord,
    pub line: u32,
    pub context: Context,
}

/// A function that the script defines.
#[derive(Clone, Debug)]
pub struct FunctionUse {
    pub name: Vec<u8>,
    pub line: u32,
    pub context: Context,
}

/// A variable that may be set.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: ScriptWord,
    /// `assignment`, `environment` (of one command), `for`, `arithmetic`, `expansion` or the
    /// builtin that sets it.
    pub by: String,
    pub value: Option<ScriptWord>,
    pub line: u32,
    pub context: Context,
}

/// An effect that is possible but could not be analyzed.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// One of the kinds listed in `docs/analyze.md`.
    pub what: &'static str,
    pub text: Vec<u8>,
    pub line: u32,
    pub context: Context,
}

/// A text that does not parse.
#[derive(Clone, Debug)]
pub struct ParseFailure {
    pub line: u32,
    pub message: Vec<u8>,
    pub context: Context,
}

/// All findings, in source order.
#[derive(Clone, Debug, Default)]
pub struct AnalysisReport {
    pub commands: Vec<CommandUse>,
    pub files: Vec<FileUse>,
    pub redirections: Vec<Redirection>,
    pub functions: Vec<FunctionUse>,
    pub variables: Vec<Variable>,
    pub unknowns: Vec<Unknown>,
    pub errors: Vec<ParseFailure>,
}

impl AnalysisReport {
    /// Returns whether the lists are complete: no syntax error, nothing unknown, and every file
    /// named.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty()
            && self.unknowns.is_empty()
            && self.files.iter().all(|f| !f.path.dynamic)
    }
}
