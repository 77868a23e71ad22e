//! The answer to a push of which a command is refused: the report of a server
//! (gitprotocol-pack(5), "Report Status"), with messages for the user in their own packets.

use super::commands::PushList;
use crate::message::{Header, HttpVersion, ResponseHead};
use serde::{Deserialize, Serialize};

/// The type of a push's answer.
const RESULT_TYPE: &str = "application/x-git-receive-pack-result";
/// Maximum bytes of a packet's contents, after its band.
const MAX_PACKET: usize = 65_515;
/// The bands of a packet: the report, and messages for the user.
const REPORT: u8 = 1;
const MESSAGES: u8 = 2;

/// The effect of a push on a ref, by its object ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PushAction {
    Create,
    /// Moves a ref to another object, which need not be a descendant.
    Update,
    Delete,
}

impl PushAction {
    /// Returns the action's name in rules.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A command of a push, with the decision about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushedRef {
    #[serde(rename = "ref")]
    pub name: String,
    pub action: PushAction,
    pub old: String,
    pub new: String,
    /// The reason, if the command is refused. The push is then refused as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Returns the body of the answer; `None` if the client reads no report.
pub(crate) fn refusal_report(
    list: &PushList,
    refs: &[PushedRef],
    hints: &[String],
) -> Option<Vec<u8>> {
    if !list.wants_report {
        return None;
    }
    let mut report = Vec::new();
    put_line(&mut report, b"unpack ok\n");
    for one in refs {
        let why = one.refused.as_deref().unwrap_or("another ref of this push is not allowed");
        put_line(&mut report, format!("ng {} {why}\n", one.name).as_bytes());
    }
    report.extend_from_slice(b"0000");
    if !list.has_side_band {
        return Some(report);
    }
    let mut answer = Vec::new();
    let messages: String = hints.iter().map(|hint| format!("{hint}\n")).collect();
    put_packets(&mut answer, MESSAGES, messages.as_bytes());
    put_packets(&mut answer, REPORT, &report);
    answer.extend_from_slice(b"0000");
    Some(answer)
}

/// Returns the head of the answer, as git's own servers have it.
pub(crate) fn report_head(url: &str, redirects: u32, length: usize) -> ResponseHead {
    let header = |name: &str, value: String| Header { name: name.into(), value: value.into() };
    ResponseHead {
        status: 200,
        version: HttpVersion::Http11,
        url: url.to_string(),
        redirects,
        headers: vec![
            header("content-type", RESULT_TYPE.into()),
            header("cache-control", "no-cache, max-age=0, must-revalidate".into()),
            header("content-length", length.to_string()),
        ],
    }
}

fn put_line(to: &mut Vec<u8>, text: &[u8]) {
    to.extend_from_slice(format!("{:04x}", text.len() + 4).as_bytes());
    to.extend_from_slice(text);
}

fn put_packets(to: &mut Vec<u8>, band: u8, text: &[u8]) {
    for part in text.chunks(MAX_PACKET) {
        put_line(to, &[&[band], part].concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, why: Option<&str>) -> PushedRef {
        PushedRef {
            name: name.into(),
            action: PushAction::Update,
            old: "1".repeat(40),
            new: "2".repeat(40),
            refused: why.map(Into::into),
        }
    }

    /// The example of gitprotocol-pack(5).
    #[test]
    fn reports_have_a_line_for_each_ref() {
        let refs = [refused("refs/heads/a", Some("no")), refused("refs/heads/b", None)];
        let mut list = PushList { wants_report: true, ..PushList::default() };
        let report = refusal_report(&list, &refs, &[]).expect("a report");
        assert_eq!(
            String::from_utf8(report.clone()).expect("text"),
            "000eunpack ok\n0017ng refs/heads/a no\n\
             003cng refs/heads/b another ref of this push is not allowed\n0000"
        );
        list.has_side_band = true;
        let banded = refusal_report(&list, &refs, &["see".into()]).expect("a report");
        let mut expected = b"0009\x02see\n".to_vec();
        expected.extend_from_slice(format!("{:04x}\x01", report.len() + 5).as_bytes());
        expected.extend_from_slice(&report);
        expected.extend_from_slice(b"0000");
        assert_eq!(banded, expected);
        list.wants_report = false;
        assert_eq!(refusal_report(&list, &refs, &[]), None);
    }

    #[test]
    fn long_reports_are_cut_into_packets() {
        let refs: Vec<PushedRef> =
            (0..1000).map(|n| refused(&format!("refs/heads/{n:0100}"), Some("no"))).collect();
        let list = PushList { wants_report: true, has_side_band: true, ..PushList::default() };
        let answer = refusal_report(&list, &refs, &[]).expect("a report");
        let mut rest = answer.as_slice();
        let mut report = Vec::new();
        while !rest.starts_with(b"0000") {
            let digits = std::str::from_utf8(&rest[..4]).expect("digits");
            let length = usize::from_str_radix(digits, 16).expect("a length");
            assert_eq!(rest[4], REPORT);
            report.extend_from_slice(&rest[5..length]);
            rest = &rest[length..];
        }
        assert_eq!(rest, b"0000");
        assert_eq!(report.split(|b| *b == b'\n').count(), 1002);
    }
}
