//! The requests of smart HTTP (gitprotocol-http(5)): which repository and service a request means.
//!
//! A rule that allows needs the one form that git's client sends. A rule that denies applies to
//! whatever a server may take for such a request.

use super::commands::PushFault;
use crate::message::BodyLength;
use crate::path::{PathPrefix, PathReadings};
use http::header::{self, HeaderMap};
use url::Url;

/// A service of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitService {
    /// Reading: `git-upload-pack`.
    UploadPack,
    /// Writing: `git-receive-pack`.
    ReceivePack,
}

impl GitService {
    fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }
}

/// A request in the form of git's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitRequest {
    /// The path of the repository, decoded, without a slash at its end.
    pub(crate) repository: Vec<u8>,
    pub(crate) service: GitService,
    /// Whether it asks for the refs; otherwise it is a request to the service.
    pub(crate) asks_refs: bool,
}

impl GitRequest {
    /// Returns the meaning of a request; `None` unless it is `GET REPOSITORY/info/refs?service=SERVICE`
    /// or `POST REPOSITORY/SERVICE`, and its path has a single reading.
    pub(crate) fn new(method: &str, url: &Url, path: &PathReadings) -> Option<Self> {
        let path = path.single()?;
        let (service, asks_refs) = match (method, url.query()) {
            ("GET", Some("service=git-upload-pack")) => (GitService::UploadPack, true),
            ("GET", Some("service=git-receive-pack")) => (GitService::ReceivePack, true),
            ("POST", None) if path.ends_with(b"/git-upload-pack") => {
                (GitService::UploadPack, false)
            }
            ("POST", None) => (GitService::ReceivePack, false),
            _ => return None,
        };
        let repository = path.strip_suffix(path_end(service, asks_refs).as_bytes())?;
        // A server that ends the repository's path at the first name of a service, or at a `?`
        // that was decoded, would take this for another request.
        let lower = repository.to_ascii_lowercase();
        let is_clear = !["git-upload-pack", "git-receive-pack", "?", "#"]
            .iter()
            .any(|part| contains(&lower, part.as_bytes()))
            && !repository.iter().any(u8::is_ascii_control);
        is_clear.then(|| Self { repository: repository.to_vec(), service, asks_refs })
    }

    /// Returns the part of the request's path that names the repository, as it was written.
    pub(crate) fn strip_end<'a>(&self, path: &'a str) -> &'a str {
        path.strip_suffix(path_end(self.service, self.asks_refs)).unwrap_or(path)
    }

    /// Returns whether this is a push, which is judged by its body.
    pub(crate) fn is_push(&self) -> bool {
        self.service == GitService::ReceivePack && !self.asks_refs
    }

    /// Checks the headers and the length of a request that a rule for git allows.
    pub(crate) fn check_head(
        &self,
        headers: &HeaderMap,
        body: BodyLength,
    ) -> Result<(), PushFault> {
        if self.asks_refs {
            return Ok(());
        }
        let mut types = headers.get_all(header::CONTENT_TYPE).iter();
        let expected = format!("application/x-{}-request", self.service.name());
        match (types.next(), types.next()) {
            (Some(only), None) if only.as_bytes() == expected.as_bytes() => {}
            _ => return Err(PushFault::Type),
        }
        if self.service == GitService::UploadPack {
            return Ok(());
        }
        if headers.contains_key(header::CONTENT_ENCODING) {
            return Err(PushFault::Encoding);
        }
        let known = [&b"version=0"[..], b"version=1", b"version=2"];
        if headers.get_all("git-protocol").iter().any(|v| !known.contains(&v.as_bytes())) {
            return Err(PushFault::Protocol);
        }
        match body {
            BodyLength::None | BodyLength::Bytes(0) => Err(PushFault::Empty),
            BodyLength::Bytes(_) | BodyLength::Unknown => Ok(()),
        }
    }
}

/// Returns the path of a request after that of the repository.
fn path_end(service: GitService, asks_refs: bool) -> &'static str {
    match service {
        _ if asks_refs => "/info/refs",
        GitService::UploadPack => "/git-upload-pack",
        GitService::ReceivePack => "/git-receive-pack",
    }
}

