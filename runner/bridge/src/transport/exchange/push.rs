//! A push on its way out: its list of commands is read and judged before anything is sent.

use super::RequestJob;
use crate::error::RequestError;
use crate::git::{self, PushList, PushParser};
use crate::rules::{Permit, PushRefusal};

impl RequestJob {
    /// Reads the beginning of a push and judges it. Returns the answer to one that is refused.
    pub(super) async fn judge_push(
        &mut self,
        permit: &mut Permit<'_>,
    ) -> Result<Option<Vec<u8>>, RequestError> {
        let list = match self.push.take() {
            Some(list) => list,
            None => self.read_push().await?,
        };
        let verdict = permit.judge_push(self.push.insert(list));
        if let Some(log) = &mut self.log {
            log.entry.push = verdict.refs;
        }
        let Some(PushRefusal { first, report }) = verdict.refusal else { return Ok(None) };
        let refused = RequestError::Refused(first);
        let Some(report) = report else { return Err(refused) };
        if let Some(log) = self.log.take() {
            log.end(Some(refused));
        }
        Ok(Some(report))
    }

    /// Reads the list of commands from the guest, without sending anything.
    async fn read_push(&self) -> Result<PushList, RequestError> {
        let (mut parser, mut reader) = (PushParser::default(), self.source.begin_reading()?);
        let length = self.request.body;
        loop {
            let next = std::future::poll_fn(|cx| reader.poll_chunk(length, cx)).await?;
            let Some(chunk) = next else { break };
            if parser.push(&chunk).map_err(RequestError::Push)? {
                break;
            }
        }
        parser.finish().map_err(RequestError::Push)
    }

    /// Answers a push that was refused, as its server would. The rest of its body is dropped.
    pub(super) async fn deliver_report(
        &mut self,
        report: Vec<u8>,
        hop: u32,
    ) -> Result<(), RequestError> {
        let head = git::report_head(self.request.url.as_str(), hop, report.len());
        self.reply.head.put_value(Ok(head));
        self.reply.upload.close_reading();
        self.reply.body.write(report.into()).await
    }
}
