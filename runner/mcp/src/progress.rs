//! Output of a call as progress notifications, for clients that ask for them.
//!
//! A call does not wait for a slow client: output that could not be sent in time is only in the
//! result.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use wasibox_actions::CallEvent;

/// The maximum number of pieces that wait to be sent, and the maximum number of bytes of one.
const WAITING: usize = 64;
const PIECE: usize = 4 << 10;

/// A sender of a call's output as progress notifications.
pub struct ProgressSender(Sender<String>);

impl ProgressSender {
    /// Starts sending notifications to the client.
    pub fn begin(peer: Peer<RoleServer>, token: ProgressToken) -> ProgressSender {
        let (to, from) = channel(WAITING);
        tokio::spawn(send_progress(peer, token, from));
        ProgressSender(to)
    }

    /// Sends an event.
    pub fn send_event(&self, event: CallEvent<'_>) {
        let CallEvent::Output { bytes, .. } = event;
        for piece in bytes.chunks(PIECE) {
            // If the channel is full, the client reads slowly and the piece is dropped.
            let _ = self.0.try_send(String::from_utf8_lossy(piece).into_owned());
        }
    }
}

async fn send_progress(peer: Peer<RoleServer>, token: ProgressToken, mut from: Receiver<String>) {
    let mut so_far = 0;
    while let Some(mut text) = from.recv().await {
        while text.len() < PIECE
            && let Ok(more) = from.try_recv()
        {
            text += &more;
        }
        so_far += text.len();
        let mut notification = ProgressNotificationParam::new(token.clone(), so_far as f64);
        notification.message = Some(text);
        if peer.notify_progress(notification).await.is_err() {
            return;
        }
    }
}
