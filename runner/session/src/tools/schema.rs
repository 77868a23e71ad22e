//! JSON Schemas of arguments and results.

use super::ToolDefinitionError;
use boon::{
    CompileError, Compiler, Draft, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError,
};
use serde_json::Value;
use std::error::Error;

/// Maximum number of mistakes that are reported, and of bytes of each.
const MISTAKES: usize = 5;
const MISTAKE: usize = 300;
/// The URL under which the schema is known to the library.
const OWN: &str = "tool:/schema";
/// Stack size in bytes of threads that validate values, because validation recurses into both the
/// value and the schema.
pub(super) const STACK: usize = 64 << 20;
/// Maximum nesting of a schema, and maximum number of its keywords that apply another schema to the
/// same value: each level of a value uses that much of the stack.
const DEPTH: usize = 64;
const SAME: usize = 128;

/// A schema against which values can be validated.
pub(super) struct Schema {
    text: Value,
    schemas: Schemas,
    index: SchemaIndex,
}

/// A resolver that resolves no URL.
struct NoResolver;

impl UrlLoader for NoResolver {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("schemas are not fetched".into())
    }
}

impl Schema {
    /// Parses a schema: 2020-12, unless its `$schema` names another draft.
    ///
    /// # Errors
    /// If it is not a schema, refers to another one, or has a pattern that cannot be matched in
    /// linear time.
    pub fn new(name: &str, text: Value) -> Result<Schema, ToolDefinitionError> {
        let wrong = |why: &str| {
            let why = cut_text(format!("its schema is invalid: {why}"));
            ToolDefinitionError::Schema { name: name.to_owned(), why }
        };
        check_bounds(&text, DEPTH, &mut 0).map_err(wrong)?;
        // The schema is compiled on another thread, because the caller may have little stack left.
        let compiled = std::thread::scope(|scope| {
            let compiling = std::thread::Builder::new().stack_size(STACK);
            compiling
                .spawn_scoped(scope, || compile_schema(&text))?
                .join()
                .map_err(|_| std::io::Error::other("the library that reads schemas has failed"))
        });
        let compiled = compiled.map_err(|e| wrong(&e.to_string()))?;
        let (schemas, index) = compiled.map_err(|why| wrong(&why))?;
        Ok(Schema { text, schemas, index })
    }

    /// Returns the schema itself.
    pub fn text(&self) -> &Value {
        &self.text
    }

    /// Validates a value; must run on a thread with [`STACK`].
    ///
    /// # Errors
    /// The mistakes, one per line.
    pub fn check_value(&self, value: &Value) -> Result<(), String> {
        let Err(wrong) = self.schemas.validate(value, self.index) else { return Ok(()) };
        Err(innermost_mistakes(&wrong))
    }
}

fn compile_schema(text: &Value) -> Result<(Schemas, SchemaIndex), String> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(NoResolver));
    let mut schemas = Schemas::new();
    let added = compiler.add_resource(OWN, text.clone());
    let made = match added {
        Ok(()) => compiler.compile(OWN, &mut schemas),
        Err(e) => Err(e),
    };
    made.map(|index| (schemas, index)).map_err(|e| compile_reason(&e))
}

/// Checks that a schema is small enough for recursion.
fn check_bounds(schema: &Value, depth: usize, same: &mut usize) -> Result<(), &'static str> {
    let Some(depth) = depth.checked_sub(1) else { return Err("more than 64 levels") };
    match schema {
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            *same += match (key.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.len(),
                ("dependentSchemas" | "dependencies", Value::Object(all)) => all.len(),
                ("$ref" | "$dynamicRef" | "$recursiveRef" | "not" | "if" | "then" | "else", _) => 1,
                _ => 0,
            };
            if *same > SAME {
                return Err("more than 128 keywords that apply a schema to the same value");
            }
            check_bounds(value, depth, same)
        }),
        Value::Array(all) => all.iter().try_for_each(|value| check_bounds(value, depth, same)),
        _ => Ok(()),
    }
}

/// Returns the reason why a schema does not compile.
fn compile_reason(e: &CompileError) -> String {
    match e {
        CompileError::ValidationError { src, .. } => innermost_mistakes(src),
        CompileError::LoadUrlError { url, src } => format!("{url}: {src}"),
        CompileError::InvalidRegex { url, regex, src } => {
            let at = url.split_once('#').map_or("", |(_, at)| at);
            let src = src.to_string();
            let last = src.lines().last().unwrap_or_default();
            format!("{}pattern '{regex}': {last}", pointer_place(at))
        }
        other => other.to_string(),
    }
}

