//! One request and its response, step by step with the host.

use box_applet::Ctx;
use box_sys::http::{Answer, Request, Response, Step};

use crate::data::Body;
use crate::error::Error;
use crate::url::Url;
use crate::world::{Refused, World};

/// A response whose body is not read yet. To be closed, whatever happens.
pub(crate) struct Exchange {
    number: u64,
    pub(crate) head: Response,
    pub(crate) uploaded: u64,
}

fn ask(world: &mut dyn World, step: &Step, url: &Url) -> Result<Answer, Error> {
    world.ask(step).map_err(|refused| match refused {
        Refused::Failed(e) => e,
        Refused::Nowhere => {
            let host = String::from_utf8_lossy(&url.host);
            Error::Denied(format!("{host}:{}", url.port()))
        }
    })
}

/// Sends a request with its body, up to the response's head.
pub(crate) fn open(
    world: &mut dyn World,
    ctx: &mut Ctx<'_>,
    request: Request,
    body: &Body,
    url: &Url,
) -> Result<Exchange, Error> {
    let Answer::Opened(number) = ask(world, &Step::Open(request), url)? else {
        return Err(Error::Answer);
    };
    let head = send(world, ctx, number, body, url);
    if head.is_err() {
        let _ = world.ask(&Step::Close(number));
    }
    let (head, uploaded) = head?;
    Ok(Exchange { number, head, uploaded })
}

fn send(
    world: &mut dyn World,
    ctx: &mut Ctx<'_>,
    number: u64,
    body: &Body,
    url: &Url,
) -> Result<(Response, u64), Error> {
    let mut uploaded = 0;
    body.send(ctx, &mut |part| {
        uploaded += part.len() as u64;
        match ask(world, &Step::Body(number, part), url)? {
            Answer::Done => Ok(()),
            _ => Err(Error::Answer),
        }
    })?;
    match ask(world, &Step::End(number), url)? {
        Answer::Head(head) => Ok((head, uploaded)),
        _ => Err(Error::Answer),
    }
}

impl Exchange {
    /// The next part of the body; `None` at its end.
    pub(crate) fn read(&self, world: &mut dyn World, url: &Url) -> Result<Option<Vec<u8>>, Error> {
        match ask(world, &Step::Read(self.number), url)? {
            Answer::Body(part) if part.is_empty() => Ok(None),
            Answer::Body(part) => Ok(Some(part)),
            _ => Err(Error::Answer),
        }
    }

    pub(crate) fn close(&self, world: &mut dyn World) {
        let _ = world.ask(&Step::Close(self.number));
    }
}