/// The repositories of a rule: one, or all below a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepositoryPattern<'a> {
    pub(crate) path: &'a PathPrefix,
    pub(crate) is_folder: bool,
}

impl RepositoryPattern<'_> {
    fn plain_path(&self) -> &[u8] {
        let path = self.path.as_bytes();
        path.strip_suffix(b"/").unwrap_or(path)
    }

    /// Returns whether a repository is one of them, by its path as it is written.
    pub(crate) fn matches(&self, repository: &[u8]) -> bool {
        match repository.strip_prefix(self.plain_path()) {
            Some(rest) if self.is_folder => rest.len() > 1 && rest.starts_with(b"/"),
            Some(rest) => rest.is_empty(),
            None => false,
        }
    }

    /// Returns whether a server may take the request for one of `service` in one of the
    /// repositories. Case does not count, nor a `.git` at the repository's end.
    pub(crate) fn may_mean(&self, service: GitService, url: &Url, path: &PathReadings) -> bool {
        let own = self.plain_path().to_ascii_lowercase();
        let own = own.strip_suffix(b".git").unwrap_or(&own);
        let query = decoded(url.query().unwrap_or_default()).to_ascii_lowercase();
        let asks = |name: &str| contains(&query, name.as_bytes());
        path.all().any(|reading| {
            let reading = reading.to_ascii_lowercase();
            let Some(rest) = reading.strip_prefix(own) else { return false };
            let rest = rest.strip_prefix(b".git").unwrap_or(rest);
            if !rest.starts_with(b"/") {
                return false;
            }
            let has = |part: &str| contains(rest, part.as_bytes());
            match service {
                GitService::ReceivePack => {
                    has("/git-receive-pack") || (has("/info/refs") && asks("git-receive-pack"))
                }
                // Without a service the same folder serves the repository's files.
                GitService::UploadPack => {
                    has("/git-upload-pack")
                        || (has("/info/refs") && query != b"service=git-receive-pack")
                        || has("/objects/")
                        || rest.ends_with(b"/head")
                }
            }
        })
    }
}

