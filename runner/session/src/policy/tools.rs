//! The section `[tools]` of a policy file: the tools that doors offer.

use super::file::{WrittenSize, WrittenTime};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The selection and the settings of a door's tools. [`ToolSettings::default`] offers all of them
/// unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ToolSettings {
    /// Whether only tools that change nothing are offered.
    pub read_only: bool,
    /// If given, only these tools are offered.
    pub only: Option<Vec<String>>,
    /// Tools that are not offered.
    pub off: Vec<String>,
    #[serde(rename = "execute_code")]
    pub execute_code: CodeSettings,
    pub calculate: CalculateSettings,
}

/// The settings of `[tools.execute_code]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, from = "WrittenCode")]
pub struct CodeSettings {
    /// The time limit of a program that sets none.
    pub timeout: Option<Duration>,
    /// The memory limit in bytes of a program that sets none.
    pub memory: Option<u64>,
    /// The modules that a program may import, by language: `python`, `javascript`. A language
    /// without an entry is not restricted.
    pub modules: BTreeMap<String, Vec<String>>,
}

/// The settings of `[tools.calculate]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, from = "WrittenCalculate")]
pub struct CalculateSettings {
    /// The time limit of an expression.
    pub timeout: Option<Duration>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenCode {
    timeout: Option<WrittenTime>,
    memory: Option<WrittenSize>,
    modules: WrittenModules,
}

/// The module lists as written, one for each restricted language.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenModules {
    python: Option<Vec<ModuleName>>,
    javascript: Option<Vec<ModuleName>>,
}

/// The name of a module as it is imported.
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
        if (1..=200).contains(&name.len()) && name.bytes().all(fits) {
            Ok(ModuleName(name))
        } else {
            Err(format!("`{name}` is no module's name"))
        }
    }
}

impl From<WrittenCalculate> for CalculateSettings {
    fn from(written: WrittenCalculate) -> CalculateSettings {
        CalculateSettings { timeout: written.timeout.and_then(|t| t.0) }
    }
}
