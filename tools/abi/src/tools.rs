//! Host tools: functions of the embedder that a guest calls by name, with JSON as argument and
//! result. A guest does so by exchanges with the node [`TOOLS`]: one `write` of a [`ToolsRequest`],
//! then reads of the [`ToolsAnswer`].
//!
//! # Format
//! A tag byte, then fields: numbers are little-endian; a name has its length (`u16`) before it, and
//! so has a tool's description (`u32`); arguments, a result or a text fill the rest. Arguments,
//! results and descriptions are JSON (RFC 8259) in UTF-8, which this module does not parse.

use alloc::vec::Vec;

/// The path of the node. It exists during the calls of sessions that have or had host tools.
pub const TOOLS: &str = "/.box/tools";
/// The maximum size of a tool's name, in bytes.
pub const MAX_NAME: usize = 128;
/// The maximum number of bytes of the arguments of a call.
pub const MAX_ARGUMENTS: usize = 1 << 20;
/// The maximum number of bytes of a tool's description: name, text and schemas.
pub const MAX_DESCRIPTION: usize = 64 << 10;
/// The maximum number of bytes of a result, or of descriptions, in one answer.
pub const PART: usize = 256 << 10;

/// A request of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsRequest<'a> {
    /// Asks for the tools' descriptions in the order of their names, from number `from` on.
    List { from: u32 },
    /// Calls a tool with a JSON object.
    Call { name: &'a [u8], arguments: &'a [u8] },
    /// Asks for the bytes from `from` on of a result that is longer than one answer.
    More { call: u64, from: u64 },
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolsAnswer {
    /// Descriptions, each an object with `name`, `description`, `inputSchema` and, if the tool has
    /// one, `outputSchema`, as in the Model Context Protocol; `more` says whether others follow.
    Tools { tools: Vec<Vec<u8>>, more: bool },
    /// Bytes of the result of a call; the result's total length is `len`.
    Value { call: u64, len: u64, bytes: Vec<u8> },
    /// The call has no result; the text gives people the reason.
    Failed(ToolFailure, Vec<u8>),
}

/// The reason why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ToolFailure {
    /// No tool has that name.
    Unknown = 1,
    /// The arguments do not fit the tool's schema.
    Arguments = 2,
    /// The tool has failed.
    Tool = 3,
    /// The policy does not allow it.
    Denied = 4,
    /// A limit of the policy was reached.
    Limit = 5,
    /// The caller no longer waits for the result, or the session's call has ended.
    Cancelled = 6,
    /// The bytes are not a request.
    Request = 7,
}

