//! A host for tests, whose server has a few paths with fixed replies and echoes all other requests.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::time::Duration;

use box_sys::http::{HttpAnswer, HttpRequest, HttpStep, Response};

use crate::error::CurlError;
use crate::world::{NoAnswer, TransferHost};

type Reply = Result<(Response, Vec<u8>), (u8, &'static str)>;

/// A host whose server has a few paths with fixed replies and echoes all other requests.
#[derive(Default)]
pub(crate) struct Host {
    open: HashMap<u64, (HttpRequest, Vec<u8>)>,
    replies: HashMap<u64, Vec<u8>>,
    pub(crate) requests: Vec<HttpRequest>,
    /// The numbers of the requests whose responses end too early.
    short: HashSet<u64>,
    pub(crate) slept: Vec<u64>,
    pub(crate) closed: usize,
    nowhere: bool,
}

impl Host {
    /// Returns a host that takes no requests.
    pub(crate) fn nowhere() -> Host {
        Host { nowhere: true, ..Host::default() }
    }
}

fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let headers = headers.iter().map(|(n, v)| (n.as_bytes().to_vec(), v.as_bytes().to_vec()));
    let headers = headers.collect();
    Ok((Response { status, version: 11, url: vec![], redirects: 0, headers }, body.to_vec()))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// Returns the request's method, path, headers and body as text.
fn echo(request: &HttpRequest, path: &str, body: &[u8]) -> Vec<u8> {
    let mut out = format!("{} {path}\n", String::from_utf8_lossy(&request.method)).into_bytes();
    for (name, value) in &request.headers {
        out.extend([name, &b": "[..], value, b"\n"].concat());
    }
    out.push(b'\n');
    out.extend(body);
    out.push(b'\n');
    out
}

impl Host {
    fn reply(&mut self, request: &HttpRequest, body: &[u8]) -> Reply {
        let url = String::from_utf8(request.url.clone()).unwrap();
        let (_, rest) = url.split_once("://").unwrap();
        let path = &rest[rest.find('/').unwrap()..];
        let count = self.requests.len();
        match path {
            "/loop" => response(302, &[("Location", "/loop")], b""),
            "/r301" => response(301, &[("Location", "/echo")], b"moved"),
            "/r307" => response(307, &[("Location", "/echo")], b""),
            "/away" => response(302, &[("Location", "http://other.x/echo")], b""),
            "/ftp" => response(302, &[("Location", "ftp://other.x/echo")], b""),
            "/404" => response(404, &[("A", "b")], b"err\n"),
            "/503" => response(503, &[], b"err\n"),
            "/busy" if count < 3 => response(503, &[("Retry-After", "7")], b"busy\n"),
            "/refused" => Err((7, "could not connect to h")),
            "/slow" => Err((28, "the request took too long")),
            "/empty" => response(200, &[], b""),
            "/ck" => response(
                302,
                &[
                    ("Location", "/echo"),
                    ("Set-Cookie", "a=1; Path=/"),
                    ("Set-Cookie", "b=2; Path=/; HttpOnly; Expires=Fri, 01 Jan 2038 00:00:00 GMT"),
                ],
                b"",
            ),
            "/cd" => response(
                200,
                &[("Content-Disposition", "attachment; filename=\"../x y.txt\"")],
                b"file\n",
            ),
            "/gz" => response(200, &[("Content-Encoding", "gzip")], &gzip(b"plain\n")),
            "/gz/bad" => response(200, &[("Content-Encoding", "gzip")], b"no gzip at all"),
            "/br" => response(200, &[("Content-Encoding", "br")], b"x"),
            "/part" => match request.headers.iter().find(|(n, _)| n == b"Range") {
                Some((_, range)) => response(206, &[], range),
                None => response(200, &[], b"0123"),
            },
            "/file" => response(
                200,
                &[("Content-Length", "6"), ("Content-Type", "text/plain; charset=utf-8")],
                b"hello\n",
            ),
            "/short" => response(200, &[("Content-Length", "10")], b"abc"),
            "/dated" => {
                let time = ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
                if request
                    .headers
                    .iter()
                    .any(|(n, v)| n == b"If-Modified-Since" && v == time.1.as_bytes())
                {
                    response(304, &[], b"")
                } else {
                    response(200, &[time], b"old\n")
                }
            }
            "/auth" => match request.headers.iter().find(|(n, _)| n == b"Authorization") {
                Some((_, value)) => response(200, &[], value),
                None => response(401, &[("WWW-Authenticate", "Basic realm=\"x\"")], b"no\n"),
            },
            "/ranges" => {
                let whole = b"0123456789";
                let range = request.headers.iter().find(|(n, _)| n == b"Range");
                let start = range.map_or(0, |(_, v)| {
                    let text = std::str::from_utf8(v).unwrap();
                    text.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap()
                });
                match (range, whole.get(start..).filter(|r| !r.is_empty())) {
                    (None, _) => response(200, &[("Content-Length", "10")], whole),
                    (_, None) => response(416, &[], b""),
                    (_, Some(rest)) => {
                        response(206, &[("Content-Length", &rest.len().to_string())], rest)
                    }
                }
            }
            "/bytes" => response(200, &[("Content-Type", "x/y")], b"\0\xff\r\n\n"),
            _ => response(200, &[("Content-Type", "text/plain")], &echo(request, path, body)),
        }
    }

    fn step(&mut self, step: &HttpStep) -> HttpAnswer {
        match step {
            HttpStep::Open(request) => {
                let n = self.requests.len() as u64;
                self.requests.push(request.clone());
                self.open.insert(n, (request.clone(), vec![]));
                HttpAnswer::Opened(n)
            }
            HttpStep::Body(n, bytes) => {
                self.open.get_mut(n).unwrap().1.extend(bytes);
                HttpAnswer::Done
            }
            HttpStep::End(n) => {
                let (request, body) = self.open.remove(n).unwrap();
                if let Some(len) = request.body {
                    assert_eq!(len, body.len() as u64, "the body is as long as announced");
                }
                if request.url.ends_with(b"/short") {
                    self.short.insert(*n);
                }
                match self.reply(&request, &body) {
                    Ok((head, body)) => {
                        self.replies.insert(*n, body);
                        HttpAnswer::Head(head)
                    }
                    Err((code, why)) => HttpAnswer::Failed { code, why: why.as_bytes().to_vec() },
                }
            }
            HttpStep::Read(n) => {
                let left = self.replies.get_mut(n).unwrap();
                if left.is_empty() && self.short.contains(n) {
                    return HttpAnswer::Failed { code: 18, why: b"it ended early".to_vec() };
                }
                let rest = left.split_off(left.len().min(7));
                HttpAnswer::Body(std::mem::replace(left, rest))
            }
            HttpStep::Names(..) => HttpAnswer::Failed { code: 7, why: Vec::new() },
            HttpStep::Close(_) => {
                self.closed += 1;
                HttpAnswer::Done
            }
        }
    }
}

impl TransferHost for Host {
    /// Encodes and decodes both messages, as they are at the device node.
    fn ask(&mut self, step: &HttpStep) -> Result<HttpAnswer, NoAnswer> {
        if self.nowhere {
            return Err(NoAnswer::Nowhere);
        }
        let step = HttpStep::decode(&step.encode()).unwrap();
        match HttpAnswer::decode(&self.step(&step).encode()).unwrap() {
            HttpAnswer::Failed { code, why } => Err(NoAnswer::Failed(CurlError::Host {
                code,
                why: String::from_utf8(why).unwrap(),
            })),
            answer => Ok(answer),
        }
    }

    fn sleep(&mut self, time: Duration) {
        self.slept.push(time.as_secs());
    }
}
