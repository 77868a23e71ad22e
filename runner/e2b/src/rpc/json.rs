//! The parts of proto3's JSON that differ from serde's own form: bytes in base64, 64-bit
//! numbers as texts, enumerations by name or number, dates.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Bytes in base64; both alphabets are read.
pub mod bytes {
    use super::*;

    /// Writes bytes.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If the text is not base64.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        let engine = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
        engine.decode(text).map_err(D::Error::custom)
    }
}

/// A 64-bit number, as a text.
pub mod long {
    use super::*;

    /// Writes a number.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(number: &i64, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&number.to_string())
    }

    /// Reads a number or its text.
    ///
    /// # Errors
    /// If it is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum LongValue {
            Number(i64),
            Text(String),
        }
        match LongValue::deserialize(d)? {
            LongValue::Number(number) => Ok(number),
            LongValue::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// The names of an enumeration's numbers.
pub trait EnumNames {
    /// The numbers with their names.
    const NAMES: &'static [(i32, &'static str)];
}

/// Writes the name of a number.
///
/// # Errors
/// The serializer's.
pub fn write_enum<E: EnumNames, S: Serializer>(number: &i32, s: S) -> Result<S::Ok, S::Error> {
    match E::NAMES.iter().find(|(n, _)| n == number) {
        Some((_, name)) => s.serialize_str(name),
        None => s.serialize_i32(*number),
    }
}

/// Reads a name or a number. An unknown name is 0, as in a message of a newer client.
///
/// # Errors
/// If it is neither.
pub fn read_enum<'de, E: EnumNames, D: Deserializer<'de>>(d: D) -> Result<i32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum EnumValue {
        Number(i32),
        Text(String),
    }
    Ok(match EnumValue::deserialize(d)? {
        EnumValue::Number(number) => number,
        EnumValue::Text(text) => {
            E::NAMES.iter().find(|(_, name)| **name == *text).map_or(0, |(number, _)| *number)
        }
    })
}
