//! The tools that have settings, and their settings, in one table.

use serde_json::{Map, Value, json};
use url::{Host, Url};

/// The kind of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text of at most so many characters.
    Text(usize),
    /// A whole number within bounds.
    Count { least: u64, most: u64 },
    /// The address of a server: https, or http on this machine.
    Address,
    /// A key, which is kept encrypted and never shown.
    Key,
}

/// A setting of a tool.
#[derive(Clone, Copy, Debug)]
pub struct SettingField {
    pub name: &'static str,
    pub kind: FieldKind,
    /// The value that holds if none is set; for people, where it depends on another setting.
    pub default: Option<&'static str>,
    pub text: &'static str,
}

/// A tool that has settings.
#[derive(Debug)]
pub struct ConfigurableTool {
    pub name: &'static str,
    pub fields: &'static [SettingField],
}

/// The reason why a value does not fit a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error("expected one of {}", .0.join(", "))]
    Choice(&'static [&'static str]),
    #[error("expected a text of 1 to {0} characters without control characters")]
    Text(usize),
    #[error("expected a whole number from {least} to {most}")]
    Count { least: u64, most: u64 },
    #[error(
        "expected an address that begins with https://, or with http:// on this machine, without \
         user, query and fragment"
    )]
    Address,
    #[error("a key has {MIN_KEY} to {MAX_KEY} visible ASCII characters")]
    Key,
}

/// The length of keys. The bridge hides no secrets that are shorter, because short texts occur by
/// chance.
const MIN_KEY: usize = 8;
const MAX_KEY: usize = 512;

const KEEP: SettingField = SettingField {
    name: "keep",
    kind: FieldKind::Count { least: 0, most: 86_400 },
    default: Some("900"),
    text: "Seconds for which an answer is given again without a request; 0 for never",
};

const fn daily(default: &'static str) -> SettingField {
    SettingField {
        name: "daily",
        kind: FieldKind::Count { least: 0, most: 1_000_000 },
        default: Some(default),
        text: "Maximum number of requests in a day (UTC)",
    }
}

const fn timeout(most: u64, default: &'static str, text: &'static str) -> SettingField {
    let kind = FieldKind::Count { least: 1, most };
    SettingField { name: "timeout", kind, default: Some(default), text }
}

const KEY: SettingField = SettingField {
    name: "key",
    kind: FieldKind::Key,
    default: None,
    text: "The server's key; kept encrypted and never shown",
};

const ADDRESS: SettingField = SettingField {
    name: "address",
    kind: FieldKind::Address,
    default: Some("the provider's own"),
    text: "The server's address, for a gateway or for tests",
};

/// All tools that have settings, by name.
#[rustfmt::skip]
pub const CONFIGURABLE: &[ConfigurableTool] = &[
    ConfigurableTool { name: "calculate", fields: &[
        timeout(3600, "10", "Maximum number of seconds of an expression"),
    ] },
    ConfigurableTool { name: "execute_code", fields: &[
        SettingField {
            name: "memory", kind: FieldKind::Count { least: 64, most: 512 },
            default: Some("256"), text: "Memory limit in MiB of a program that sets none",
        },
        SettingField {
            name: "timeout", kind: FieldKind::Count { least: 5, most: 120 },
            default: Some("30"), text: "Seconds of a program that sets no time limit",
        },
    ] },
    ConfigurableTool { name: "fetch_page", fields: &[
        SettingField {
            name: "characters", kind: FieldKind::Count { least: 500, most: 200_000 },
            default: Some("20000"), text: "Maximum number of characters of an answer",
        },
        daily("1000"), KEEP,
        timeout(300, "30", "Seconds until a page must be there"),
    ] },
    ConfigurableTool { name: "generate_image", fields: &[
        SettingField { default: Some("https://api.openai.com/v1"), ..ADDRESS },
        daily("20"), KEY,
        SettingField {
            name: "model", kind: FieldKind::Text(100),
            default: Some("gpt-image-1"), text: "The model",
        },
        timeout(3600, "300", "Seconds until a picture must be there"),
    ] },
    ConfigurableTool { name: "web_search", fields: &[
        ADDRESS, daily("100"),
        SettingField {
            name: "engine", kind: FieldKind::Text(100),
            default: None, text: "For google: the ID of the search engine (cx)",
        },
        SettingField {
            name: "interval", kind: FieldKind::Count { least: 0, most: 60_000 },
            default: Some("1000"), text: "Milliseconds from one request to the next",
        },
        KEEP, KEY,
        SettingField {
            name: "provider", kind: FieldKind::Choice(&["brave", "serpapi", "google", "duckduckgo"]),
            default: None, text: "The search service; duckduckgo needs no key, and has instant answers only",
        },
        SettingField {
            name: "safe-search", kind: FieldKind::Choice(&["off", "moderate", "strict"]),
            default: Some("moderate"), text: "What is left out as unfit for some readers",
        },
        timeout(300, "20", "Seconds until an answer must be there"),
    ] },
];

