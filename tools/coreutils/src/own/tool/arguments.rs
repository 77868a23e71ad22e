//! Conversion of a command line's words to a JSON object.

use serde_json::{Map, Value};

/// A set of JSON Schema's types, as bits. `number` includes `integer`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

const STRING: u8 = 1;
const NUMBER: u8 = 2;
const BOOLEAN: u8 = 4;
const ARRAY: u8 = 8;
const OBJECT: u8 = 16;
const NULL: u8 = 32;
const ALL: u8 = 63;

/// The maximum depth to which nested and referenced schemas are searched for types.
const DEPTH: usize = 8;

impl Types {
    fn type_bit(name: &str) -> u8 {
        match name {
            "string" => STRING,
            "integer" | "number" => NUMBER,
            "boolean" => BOOLEAN,
            "array" => ARRAY,
            "object" => OBJECT,
            "null" => NULL,
            _ => 0,
        }
    }

    fn of_value(value: &Value) -> u8 {
        match value {
            Value::String(_) => STRING,
            Value::Number(_) => NUMBER,
            Value::Bool(_) => BOOLEAN,
            Value::Array(_) => ARRAY,
            Value::Object(_) => OBJECT,
            Value::Null => NULL,
        }
    }

    /// Returns the types that a schema allows for a value; all types if the schema names none.
    /// References are resolved in `root`.
    pub fn from_schema(root: &Value, schema: &Value) -> Types {
        Types(schema_types(root, schema, DEPTH))
    }

    fn has_type(self, kind: u8) -> bool {
        self.0 & kind != 0
    }

    /// Returns the names of the types, such as `string` or `string|null`; `JSON` if all types are
    /// allowed.
    pub fn type_words(self) -> String {
        if self.0 == ALL {
            return "JSON".into();
        }
        let names = [
            (STRING, "string"),
            (NUMBER, "number"),
            (BOOLEAN, "boolean"),
            (ARRAY, "array"),
            (OBJECT, "object"),
            (NULL, "null"),
        ];
        let names: Vec<_> =
            names.iter().filter(|(kind, _)| self.has_type(*kind)).map(|n| n.1).collect();
        names.join("|")
    }
}

fn schema_types(root: &Value, schema: &Value, depth: usize) -> u8 {
    let Some(object) = schema.as_object() else { return ALL };
    if depth == 0 {
        return ALL;
    }
    let mut all = match object.get("type") {
        Some(Value::String(name)) => Types::type_bit(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(Types::type_bit).fold(0, |a, b| a | b)
        }
        _ => ALL,
    };
    if let Some(value) = object.get("const") {
        all &= Types::of_value(value);
    }
    if let Some(Value::Array(values)) = object.get("enum") {
        all &= values.iter().map(Types::of_value).fold(0, |a, b| a | b);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(some)) = object.get(key) {
            all &= some.iter().map(|s| schema_types(root, s, depth - 1)).fold(0, |a, b| a | b);
        }
    }
    if let Some(Value::String(to)) = object.get("$ref")
        && let Some(found) = to.strip_prefix('#').and_then(|at| root.pointer(at))
    {
        all &= schema_types(root, found, depth - 1);
    }
    all
}

/// Returns whether the words ask for help.
pub(super) fn wants_help(words: &[Vec<u8>]) -> bool {
    words.iter().take_while(|w| *w != b"--").any(|w| w == b"--help" || w == b"-h")
}

/// Converts words to a JSON object; returns its text. `read` reads standard input.
///
/// # Errors
/// A word does not fit the schema, or standard input cannot be read. The error holds the message.
pub(super) fn parse(
    schema: &Value,
    words: &[Vec<u8>],
    read: &mut dyn FnMut() -> std::io::Result<Vec<u8>>,
) -> Result<Vec<u8>, String> {
    if let [word] = words
        && word == b"-"
    {
        // The text is returned as it is, because the host checks it.
        return read().map_err(|e| format!("standard input: {}", box_sys::error_text(&e)));
    }
    let mut line = ArgumentLine { schema, made: Map::new() };
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == b"--" {
            operands.extend(rest.by_ref());
        } else if let Some(option) = word.strip_prefix(b"--") {
            line.take_option(&word_text(option)?, &mut || {
                rest.next().map(|w| word_text(w)).transpose()
            })?;
        } else if word.len() > 1 && word[0] == b'-' && !word[1].is_ascii_digit() {
            return Err(format!("unrecognized option '{}'", word_text(word)?));
        } else {
            operands.push(word);
        }
    }
    line.take_operands(&operands)?;
    serde_json::to_vec(&line.made).map_err(|e| e.to_string())
}

