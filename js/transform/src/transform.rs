//! Removes types, and turns JSX, enums, namespaces, parameter properties, decorators and `using`
//! into code that the engine supports.

use crate::options::source_type;
use crate::{CompilerOptions, JsSyntaxError, Jsx, Output, SourceKind, error, helpers};
use oxc::allocator::Allocator;
use oxc::ast::ast::Program;
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::transformer::{
    ClassPropertiesOptions, HelperLoaderMode, JsxRuntime, Module, TransformOptions, Transformer,
};
use std::borrow::Cow;
use std::path::Path;

/// Returns the JavaScript of a text, and whether it is a module. The code begins with a generated
/// line, which is empty if nothing is needed. The line is always there because the engine's wrapper
/// puts text of its own on the first line: places on the other lines do not depend on it.
///
/// # Errors
/// Returns an error at the first construct that is not TypeScript (or JavaScript), or that cannot
/// be turned into code.
pub fn transform_source(
    source: &str,
    filename: &str,
    options: &CompilerOptions,
) -> Result<(Output, bool), JsSyntaxError> {
    let allocator = Allocator::default();
    let mut typed = strip_types(&allocator, source, filename, options)?;
    let module = typed.program.source_type.is_module();
    let output = print_program(&mut typed.program, filename);
    let mut line = helpers::helpers_object(&output.code).unwrap_or_default();
    if module && options.kind != Some(SourceKind::Module) {
        line += &typed.commonjs_names;
    }
    Ok((prepend_line(&line, output), module))
}

/// Returns a text with a line put before it, and its mappings moved accordingly.
fn prepend_line(line: &str, output: Output) -> Output {
    let Output { code, mappings } = output;
    Output { code: format!("{line}\n{code}"), mappings: format!(";{mappings}") }
}

/// A program without the constructs that the engine does not support.
pub(crate) struct StrippedProgram<'a> {
    pub program: Program<'a>,
    /// Declarations of the names in [`COMMONJS`] that the program uses without declaring them.
    commonjs_names: String,
}

/// Parses and transforms a text. If that fails and the text may be a CommonJS module because it has
/// `export =` or `require(`, it is read again as one.
pub(crate) fn strip_types<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    filename: &str,
    options: &CompilerOptions,
) -> Result<StrippedProgram<'a>, JsSyntaxError> {
    let first = typed_as(allocator, source, filename, options);
    let common = || CompilerOptions { kind: Some(SourceKind::CommonJs), ..options.clone() };
    match first {
        Err(_)
            if options.kind.is_none()
                && (source.contains("export =") || source.contains("require(")) =>
        {
            typed_as(allocator, source, filename, &common()).or(first)
        }
        _ => first,
    }
}

fn typed_as<'a>(
    allocator: &'a Allocator,
    source: &'a str,
    filename: &str,
    options: &CompilerOptions,
) -> Result<StrippedProgram<'a>, JsSyntaxError> {
    let kind = source_type(filename, options.kind);
    let parsed = Parser::new(allocator, source, kind).parse();
    error::first_error(source, &parsed.diagnostics)?;
    let mut program = parsed.program;
    program.hashbang = None;
    let builder = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true);
    let meant = builder.with_check_syntax_error(true).build(&program);
    error::first_error(source, &meant.diagnostics)?;
    let scoping = meant.semantic.into_scoping();
    let free = scoping.root_unresolved_references();
    let commonjs_names = COMMONJS
        .iter()
        .filter(|(name, _)| free.iter().any(|(n, _)| n.as_str() == *name))
        .map(|(_, text)| *text)
        .collect();
    let module = program.source_type.is_module();
    let common = !module && (source.contains("export =") || source.contains("require("));
    let settings = transformer_settings(options, common);
    let transformer = Transformer::new(allocator, Path::new(filename), &settings);
    let done = transformer.build_with_scoping(scoping, &mut program);
    error::first_error(source, &done.diagnostics)?;
    Ok(StrippedProgram { program, commonjs_names })
}

/// The names of CommonJS, each with a declaration of it for an ECMAScript module. Compilers that
/// produce CommonJS let one file use both kinds of modules.
const COMMONJS: &[(&str, &str)] = &[
    ("__dirname", "const __dirname=import.meta.dirname;"),
    ("__filename", "const __filename=import.meta.filename;"),
    (
        "require",
        "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    ),
];

/// Returns the settings of the transformer. Syntax that the engine supports is not transformed.
fn transformer_settings(options: &CompilerOptions, common: bool) -> TransformOptions {
    let mut out = TransformOptions::default();
    out.typescript.only_remove_type_imports = options.verbatim_module_syntax;
    out.typescript.remove_class_fields_without_initializer = options.assign_fields;
    out.assumptions.set_public_class_fields = options.assign_fields;
    if options.assign_fields {
        out.env.es2022.class_properties = Some(ClassPropertiesOptions { loose: true });
    }
    out.decorator.legacy = options.experimental_decorators;
    out.decorator.emit_decorator_metadata = options.emit_decorator_metadata;
    // The engine has no `using`.
    out.env.es2026.explicit_resource_management = true;
    // Modules become CommonJS only if they must, because the transformation makes scripts strict.
    out.env.module = if common { Module::CommonJS } else { Module::Preserve };
    out.helper_loader.mode = HelperLoaderMode::External;
    out.jsx.development = options.jsx == Jsx::Development;
    out.jsx.runtime = match options.jsx {
        Jsx::Classic => JsxRuntime::Classic,
        Jsx::Automatic | Jsx::Development => JsxRuntime::Automatic,
    };
    if out.jsx.runtime == JsxRuntime::Automatic {
        out.jsx.import_source.clone_from(&options.jsx_import_source);
    } else {
        out.jsx.pragma.clone_from(&options.jsx_factory);
        out.jsx.pragma_frag.clone_from(&options.jsx_fragment);
        if let Some(factory) = &options.jsx_factory {
            out.typescript.jsx_pragma = Cow::Owned(factory.clone());
        }
        if let Some(fragment) = &options.jsx_fragment {
            out.typescript.jsx_pragma_frag = Cow::Owned(fragment.clone());
        }
    }
    out.jsx.conform();
    out
}

/// Returns the text of a program, with its map.
pub(crate) fn print_program(program: &mut Program<'_>, filename: &str) -> Output {
    let options = CodegenOptions {
        source_map_path: Some(filename.into()),
        comments: CommentOptions { normal: false, jsdoc: false, ..CommentOptions::default() },
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);
    let mappings = printed.map.map(|m| m.to_json().mappings).unwrap_or_default();
    Output { code: printed.code, mappings }
}
