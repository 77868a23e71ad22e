//! The host, as the rest of curl sees it.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use box_sys::http::{Answer, HTTP, Step};

use crate::error::Error;

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

/// The node; opened when it is needed.
#[derive(Default)]
pub(crate) struct Node(Option<File>);

impl Node {
    fn file(&mut self) -> Result<&mut File, Refused> {
        if self.0.is_none() {
            let node = File::options().read(true).write(true).open(HTTP);
            self.0 = Some(node.map_err(|_| Refused::Nowhere)?);
        }
        self.0.as_mut().ok_or(Refused::Nowhere)
    }
}

impl World for Node {
    fn ask(&mut self, step: &Step) -> Result<Answer, Refused> {
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

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
