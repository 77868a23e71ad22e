//! The host and the session's own loopback, as the rest of curl sees them.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use box_sys::http::{HTTP, HttpAnswer, HttpStep};

use crate::error::CurlError;
use crate::loopback::{Loopback, is_own};

/// The services, besides files and streams, that a transfer needs.
pub(crate) trait TransferHost {
    /// Performs one step and returns its answer. The answer `Failed` is returned as an error, and
    /// so is the absence of a host that takes requests.
    fn ask(&mut self, step: &HttpStep) -> Result<HttpAnswer, NoAnswer>;
    fn sleep(&mut self, time: Duration);
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// There is no node, because the policy allows no requests.
    Nowhere,
    Failed(CurlError),
}

/// The host's node, opened at the first use, and the loopback. A request to the local machine goes
/// to the host if a rule names its address, and to the session's servers otherwise. The host is
/// asked which, because only it knows the rules.
#[derive(Default)]
pub(crate) struct HttpNode {
    file: Option<File>,
    own: Loopback,
}

impl HttpNode {
    fn open_node(&mut self) -> Result<&mut File, NoAnswer> {
        if self.file.is_none() {
            let node = File::options().read(true).write(true).open(HTTP);
            self.file = Some(node.map_err(|_| NoAnswer::Nowhere)?);
        }
        self.file.as_mut().ok_or(NoAnswer::Nowhere)
    }

    fn ask_host(&mut self, step: &HttpStep) -> Result<HttpAnswer, NoAnswer> {
        let broken = |e: std::io::Error| {
            let why = format!("the host does not answer: {}", box_sys::error_text(&e));
            NoAnswer::Failed(CurlError::Host { code: 56, why })
        };
        let node = self.open_node()?;
        node.write_all(&step.encode()).map_err(broken)?;
        let mut answer = Vec::new();
        node.read_to_end(&mut answer).map_err(broken)?;
        match HttpAnswer::decode(&answer) {
            Some(HttpAnswer::Failed { code, why }) => {
                let why = String::from_utf8_lossy(&why).into_owned();
                Err(NoAnswer::Failed(CurlError::Host { code, why }))
            }
            Some(answer) => Ok(answer),
            None => Err(NoAnswer::Failed(CurlError::Answer)),
        }
    }
}

impl TransferHost for HttpNode {
    fn ask(&mut self, step: &HttpStep) -> Result<HttpAnswer, NoAnswer> {
        if !self.own.has_request(step) {
            let is_own = matches!(step, HttpStep::Open(request) if is_own(&request.url));
            match self.ask_host(step) {
                Ok(HttpAnswer::Own) => {}
                Err(NoAnswer::Nowhere) if is_own => {}
                answer => return answer,
            }
        }
        self.own.run_step(step).map_err(NoAnswer::Failed)
    }

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
