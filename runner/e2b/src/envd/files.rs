//! Uploads and downloads: `/files`, with the sandbox's token in a header or a signature in the
//! address.

use super::check_scope;
use super::filesystem::{describe_path, look_at, make_all};
use super::metadata::header_metadata;
use super::multipart::FormReader;
use super::paths::{BoxUser, name_of, parent_of};
use crate::app::{begin_request, check_token, equal_texts};
use crate::control::parse_query;
use crate::fault::{Fault, RpcCode, json_response, run_blocking};
use crate::sandbox::RunningBox;
use crate::time::now_ms;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use wasibox::files::FileEntryKind;
use wasibox_actions::ToolScope;
use wasibox_http::{bridge, files};

/// The path of uploads and downloads.
pub const PATH: &str = "/files";
/// The maximum number of files in a form.
const FORM_FILES: usize = 1000;

/// The query of an upload or download.
#[derive(Default)]
pub struct FileQuery {
    path: Option<String>,
    username: Option<String>,
    signature: Option<String>,
    expiration: Option<i64>,
}

impl FileQuery {
    /// Reads the query of an address.
    ///
    /// # Errors
    /// If the expiration is not a number.
    pub fn of(uri: &Uri) -> Result<FileQuery, Fault> {
        let mut query = FileQuery::default();
        for (name, value) in parse_query(uri.query().unwrap_or_default()) {
            match &*name {
                "path" => query.path = Some(value),
                "username" => query.username = Some(value),
                "signature" => query.signature = Some(value),
                "signature_expiration" => {
                    let wrong = |_| Fault::invalid("signature_expiration is not a number");
                    query.expiration = Some(value.parse().map_err(wrong)?);
                }
                _ => {}
            }
        }
        Ok(query)
    }

    /// Returns whether the signature is that of a sandbox with this token; it may have expired.
    pub fn is_signed(&self, token: &str, is_read: bool) -> bool {
        let Some(signature) = &self.signature else { return false };
        let operation = if is_read { "read" } else { "write" };
        let (path, user) = (self.path.as_deref(), self.username.as_deref());
        let mut text = format!(
            "{}:{operation}:{}:{token}",
            path.unwrap_or_default(),
            user.unwrap_or_default()
        );
        if let Some(expiration) = self.expiration {
            text += &format!(":{expiration}");
        }
        let own = format!("v1_{}", STANDARD_NO_PAD.encode(Sha256::digest(text)));
        equal_texts(signature, &own)
    }

    /// Checks that a request may read or write the file.
    fn check_access(
        &self,
        running: &RunningBox,
        headers: &HeaderMap,
        is_read: bool,
    ) -> Result<(), Fault> {
        if headers.contains_key("x-access-token") {
            return check_token(running, headers);
        }
        if self.signature.is_none() {
            return Err(Fault::unauthenticated("missing signature query parameter"));
        }
        if !self.is_signed(&running.token, is_read) {
            return Err(Fault::unauthenticated("invalid signature"));
        }
        if self.expiration.is_some_and(|at| at < (now_ms() / 1000) as i64) {
            return Err(Fault::unauthenticated("signature is already expired"));
        }
        Ok(())
    }
}

/// Answers an upload or a download.
pub async fn answer_files(running: Arc<RunningBox>, request: Request) -> Response<Body> {
    let is_read = match *request.method() {
        Method::GET => true,
        Method::POST => false,
        _ => {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            let text = "files are read by GET and written by POST";
            return Fault::with_status(status, RpcCode::Unimplemented, text).into_response();
        }
    };
    let query = match FileQuery::of(request.uri()) {
        Ok(query) => query,
        Err(fault) => return fault.into_response(),
    };
    let checked = query
        .check_access(&running, request.headers(), is_read)
        .and_then(|()| BoxUser::named(query.username.as_deref().unwrap_or_default()));
    let done = match checked {
        Ok(user) if is_read => download(running, user, &query).await,
        Ok(user) => upload(running, user, &query, request).await,
        Err(fault) => Err(fault),
    };
    done.unwrap_or_else(IntoResponse::into_response)
}

async fn download(
    running: Arc<RunningBox>,
    user: BoxUser,
    query: &FileQuery,
) -> Result<Response<Body>, Fault> {
    check_scope(&running, ToolScope::Read)?;
    let counted = begin_request(&running.owner)?;
    let path = user.absolute_path(query.path.as_deref().unwrap_or_default())?;
    let (theirs, of) = (running.clone(), path.clone());
    let first = run_blocking(move || {
        match look_at(&theirs, &of, true)? {
            None => return Err(Fault::missing(format!("path '{of}' does not exist"))),
            Some(entry) if entry.kind == FileEntryKind::Directory => {
                return Err(Fault::invalid(format!("path '{of}' is a directory")));
            }
            Some(_) => {}
        }
        Ok(files::read_piece(&theirs.session, &of, 0)?)
    });
    let first = first.await?;
    let (size, mime) = (first.size, first.mime.clone());
    let (to, body) = bridge::writer_body(counted);
    let name = name_of(&path).to_owned();
    tokio::task::spawn_blocking(move || files::send_file(&running.session, &path, first, to));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, size.into());
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Ok(mime) = HeaderValue::from_str(&mime) {
        headers.insert(header::CONTENT_TYPE, mime);
    }
    // Because a guest has written the file, it must not be shown as a page of this server.
    let name: String = name.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    Ok(response)
}

