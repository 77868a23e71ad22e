//! The options that determine how a text is parsed and transformed.

use oxc::span::SourceType;

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A module or a script, depending on the syntax of the text.
    Either,
    Module,
    CommonJs,
}

/// The option `jsx` of `tsconfig.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jsx {
    /// Calls of `React.createElement`, or of the function in `jsxFactory`.
    #[default]
    Classic,
    /// Calls of functions that are imported from `jsxImportSource`.
    Automatic,
    /// Like `Automatic`, with places in the source that messages can name.
    Development,
}

/// The fields of `compilerOptions` that change the behaviour of code.
#[derive(Debug, Clone, Default)]
pub struct CompilerOptions {
    /// The kind that the file's package declares. If it is `None`, the file's name and syntax
    /// decide.
    pub kind: Option<SourceKind>,
    pub jsx: Jsx,
    pub jsx_factory: Option<String>,
    pub jsx_fragment: Option<String>,
    pub jsx_import_source: Option<String>,
    pub experimental_decorators: bool,
    pub emit_decorator_metadata: bool,
    /// Whether fields of classes are assigned and not defined (`useDefineForClassFields` is false).
    pub assign_fields: bool,
    /// Whether imports that are used only for types are kept.
    pub verbatim_module_syntax: bool,
}

/// Returns the parser's settings for a file of this name. `kind` overrides what the name implies.
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