fn word_text(word: &[u8]) -> Result<String, String> {
    String::from_utf8(word.to_vec())
        .map_err(|_| format!("'{}' is not UTF-8", String::from_utf8_lossy(word)))
}

struct ArgumentLine<'a> {
    schema: &'a Value,
    made: Map<String, Value>,
}

impl ArgumentLine<'_> {
    /// Returns the name and schema of the argument that an option sets.
    fn known_argument(&self, option: &str) -> Option<(&str, &Value)> {
        let all = self.schema["properties"].as_object()?;
        let same = |name: &str| name.replace('_', "-") == option.replace('_', "-");
        let found =
            all.get_key_value(option).or_else(|| all.iter().find(|(name, _)| same(name)))?;
        Some((found.0, found.1))
    }

    fn take_option(
        &mut self,
        option: &str,
        next: &mut dyn FnMut() -> Result<Option<String>, String>,
    ) -> Result<(), String> {
        let (name, given) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let Some((name, schema)) = self.known_argument(name) else {
            return self.take_other(name, given, next);
        };
        let (name, types) = (name.to_owned(), Types::from_schema(self.schema, schema));
        if types.has_type(BOOLEAN) && !types.has_type(STRING | NUMBER) && given.is_none() {
            return self.put_value(name, Value::Bool(true));
        }
        let needs = || format!("option '--{name}' requires an argument");
        let word = match given {
            Some(word) => word,
            None => next()?.ok_or_else(needs)?,
        };
        if types.has_type(ARRAY) {
            if let Ok(whole @ Value::Array(_)) = serde_json::from_str(&word) {
                return self.put_value(name, whole);
            }
            if !types.has_type(STRING) {
                let items = schema.get("items").unwrap_or(&Value::Null);
                let item = word_value(word, Types::from_schema(self.schema, items));
                return self.push(name, item);
            }
        }
        self.put_value(name, word_value(word, types))
    }

    /// Takes an option that is not the name of an argument: `--no-FLAG`, or an additional argument
    /// if the schema allows any.
    fn take_other(
        &mut self,
        name: &str,
        given: Option<String>,
        next: &mut dyn FnMut() -> Result<Option<String>, String>,
    ) -> Result<(), String> {
        if given.is_none()
            && let Some(flag) = name.strip_prefix("no-")
            && let Some((flag, schema)) = self.known_argument(flag)
            && Types::from_schema(self.schema, schema).has_type(BOOLEAN)
        {
            return self.put_value(flag.to_owned(), Value::Bool(false));
        }
        let has_others = match &self.schema["additionalProperties"] {
            Value::Bool(has) => *has,
            Value::Null => self.schema["properties"].as_object().is_none_or(Map::is_empty),
            _ => true,
        };
        if !has_others {
            return Err(format!("unrecognized option '--{name}'"));
        }
        let word = match given {
            Some(word) => word,
            None => next()?.ok_or_else(|| format!("option '--{name}' requires an argument"))?,
        };
        self.put_value(name.to_owned(), word_value(word, Types(ALL)))
    }

    fn put_value(&mut self, name: String, value: Value) -> Result<(), String> {
        // The last of several values counts, as with most commands.
        self.made.insert(name, value);
        Ok(())
    }

    fn push(&mut self, name: String, item: Value) -> Result<(), String> {
        match self.made.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(all) => all.push(item),
            other => *other = Value::Array(vec![item]),
        }
        Ok(())
    }

    /// Takes the words that belong to no option. They are a JSON object of arguments, or the values
    /// of the required arguments that are still missing.
    fn take_operands(&mut self, words: &[&Vec<u8>]) -> Result<(), String> {
        let words = words.iter().map(|w| word_text(w)).collect::<Result<Vec<_>, _>>()?;
        if let [word] = words.as_slice()
            && word.trim_start().starts_with('{')
            && let Ok(Value::Object(object)) = serde_json::from_str(word)
        {
            for (name, value) in object {
                self.made.entry(name).or_insert(value);
            }
            return Ok(());
        }
        let required = self.schema["required"].as_array().into_iter().flatten();
        let required: Vec<_> = required.filter_map(Value::as_str).map(str::to_owned).collect();
        let mut free = required.into_iter().filter(|name| !self.made.contains_key(name));
        let mut placed = Vec::new();
        for word in words {
            let Some(name) = free.next() else { return Err(format!("extra operand '{word}'")) };
            placed.push((name, word));
        }
        for (name, word) in placed {
            let schema = self.schema["properties"].get(&name).unwrap_or(&Value::Null);
            let types = Types::from_schema(self.schema, schema);
            self.put_value(name, word_value(word, types))?;
        }
        Ok(())
    }
}

