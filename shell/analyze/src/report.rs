//! The result of an analysis.

/// A word of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptWord {
    /// The word's text after quote removal; its source spelling where `dynamic`.
    pub text: Vec<u8>,
    /// The text is known when the script runs only.
    pub dynamic: bool,
    /// Tilde, brace or pathname expansion will make other text of it.
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

/// Where something stands: constructs around it, outermost first, such as `function f`,
/// `pipeline`, `substitution`, `trap EXIT`, `bash -c`.
pub type Context = Vec<String>;

/// The kind of command that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandNameKind {
    Builtin,
    /// Defined in this script (the definition may come later or not at all at run time).
    Function,
    /// A program of the image.
    Applet,
    /// A name with a slash.
    Path,
    /// Nothing known by this name, or a name that is not static.
    Unknown,
}

/// The kinds of command that a name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandScope {
    /// Functions, builtins, programs.
    Any,
    /// `command name`
    NoFunction,
    /// `builtin name`
    Builtin,
    /// Programs only: run by `env`, `xargs` and the like.
    Program,
}

/// A command that may run.
#[derive(Clone, Debug)]
pub struct CommandUse {
    pub name: ScriptWord,
    pub kind: CommandNameKind,
    pub args: Vec<ScriptWord>,
    /// More arguments are added when it runs (`xargs`).
    pub more_args: bool,
    pub line: u32,
    pub context: Context,
    pub(crate) resolve: CommandScope,
}

/// How a command uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Read,
    /// Created, changed, or its metadata changed.
    Write,
    Delete,
    /// Its content runs as code.
    Execute,
}

/// A file that may be used; paths are as written, relative ones to the directory of that moment.
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
    /// As written; the operator's default where none is.
    pub fd: String,
    pub op: &'static str,
    /// File, descriptor number, here-string or here-document's delimiter.
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

/// Something that may run or happen and could not be looked at.
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

/// Everything found, in source order.
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
    /// Returns whether the lists are complete: no syntax error, nothing unknown, and every file named.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty()
            && self.unknowns.is_empty()
            && self.files.iter().all(|f| !f.path.dynamic)
    }
}
