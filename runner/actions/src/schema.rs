//! JSON Schemas (2020-12), made as short as possible because models read those of arguments with
//! every request.
//!
//! References are replaced by their targets, because several clients do not follow them. Parts
//! without information are left out: titles that repeat names, Rust's widths of numbers, and the
//! remark that an optional value may also be null.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Returns the schema of a type as it is read.
pub fn input_schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12();
    Value::from(settings.into_generator().into_root_schema_for::<T>())
}

/// Returns the schema of a type as it is written: fields that may be left out are not required.
pub fn of_answer<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    Value::from(settings.into_generator().into_root_schema_for::<T>())
}

/// Marks the default of a time limit in a schema, because each machine has its own.
pub const CALL_TIMEOUT: &str = "call_timeout";

/// Replaces links of Rust's documentation, such as ``[`EditOf`]``, by their text.
fn without_links(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

/// Deepest nesting that is written in full; deeper parts are any value.
const DEPTH: usize = 12;

/// Shortens a schema of arguments.
pub fn shorten_input(schema: Value) -> Map<String, Value> {
    shorten_schema(schema, true)
}

/// Returns a schema of answers, in which a value that may be null is described as such.
pub fn shorten_output(schema: Value) -> Map<String, Value> {
    shorten_schema(schema, false)
}

fn shorten_schema(schema: Value, is_input: bool) -> Map<String, Value> {
    let definitions = schema.get("$defs").cloned().unwrap_or_default();
    let mut shorter = SchemaShortener { definitions, is_input }.shorten_value(schema, 0);
    if let Value::Object(object) = &mut shorter {
        object.remove("description");
        object.entry("type").or_insert_with(|| json!("object"));
        if is_input {
            object.entry("properties").or_insert_with(|| json!({}));
        }
    }
    match shorter {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

struct SchemaShortener {
    definitions: Value,
    is_input: bool,
}

impl SchemaShortener {
    fn shorten_value(&self, schema: Value, depth: usize) -> Value {
        let Value::Object(mut object) = schema else { return schema };
        if depth > DEPTH {
            return json!({});
        }
        if let Some(Value::String(to)) = object.remove("$ref") {
            let name = to.rsplit('/').next().unwrap_or_default();
            let Some(Value::Object(mut found)) = self.definitions.get(name).cloned() else {
                return json!({});
            };
            // A description at the use takes precedence over the type's own.
            found.extend(object);
            return self.shorten_value(Value::Object(found), depth + 1);
        }
        for name in ["$schema", "$defs", "title"] {
            object.remove(name);
        }
        let is_number = matches!(object.get("type"), Some(t) if has_type(t, "integer") || has_type(t, "number"));
        if is_number {
            object.remove("format");
            for bound in ["minimum", "maximum"] {
                let says_nothing =
                    |v: &Value| v == &json!(0) || v.as_u64().is_some_and(|n| n > 9999);
                if object.get(bound).is_some_and(says_nothing) {
                    object.remove(bound);
                }
            }
        }
        if self.is_input {
            self.without_null(&mut object);
        }
        if let Some(Value::String(text)) = object.get_mut("description") {
            *text = without_links(text).split_whitespace().collect::<Vec<_>>().join(" ");
        }
        if let Some(names) = enum_constants(&object) {
            object.remove("oneOf");
            object.insert("type".into(), json!("string"));
            object.insert("enum".into(), names);
        }
        let passed = object.into_iter().map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(all)) => {
                    let each =
                        all.into_iter().map(|(name, s)| (name, self.shorten_value(s, depth + 1)));
                    Value::Object(each.collect())
                }
                ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(all)) => Value::Array(
                    all.into_iter().map(|s| self.shorten_value(s, depth + 1)).collect(),
                ),
                ("items" | "additionalProperties", value) => self.shorten_value(value, depth + 1),
                (_, value) => value,
            };
            (key, value)
        });
        Value::Object(passed.collect())
    }

    /// Describes an argument that may be null as optional only, because it may as well be left out.
    fn without_null(&self, object: &mut Map<String, Value>) {
        if object.get("default").is_some_and(Value::is_null) {
            object.remove("default");
        }
        if let Some(Value::Array(kinds)) = object.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [kind] = kinds.as_slice() {
                let kind = kind.clone();
                object.insert("type".into(), kind);
            }
        }
        if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
            choices.retain(|s| s.get("type") != Some(&json!("null")));
            if let [Value::Object(only)] = choices.as_slice() {
                let mut only = only.clone();
                object.remove("anyOf");
                if let Some(Value::String(to)) = only.remove("$ref") {
                    let name = to.rsplit('/').next().unwrap_or_default().to_owned();
                    if let Some(Value::Object(found)) = self.definitions.get(&name) {
                        only = found.clone();
                    }
                }
                let own = std::mem::take(object);
                *object = only;
                object.extend(own);
            }
        }
    }
}

fn has_type(kind: &Value, name: &str) -> bool {
    match kind {
        Value::String(s) => s == name,
        Value::Array(all) => all.iter().any(|k| k == name),
        _ => false,
    }
}

/// Returns the values of an enumeration, if all of them are texts.
fn enum_constants(object: &Map<String, Value>) -> Option<Value> {
    let mut names = Vec::new();
    for choice in object.get("oneOf")?.as_array()? {
        match (choice.get("const"), choice.get("enum")) {
            (Some(one @ Value::String(_)), _) => names.push(one.clone()),
            (None, Some(Value::Array(some))) => names.extend(some.iter().cloned()),
            _ => return None,
        }
    }
    Some(Value::Array(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, JsonSchema)]
    enum Kind {
        /// One.
        A,
        B,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        /// What it is
        /// about.
        #[serde(default)]
        kind: Option<Kind>,
        count: Option<u64>,
        inner: Vec<Inner>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        text: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Answered {
        always: Option<u64>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        sometimes: Vec<u64>,
    }

    #[test]
    fn arguments_are_described_in_few_words() {
        let want = json!({
            "type": "object",
            "properties": {
                // Variants without a description come first.
                "kind": {"type": "string", "enum": ["B", "A"], "description": "What it is about."},
                "count": {"type": "integer"},
                "inner": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}}
                }},
            },
            "required": ["inner"],
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(shorten_input(input_schema_of::<Asked>())), want);
    }

    #[test]
    fn answers_may_be_null_and_lack_what_is_left_out() {
        let made = Value::Object(shorten_output(of_answer::<Answered>()));
        assert_eq!(made["properties"]["always"]["type"], json!(["integer", "null"]));
        assert_eq!(made["required"], json!(["always"]));
    }
}
