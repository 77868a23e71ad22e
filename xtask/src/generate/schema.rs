//! The protocol's types as JSON Schemas, and what the generators ask about them.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use wasibox_protocol::files::{FileAnswer, FileRequest};
use wasibox_protocol::{
    CallOptions, CommitReport, Outcome, PortSummary, ProcessKill, ProcessOutput, ProcessRead,
    ProcessReport, ProcessStart, ProcessWrite, RefusalKind,
};

/// Fields in JSON that the packages give in seconds: the name in JSON, the packages' name, and how
/// many units a second has.
const SECONDS: &[(&str, &str, &str)] = &[
    ("duration_ms", "duration", "1e3"),
    ("cpu_ms", "cpu_time", "1e3"),
    ("modified", "modified", "1e9"),
];

/// The records that the packages make from a type: the type, and the packages' name.
pub const RECORDS: &[(&str, &str)] = &[
    ("FileChange", "FileChange"),
    ("CommitReport", "Commit"),
    ("FileEntry", "EntryFields"),
    ("PortSummary", "Port"),
    ("ProcessReport", "Process"),
];

/// The fields of an outcome that the packages treat by hand: output has a text and bytes, and of
/// the value's three forms the packages make one.
const BY_HAND: &[&str] =
    &["stdout", "stderr", "stdout_base64", "stderr_base64", "value", "value_json"];

/// Definitions of all types of the protocol that are JSON, by name.
pub struct ProtocolSchema {
    pub definitions: Map<String, Value>,
}

/// A field of an object.
pub struct Field<'a> {
    /// The name in JSON.
    pub name: &'a str,
    pub schema: &'a Value,
    pub is_required: bool,
    pub text: String,
}

impl Field<'_> {
    /// Returns the packages' name of the field, in snake case, and the number of units in a second
    /// if the packages give it in seconds.
    pub fn package_name(&self) -> (&str, Option<&'static str>) {
        match SECONDS.iter().find(|(json, ..)| *json == self.name) {
            Some((_, name, units)) => (name, Some(units)),
            None => (self.name, None),
        }
    }

    /// Returns the packages' text, whose times are in seconds.
    pub fn package_text(&self) -> String {
        match self.package_name().1 {
            Some(_) => self
                .text
                .replace(" in milliseconds", " in seconds")
                .replace("Nanoseconds since", "Seconds since"),
            None => self.text.clone(),
        }
    }
}

fn add_type<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

impl ProtocolSchema {
    /// Makes the definitions. Requests are described as they are read, answers as they are written.
    pub fn new() -> ProtocolSchema {
        let mut read = SchemaSettings::draft2020_12().into_generator();
        add_type::<CallOptions>(&mut read);
        add_type::<FileRequest>(&mut read);
        add_type::<ProcessStart>(&mut read);
        add_type::<ProcessRead>(&mut read);
        add_type::<ProcessWrite>(&mut read);
        add_type::<ProcessKill>(&mut read);
        let mut written = SchemaSettings::draft2020_12().for_serialize().into_generator();
        add_type::<Outcome>(&mut written);
        add_type::<CommitReport>(&mut written);
        add_type::<PortSummary>(&mut written);
        add_type::<ProcessReport>(&mut written);
        add_type::<ProcessOutput>(&mut written);
        add_type::<FileAnswer>(&mut written);
        add_type::<RefusalKind>(&mut written);
        let mut definitions = read.take_definitions(true);
        definitions.extend(written.take_definitions(true));
        for schema in definitions.values_mut() {
            clean_texts(schema);
        }
        ProtocolSchema { definitions }
    }

    /// Returns the definitions as a document.
    pub fn json_text(&self) -> String {
        let document = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "The protocol of a session",
            "$defs": self.definitions,
        });
        format!("{document:#}\n")
    }

    /// Returns the definition that a schema refers to, with its name.
    pub fn target<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
        Some((name, self.definitions.get(name)?))
    }

    /// Returns the fields that the packages copy from an outcome.
    pub fn outcome_fields(&self) -> Vec<Field<'_>> {
        let mut all = fields_of(&self.definitions["Outcome"]);
        all.retain(|field| !BY_HAND.contains(&field.name));
        all
    }

    /// Returns the record that a list's elements become in the packages.
    pub fn element_record(&self, schema: &Value) -> Option<&'static str> {
        let (name, _) = self.target(schema.get("items")?)?;
        RECORDS.iter().find(|(of, _)| *of == name).map(|(_, record)| *record)
    }
}

