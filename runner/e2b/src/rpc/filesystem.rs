//! The messages of the service `filesystem.Filesystem`.

use super::json;
use super::process::Empty;
use crate::time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;

/// A date: seconds since the epoch and nanoseconds. In JSON it is a text.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl Timestamp {
    /// Makes a date from nanoseconds since the epoch.
    pub fn from_ns(ns: u64) -> Timestamp {
        Timestamp { seconds: (ns / 1_000_000_000) as i64, nanos: (ns % 1_000_000_000) as i32 }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        let nanos = u64::try_from(self.nanos).unwrap_or(0);
        s.serialize_str(&time::format_ns(
            seconds.saturating_mul(1_000_000_000).saturating_add(nanos),
        ))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(d)?;
        let ms = time::parse_ms(&text).ok_or_else(|| serde::de::Error::custom("no date"))?;
        Ok(Timestamp::from_ns(ms.saturating_mul(1_000_000)))
    }
}

/// The kinds of files.
pub struct FileTypeNames;

pub const TYPE_FILE: i32 = 1;
pub const TYPE_DIRECTORY: i32 = 2;
pub const TYPE_SYMLINK: i32 = 3;

impl json::EnumNames for FileTypeNames {
    const NAMES: &'static [(i32, &'static str)] = &[
        (0, "FILE_TYPE_UNSPECIFIED"),
        (TYPE_FILE, "FILE_TYPE_FILE"),
        (TYPE_DIRECTORY, "FILE_TYPE_DIRECTORY"),
        (TYPE_SYMLINK, "FILE_TYPE_SYMLINK"),
    ];
}

/// The kinds of events.
pub struct EventTypeNames;

pub const EVENT_CREATE: i32 = 1;
pub const EVENT_WRITE: i32 = 2;
pub const EVENT_REMOVE: i32 = 3;
pub const EVENT_CHMOD: i32 = 5;

impl json::EnumNames for EventTypeNames {
    const NAMES: &'static [(i32, &'static str)] = &[
        (0, "EVENT_TYPE_UNSPECIFIED"),
        (EVENT_CREATE, "EVENT_TYPE_CREATE"),
        (EVENT_WRITE, "EVENT_TYPE_WRITE"),
        (EVENT_REMOVE, "EVENT_TYPE_REMOVE"),
        (4, "EVENT_TYPE_RENAME"),
        (EVENT_CHMOD, "EVENT_TYPE_CHMOD"),
    ];
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EntryInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int32, tag = "2")]
    #[serde(
        rename = "type",
        serialize_with = "json::write_enum::<FileTypeNames, _>",
        deserialize_with = "json::read_enum::<FileTypeNames, _>"
    )]
    pub kind: i32,
    #[prost(string, tag = "3")]
    pub path: String,
    #[prost(int64, tag = "4")]
    #[serde(with = "json::long")]
    pub size: i64,
    #[prost(uint32, tag = "5")]
    pub mode: u32,
    #[prost(string, tag = "6")]
    pub permissions: String,
    #[prost(string, tag = "7")]
    pub owner: String,
    #[prost(string, tag = "8")]
    pub group: String,
    #[prost(message, optional, tag = "9")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_time: Option<Timestamp>,
    #[prost(string, optional, tag = "10")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symlink_target: Option<String>,
    #[prost(map = "string, string", tag = "11")]
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    pub metadata: HashMap<String, String>,
}

/// A request about a path.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PathRequest {
    #[prost(string, tag = "1")]
    pub path: String,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MoveRequest {
    #[prost(string, tag = "1")]
    pub source: String,
    #[prost(string, tag = "2")]
    pub destination: String,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListDirRequest {
    #[prost(string, tag = "1")]
    pub path: String,
    #[prost(uint32, tag = "2")]
    pub depth: u32,
}

/// The answer with one entry.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EntryResponse {
    #[prost(message, optional, tag = "1")]
    pub entry: Option<EntryInfo>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListDirResponse {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<EntryInfo>,
}

/// A request to watch a directory.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WatchRequest {
    #[prost(string, tag = "1")]
    pub path: String,
    #[prost(bool, tag = "2")]
    pub recursive: bool,
    #[prost(bool, tag = "3")]
    #[serde(alias = "include_entry")]
    pub include_entry: bool,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FilesystemEvent {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int32, tag = "2")]
    #[serde(
        rename = "type",
        serialize_with = "json::write_enum::<EventTypeNames, _>",
        deserialize_with = "json::read_enum::<EventTypeNames, _>"
    )]
    pub kind: i32,
    #[prost(message, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryInfo>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WatchEvent {
    #[prost(message, tag = "1")]
    Start(Empty),
    #[prost(message, boxed, tag = "2")]
    Filesystem(Box<FilesystemEvent>),
    #[prost(message, tag = "3")]
    Keepalive(Empty),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default)]
pub struct WatchDirResponse {
    #[prost(oneof = "WatchEvent", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub event: Option<WatchEvent>,
}

/// A watcher, by its number.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WatcherId {
    #[prost(string, tag = "1")]
    #[serde(alias = "watcher_id")]
    pub watcher_id: String,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WatcherEvents {
    #[prost(message, repeated, tag = "1")]
    pub events: Vec<FilesystemEvent>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Codec;

    #[test]
    fn entries_are_written_as_proto3_maps_them() {
        let entry = EntryInfo {
            name: "a".into(),
            kind: TYPE_FILE,
            path: "/a".into(),
            size: 5,
            mode: 0o644,
            permissions: "-rw-r--r--".into(),
            owner: "user".into(),
            group: "user".into(),
            modified_time: Some(Timestamp::from_ns(1_500_000_000)),
            ..EntryInfo::default()
        };
        let json = Codec::Json.encode(&EntryResponse { entry: Some(entry.clone()) });
        let text = r#"{"entry":{"name":"a","type":"FILE_TYPE_FILE","path":"/a","size":"5","mode":420,"permissions":"-rw-r--r--","owner":"user","group":"user","modifiedTime":"1970-01-01T00:00:01.500000000Z"}}"#;
        assert_eq!(String::from_utf8(json.to_vec()).unwrap(), text);
        let back: EntryResponse = Codec::Json.decode(text.as_bytes()).unwrap();
        assert_eq!(back.entry, Some(entry.clone()));
        let back: EntryInfo = Codec::Protobuf.decode(&Codec::Protobuf.encode(&entry)).unwrap();
        assert_eq!(back, entry);
    }
}
