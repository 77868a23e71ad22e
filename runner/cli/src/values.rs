//! Values on the command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;
use wasibox::MountSpec;

/// Bytes: a number with an optional `K`, `M`, `G` or `T` (powers of 1024), optionally
/// followed by `B` or `iB`.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix("iB").or(unit.strip_suffix('B')).unwrap_or(unit);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Seconds, fractions allowed; 0 is no limit, and so is what no machine will see the end of (30
/// years), since clocks cannot show every time that a number of seconds can.
pub fn seconds(text: &str) -> Option<Option<Duration>> {
    const FOR_EVER: f64 = 1e9;
    let s: f64 = text.parse().ok().filter(|s: &f64| s.is_finite() && *s >= 0.0)?;
    if s == 0.0 || s >= FOR_EVER {
        return Some(None);
    }
    Duration::try_from_secs_f64(s).ok().map(Some)
}

/// `HOST:GUEST[:ro|rw[,quota=SIZE]]`.
pub fn mount(text: &OsStr) -> Option<MountSpec> {
    let b = text.as_bytes();
    let (b, quota) = match find(b, b":rw,quota=") {
        Some(at) => {
            let bytes = size(std::str::from_utf8(&b[at + ":rw,quota=".len()..]).ok()?)?;
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
    (!host.is_empty() && guest.starts_with('/')).then(|| MountSpec {
        host: OsString::from_vec(host.to_vec()).into(),
        guest: guest.to_owned(),
        writable,
        quota,
    })
}

/// Where `part` is in `text` last.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|w| w == part)
}

/// `NAME=VALUE`.
pub fn variable(text: &OsStr) -> Option<(Vec<u8>, Vec<u8>)> {
    let b = text.as_bytes();
    let cut = b.iter().position(|c| *c == b'=').filter(|n| *n > 0)?;
    Some((b[..cut].to_vec(), b[cut + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("0"), Some(0));
        assert_eq!(size("512M"), Some(512 << 20));
        assert_eq!(size("1g"), Some(1 << 30));
        assert_eq!(size("64KiB"), Some(65536));
        assert_eq!(size("5B"), Some(5));
        for bad in ["", "M", "1.5G", "-1", "1X", "99999999999T"] {
            assert_eq!(size(bad), None, "{bad}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.25"), Some(Some(Duration::from_millis(250))));
        assert_eq!(seconds("0"), Some(None));
        for long in ["1e9", "1e19", "1e300"] {
            assert_eq!(seconds(long), Some(None), "{long}");
        }
        for bad in ["", "x", "-1", "nan", "inf", "1e400"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn mounts() {
        let m = |s: &str| mount(s.as_ref()).map(|m| (m.host, m.guest, m.writable));
        let want = |h: &str, g: &str, w| Some((h.into(), g.to_owned(), w));
        assert_eq!(m("a:/b"), want("a", "/b", false));
        assert_eq!(m("/a:/b:rw"), want("/a", "/b", true));
        assert_eq!(m("C:/x:/b:ro"), want("C:/x", "/b", false));
        let q = |s: &str| mount(s.as_ref()).map(|m| (m.guest, m.writable, m.quota));
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
