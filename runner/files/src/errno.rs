//! Errors of the file system as errors of requests.

use wasibox_protocol::files::FilesError;
use wasibox_vfs::Errno;

/// Converts an error of the file system about a path.
pub fn errno_error(action: &str, path: &str, e: Errno) -> FilesError {
    FilesError::System {
        action: action.to_owned(),
        path: path.to_owned(),
        code: errno_name(e),
        text: e.text().to_owned(),
    }
}

/// Returns the error's name in C, for example `ENOENT`.
pub fn errno_name(e: Errno) -> String {
    let text = format!("{e:?}");
    match text.split_once('(') {
        Some((name, _)) if name != "?" => format!("E{name}"),
        _ => format!("error {}", e.0),
    }
}
