//! `runner kv ...`

use crate::args::stored::KvCommand as Command;
use crate::message::{escape_text, json_shown};
use crate::{CliFailure, print_bytes, print_text};
use std::io::{IsTerminal, Read};
use std::os::unix::ffi::OsStrExt;

/// Maximum size in bytes of a value; the store enforces the same limit.
const MAX: u64 = 64 << 20;

/// Runs a command.
pub fn run(command: Command) -> Result<u8, CliFailure> {
    match command {
        Command::Get { store, name, key } => {
            let Some(mut value) = store.open()?.value(&name, key.as_bytes())? else {
                return Err(missing_key(&key));
            };
            if std::io::stdout().is_terminal() {
                // The value is printed unchanged, except for sequences that a terminal would obey.
                value = wasibox::terminal::Filter::default().filter_bytes(&value);
                value.push(b'\n');
            }
            print_bytes(&value)?;
        }
        Command::Set { store, name, key, value } => {
            let mut bytes = value.as_bytes().to_vec();
            if bytes == b"-" {
                bytes.clear();
                std::io::stdin().lock().take(MAX + 1).read_to_end(&mut bytes)?;
            }
            store.open()?.session(&name)?.set_value(key.as_bytes(), &bytes)?;
        }
        Command::List { store, json, name } => {
            let keys = store.open()?.keys(&name)?;
            let keys = keys.iter().map(|key| String::from_utf8_lossy(key));
            let out: String = if json {
                json_shown(format!("{}\n", keys.collect::<serde_json::Value>()))
            } else {
                keys.map(|key| escape_text(&key) + "\n").collect()
            };
            print_text(&out)?;
        }
        Command::Delete { store, name, key } => {
            if !store.open()?.session(&name)?.remove_value(key.as_bytes())? {
                return Err(missing_key(&key));
            }
        }
    }
    Ok(0)
}

fn missing_key(key: &std::ffi::OsStr) -> CliFailure {
    CliFailure::new(1, format!("no value '{}'", key.to_string_lossy()))
}