/// How the body of an upload has its files.
enum UploadForm {
    /// One file, whose path is in the address.
    Whole(String),
    /// A form with these boundaries.
    Form(String),
}

async fn upload(
    running: Arc<RunningBox>,
    user: BoxUser,
    query: &FileQuery,
    request: Request,
) -> Result<Response<Body>, Fault> {
    check_scope(&running, ToolScope::Write)?;
    let counted = begin_request(&running.owner)?;
    let headers = request.headers();
    let metadata = header_metadata(headers)?;
    let path = query.path.as_deref().map(|path| user.absolute_path(path)).transpose()?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let media = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let form = if media == "application/octet-stream" {
        let missing = || Fault::invalid("path query parameter is required for raw body upload");
        UploadForm::Whole(path.clone().ok_or_else(missing)?)
    } else if media.starts_with("multipart/") {
        UploadForm::Form(super::multipart::boundary_of(kind)?)
    } else {
        return Err(Fault::invalid(
            "unsupported content type: multipart/form-data or application/octet-stream is expected",
        ));
    };
    let is_gzip = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => false,
        Some(b"gzip") => true,
        Some(_) => return Err(Fault::invalid("the body may be compressed by gzip only")),
    };
    let owner = running.owner.clone();
    let reader = bridge::read(request.into_body(), move |bytes| {
        if owner.spend_bytes(bytes) {
            Ok(())
        } else {
            Err(std::io::Error::other("too many bytes within an hour"))
        }
    });
    let written = run_blocking(move || {
        let _counted = counted;
        let most = running.session.policy().limits.disk.bytes;
        // A short body may expand to a long one; no file can be longer than the disk.
        let reader: Box<dyn Read> = if is_gzip {
            Box::new(flate2::read::MultiGzDecoder::new(reader).take(most.saturating_add(1)))
        } else {
            Box::new(reader)
        };
        let target = UploadTarget { running: &running, metadata: &metadata };
        match form {
            UploadForm::Whole(path) => Ok(vec![target.write(&path, reader)?]),
            UploadForm::Form(boundary) => target.write_form(&boundary, reader, path, user),
        }
    });
    Ok(json_response(StatusCode::OK, &Value::Array(written.await?)))
}

struct UploadTarget<'a> {
    running: &'a RunningBox,
    metadata: &'a BTreeMap<String, String>,
}

impl UploadTarget<'_> {
    /// Writes a file, and the folders above it. Returns its description.
    fn write(&self, path: &str, from: impl Read) -> Result<Value, Fault> {
        let running = self.running;
        if let Some(entry) = look_at(running, path, true)?
            && entry.kind == FileEntryKind::Directory
        {
            return Err(Fault::invalid(format!("path is a directory: {path}")));
        }
        make_all(running, parent_of(path))?;
        files::receive_file(&running.session, path, from)?;
        running.file_metadata.set(&running.session, path, self.metadata)?;
        describe_path(running, path)?;
        let mut entry = json!({ "path": path, "name": name_of(path), "type": "file" });
        if !self.metadata.is_empty() {
            entry["metadata"] = json!(self.metadata);
        }
        Ok(entry)
    }

    /// Writes the files of a form. A path in the address is that of its only file.
    fn write_form(
        &self,
        boundary: &str,
        from: impl Read,
        path: Option<String>,
        user: BoxUser,
    ) -> Result<Vec<Value>, Fault> {
        let mut form = FormReader::new(from, boundary);
        let (mut written, mut paths) = (Vec::new(), Vec::new());
        while let Some(part) = form.next_part()? {
            if part.name != "file" {
                form.skip_part()?;
                continue;
            }
            let path = match (&path, &part.file_name) {
                (Some(path), _) => path.clone(),
                (None, Some(name)) => user.absolute_path(name)?,
                (None, None) => return Err(Fault::invalid("a file of the form has no name")),
            };
            if paths.contains(&path) {
                let text = format!(
                    "you cannot upload multiple files to the same path '{path}' in one upload request, \
                     only the first specified file was uploaded"
                );
                return Err(Fault::invalid(text));
            }
            if paths.len() >= FORM_FILES {
                return Err(Fault::invalid(format!("a form has at most {FORM_FILES} files")));
            }
            written.push(self.write(&path, form.part_reader())?);
            form.skip_part()?;
            paths.push(path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_packages() {
        // printf 'a b.txt:read:user:secret:100' | openssl dgst -sha256 -binary | base64, without '='
        let uri = "/files?path=a%20b.txt&username=user&signature_expiration=100\
            &signature=v1_dL%2BQz5ewAxGK0x6k5UvDWNZhtHjNApOt0oOn2JuPLTg";
        let query = FileQuery::of(&uri.parse().unwrap()).unwrap();
        assert!(query.is_signed("secret", true));
        assert!(!query.is_signed("secret", false) && !query.is_signed("other", true));
        assert!(FileQuery::of(&"/files?signature_expiration=x".parse().unwrap()).is_err());
    }
}