/// Returns the fields of an object, in the order of their declaration.
pub fn fields_of(object: &Value) -> Vec<Field<'_>> {
    let required = object.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let fields = object.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten().map(|(name, schema)| Field {
        name,
        schema,
        is_required: is_required(name),
        text: text_of(schema),
    });
    fields.collect()
}

/// Returns the variants of an enumeration whose values are objects of one key: its name, and the
/// schema of its value, described by the variant if it has a text.
pub fn variants_of(choice: &Value) -> Vec<(&str, &Value, String)> {
    let all = choice.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let variants = all.filter_map(|variant| {
        let (name, schema) = variant.get("properties")?.as_object()?.iter().next()?;
        Some((name.as_str(), schema, text_of(variant)))
    });
    variants.collect()
}

/// Returns the texts that an enumeration of names allows.
pub fn names_of(schema: &Value) -> Option<Vec<&str>> {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names.iter().map(Value::as_str).collect();
    }
    if let Some(name) = schema.get("const") {
        return Some(vec![name.as_str()?]);
    }
    let choices = schema.get("oneOf").and_then(Value::as_array)?;
    let names: Option<Vec<Vec<&str>>> = choices.iter().map(names_of).collect();
    Some(names?.concat())
}

/// Returns what a schema allows except null, and whether it allows null.
pub fn without_null(schema: &Value) -> (Value, bool) {
    let mut schema = schema.clone();
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        let count = types.len();
        types.retain(|one| one != "null");
        let is_optional = types.len() < count;
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
        return (schema, is_optional);
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let is_null = |choice: &Value| choice.get("type").is_some_and(|one| one == "null");
        let others: Vec<&Value> = choices.iter().filter(|choice| !is_null(choice)).collect();
        if let ([only], true) = (others.as_slice(), others.len() < choices.len()) {
            return ((*only).clone(), true);
        }
    }
    (schema, false)
}

/// Returns a schema's description in one line.
pub fn text_of(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces links to Rust's items in all descriptions by the items' names, and removes the widths
/// of Rust's numbers.
fn clean_texts(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("type").is_some_and(|of| of.is_string() || of.is_array()) {
                object.remove("format");
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = without_links(first_paragraph(text));
            }
            object.values_mut().for_each(clean_texts);
        }
        Value::Array(all) => all.iter_mut().for_each(clean_texts),
        _ => {}
    }
}

/// Returns what a text says to users of the type: what follows is for its maintainers, or code.
fn first_paragraph(text: &str) -> &str {
    text.split("\n\n").next().unwrap_or_default()
}

fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let Some(end) = rest.find("`]") else { break };
        out.push_str(&rest[..=end]);
        rest = &rest[end + 2..];
        if let Some(link) = rest.strip_prefix('(').and_then(|r| r.find(')')) {
            rest = &rest[link + 2..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_names() {
        assert_eq!(without_links("see [`A::b`](crate::A) and [`C`]."), "see `A::b` and `C`.");
        assert_eq!(without_links("a [list]"), "a [list]");
    }

    #[test]
    fn a_value_that_may_be_null_is_recognised() {
        let optional = json!({"type": ["string", "null"]});
        assert_eq!(without_null(&optional), (json!({"type": "string"}), true));
        let optional = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]});
        assert_eq!(without_null(&optional), (json!({"$ref": "#/$defs/A"}), true));
        assert_eq!(without_null(&json!({"type": "string"})), (json!({"type": "string"}), false));
    }

    #[test]
    fn times_are_seconds_in_packages() {
        let protocol = ProtocolSchema::new();
        let fields = protocol.outcome_fields();
        let cpu = fields.iter().find(|field| field.name == "cpu_ms").unwrap();
        assert_eq!(cpu.package_name(), ("cpu_time", Some("1e3")));
        assert!(cpu.package_text().ends_with("in seconds."), "{}", cpu.package_text());
        assert!(fields.iter().all(|field| !field.name.starts_with("stdout")));
    }
}