/// The settings that say to whom a key is sent. Changing one of them removes the key, so that nobody
/// can have it sent to a server of theirs.
pub const KEY_TARGET: &[&str] = &["address", "provider"];

/// Returns the settings of a tool; none for a tool that has no settings.
pub fn fields_of(tool: &str) -> &'static [SettingField] {
    CONFIGURABLE.iter().find(|t| t.name == tool).map_or(&[], |t| t.fields)
}

impl SettingField {
    /// Checks a value.
    ///
    /// # Errors
    /// Returns the expected form if the value does not have it.
    pub fn check(&self, value: &str) -> Result<(), ValueError> {
        let length = value.chars().count();
        match self.kind {
            FieldKind::Choice(words) if !words.contains(&value) => Err(ValueError::Choice(words)),
            FieldKind::Text(most)
                if !(1..=most).contains(&length) || value.chars().any(char::is_control) =>
            {
                Err(ValueError::Text(most))
            }
            FieldKind::Count { least, most }
                if !value.parse().is_ok_and(|n: u64| (least..=most).contains(&n)) =>
            {
                Err(ValueError::Count { least, most })
            }
            FieldKind::Address if !is_address(value) => Err(ValueError::Address),
            FieldKind::Key
                if !(MIN_KEY..=MAX_KEY).contains(&length)
                    || !value.bytes().all(|b| b.is_ascii_graphic()) =>
            {
                Err(ValueError::Key)
            }
            _ => Ok(()),
        }
    }

    /// Returns the JSON Schema of the setting's values.
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            FieldKind::Choice(words) => json!({ "type": "string", "enum": words }),
            FieldKind::Text(most) => json!({ "type": "string", "maxLength": most }),
            FieldKind::Count { least, most } => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            FieldKind::Address => json!({ "type": "string", "format": "uri" }),
            FieldKind::Key => json!({ "type": "string", "writeOnly": true }),
        };
        schema["description"] = self.text.into();
        match (self.kind, self.default) {
            (FieldKind::Count { .. }, Some(default)) => {
                schema["default"] = default.parse::<u64>().map_or(Value::Null, Value::from);
            }
            (FieldKind::Choice(_), Some(default)) => schema["default"] = default.into(),
            _ => {}
        }
        schema
    }
}

/// Returns the JSON Schema of a tool's settings.
pub fn settings_schema(tool: &str) -> Value {
    let properties: Map<String, Value> =
        fields_of(tool).iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Returns whether a text is an address that keys may be sent to.
fn is_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    text.len() <= 500 && is_plain && (url.scheme() == "https" || url.scheme() == "http" && is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(tool: &str, name: &str) -> &'static SettingField {
        fields_of(tool).iter().find(|field| field.name == name).unwrap()
    }

    #[test]
    fn the_table_is_sorted_and_defaults_fit() {
        assert!(CONFIGURABLE.windows(2).all(|two| two[0].name < two[1].name));
        for tool in CONFIGURABLE {
            assert!(tool.fields.windows(2).all(|two| two[0].name < two[1].name), "{}", tool.name);
            for field in tool.fields {
                let is_value = field.kind != FieldKind::Address;
                if let Some(default) = field.default.filter(|_| is_value) {
                    assert_eq!(field.check(default), Ok(()), "{} {}", tool.name, field.name);
                }
            }
        }
    }

    #[test]
    fn values_are_checked() {
        let address = field("web_search", "address");
        for good in ["https://a.example/v1", "http://127.0.0.1:8000", "http://localhost/x/"] {
            assert_eq!(address.check(good), Ok(()), "{good}");
        }
        for wrong in [
            "http://a.example/",
            "ftp://a.example",
            "x",
            "https://u:p@a.example/",
            "https://a.example/?x=1",
            "http://10.0.0.1/",
        ] {
            assert_eq!(address.check(wrong), Err(ValueError::Address), "{wrong}");
        }
        let provider = field("web_search", "provider");
        assert!(provider.check("brave").is_ok() && provider.check("bing").is_err());
        let daily = field("web_search", "daily");
        assert!(
            daily.check("0").is_ok() && daily.check("-1").is_err() && daily.check("x").is_err()
        );
        let key = field("web_search", "key");
        for wrong in ["short", "with a space", "line\nline", &"x".repeat(513)] {
            assert_eq!(key.check(wrong), Err(ValueError::Key), "{wrong}");
        }
        assert_eq!(key.check("0123456789abcdef"), Ok(()));
    }

    #[test]
    fn schemas_hide_keys() {
        let schema = settings_schema("web_search");
        assert_eq!(schema["properties"]["key"]["writeOnly"], true);
        assert_eq!(schema["properties"]["daily"]["default"], 100);
        assert_eq!(settings_schema("kv_get")["properties"], json!({}));
    }
}