/// Converts a word to the most likely value of the allowed types. A word that fits none of them
/// becomes a string, and the host reports the error.
fn word_value(word: String, types: Types) -> Value {
    if types.0 == STRING {
        return Value::String(word);
    }
    match serde_json::from_str::<Value>(&word) {
        Ok(value) if types.has_type(Types::of_value(&value)) => value,
        _ => Value::String(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(schema: &Value, words: &[&str]) -> Result<Value, String> {
        let words: Vec<_> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
        let mut read = || Ok(br#"{"from": "stdin"}"#.to_vec());
        let bytes = parse(schema, &words, &mut read)?;
        Ok(serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn words_become_what_the_schema_says() {
        let schema = json!({
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "max_results": {"type": ["integer", "null"]},
                "metric": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "sizes": {"type": "array", "items": {"type": "number"}},
                "where": {"$ref": "#/$defs/place"},
                "unit": {"enum": ["C", "F", 1]},
                "any": {},
            },
            "$defs": {"place": {"type": "object"}},
            "required": ["city", "days"],
        });
        let cases = [
            (&["--city", "12", "--days=3"][..], json!({"city": "12", "days": 3})),
            (&["Bern", "3"], json!({"city": "Bern", "days": 3})),
            (&["--days", "1", "Bern"], json!({"city": "Bern", "days": 1})),
            (&["--days", "soon"], json!({"days": "soon"})),
            (&["--days", "-3"], json!({"days": -3})),
            (&["--max-results", "5"], json!({"max_results": 5})),
            (&["--max_results", "null"], json!({"max_results": null})),
            (&["--metric"], json!({"metric": true})),
            (&["--no-metric"], json!({"metric": false})),
            (&["--metric=false"], json!({"metric": false})),
            (&["--tags", "1", "--tags", "b"], json!({"tags": ["1", "b"]})),
            (&["--tags", "[\"x\", \"y\"]"], json!({"tags": ["x", "y"]})),
            (&["--sizes", "1.5", "--sizes=2"], json!({"sizes": [1.5, 2]})),
            (&["--where", "{\"x\": [1]}"], json!({"where": {"x": [1]}})),
            (&["--unit", "F"], json!({"unit": "F"})),
            (&["--unit", "1"], json!({"unit": 1})),
            (&["--any", "true"], json!({"any": true})),
            (&["--any", "text"], json!({"any": "text"})),
            (&["{\"city\": \"Bern\", \"x\": 1}"], json!({"city": "Bern", "x": 1})),
            (&["--city", "Thun", "{\"city\": \"Bern\"}"], json!({"city": "Thun"})),
            (&["--", "--city"], json!({"city": "--city"})),
            (&["-"], json!({"from": "stdin"})),
            (&[], json!({})),
        ];
        for (words, expected) in cases {
            assert_eq!(made(&schema, words), Ok(expected), "{words:?}");
        }
        for (words, why) in [
            (&["--town", "x"][..], "unrecognized option '--town'"),
            (&["--city"], "option '--city' requires an argument"),
            (&["-x"], "unrecognized option '-x'"),
            (&["a", "1", "c"], "extra operand 'c'"),
        ] {
            assert_eq!(made(&schema, words).unwrap_err(), why, "{words:?}");
        }
        let open = json!({"type": "object"});
        assert_eq!(made(&open, &["--x", "1", "--y=z"]), Ok(json!({"x": 1, "y": "z"})));
    }

    #[test]
    fn schemas_that_turn_around_themselves_end() {
        let schema = json!({"properties": {"a": {"$ref": "#/properties/a"}}});
        assert_eq!(made(&schema, &["--a", "1"]), Ok(json!({"a": 1})));
    }
}
