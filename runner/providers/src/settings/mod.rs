//! Settings of built-in tools: which are on, and to which servers they go.

mod field;
mod store;
mod vault;

pub use field::{CONFIGURABLE, ConfigurableTool, FieldKind, SettingField, ValueError};
pub use field::{fields_of, settings_schema};
pub(crate) use store::private_options;
pub use store::{
    ChangeReport, SavedTool, SavedTools, SavedValue, SettingChange, SettingsError, SettingsStore,
    ToolValues,
};
pub use vault::{KeyVault, VaultError};
