//! The session's key-value pairs: values under names, which outlive calls, undo and restore. A
//! guest gets and sets them by exchanges with the node [`KV`]: one `write` of a [`KvRequest`], then
//! reads of the [`KvAnswer`].
//!
//! # Format
//! A tag byte, then fields: numbers are little-endian; a key has its length (`u16`) before it; a
//! value or a text fills the rest.

use alloc::vec::Vec;

/// The path of the node. It exists during the calls of sessions that keep values.
pub const KV: &str = "/.box/kv";
/// The maximum size of a key, in bytes.
pub const MAX_KEY: usize = 4096;
/// The maximum size in bytes of a value that a guest sets. Values that the host sets may be longer;
/// they are read in parts.
pub const MAX_VALUE: usize = 1 << 20;
/// The maximum number of bytes of a value, or of keys, in one answer.
pub const PART: usize = 256 << 10;

/// A request of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvRequest<'a> {
    /// Reads the value's bytes from `from` on.
    Get {
        key: &'a [u8],
        from: u64,
    },
    Set {
        key: &'a [u8],
        value: &'a [u8],
    },
    Delete {
        key: &'a [u8],
    },
    /// Lists the keys that sort after `after`.
    List {
        after: &'a [u8],
    },
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KvAnswer {
    /// The request was carried out.
    Done,
    /// There is no such key.
    Missing,
    /// Bytes of a value whose total length is `len`.
    Value { len: u64, bytes: Vec<u8> },
    /// Keys in byte order; `more` says whether others follow.
    Keys { keys: Vec<Vec<u8>>, more: bool },
    /// The request was refused; the text is for people.
    Refused(Vec<u8>),
}

fn take_number<'a>(bytes: &mut &'a [u8]) -> Option<u64> {
    let (number, rest): (&'a [u8; 8], _) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn take_key<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest): (&'a [u8; 2], _) = bytes.split_first_chunk()?;
    let (key, rest) = rest.split_at_checked(u16::from_le_bytes(*len) as usize)?;
    *bytes = rest;
    (key.len() <= MAX_KEY).then_some(key)
}

/// Appends a key. A key that is too long is cut; callers have checked the length.
fn put_key(out: &mut Vec<u8>, key: &[u8]) {
    let key = &key[..key.len().min(MAX_KEY)];
    out.extend((key.len() as u16).to_le_bytes());
    out.extend(key);
}

impl<'a> KvRequest<'a> {
    /// Encodes the request.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            KvRequest::Get { key, from } => {
                out.push(1);
                put_key(&mut out, key);
                out.extend(from.to_le_bytes());
            }
            KvRequest::Set { key, value } => {
                out.push(2);
                put_key(&mut out, key);
                out.extend(*value);
            }
            KvRequest::Delete { key } => {
                out.push(3);
                put_key(&mut out, key);
            }
            KvRequest::List { after } => {
                out.push(4);
                put_key(&mut out, after);
            }
        }
        out
    }

    /// Decodes a request; `None` for bytes that are not one.
    pub fn decode(bytes: &'a [u8]) -> Option<KvRequest<'a>> {
        let (kind, mut rest) = bytes.split_first()?;
        let key = take_key(&mut rest)?;
        let request = match kind {
            1 => KvRequest::Get { key, from: take_number(&mut rest)? },
            2 if rest.len() <= MAX_VALUE => return Some(KvRequest::Set { key, value: rest }),
            3 => KvRequest::Delete { key },
            4 => KvRequest::List { after: key },
            _ => return None,
        };
        rest.is_empty().then_some(request)
    }
}

impl KvAnswer {
    /// Encodes the answer.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            KvAnswer::Done => out.push(0),
            KvAnswer::Missing => out.push(1),
            KvAnswer::Value { len, bytes } => {
                out.push(2);
                out.extend(len.to_le_bytes());
                out.extend(bytes);
            }
            KvAnswer::Keys { keys, more } => {
                out.extend([3, u8::from(*more)]);
                keys.iter().for_each(|key| put_key(&mut out, key));
            }
            KvAnswer::Refused(why) => {
                out.push(4);
                out.extend(why);
            }
        }
        out
    }

    /// Decodes an answer; `None` for bytes that are not one.
    pub fn decode(bytes: &[u8]) -> Option<KvAnswer> {
        let (kind, mut rest) = bytes.split_first()?;
        match (kind, rest) {
            (0, []) => Some(KvAnswer::Done),
            (1, []) => Some(KvAnswer::Missing),
            (2, _) => Some(KvAnswer::Value { len: take_number(&mut rest)?, bytes: rest.to_vec() }),
            (3, [more @ (0 | 1), rest @ ..]) => {
                let (mut rest, mut keys) = (rest, Vec::new());
                while !rest.is_empty() {
                    keys.push(take_key(&mut rest)?.to_vec());
                }
                Some(KvAnswer::Keys { keys, more: *more == 1 })
            }
            (4, why) => Some(KvAnswer::Refused(why.to_vec())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn requests_and_answers_come_back() {
        let requests = [
            KvRequest::Get { key: b"a", from: 1 << 40 },
            KvRequest::Set { key: &[0xff; MAX_KEY], value: b"\0v" },
            KvRequest::Set { key: b"", value: b"" },
            KvRequest::Delete { key: b"a/b" },
            KvRequest::List { after: b"" },
        ];
        for r in requests {
            let bytes = r.encode();
            assert_eq!(KvRequest::decode(&bytes), Some(r));
            for end in 0..bytes.len() {
                // A request to set a value remains a request when its value is cut.
                let cut = KvRequest::decode(&bytes[..end]);
                assert!(
                    cut.is_none()
                        || matches!((cut, r), (Some(KvRequest::Set { .. }), KvRequest::Set { .. }))
                );
            }
        }
        let answers = [
            KvAnswer::Done,
            KvAnswer::Missing,
            KvAnswer::Value { len: 7, bytes: b"xyz".to_vec() },
            KvAnswer::Keys { keys: vec![b"a".to_vec(), vec![], vec![7; MAX_KEY]], more: true },
            KvAnswer::Keys { keys: vec![], more: false },
            KvAnswer::Refused(b"no".to_vec()),
        ];
        for a in answers {
            assert_eq!(KvAnswer::decode(&a.encode()), Some(a));
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [&b""[..], &[9], &[1, 1, 0], &[3, 1, 0, b'a', 0], &[4, 0xff, 0xff, 1]] {
            assert_eq!(KvRequest::decode(bytes), None, "{bytes:?}");
        }
        let long = [&[2, 0, 0][..], &vec![0; MAX_VALUE + 1]].concat();
        assert_eq!(KvRequest::decode(&long), None);
        for bytes in [&b""[..], &[0, 0], &[2, 1, 2], &[3], &[3, 2], &[3, 0, 5, 0, 1], &[5]] {
            assert_eq!(KvAnswer::decode(bytes), None, "{bytes:?}");
        }
    }
}
