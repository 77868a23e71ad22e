//! Files of the session as resources: `sandbox:///PATH`.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use wasibox::Session;
use wasibox::files::{Answer, FileEntryKind, LsOf, Request};
use wasibox_actions::Refusal;

/// The prefix of addresses.
const SCHEME: &str = "sandbox://";
/// The template of all addresses.
pub const TEMPLATE: &str = "sandbox://{+path}";
/// The folder whose files are listed.
const FOLDER: &str = "/output";
/// The maximum number of files that are listed, and the maximum number of levels.
const LISTED: u64 = 1000;
const DEPTH: u32 = 8;
/// The maximum number of bytes of a file that is read.
const MOST: u64 = 16 << 20;

/// The characters that are escaped in an address.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'\\');

/// Returns a file's address.
pub fn file_uri(path: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path, ESCAPED))
}

/// Returns the absolute path of an address.
pub fn uri_path(uri: &str) -> Option<String> {
    let path = percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?.into_owned();
    (path.starts_with('/') && !path.contains('\0')).then_some(path)
}

/// Returns the results of the session: paths and lengths.
///
/// # Errors
/// Returns the errors of the file operations.
pub fn list_results(session: &Session) -> Result<Vec<(String, u64)>, Refusal> {
    let request = Request::Ls(LsOf {
        path: FOLDER.into(),
        depth: Some(DEPTH),
        hidden: false,
        offset: 0,
        limit: Some(LISTED),
    });
    let entries = match session.files(&request)? {
        Answer::Entries { entries, .. } => entries,
        _ => Vec::new(),
    };
    let files = entries.into_iter().filter(|e| e.kind == FileEntryKind::File);
    Ok(files.map(|e| (format!("{FOLDER}/{}", e.path), e.size)).collect())
}

/// Returns a file's bytes and their type.
///
/// # Errors
/// Returns an error if the file does not exist or is too large.
pub fn read(session: &Session, path: &str) -> Result<(String, Vec<u8>), Refusal> {
    let request = Request::Download { path: path.into(), offset: 0, limit: Some(MOST) };
    match session.files(&request)? {
        Answer::Data { mime, data, next_offset: None, .. } => Ok((mime, data.0)),
        Answer::Data { size, .. } => {
            let text = format!("{path} has {size} bytes; read parts of it with download");
            Err(Refusal::new(wasibox_actions::RefusalKind::Limit, text))
        }
        _ => Err(Refusal::invalid_request(format!("{path} cannot be read"))),
    }
}

/// The changes that a call has made to the results.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ResourceChanges {
    /// Addresses of changed files.
    pub updated: Vec<String>,
    /// Whether the list of files has changed.
    pub is_list: bool,
}

impl ResourceChanges {
    /// Returns the changes in a tool's answer: changed files of a command, or the path of a written
    /// file.
    pub fn of(answer: &Value) -> ResourceChanges {
        let mut out = ResourceChanges::default();
        for file in answer.get("files").and_then(Value::as_array).into_iter().flatten() {
            let what = file.get("change").and_then(Value::as_str).unwrap_or("created");
            out.add(file.get("path"), what != "modified");
        }
        let is_new = answer.get("created").and_then(Value::as_bool);
        for name in ["path", "from", "to"] {
            out.add(answer.get(name), is_new.unwrap_or(true));
        }
        out
    }

    fn add(&mut self, path: Option<&Value>, is_list: bool) {
        let Some(path) = path.and_then(Value::as_str) else { return };
        if path.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/')) {
            self.updated.push(file_uri(path));
            self.is_list |= is_list;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_lead_to_paths_and_back() {
        for p in ["/output/a b.png", "/x/100%?#<ä>\\", "/"] {
            assert_eq!(uri_path(&file_uri(p)).as_deref(), Some(p));
        }
        assert_eq!(file_uri("/output/a b"), "sandbox:///output/a%20b");
        for bad in ["file:///etc/passwd", "sandbox://etc", "sandbox:///a%00", "sandbox:///%ff", ""]
        {
            assert_eq!(uri_path(bad), None, "{bad}");
        }
    }

    #[test]
    fn answers_tell_of_results() {
        let ran = json!({"files": [
            {"path": "/output/a", "change": "modified"}, {"path": "/tmp/b", "change": "created"},
        ]});
        let want = ResourceChanges { updated: vec!["sandbox:///output/a".into()], is_list: false };
        assert_eq!(ResourceChanges::of(&ran), want);
        assert!(ResourceChanges::of(&json!({"path": "/output/n", "created": true})).is_list);
        assert_eq!(ResourceChanges::of(&json!({"path": "/outputs/n"})), ResourceChanges::default());
    }
}
