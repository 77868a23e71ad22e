//! What a policy file says of the tools that doors have: `[tools]`.

use super::file::{WrittenSize, WrittenTime};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Which tools a door has, and how they are set. [`ToolSettings::default`] is all of them, as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ToolSettings {
    /// Only tools that change nothing.
    pub read_only: bool,
    /// Only these.
    pub only: Option<Vec<String>>,
    /// Not these.
    pub off: Vec<String>,
    #[serde(rename = "execute_code")]
    pub execute_code: CodeSettings,
    pub calculate: CalculateSettings,
}

/// `[tools.execute_code]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, from = "WrittenCode")]
pub struct CodeSettings {
    /// Limit of time of a program that names none.
    pub timeout: Option<Duration>,
    /// Bytes of memory of a program that names no limit.
    pub memory: Option<u64>,
    /// Modules that a program may import, by language: `python`, `javascript`. A language that is not named has no list.
    pub modules: BTreeMap<String, Vec<String>>,
}

/// `[tools.calculate]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, from = "WrittenCalculate")]
pub struct CalculateSettings {
    /// Limit of time of an expression.
    pub timeout: Option<Duration>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenCode {
    timeout: Option<WrittenTime>,
    memory: Option<WrittenSize>,
    modules: WrittenModules,
}

/// One list for each language that has one.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenModules {
    python: Option<Vec<ModuleName>>,
    javascript: Option<Vec<ModuleName>>,
}

/// A module's name, as it is imported.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct ModuleName(String);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenCalculate {
    timeout: Option<WrittenTime>,
}

impl From<WrittenCode> for CodeSettings {
    fn from(written: WrittenCode) -> CodeSettings {
        let WrittenCode { timeout, memory, modules: WrittenModules { python, javascript } } =
            written;
        let lists = [("python", python), ("javascript", javascript)];
        let named = |list: Vec<ModuleName>| list.into_iter().map(|m| m.0).collect();
        CodeSettings {
            timeout: timeout.and_then(|t| t.0),
            memory: memory.map(|n| n.0),
            modules: lists
                .into_iter()
                .filter_map(|(language, list)| Some((language.to_owned(), named(list?))))
                .collect(),
        }
    }
}

impl TryFrom<String> for ModuleName {
    type Error = String;

    fn try_from(name: String) -> Result<ModuleName, String> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-./@:".contains(&b);
        match (1..=200).contains(&name.len()) && name.bytes().all(fits) {
            true => Ok(ModuleName(name)),
            false => Err(format!("`{name}` is no module's name")),
        }
    }
}

impl From<WrittenCalculate> for CalculateSettings {
    fn from(written: WrittenCalculate) -> CalculateSettings {
        CalculateSettings { timeout: written.timeout.and_then(|t| t.0) }
    }
}
