//! Tests sessions on tokio.

use std::time::Duration;
use tokio::time::timeout;
use wasibox::tokio::AsyncSession;
use wasibox::{Error, Isolation, MountSpec, Policy, Sandbox};
use wasibox_sessions::*;

/// Long enough for a call to begin, if it does.
const SOON: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_futures_and_end_when_those_are_dropped() {
    for isolation in [Isolation::Process, Isolation::Threads] {
        let dir = tempfile::tempdir().unwrap();
        let mount =
            MountSpec { host: dir.path().into(), guest: "/m".into(), writable: false, quota: None };
        let policy = Policy { mounts: vec![mount], ..policy() };
        let s = AsyncSession::from(engine(isolation).session(policy).unwrap());
        assert_eq!(s.exec("cd /tmp; x=1; echo a > f; pwd").await.unwrap().stdout, b"/tmp\n");
        // Both calls are made at the same time, and one waits for the other.
        let (a, b) = tokio::join!(s.exec("echo $x"), s.python("1 + 1"));
        assert_eq!((a.unwrap().stdout, b.unwrap().value), (b"1\n".to_vec(), Some("2".into())));
        let before = s.history().await.unwrap().len();
        for endless in ["while :; do :; done", "sleep 100000"] {
            assert!(timeout(SOON, s.exec(endless)).await.is_err());
            // A call that waits for an abandoned one then runs, and is not ended in its place.
            assert_eq!(s.exec("cat f; echo $x").await.unwrap().stdout, b"a\n1\n", "{endless}");
        }
        assert!(timeout(SOON, s.python("while True: pass")).await.is_err());
        // A call that is abandoned before it could begin does not affect the running call and
        // leaves no trace. The call of `true` waits for the end of the previous abandoned call, so
        // that the session is busy only with the call that is started next.
        s.exec("true").await.unwrap();
        let other = s.clone();
        let wait = "until [ -e /m/go ]; do sleep 0.02; done; echo done";
        let runs = tokio::spawn(async move { other.exec(wait).await });
        while !matches!(s.session().try_exec("true"), Err(Error::Busy)) {
            tokio::time::sleep(SOON / 30).await;
        }
        assert!(timeout(SOON, s.exec("echo never > /tmp/never")).await.is_err());
        std::fs::write(dir.path().join("go"), "").unwrap();
        assert_eq!(runs.await.unwrap().unwrap().stdout, b"done\n");
        assert_eq!(s.exec("ls").await.unwrap().stdout, b"f\n");
        assert!(s.history().await.unwrap().len() >= before + 4);
        s.undo().await.unwrap();
        s.park().await;
        let fork = s.fork("other").await.unwrap();
        assert_eq!(fork.exec("cat f").await.unwrap().stdout, b"a\n");
        assert!(!s.snapshot(true).await.unwrap().is_empty());
        assert!(matches!(s.restore(10_000).await, Err(Error::Store(_))));
    }
}

#[test]
fn one_session_is_built_in_one_expression() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("in"), "i").unwrap();
    let build = || {
        let built = Sandbox::builder(dist().join("image.webc"))
            .options(|o| *o = options(Isolation::Process))
            .limits(policy().limits)
            .mount(dir.path(), "/data")
            .store(dir.path().join("w.wbx"), "a");
        built.build().unwrap()
    };
    assert_eq!(sh(&build(), "x=5; cat /data/in"), "i");
    let s = build();
    assert_eq!(
        sh(&s, "echo $x; echo > /data/f"),
        "5\nbash: line 1: /data/f: Read-only file system\n[1]"
    );
    assert_eq!(s.engine().unwrap().awake(), 1);
}
