//! Objects in requests' bodies. An object with a repeated key is refused, because JSON leaves open
//! which value counts (RFC 8259, 4): a program between the client and this server may have judged
//! the other one. `serde_json`'s own maps take the last.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};
use std::fmt;

/// Parses an object, in which no object has a key twice.
///
/// # Errors
/// If the bytes are no such object.
pub fn parse_object(bytes: &[u8]) -> serde_json::Result<Map<String, Value>> {
    serde_json::from_slice::<UniqueObject>(bytes).map(|object| object.0)
}

/// An object without repeated keys.
struct UniqueObject(Map<String, Value>);

/// A value in whose objects no key is repeated.
struct UniqueValue(Value);

impl<'de> Deserialize<'de> for UniqueObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<UniqueObject, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Map<String, Value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
                read_entries(entries)
            }
        }
        from.deserialize_map(ObjectVisitor).map(UniqueObject)
    }
}

impl<'de> Deserialize<'de> for UniqueValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<UniqueValue, D::Error> {
        from.deserialize_any(ValueVisitor).map(UniqueValue)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(UniqueValue(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value, A::Error> {
        read_entries(entries).map(Value::Object)
    }
}

fn read_entries<'de, A: MapAccess<'de>>(mut entries: A) -> Result<Map<String, Value>, A::Error> {
    let mut object = Map::new();
    while let Some(key) = entries.next_key::<String>()? {
        match object.entry(key) {
            // The words are those of serde for a type's fields.
            Entry::Occupied(first) => {
                return Err(A::Error::custom(format_args!("duplicate field `{}`", first.key())));
            }
            Entry::Vacant(place) => {
                place.insert(entries.next_value::<UniqueValue>()?.0);
            }
        }
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_serde_json_reads() {
        let text =
            r#"{"a": [null, true, -1, 18446744073709551615, 1.5, "\u00e9\n"], "b": {"a": {}}}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Value::Object(parse_object(text.as_bytes()).unwrap()), value);
        for wrong in ["[]", "null", "", "{} {}", r#"{"a":1e400}"#, r#"{"a":"\ud800"}"#] {
            assert!(parse_object(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(parse_object(deep.as_bytes()).is_err());
    }

    #[test]
    fn repeated_keys_are_refused_at_every_depth() {
        for text in [
            r#"{"command":"true","command":"false"}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"{"a":[{"b":1,"\u0062":2}]}"#,
        ] {
            let why = parse_object(text.as_bytes()).unwrap_err().to_string();
            assert!(why.starts_with("duplicate field `"), "{why}");
        }
    }
}
