//! A short run of load with faults; `examples/faults.rs` is the long one.

use std::time::Duration;
use wasibox_sessions::faults::{FaultPlan, run_faults};

#[test]
fn no_acknowledged_call_is_lost_or_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let report = run_faults(&FaultPlan {
        sessions: 6,
        time: Duration::from_secs(20),
        folder: dir.path().to_owned(),
        pause: Duration::from_secs(1),
        server_kills: 2,
        fills_disk: false,
        seed: 7,
    });
    assert!(report.wrong.is_empty(), "{:#?}", report.wrong);
    assert!(report.acknowledged > 50, "{report:?}");
    assert!(report.faults.iter().any(|(_, count)| *count > 0), "{report:?}");
}