impl ToolFailure {
    fn from_byte(byte: u8) -> Option<ToolFailure> {
        use ToolFailure::*;
        [Unknown, Arguments, Tool, Denied, Limit, Cancelled, Request]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

fn take_array<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<[u8; N]> {
    let (taken, rest): (&'a [u8; N], _) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn take_counted<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

impl<'a> ToolsRequest<'a> {
    /// Encodes the request. A name that is too long is cut; callers have checked the length.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            ToolsRequest::List { from } => {
                out.push(1);
                out.extend(from.to_le_bytes());
            }
            ToolsRequest::Call { name, arguments } => {
                let name = &name[..name.len().min(MAX_NAME)];
                out.push(2);
                out.extend((name.len() as u16).to_le_bytes());
                out.extend(name);
                out.extend(*arguments);
            }
            ToolsRequest::More { call, from } => {
                out.push(3);
                out.extend(call.to_le_bytes());
                out.extend(from.to_le_bytes());
            }
        }
        out
    }

    /// Decodes a request; `None` for bytes that are not one.
    pub fn decode(bytes: &'a [u8]) -> Option<ToolsRequest<'a>> {
        let (kind, mut rest) = bytes.split_first()?;
        let request = match kind {
            1 => ToolsRequest::List { from: u32::from_le_bytes(take_array(&mut rest)?) },
            2 => {
                let len = u16::from_le_bytes(take_array(&mut rest)?) as usize;
                let name = take_counted(&mut rest, len).filter(|name| name.len() <= MAX_NAME)?;
                let fits = rest.len() <= MAX_ARGUMENTS;
                return fits.then_some(ToolsRequest::Call { name, arguments: rest });
            }
            3 => ToolsRequest::More {
                call: u64::from_le_bytes(take_array(&mut rest)?),
                from: u64::from_le_bytes(take_array(&mut rest)?),
            },
            _ => return None,
        };
        rest.is_empty().then_some(request)
    }
}

impl ToolsAnswer {
    /// Encodes the answer.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            ToolsAnswer::Tools { tools, more } => {
                out.extend([1, u8::from(*more)]);
                for tool in tools {
                    out.extend((tool.len() as u32).to_le_bytes());
                    out.extend(tool);
                }
            }
            ToolsAnswer::Value { call, len, bytes } => {
                out.push(2);
                out.extend(call.to_le_bytes());
                out.extend(len.to_le_bytes());
                out.extend(bytes);
            }
            ToolsAnswer::Failed(kind, why) => {
                out.extend([3, *kind as u8]);
                out.extend(why);
            }
        }
        out
    }

    /// Decodes an answer; `None` for bytes that are not one.
    pub fn decode(bytes: &[u8]) -> Option<ToolsAnswer> {
        let (kind, mut rest) = bytes.split_first()?;
        match kind {
            1 => {
                let [more @ (0 | 1)] = take_array(&mut rest)? else { return None };
                let mut tools = Vec::new();
                while !rest.is_empty() {
                    let len = u32::from_le_bytes(take_array(&mut rest)?) as usize;
                    tools.push(take_counted(&mut rest, len)?.to_vec());
                }
                Some(ToolsAnswer::Tools { tools, more: more == 1 })
            }
            2 => Some(ToolsAnswer::Value {
                call: u64::from_le_bytes(take_array(&mut rest)?),
                len: u64::from_le_bytes(take_array(&mut rest)?),
                bytes: rest.to_vec(),
            }),
            3 => {
                let [kind] = take_array(&mut rest)?;
                Some(ToolsAnswer::Failed(ToolFailure::from_byte(kind)?, rest.to_vec()))
            }
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
            ToolsRequest::List { from: 7 },
            ToolsRequest::Call { name: b"weather", arguments: b"{}" },
            ToolsRequest::Call { name: &[0xff; MAX_NAME], arguments: b"" },
            ToolsRequest::More { call: u64::MAX, from: 1 << 40 },
        ];
        for r in requests {
            let bytes = r.encode();
            assert_eq!(ToolsRequest::decode(&bytes), Some(r));
            for end in 0..bytes.len() {
                // With fewer bytes of arguments, it is still a request.
                let cut = ToolsRequest::decode(&bytes[..end]);
                let is_call = matches!(
                    (cut, r),
                    (Some(ToolsRequest::Call { .. }), ToolsRequest::Call { .. })
                );
                assert!(cut.is_none() || is_call);
            }
        }
        let answers = [
            ToolsAnswer::Tools {
                tools: vec![b"{}".to_vec(), vec![], vec![b' '; 70_000]],
                more: true,
            },
            ToolsAnswer::Tools { tools: vec![], more: false },
            ToolsAnswer::Value { call: 3, len: 9, bytes: b"[1]".to_vec() },
            ToolsAnswer::Failed(ToolFailure::Unknown, vec![]),
            ToolsAnswer::Failed(ToolFailure::Request, b"why".to_vec()),
        ];
        for a in answers {
            assert_eq!(ToolsAnswer::decode(&a.encode()), Some(a));
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let long_name = [&[2, 129, 0][..], &[b'n'; 129]].concat();
        let long = [&[2, 1, 0, b'a'][..], &vec![b' '; MAX_ARGUMENTS + 1]].concat();
        for bytes in [
            &b""[..],
            &[0],
            &[1, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0],
            &[2, 4, 0, b'a'],
            &[3, 1, 2, 3],
            &[9],
            &long_name,
            &long,
        ] {
            assert_eq!(ToolsRequest::decode(bytes), None);
        }
        for bytes in
            [&b""[..], &[0], &[1], &[1, 2], &[1, 0, 9, 0, 0, 0, 1], &[2, 1], &[3], &[3, 0], &[3, 8]]
        {
            assert_eq!(ToolsAnswer::decode(bytes), None, "{bytes:?}");
        }
    }
}
