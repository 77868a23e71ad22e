//! The users and paths of requests.

use crate::fault::Fault;
use crate::sandbox::RunningBox;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest path in bytes.
const LONGEST: usize = 4096;

/// The user for whom something is done. All users have the same rights in a session; they differ in
/// their home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxUser {
    User,
    Root,
}

impl BoxUser {
    /// Returns the user that a request names, or the default one.
    ///
    /// # Errors
    /// If there is no such user.
    pub fn of(headers: &HeaderMap) -> Result<BoxUser, Fault> {
        let value = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
        let Some(text) = value.and_then(|v| v.strip_prefix("Basic ")) else {
            return Ok(BoxUser::User);
        };
        let wrong = || Fault::unauthenticated("the Authorization header is malformed");
        let bytes = STANDARD.decode(text.trim()).map_err(|_| wrong())?;
        let text = String::from_utf8(bytes).map_err(|_| wrong())?;
        BoxUser::named(text.split(':').next().unwrap_or_default())
    }

    /// Returns the user of a name; an empty one is the default user.
    ///
    /// # Errors
    /// If there is no such user.
    pub fn named(name: &str) -> Result<BoxUser, Fault> {
        match name {
            "" | "user" => Ok(BoxUser::User),
            "root" => Ok(BoxUser::Root),
            _ => {
                let shown: String = name.chars().take(64).collect();
                Err(Fault::unauthenticated(format!("invalid username: '{shown}'")))
            }
        }
    }

    /// Returns the user's name.
    pub fn name(self) -> &'static str {
        match self {
            BoxUser::User => "user",
            BoxUser::Root => "root",
        }
    }

    /// Returns the user's home.
    pub fn home(self) -> &'static str {
        match self {
            BoxUser::User => wasibox::HOME,
            BoxUser::Root => "/root",
        }
    }

    /// Returns the absolute path that a request means: relative ones and `~` start at the home.
    ///
    /// # Errors
    /// If it names another user's home, or is no path.
    pub fn absolute_path(self, path: &str) -> Result<String, Fault> {
        if path.len() > LONGEST || path.contains('\0') {
            return Err(Fault::invalid("the path is too long, or has a zero byte"));
        }
        let path = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.home())
            }
            Some(_) => return Err(Fault::invalid("only the own home can be given as ~")),
            None => path.to_owned(),
        };
        let path = if path.starts_with('/') { path } else { format!("{}/{path}", self.home()) };
        Ok(clean_path(&path))
    }
}

/// Makes the home of root before something starts there, because the image has none.
///
/// # Errors
/// If it cannot be made.
pub fn ensure_home(running: &RunningBox, path: &str) -> Result<(), Fault> {
    let home = BoxUser::Root.home();
    if path == home && super::filesystem::look_at(running, home, true)?.is_none() {
        super::filesystem::make_all(running, home)?;
    }
    Ok(())
}

/// Returns an absolute path without `.`, `..` and repeated slashes.
pub fn clean_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Returns the folder that a path is in.
pub fn parent_of(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

/// Returns the last part of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_home() {
        let user = |path: &str| BoxUser::User.absolute_path(path).unwrap();
        assert_eq!(user("a/../b.txt"), "/home/user/b.txt");
        assert_eq!(
            (user(""), user("~"), user("~/x")),
            ("/home/user".into(), "/home/user".into(), "/home/user/x".into())
        );
        assert_eq!((user("/etc//x/."), user("/../..")), ("/etc/x".into(), "/".into()));
        assert_eq!(BoxUser::Root.absolute_path("x").unwrap(), "/root/x");
        for wrong in ["~other/x", "a\0b", &"x".repeat(5000)] {
            assert!(BoxUser::User.absolute_path(wrong).is_err());
        }
        assert_eq!((parent_of("/a"), parent_of("/a/b"), name_of("/a/b")), ("/", "/a", "b"));
    }

    #[test]
    fn users_are_named_by_basic_credentials() {
        let of = |text: &str| {
            let value = axum::http::HeaderValue::from_str(text).unwrap();
            BoxUser::of(&HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
        };
        // printf root: | base64
        assert_eq!(of("Basic cm9vdDo=").unwrap(), BoxUser::Root);
        assert_eq!(of("Basic dXNlcjo=").unwrap(), BoxUser::User);
        assert!(of("Basic eHg6").is_err() && of("Basic %").is_err());
        assert_eq!(BoxUser::of(&HeaderMap::new()).unwrap(), BoxUser::User);
    }
}
