//! One request and its response, exchanged with the host step by step.

use box_applet::Ctx;
use box_sys::http::{HttpAnswer, HttpRequest, HttpStep, Response};

use crate::data::RequestBody;
use crate::error::CurlError;
use crate::url::Url;
use crate::world::{NoAnswer, TransferHost};

/// A response whose body has not been read. It must always be closed.
pub(crate) struct OpenResponse {
    number: u64,
    pub(crate) head: Response,
    pub(crate) uploaded: u64,
}

fn ask_host(
    world: &mut dyn TransferHost,
    step: &HttpStep,
    url: &Url,
) -> Result<HttpAnswer, CurlError> {
    world.ask(step).map_err(|refused| match refused {
        NoAnswer::Failed(e) => e,
        NoAnswer::Nowhere => {
            let host = String::from_utf8_lossy(&url.host);
            CurlError::Denied(format!("{host}:{}", url.port()))
        }
    })
}

/// Sends a request with its body, and receives the response's head.
pub(crate) fn open_exchange(
    world: &mut dyn TransferHost,
    ctx: &mut Ctx<'_>,
    request: HttpRequest,
    body: &RequestBody,
    url: &Url,
) -> Result<OpenResponse, CurlError> {
    let HttpAnswer::Opened(number) = ask_host(world, &HttpStep::Open(request), url)? else {
        return Err(CurlError::Answer);
    };
    let head = send_body(world, ctx, number, body, url);
    if head.is_err() {
        let _ = world.ask(&HttpStep::Close(number));
    }
    let (head, uploaded) = head?;
    Ok(OpenResponse { number, head, uploaded })
}

fn send_body(
    world: &mut dyn TransferHost,
    ctx: &mut Ctx<'_>,
    number: u64,
    body: &RequestBody,
    url: &Url,
) -> Result<(Response, u64), CurlError> {
    let mut uploaded = 0;
    body.send_parts(ctx, &mut |part| {
        uploaded += part.len() as u64;
        match ask_host(world, &HttpStep::Body(number, part), url)? {
            HttpAnswer::Done => Ok(()),
            _ => Err(CurlError::Answer),
        }
    })?;
    match ask_host(world, &HttpStep::End(number), url)? {
        HttpAnswer::Head(head) => Ok((head, uploaded)),
        _ => Err(CurlError::Answer),
    }
}

impl OpenResponse {
    /// Reads the next part of the body; `None` at its end.
    pub(crate) fn read(
        &self,
        world: &mut dyn TransferHost,
        url: &Url,
    ) -> Result<Option<Vec<u8>>, CurlError> {
        match ask_host(world, &HttpStep::Read(self.number), url)? {
            HttpAnswer::Body(part) if part.is_empty() => Ok(None),
            HttpAnswer::Body(part) => Ok(Some(part)),
            _ => Err(CurlError::Answer),
        }
    }

    pub(crate) fn close(&self, world: &mut dyn TransferHost) {
        let _ = world.ask(&HttpStep::Close(self.number));
    }
}
