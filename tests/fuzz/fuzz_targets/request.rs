//! Decodes and executes requests about files, as JSON and in the binary form of messages: any
//! bytes, or a valid request with some bytes changed. A valid one must be executed within a short
//! time, and must be the same after encoding and decoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use wasibox_files::{FileLimits, Request, apply_request, apply_within};
use wasibox_fuzz::patched;
use wasibox_vfs::{Budget, DiskLimits, ProtectedPaths, Vfs};

const GOOD: [&str; 10] = [
    r#"{"read":{"path":"f","offset":-2,"limit":9,"max_bytes":100,"encoding":"utf-8","numbers":true}}"#,
    r#"{"write":{"path":"d/g","content":"x","append":true,"mode":420}}"#,
    r#"{"edit":{"path":"f","edits":[{"old":"one","new":"two","replace_all":true}]}}"#,
    r#"{"patch_lines":{"path":"f","first":1,"last":0,"text":"x","expect":""}}"#,
    r#"{"apply_patch":{"patch":"--- f\n+++ f\n@@ -1 +1 @@\n-one\n+two\n","fuzz":2,"strip":0}}"#,
    r#"{"ls":{"path":".","depth":3,"hidden":true,"offset":1,"limit":2}}"#,
    r#"{"glob":{"pattern":"**/{f,[a-z]*}","newest":true,"directories":true}}"#,
    r#"{"grep":{"pattern":"o(n|x)+","syntax":"perl","include":["*"],"before":1,"output":"count"}}"#,
    r#"{"upload":{"path":"b","data":"AAEC","offset":5}}"#,
    r#"{"move":{"from":"f","to":"d/h/i"}}"#,
];

/// The same requests in the binary form of messages.
static BINARY: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let one = |text: &&str| serde_json::from_str::<Request>(text).unwrap();
    GOOD.iter().map(|text| postcard::to_stdvec(&one(text)).unwrap()).collect()
});

/// The time limit of a request, and the time by which a step may exceed it.
const TIME: Duration = Duration::from_millis(500);
const LATE: Duration = Duration::from_secs(5);

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let which = usize::from(how / 4) % GOOD.len();
    let request: Option<Request> = match how % 4 {
        0 => serde_json::from_slice(rest).ok(),
        1 => serde_json::from_slice(&patched(GOOD[which].as_bytes(), rest)).ok(),
        2 => postcard::from_bytes(rest).ok(),
        _ => postcard::from_bytes(&patched(&BINARY[which], rest)).ok(),
    };
    let Some(request) = request else { return };
    let text = serde_json::to_string(&request).unwrap();
    let again: Request = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    let _ = request.summary();
    let (disk, budget) = (DiskLimits::default(), Budget::new(64 << 20));
    let vfs = Vfs::new([], &[], disk, budget, &ProtectedPaths::default()).unwrap();
    let file = r#"{"write":{"path":"f","content":"one\ntwo\n"}}"#;
    apply_request(&vfs, "/tmp", &serde_json::from_str(file).unwrap()).unwrap();
    let start = Instant::now();
    match apply_within(&vfs, "/tmp", &request, &FileLimits { time: TIME, ..FileLimits::default() })
    {
        Ok(answer) => drop(serde_json::to_string(&answer).unwrap()),
        Err(e) => drop(e.to_string()),
    }
    assert!(start.elapsed() < LATE, "{:?}", start.elapsed());
});
