//! Makes a finished text smaller: removes dead code and white space, and shortens names.

use crate::{JsSyntaxError, Output, SourceKind, error, options::source_type};
use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::minifier::{CompressOptions, MangleOptions, Minifier, MinifierOptions};
use oxc::parser::Parser;

/// Returns the same program in fewer bytes. Names of functions and classes may change, too.
///
/// # Errors
/// Returns the first syntax error if the text is not JavaScript.
pub fn minify_program(
    source: &str,
    filename: &str,
    kind: SourceKind,
) -> Result<Output, JsSyntaxError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type(filename, Some(kind))).parse();
    error::first_error(source, &parsed.diagnostics)?;
    let mut program = parsed.program;
    let options = MinifierOptions {
        mangle: Some(MangleOptions::default()),
        compress: Some(CompressOptions::smallest()),
        mangle_properties: None,
    };
    let small = Minifier::new(options).minify(&allocator, &mut program);
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(filename.into()),
            ..CodegenOptions::minify()
        })
        .with_scoping(small.scoping)
        .with_private_member_mappings(small.class_private_mappings)
        .build(&program);
    let mappings = printed.map.map(|m| m.to_json().mappings).unwrap_or_default();
    Ok(Output { code: printed.code, mappings })
}
