//! Signed links: addresses that lead to one port of one session for a limited time, without a token.
//!
//! A link is its data and an HMAC-SHA-256 of them. The key is made when the server begins, so that all
//! links end with it, and nothing has to be kept.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest text that is looked at.
const LONGEST: usize = 400;
/// The beginning of each kind of signed text, so that one is never taken for the other.
const LINK: &str = "link";
const HOST: &str = "host";

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortLink {
    /// The owner's name; empty without tokens.
    pub owner: String,
    pub session: String,
    pub port: u16,
    /// Seconds since the epoch.
    pub expires: u64,
}

/// The key that signs links.
pub struct LinkKey([u8; 32]);

impl LinkKey {
    /// Makes a key.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new() -> Result<LinkKey, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(LinkKey(key))
    }

    fn mac(&self, kind: &str, text: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(kind.as_bytes());
        mac.update(b"\n");
        mac.update(text.as_bytes());
        Some(mac)
    }

    /// Returns a link as text: letters, digits and `-_.`.
    pub fn sign_link(&self, link: &PortLink) -> Option<String> {
        // No part contains a line's end, because names of owners and sessions do not.
        let PortLink { owner, session, port, expires } = link;
        let text = format!("{port}\n{expires}\n{owner}\n{session}");
        let sum = self.mac(LINK, &text)?.finalize().into_bytes();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        Some(format!("{}.{}", encode(text.as_bytes()), encode(&sum)))
    }

    /// Returns the target of a link at a time, if it is signed with this key and has not expired.
    pub fn read_link(&self, text: &str, now: u64) -> Option<PortLink> {
        if text.len() > LONGEST {
            return None;
        }
        let (data, sum) = text.split_once('.')?;
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).ok();
        let data = String::from_utf8(decode(data)?).ok()?;
        self.mac(LINK, &data)?.verify_slice(&decode(sum)?).ok()?;
        let mut parts = data.splitn(4, '\n');
        let mut next = || parts.next();
        let (port, expires) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let (owner, session) = (next()?.to_owned(), next()?.to_owned());
        (expires > now).then_some(PortLink { owner, session, port, expires })
    }

    /// Returns the first label of the host that a link leads to, if it can be one. It differs from
    /// owner to owner, so that a browser never takes two owners' sessions for one origin.
    pub fn link_label(&self, link: &PortLink) -> Option<String> {
        let sum = self.mac(HOST, &link.owner)?.finalize().into_bytes();
        let mark: String = sum[..5].iter().map(|byte| format!("{byte:02x}")).collect();
        let label = format!("{}-{}-{mark}", link.port, link.session);
        is_label(&label).then_some(label)
    }
}

/// Returns whether a text can be a label of a host's name as browsers write it.
pub fn is_label(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=63).contains(&text.len()) && text.bytes().all(fine) && !text.ends_with('-')
}

/// Returns the time in seconds since the epoch.
pub fn epoch_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> PortLink {
        PortLink { owner: "alice".into(), session: "w".into(), port: 8000, expires: 100 }
    }

    #[test]
    fn a_link_is_read_until_it_expires() {
        let key = LinkKey::new().unwrap();
        let text = key.sign_link(&link()).unwrap();
        assert_eq!(key.read_link(&text, 99), Some(link()));
        assert_eq!(key.read_link(&text, 100), None);
        assert_eq!(LinkKey::new().unwrap().read_link(&text, 0), None);
    }

    #[test]
    fn no_changed_link_is_read() {
        let key = LinkKey::new().unwrap();
        let text = key.sign_link(&link()).unwrap();
        for at in 0..text.len() {
            for with in [b'A', b'B', b'.', b'-'] {
                let mut other = text.clone().into_bytes();
                if other[at] == with {
                    continue;
                }
                other[at] = with;
                let other = String::from_utf8(other).unwrap();
                assert_eq!(key.read_link(&other, 0), None, "{other}");
            }
        }
        let (data, sum) = text.split_once('.').unwrap();
        for other in [data, sum, ".", "", &format!("{data}."), &format!("{text}="), &text.repeat(9)]
        {
            assert_eq!(key.read_link(other, 0), None, "{other}");
        }
        // The sum of a host's label is not that of a link.
        let label = key.mac(HOST, "1\n100\n\nw").unwrap().finalize().into_bytes();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let made = format!("{}.{}", encode(b"1\n100\n\nw"), encode(&label));
        assert_eq!(key.read_link(&made, 0), None);
    }

    #[test]
    fn labels_differ_from_owner_to_owner() {
        let key = LinkKey::new().unwrap();
        let label = |link: PortLink| key.link_label(&link);
        let first = label(link()).unwrap();
        assert!(first.starts_with("8000-w-") && is_label(&first), "{first}");
        assert_ne!(Some(first), label(PortLink { owner: "bob".into(), ..link() }));
        for session in ["a.b", "A", "a_b", &"a".repeat(60)] {
            assert_eq!(label(PortLink { session: session.into(), ..link() }), None, "{session}");
        }
    }
}
