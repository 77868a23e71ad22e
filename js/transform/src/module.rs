//! Rewrites a module as the body of a function, for the bundler. Imports and exports become calls
//! to functions of the bundle, so bindings stay live, and cycles work as ECMA-262 specifies.
//!
//! The body of an ECMAScript module has the free names `__vite_ssr_import__`,
//! `__vite_ssr_exports__`, `__vite_ssr_exportAll__`, `__vite_ssr_dynamic_import__` and
//! `__vite_ssr_import_meta__` (the names are those of the transformation in oxc). The body of a
//! CommonJS module is unchanged.

use crate::options::CompilerOptions;
use crate::transform::{print_program, strip_types};
use crate::{JsSyntaxError, Output};
use oxc::allocator::{Allocator, TakeIn};
use oxc::ast::ast::{
    Argument, ArrowFunctionExpression, AwaitExpression, CallExpression, Expression, ForOfStatement,
    Function, ImportExpression, Program, Statement,
};
use oxc::ast_visit::{Visit, walk};
use oxc::semantic::{ScopeFlags, SemanticBuilder};
use oxc::transformer_plugins::ModuleRunnerTransform;
use oxc_ecmascript::BoundNames;

/// A module for the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleModule {
    pub output: Output,
    /// Whether it is an ECMAScript module.
    pub module: bool,
    /// Whether it has a top-level `await`.
    pub waits: bool,
    /// The modules that it requests, in order. A specifier occurs once for each kind of request.
    pub requests: Vec<ImportRequest>,
    /// Its exports, except for `export *`.
    pub exports: Vec<ModuleExport>,
    /// The specifiers of `export * from`.
    pub stars: Vec<String>,
}

/// One name that a module exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleExport {
    pub name: String,
    /// For a re-export, the specifier of the other module and the name that it exports (`*` is the
    /// namespace).
    pub from: Option<(String, String)>,
}

/// A module that another one requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRequest {
    pub specifier: String,
    pub how: ImportKind,
    /// The names that are imported or re-exported. `*` stands for all names; an empty list means
    /// that the module is requested for its side effects only.
    pub names: Vec<String>,
}

/// The kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    Import,
    Dynamic,
    Require,
}

/// Rewrites a module for the bundle. `waits` means that a module that it imports has a top-level
/// `await`, and that its imports must therefore be awaited.
///
/// # Errors
/// The same as [`transform_source`](crate::transform::transform_source).
pub fn bundle_body(
    source: &str,
    filename: &str,
    options: &CompilerOptions,
    waits: bool,
) -> Result<BundleModule, JsSyntaxError> {
    let allocator = Allocator::default();
    let mut program = strip_types(&allocator, source, filename, options)?.program;
    let module = program.source_type.is_module();
    let mut asked = RequestFinder::default();
    asked.visit_statements(&program.body);
    asked.visit_program(&program);
    if module {
        let scoping = SemanticBuilder::new().build(&program).semantic.into_scoping();
        ModuleRunnerTransform::new().transform(&allocator, &mut program, scoping);
        simplify_imports(&allocator, &mut program, waits);
    }
    let output = print_program(&mut program, filename);
    let RequestFinder { requests, waits, exports, stars, .. } = asked;
    Ok(BundleModule { output, module, waits, requests, exports, stars })
}

/// Collects the requests and exports of a module, and looks for a top-level `await`.
#[derive(Default)]
struct RequestFinder {
    requests: Vec<ImportRequest>,
    waits: bool,
    depth: usize,
    exports: Vec<ModuleExport>,
    stars: Vec<String>,
}

