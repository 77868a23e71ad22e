//! The time from one request to the next, which providers limit.

use crate::client::RequestStop;
use crate::error::ProviderError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest time for which a request waits for its turn.
const LONGEST: Duration = Duration::from_secs(10);
/// The time after which a waiting request looks whether it was stopped.
const STEP: Duration = Duration::from_millis(50);

/// The turns of requests.
#[derive(Debug, Default)]
pub(crate) struct RequestPace {
    /// The time of the next free turn.
    next: Mutex<Option<Instant>>,
}

impl RequestPace {
    /// Waits for a turn, `interval` after the one before.
    ///
    /// # Errors
    /// Returns an error if too many are waiting, or the call is stopped.
    pub(crate) fn wait_turn(
        &self,
        interval: Duration,
        stop: &RequestStop,
    ) -> Result<(), ProviderError> {
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let turn = next.map_or(now, |next| next.max(now));
            // With a longer interval the next request alone waits for it.
            let wait = turn - now;
            if wait > LONGEST.max(interval) {
                return Err(ProviderError::Pace(wait.as_secs() + 1));
            }
            *next = Some(turn + interval);
            turn
        };
        loop {
            if stop.is_stopped() {
                return Err(ProviderError::Stopped);
            }
            match turn.checked_duration_since(Instant::now()) {
                None | Some(Duration::ZERO) => return Ok(()),
                Some(left) => std::thread::sleep(left.min(STEP)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_have_their_distance() {
        let (pace, stop) = (RequestPace::default(), RequestStop::default());
        let begun = Instant::now();
        for _ in 0..3 {
            pace.wait_turn(Duration::from_millis(40), &stop).unwrap();
        }
        assert!(begun.elapsed() >= Duration::from_millis(80));
    }

    #[test]
    fn a_long_queue_is_refused_and_a_stopped_call_does_not_wait() {
        let (pace, stop) = (RequestPace::default(), RequestStop::default());
        let minute = Duration::from_secs(60);
        pace.wait_turn(minute, &stop).unwrap();
        stop.stop();
        assert!(matches!(pace.wait_turn(minute, &stop), Err(ProviderError::Stopped)));
        assert!(matches!(pace.wait_turn(minute, &stop), Err(ProviderError::Pace(_))));
    }
}
