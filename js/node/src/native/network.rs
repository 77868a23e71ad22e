//! Sockets on the session's loopback, and the steps of HTTP requests to the outside
//! (`box_sys::http`).

use super::{BufferArgument, TextArgument, files, throw_io_error, throw_text};
use box_sys::http::{Header, HttpAnswer, HttpRequest, HttpStep};
use box_sys::net::{self, NetSocketKind};
use rquickjs::function::Func;
use rquickjs::{Array, ArrayBuffer, Ctx, Object, Result};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};

fn address(ctx: &Ctx<'_>, ip: &str, port: u16) -> Result<SocketAddr> {
    let ip = ip.parse::<IpAddr>().map_err(|_| throw_text(ctx, "EINVAL"))?;
    Ok(SocketAddr::new(ip, port))
}

/// Returns the address, the port and the family, as `getsockname` does.
fn address_array<'js>(ctx: &Ctx<'js>, at: SocketAddr) -> Result<Array<'js>> {
    let out = Array::new(ctx.clone())?;
    out.set(0, at.ip().to_string())?;
    out.set(1, at.port())?;
    out.set(2, if at.is_ipv4() { "IPv4" } else { "IPv6" })?;
    Ok(out)
}

fn listen(ctx: Ctx<'_>, ip: TextArgument, port: u16) -> Result<i32> {
    let at = address(&ctx, &ip.0, port)?;
    net::listen(at, NetSocketKind::Stream).map(files::keep).map_err(|e| throw_io_error(&ctx, &e))
}

/// Accepts the next connection. Returns the address of its peer, then its descriptor.
fn accept<'js>(ctx: Ctx<'js>, fd: i32) -> Result<Array<'js>> {
    let listener = files::file(&ctx, fd)?;
    let (socket, from) = net::accept(&listener).map_err(|e| throw_io_error(&ctx, &e))?;
    let out = address_array(&ctx, from)?;
    out.set(3, files::keep(socket))?;
    Ok(out)
}

fn connect(ctx: Ctx<'_>, ip: TextArgument, port: u16) -> Result<i32> {
    let to = address(&ctx, &ip.0, port)?;
    net::connect(to, NetSocketKind::Stream, None)
        .map(files::keep)
        .map_err(|e| throw_io_error(&ctx, &e))
}

fn local<'js>(ctx: Ctx<'js>, fd: i32) -> Result<Array<'js>> {
    let socket = files::file(&ctx, fd)?;
    address_array(&ctx, net::local_address(&socket).map_err(|e| throw_io_error(&ctx, &e))?)
}

fn finish(ctx: Ctx<'_>, fd: i32) -> Result<()> {
    net::finish(&*files::file(&ctx, fd)?).map_err(|e| throw_io_error(&ctx, &e))
}

fn send_step(ctx: &Ctx<'_>, fd: i32, step: &HttpStep) -> Result<()> {
    let node = files::file(ctx, fd)?;
    (&*node).write_all(&step.encode()).map_err(|e| throw_io_error(ctx, &e))
}

/// Begins a request. `headers` has names and values alternately; `body` is the length of the body,
/// or a negative number if the length is unknown.
fn open(
    ctx: Ctx<'_>,
    fd: i32,
    method: TextArgument,
    url: TextArgument,
    headers: Vec<TextArgument>,
    body: f64,
) -> Result<()> {
    // Node's library has headers in Latin-1.
    let latin = |t: &TextArgument| {
        t.0.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect::<Vec<u8>>()
    };
    let headers: Vec<Header> =
        headers.chunks_exact(2).map(|h| (latin(&h[0]), latin(&h[1]))).collect();
    let body = (body >= 0.0).then_some(body as u64);
    let (method, url) = (method.0.into_bytes(), url.0.into_bytes());
    send_step(
        &ctx,
        fd,
        &HttpStep::Open(HttpRequest { method, url, headers, body, ..HttpRequest::default() }),
    )
}

/// Runs another step of the request `number`: `body`, `end`, `read` or `close`.
fn step(
    ctx: Ctx<'_>,
    fd: i32,
    kind: TextArgument,
    number: f64,
    bytes: Option<BufferArgument>,
) -> Result<()> {
    let number = number as u64;
    let step = match kind.0.as_str() {
        "body" => HttpStep::Body(number, bytes.map_or_else(Vec::new, |b| b.0)),
        "end" => HttpStep::End(number),
        "read" => HttpStep::Read(number),
        "close" => HttpStep::Close(number),
        _ => return Err(throw_text(&ctx, "EINVAL")),
    };
    send_step(&ctx, fd, &step)
}

/// Returns whether a rule of the policy names a host and port.
fn names(ctx: Ctx<'_>, fd: i32, host: TextArgument, port: u16) -> Result<bool> {
    send_step(&ctx, fd, &HttpStep::Names(port, host.0.into_bytes()))?;
    Ok(matches!(read(&*files::file(&ctx, fd)?), Some(HttpAnswer::Done)))
}

fn read(mut node: &File) -> Option<HttpAnswer> {
    let mut bytes = Vec::new();
    node.read_to_end(&mut bytes).ok()?;
    HttpAnswer::decode(&bytes)
}

/// Returns the answer to the last step: its kind, then the values of that kind.
fn answer<'js>(ctx: Ctx<'js>, fd: i32) -> Result<Array<'js>> {
    let out = Array::new(ctx.clone())?;
    let text = |b: Vec<u8>| String::from_utf8_lossy(&b).into_owned();
    let latin = |b: Vec<u8>| b.into_iter().map(char::from).collect::<String>();
    match read(&*files::file(&ctx, fd)?) {
        Some(HttpAnswer::Opened(number)) => {
            out.set(0, "opened")?;
            out.set(1, number as f64)?;
        }
        Some(HttpAnswer::Done) => out.set(0, "done")?,
        Some(HttpAnswer::Head(head)) => {
            let pairs = head.headers.into_iter().flat_map(|(n, v)| [latin(n), latin(v)]);
            out.set(0, "head")?;
            out.set(1, head.status)?;
            out.set(2, head.version)?;
            out.set(3, pairs.collect::<Vec<String>>())?;
        }
        Some(HttpAnswer::Body(bytes)) => {
            out.set(0, "body")?;
            out.set(1, ArrayBuffer::new(ctx, bytes)?)?;
        }
        Some(HttpAnswer::Own) => out.set(0, "own")?,
        Some(HttpAnswer::Failed { code, why }) => {
            out.set(0, "failed")?;
            out.set(1, code)?;
            out.set(2, text(why))?;
        }
        None => {
            out.set(0, "failed")?;
            out.set(1, 56)?;
            out.set(2, "the host does not answer")?;
        }
    }
    Ok(out)
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("netListen", Func::from(listen))?;
    native.set("netAccept", Func::from(accept))?;
    native.set("netConnect", Func::from(connect))?;
    native.set("netLocal", Func::from(local))?;
    native.set("netFinish", Func::from(finish))?;
    native.set("requestOpen", Func::from(open))?;
    native.set("requestStep", Func::from(step))?;
    native.set("requestNames", Func::from(names))?;
    native.set("requestAnswer", Func::from(answer))
}