/// Returns a query after it was decoded as often as anything could.
fn decoded(query: &str) -> Vec<u8> {
    let mut text = query.as_bytes().to_vec();
    for _ in 0..4 {
        text = crate::path::decode_percent(&text, "");
    }
    text
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, url: &str) -> Option<GitRequest> {
        let url = Url::parse(url).expect("a URL");
        GitRequest::new(method, &url, &PathReadings::from_path(url.path())?)
    }

    #[test]
    fn requests_of_gits_client() {
        for (method, url, service, asks_refs) in [
            ("GET", "/o/r/info/refs?service=git-upload-pack", GitService::UploadPack, true),
            ("GET", "/o/r/info/refs?service=git-receive-pack", GitService::ReceivePack, true),
            ("POST", "/o/r/git-upload-pack", GitService::UploadPack, false),
            ("POST", "/o/r/git-receive-pack", GitService::ReceivePack, false),
        ] {
            let repository = b"/o/r".to_vec();
            assert_eq!(
                request(method, &format!("https://h{url}")),
                Some(GitRequest { repository, service, asks_refs }),
                "{url}"
            );
        }
        let encoded = request("POST", "https://h/a%20b/%72/git-upload-pack").expect("one reading");
        assert_eq!(encoded.repository, b"/a b/r");
    }

    #[test]
    fn everything_else_is_none_of_them() {
        for (method, url) in [
            // The dumb protocol.
            ("GET", "/o/r/info/refs"),
            ("GET", "/o/r/HEAD"),
            ("GET", "/o/r/objects/info/packs"),
            ("GET", "/o/r/objects/aa/bb"),
            // Queries that servers read differently.
            ("GET", "/o/r/info/refs?"),
            ("GET", "/o/r/info/refs?service="),
            ("GET", "/o/r/info/refs?service=git-upload-archive"),
            ("GET", "/o/r/info/refs?service=git-upload-pack&service=git-receive-pack"),
            ("GET", "/o/r/info/refs?service=git-receive-pack&service=git-upload-pack"),
            ("GET", "/o/r/info/refs?service=git-upload-pack&x=1"),
            ("GET", "/o/r/info/refs?x=1&service=git-upload-pack"),
            ("GET", "/o/r/info/refs?Service=git-upload-pack"),
            ("GET", "/o/r/info/refs?service=git%2dupload-pack"),
            ("GET", "/o/r/info/refs?service=git-upload-pack;a"),
            ("POST", "/o/r/git-receive-pack?"),
            ("POST", "/o/r/git-upload-pack?service=git-receive-pack"),
            // Methods.
            ("POST", "/o/r/info/refs?service=git-upload-pack"),
            ("GET", "/o/r/git-upload-pack"),
            ("GET", "/o/r/git-receive-pack"),
            ("HEAD", "/o/r/info/refs?service=git-upload-pack"),
            ("PUT", "/o/r/git-receive-pack"),
            ("post", "/o/r/git-receive-pack"),
            // Paths.
            ("POST", "/o/r//git-receive-pack"),
            ("POST", "/o//r/git-receive-pack"),
            ("POST", "//o/r/git-receive-pack"),
            ("POST", "/o/r/git-receive-pack/"),
            ("POST", "/o/r/git-receive-pack;x"),
            ("POST", "/o/r;x/git-receive-pack"),
            ("POST", "/o/r%2fgit-receive-pack"),
            ("POST", "/o%2fr/git-receive-pack"),
            ("POST", "/o/r%5cgit-receive-pack"),
            ("POST", "/o/r/%252e%252e/x/git-receive-pack"),
            ("POST", "/o/..%2fx/git-receive-pack"),
            ("POST", "/o/r/Git-Receive-Pack"),
            ("POST", "/o/r/git-receive-pack/git-upload-pack"),
            ("POST", "/o/git-upload-pack/r/git-receive-pack"),
            ("POST", "/o/Git-Receive-Pack/git-upload-pack"),
            ("POST", "/o/r/git-receive-pack./git-upload-pack"),
            ("POST", "/o/r/git-receive-pack%3f/git-upload-pack"),
            ("POST", "/o/r%3f/git-upload-pack"),
            ("POST", "/o/r%23/git-upload-pack"),
            ("POST", "/o/r%0a/git-upload-pack"),
            ("POST", "/o/r%7f/git-upload-pack"),
            ("POST", "/o/r/git-upload-archive"),
            ("POST", "/o/r/info/lfs/objects/batch"),
            ("POST", "/o/r/"),
        ] {
            assert_eq!(request(method, &format!("https://h{url}")), None, "{method} {url}");
        }
        // Dots are resolved before anything is judged or sent.
        for url in ["/o/r/../x/git-receive-pack", "/o/r/%2e%2e/x/git-receive-pack"] {
            let other = request("POST", &format!("https://h{url}")).expect("another repository");
            assert_eq!(other.repository, b"/o/x", "{url}");
        }
    }

    #[test]
    fn repositories_are_one_or_all_below_a_folder() {
        let prefix = |text: &str| PathPrefix::new(text).expect("a prefix");
        let matches = |path: &PathPrefix, is_folder, repository: &str| {
            RepositoryPattern { path, is_folder }.matches(repository.as_bytes())
        };
        let one = prefix("/o/r");
        assert!(matches(&one, false, "/o/r"));
        for other in ["/o", "/o/r.git", "/o/rr", "/o/R", "/o/r/x", "/x/o/r", "", "/o/r/"] {
            assert!(!matches(&one, false, other), "{other}");
        }
        let folder = prefix("/o");
        for below in ["/o/r", "/o/r.git", "/o/a/b"] {
            assert!(matches(&folder, true, below), "{below}");
        }
        for other in ["/o", "/o/", "/oo/r", "/O/r", "/x"] {
            assert!(!matches(&folder, true, other), "{other}");
        }
        assert!(matches(&PathPrefix::every_path(), true, "/o/r"));
        assert!(!matches(&PathPrefix::every_path(), false, "/o/r"));
    }
}