impl RequestFinder {
    fn add<'n>(&mut self, specifier: &str, how: ImportKind, names: impl Iterator<Item = &'n str>) {
        let same = |r: &&mut ImportRequest| r.specifier == specifier && r.how == how;
        let at = match self.requests.iter_mut().find(same) {
            Some(request) => request,
            None => {
                let (specifier, names) = (specifier.to_string(), Vec::new());
                self.requests.push(ImportRequest { specifier, how, names });
                let last = self.requests.len() - 1;
                &mut self.requests[last]
            }
        };
        for name in names {
            if !at.names.iter().any(|n| n == name) {
                at.names.push(name.to_string());
            }
        }
    }

    fn add_export(&mut self, name: &str, from: Option<(String, String)>) {
        self.exports.push(ModuleExport { name: name.to_string(), from });
    }

    /// Collects the import and export declarations, which are always at the top level.
    fn visit_statements(&mut self, body: &[Statement<'_>]) {
        use oxc::ast::ast::ImportDeclarationSpecifier as I;
        for statement in body {
            match statement {
                Statement::ImportDeclaration(d) => {
                    let names: Vec<&str> = d
                        .specifiers
                        .iter()
                        .flatten()
                        .map(|s| match s {
                            I::ImportSpecifier(s) => s.imported.name().as_str(),
                            I::ImportDefaultSpecifier(_) => "default",
                            I::ImportNamespaceSpecifier(_) => "*",
                        })
                        .collect();
                    self.add(&d.source.value, ImportKind::Import, names.into_iter());
                }
                Statement::ExportFromDeclaration(d) => {
                    let names: Vec<&str> =
                        d.specifiers.iter().map(|s| s.local.name().as_str()).collect();
                    self.add(&d.source.value, ImportKind::Import, names.into_iter());
                    for specifier in &d.specifiers {
                        let from = (d.source.value.to_string(), specifier.local.name().to_string());
                        self.add_export(specifier.exported.name().as_str(), Some(from));
                    }
                }
                Statement::ExportAllDeclaration(d) => {
                    self.add(&d.source.value, ImportKind::Import, ["*"].into_iter());
                    match &d.exported {
                        Some(name) => {
                            let from = (d.source.value.to_string(), "*".to_string());
                            self.add_export(name.name().as_str(), Some(from));
                        }
                        None => self.stars.push(d.source.value.to_string()),
                    }
                }
                Statement::ExportNamedDeclaration(d) => {
                    for specifier in &d.specifiers {
                        self.add_export(specifier.exported.name().as_str(), None);
                    }
                }
                Statement::ExportDeclaration(d) => {
                    let mut names = Vec::new();
                    d.declaration.bound_names(&mut |ident| names.push(ident.name.to_string()));
                    names.iter().for_each(|name| self.add_export(name, None));
                }
                Statement::ExportDefaultDeclaration(_) => self.add_export("default", None),
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for RequestFinder {
    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.depth += 1;
        walk::walk_function(self, function, flags);
        self.depth -= 1;
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.depth += 1;
        walk::walk_arrow_function_expression(self, arrow);
        self.depth -= 1;
    }

    fn visit_await_expression(&mut self, wait: &AwaitExpression<'a>) {
        self.waits |= self.depth == 0;
        walk::walk_await_expression(self, wait);
    }

    fn visit_for_of_statement(&mut self, each: &ForOfStatement<'a>) {
        self.waits |= self.depth == 0 && each.r#await;
        walk::walk_for_of_statement(self, each);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Expression::StringLiteral(text) = &import.source {
            self.add(&text.value, ImportKind::Dynamic, ["*"].into_iter());
        }
        walk::walk_import_expression(self, import);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Expression::Identifier(callee) = &call.callee
            && callee.name == "require"
            && let [Argument::StringLiteral(text)] = &call.arguments[..]
        {
            self.add(&text.value, ImportKind::Require, ["*"].into_iter());
        }
        walk::walk_call_expression(self, call);
    }
}

/// Reduces the calls that import modules to their first argument, the specifier, and removes their
/// `await` unless `waits`.
fn simplify_imports<'a>(allocator: &'a Allocator, program: &mut Program<'a>, waits: bool) {
    for statement in &mut program.body {
        let Statement::VariableDeclaration(declaration) = statement else { continue };
        for declarator in &mut declaration.declarations {
            let Some(init) = &mut declarator.init else { continue };
            let Expression::AwaitExpression(wait) = init else { continue };
            let Expression::CallExpression(call) = &mut wait.argument else { continue };
            let name = call.callee.get_identifier_reference().map(|r| r.name.as_str());
            if name != Some("__vite_ssr_import__") {
                continue;
            }
            call.arguments.truncate(1);
            if !waits {
                *init = wait.argument.take_in(&allocator);
            }
        }
    }
}
