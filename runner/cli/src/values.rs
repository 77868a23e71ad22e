//! Values on the command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
pub use wasibox::policy::values::{parse_seconds, parse_size};
use wasibox::{MountSpec, Workspace};

/// The reason why a text is not a mount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MountTextError {
    #[error("not HOST:GUEST")]
    Form,
    #[error("'{0}' is not an absolute path of the guest")]
    RelativeGuest(String),
}

/// Parses a mount: `HOST:GUEST[:ro|rw[,quota=SIZE]]`, for example `data:/data:rw,quota=1G`.
///
/// # Errors
/// If the text has a different form, or GUEST does not begin with `/`.
pub fn mount(text: &OsStr) -> Result<MountSpec, MountTextError> {
    let mount = mount_parts(text.as_bytes()).ok_or(MountTextError::Form)?;
    if mount.guest.starts_with('/') {
        Ok(mount)
    } else {
        Err(MountTextError::RelativeGuest(mount.guest))
    }
}

fn mount_parts(b: &[u8]) -> Option<MountSpec> {
    let (b, quota) = match find_last(b, b":rw,quota=") {
        Some(at) => {
            let bytes = parse_size(std::str::from_utf8(&b[at + ":rw,quota=".len()..]).ok()?)?;
            (&b[..at + ":rw".len()], Some(bytes))
        }
        None => (b, None),
    };
    let (b, writable) = match b {
        [rest @ .., b':', b'r', b'w'] => (rest, true),
        [rest @ .., b':', b'r', b'o'] => (rest, false),
        _ => (b, false),
    };
    let cut = b.iter().rposition(|c| *c == b':')?;
    let (host, guest) = (&b[..cut], std::str::from_utf8(&b[cut + 1..]).ok()?);
    (!host.is_empty() && !guest.is_empty()).then(|| MountSpec {
        host: OsString::from_vec(host.to_vec()).into(),
        guest: guest.to_owned(),
        writable,
        quota,
    })
}

/// Parses a workspace, `PATH[:GUEST]`: a zip, or a folder of the host.
pub fn workspace(text: &OsStr) -> Option<Workspace> {
    let b = text.as_bytes();
    let (path, guest) = match find_last(b, b":/") {
        Some(cut) => (&b[..cut], std::str::from_utf8(&b[cut + 1..]).ok()?),
        None => (b, Workspace::GUEST),
    };
    let host = OsString::from_vec(path.to_vec());
    (!path.is_empty()).then(|| Workspace { guest: guest.to_owned(), ..Workspace::of(host) })
}

/// Returns the last position of `part` in `text`.
fn find_last(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|w| w == part)
}

/// Parses a variable, `NAME=VALUE`.
pub fn variable(text: &OsStr) -> Option<(Vec<u8>, Vec<u8>)> {
    let b = text.as_bytes();
    let cut = b.iter().position(|c| *c == b'=').filter(|n| *n > 0)?;
    Some((b[..cut].to_vec(), b[cut + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces() {
        let w = |s: &str| workspace(s.as_ref()).map(|w| (w.path, w.guest));
        let want = |p: &str, g: &str| Some((p.into(), g.to_owned()));
        assert_eq!(w("p.zip"), want("p.zip", "/work"));
        assert_eq!(w("a:b/p.zip:/src"), want("a:b/p.zip", "/src"));
        assert_eq!((w(""), w(":/x")), (None, None));
    }

    #[test]
    fn mounts() {
        let m = |s: &str| mount(s.as_ref()).ok().map(|m| (m.host, m.guest, m.writable));
        let want = |h: &str, g: &str, w| Some((h.into(), g.to_owned(), w));
        assert_eq!(m("a:/b"), want("a", "/b", false));
        assert_eq!(m("/a:/b:rw"), want("/a", "/b", true));
        assert_eq!(m("C:/x:/b:ro"), want("C:/x", "/b", false));
        let relative = |s: &str| Err(MountTextError::RelativeGuest(s.to_owned()));
        assert_eq!(mount(".:src".as_ref()), relative("src"));
        assert_eq!(mount("/a:~/b:rw,quota=1M".as_ref()), relative("~/b"));
        assert_eq!(mount("/a".as_ref()), Err(MountTextError::Form));
        let q = |s: &str| mount(s.as_ref()).ok().map(|m| (m.guest, m.writable, m.quota));
        assert_eq!(q("a:/b:rw,quota=2M"), Some(("/b".to_owned(), true, Some(2 << 20))));
        assert_eq!(q("a:/b:rw"), Some(("/b".to_owned(), true, None)));
        for bad in ["a", "a:b", ":/b", "a:", "", "a:/b:rw,quota=", "a:/b:rw,quota=x"] {
            assert_eq!(m(bad), None, "{bad}");
        }
    }

    #[test]
    fn variables() {
        let v = |s: &str| variable(s.as_ref());
        assert_eq!(v("A=b=c"), Some((b"A".to_vec(), b"b=c".to_vec())));
        assert_eq!(v("A="), Some((b"A".to_vec(), vec![])));
        assert_eq!(v("A"), None);
        assert_eq!(v("=x"), None);
    }
}
