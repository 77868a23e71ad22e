//! The options that determine how a text is parsed and transformed.

use oxc::span::SourceType;

/// The kind of a text, by the extension of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A module or a script, whichever its syntax says.
    Either,
    Module,
    CommonJs,
}

/// `jsx` of `tsconfig.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jsx {
    /// `React.createElement`, or the function in `jsxFactory`.
    #[default]
    Classic,
    /// Functions imported of `jsxImportSource`.
    Automatic,
    /// The same, with places for messages.
    Development,
}

/// The fields of `compilerOptions` that change the behaviour of code.
#[derive(Debug, Clone, Default)]
pub struct CompilerOptions {
    /// The kind in the file's package; `None` leaves the decision to its name and its syntax.
    pub kind: Option<SourceKind>,
    pub jsx: Jsx,
    pub jsx_factory: Option<String>,
    pub jsx_fragment: Option<String>,
    pub jsx_import_source: Option<String>,
    pub experimental_decorators: bool,
    pub emit_decorator_metadata: bool,
    /// Fields of classes by assignment: `useDefineForClassFields` is false.
    pub assign_fields: bool,
    /// Imports that are used for types only stay.
    pub verbatim_module_syntax: bool,
}

/// Returns how the parser reads a file of this name.
pub(crate) fn source_type(filename: &str, kind: Option<SourceKind>) -> SourceType {
    let name = filename.rsplit('/').next().unwrap_or(filename);
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let typed = matches!(extension, "ts" | "mts" | "cts" | "tsx");
    let by_name = match extension {
        "mts" | "mjs" => SourceKind::Module,
        "cts" | "cjs" => SourceKind::CommonJs,
        _ => SourceKind::Either,
    };
    let base = if typed { SourceType::ts() } else { SourceType::mjs() };
    let base = base.with_jsx(matches!(extension, "tsx" | "jsx"));
    match kind.unwrap_or(by_name) {
        SourceKind::Module => base.with_module(true),
        SourceKind::CommonJs => base.with_commonjs(true),
        SourceKind::Either => base.with_unambiguous(true),
    }
}
