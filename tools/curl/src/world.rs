//! The host and the session's own loopback, as the rest of curl sees them.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use box_sys::http::{Answer, HTTP, Step};

use crate::error::Error;
use crate::loopback::{Loopback, is_own};

/// What a transfer needs besides files and streams.
pub(crate) trait World {
    /// One step and its answer; `Failed` is an error, and so is a host that takes no requests.
    fn ask(&mut self, step: &Step) -> Result<Answer, Refused>;
    fn sleep(&mut self, time: Duration);
}

/// No answer.
#[derive(Debug)]
pub(crate) enum Refused {
    /// There is no node: the policy allows nothing.
    Nowhere,
    Failed(Error),
}

/// The node, opened when it is needed, and the loopback. What is asked of the own machine goes to the host
/// if a rule names its address, and to the session's servers otherwise: only the host knows the rules.
#[derive(Default)]
pub(crate) struct Node {
    file: Option<File>,
    own: Loopback,
}

impl Node {
    fn file(&mut self) -> Result<&mut File, Refused> {
        if self.file.is_none() {
            let node = File::options().read(true).write(true).open(HTTP);
            self.file = Some(node.map_err(|_| Refused::Nowhere)?);
        }
        self.file.as_mut().ok_or(Refused::Nowhere)
    }

    fn host(&mut self, step: &Step) -> Result<Answer, Refused> {
        let broken = |e: std::io::Error| {
            let why = format!("the host does not answer: {}", box_sys::strerror(&e));
            Refused::Failed(Error::Host { code: 56, why })
        };
        let node = self.file()?;
        node.write_all(&step.encode()).map_err(broken)?;
        let mut answer = Vec::new();
        node.read_to_end(&mut answer).map_err(broken)?;
        match Answer::decode(&answer) {
            Some(Answer::Failed { code, why }) => {
                let why = String::from_utf8_lossy(&why).into_owned();
                Err(Refused::Failed(Error::Host { code, why }))
            }
            Some(answer) => Ok(answer),
            None => Err(Refused::Failed(Error::Answer)),
        }
    }
}

impl World for Node {
    fn ask(&mut self, step: &Step) -> Result<Answer, Refused> {
        if !self.own.has(step) {
            let is_own = matches!(step, Step::Open(request) if is_own(&request.url));
            match self.host(step) {
                Ok(Answer::Own) => {}
                Err(Refused::Nowhere) if is_own => {}
                answer => return answer,
            }
        }
        self.own.ask(step).map_err(Refused::Failed)
    }

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