/// Returns the innermost causes, because a program can fix only those.
fn innermost_mistakes(wrong: &ValidationError<'_, '_>) -> String {
    let mut lines = Vec::new();
    let mut open = vec![wrong];
    while let Some(next) = open.pop() {
        if next.causes.is_empty() {
            if lines.len() == MISTAKES {
                lines.push("and more".to_owned());
                break;
            }
            let at = next.instance_location.to_string();
            let what = match &next.kind {
                // The text itself is left out because it may be long.
                ErrorKind::Pattern { want, .. } => format!("does not match the pattern '{want}'"),
                kind => kind.to_string(),
            };
            lines.push(cut_text(format!("{}{what}", pointer_place(&at))));
        }
        open.extend(next.causes.iter().rev());
    }
    lines.join("\n")
}

/// Returns the place in a value, for example `a/0/b: `.
fn pointer_place(pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        Some(path) => format!("{path}: "),
        None => String::new(),
    }
}

fn cut_text(mut text: String) -> String {
    if text.len() > MISTAKE {
        text.truncate(text.floor_char_boundary(MISTAKE));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::{Duration, Instant};

    fn said(schema: Value, value: Value) -> String {
        let schema = Schema::new("t", schema).unwrap();
        let check = move || schema.check_value(&value).err().unwrap_or_default();
        std::thread::Builder::new().stack_size(STACK).spawn(check).unwrap().join().unwrap()
    }

    #[test]
    fn mistakes_have_a_place() {
        let schema = json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"items": {"type": "integer"}}},
            "required": ["city"],
            "additionalProperties": false,
        });
        let of = |value| said(schema.clone(), value);
        assert_eq!(of(json!({"city": "Bern", "days": [1, 2]})), "");
        assert_eq!(of(json!({"city": 3})), "city: want string, but got number");
        assert_eq!(of(json!({})), "missing properties 'city'");
        assert!(of(json!({"city": "", "days": [1, "x"]})).starts_with("days/1: want integer"));
        assert!(of(json!({"city": "", "town": 1})).contains("'town' not allowed"));
        let many: Vec<_> = (0..100).map(|n| n.to_string()).collect();
        let lines = of(json!({"city": "", "days": many}));
        assert_eq!((lines.lines().count(), lines.ends_with("\nand more")), (6, true));
        let long = json!({"city": "", "n".repeat(10_000): 1});
        assert!(of(long).len() < 400);
    }

    /// Patterns that make backtracking engines run forever, and arrays of which each item could be
    /// compared with all others.
    #[test]
    fn hostile_values_take_no_time() {
        let begun = Instant::now();
        let text = "a".repeat(200_000) + "!";
        let no = said(json!({"pattern": "^(a+)+$"}), json!(text));
        assert_eq!(no, "does not match the pattern '^(a+)+$'");
        let many: Vec<_> = (0..100_000).collect();
        assert_eq!(said(json!({"uniqueItems": true}), json!(many)), "");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn recursive_schemas_end() {
        let schema = json!({
            "$defs": {"list": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/list"}}},
            "$ref": "#/$defs/list",
        });
        let deep = |end: Value| (0..64).fold(end, |inner, _| json!([inner]));
        assert_eq!(said(schema.clone(), deep(json!(1))), "");
        assert!(said(schema, deep(json!("x"))).contains("want "));
        // A value and a schema that reach both limits.
        let mut chain: serde_json::Map<String, Value> = (0..SAME - 2)
            .map(|n| (format!("s{n}"), json!({"$ref": format!("#/$defs/s{}", n + 1)})))
            .collect();
        chain.insert(format!("s{}", SAME - 2), json!({"items": {"$ref": "#/$defs/s0"}}));
        let long = json!({"$defs": chain, "$ref": "#/$defs/s0"});
        assert_eq!(said(long.clone(), deep(json!("x"))), "");
        let mut longer = long;
        longer["$defs"]["more"] = json!({"not": true});
        assert!(Schema::new("t", longer).is_err());
        let deeper = (0..64).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(Schema::new("t", deeper).is_err());
        // An endless reference is a mistake of the schema's author.
        assert!(said(json!({"$ref": "#"}), json!({})).contains("cycle"));
    }

    /// Values from the specification's own examples (JSON Schema Validation 2020-12, 6; Core,
    /// 10.3.2.3).
    #[test]
    fn the_specification_is_followed() {
        for (schema, value, fits) in [
            (json!({"type": "integer"}), json!(1.0), true),
            (json!({"type": "integer"}), json!(1.5), false),
            (json!({"const": 1}), json!(1.0), true),
            (json!({"multipleOf": 0.5}), json!(4.5), true),
            (json!({"maxLength": 2}), json!("\u{1f600}\u{1f600}"), true),
            (json!({"minProperties": 1}), json!([]), true),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), false),
            (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["a", 1]), false),
            (json!({"oneOf": [{"type": "number"}, {"minimum": 2}]}), json!(3), false),
            (json!({"additionalProperties": {"type": "null"}}), json!({"a": null}), true),
            (
                json!({"unevaluatedProperties": false, "allOf": [{"properties": {"a": {}}}]}),
                json!({"a": 1}),
                true,
            ),
        ] {
            assert_eq!(said(schema.clone(), value.clone()).is_empty(), fits, "{schema} {value}");
        }
    }
}
