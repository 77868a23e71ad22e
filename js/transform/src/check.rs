//! Finds the place at which a text stops being JavaScript, and tells modules from scripts.
//!
//! The engine reports syntax errors, too, but its message names no line of the script if the text
//! is a function or a module. This module is used only in that case.

use crate::options::source_type;
use crate::{JsSyntaxError, SourceKind, error};
use oxc::allocator::Allocator;
use oxc::ast::ast::{Expression, Statement};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::GetSpan;

/// Checks the syntax of a text.
///
/// # Errors
/// Returns the first syntax error.
pub fn check_syntax(
    source: &str,
    filename: &str,
    kind: Option<SourceKind>,
) -> Result<(), JsSyntaxError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type(filename, kind)).parse();
    error::first_error(source, &parsed.diagnostics)?;
    let meant = SemanticBuilder::new().with_check_syntax_error(true).build(&parsed.program);
    error::first_error(source, &meant.diagnostics)
}

/// Returns whether a text has syntax that only modules may have: `import`, `export`, `import.meta`,
/// or `await` outside of functions (Node's syntax detection).
pub fn is_module(source: &str, filename: &str) -> bool {
    let allocator = Allocator::default();
    let either = source_type(filename, Some(SourceKind::Either));
    let parsed = Parser::new(&allocator, source, either).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        // `await` outside of functions is an error until the text is read as a module.
        return check_syntax(source, filename, Some(SourceKind::Module)).is_ok();
    }
    parsed.module_record.has_module_syntax || top_level_await(&parsed.program.body)
}

fn top_level_await(body: &[Statement<'_>]) -> bool {
    body.iter().any(|s| match s {
        Statement::ExpressionStatement(e) => matches!(e.expression, Expression::AwaitExpression(_)),
        Statement::ForOfStatement(f) => f.r#await,
        Statement::VariableDeclaration(v) => {
            v.declarations.iter().any(|d| matches!(d.init, Some(Expression::AwaitExpression(_))))
        }
        _ => s.span().is_empty(),
    })
}
