//! The budget of a client's sessions together.

use std::thread;
use std::time::Duration;
use wasibox::{Engine, EngineOptions, Isolation, LimitHit, Tenant, TenantLimits};
use wasibox_sessions::*;

#[test]
fn sessions_of_a_tenant_share_memory_and_places() {
    let options = EngineOptions { awake: 8, ..options(Isolation::Process) };
    let engine = Engine::new(options).unwrap();
    let tenant = Tenant::new(TenantLimits { awake: 2, memory: 400 << 20 });
    let other = engine.session(policy()).unwrap();
    assert_eq!(sh(&other, "echo 1"), "1\n");
    let mine: Vec<_> = (0..3)
        .map(|_| {
            let session = engine.session(policy()).unwrap();
            session.set_tenant(&tenant);
            session
        })
        .collect();
    for session in &mine {
        assert_eq!(sh(session, "n=7; echo 1"), "1\n");
    }
    // The third made the first go to sleep, and no other.
    assert_eq!(mine.iter().map(|s| s.is_awake()).collect::<Vec<_>>(), [false, true, true]);
    assert!(other.is_awake());
    assert_eq!(sh(&mine[0], "echo $n"), "7\n");
    // One has room for this, two have not.
    let script = "x=$(head -c 120000000 /dev/zero | tr '\\0' a); sleep 2; echo ${#x}";
    let alone = mine[1].exec(script).unwrap();
    assert_eq!((alone.exit_code, &*alone.stdout), (0, &b"120000000\n"[..]), "{alone:?}");
    let ends: Vec<_> = thread::scope(|scope| {
        let both: Vec<_> =
            mine[1..].iter().map(|s| scope.spawn(|| s.exec(script).unwrap())).collect();
        both.into_iter().map(|call| call.join().unwrap().limit_hit).collect()
    });
    assert!(ends.contains(&Some(LimitHit::Memory)), "{ends:?}");
    assert_eq!(tenant.running_calls(), 0);
    assert_eq!(sh(&other, "echo 2"), "2\n");
}

/// A call of a tenant with many weighs less than one of a tenant with few.
#[test]
fn calls_of_a_tenant_share_its_weight() {
    let options = EngineOptions { awake: 8, ..options(Isolation::Process) };
    let engine = Engine::new(options).unwrap();
    let tenant = Tenant::new(TenantLimits { awake: 8, memory: u64::MAX });
    let busy: Vec<_> = (0..4).map(|_| engine.session(policy()).unwrap()).collect();
    busy.iter().for_each(|session| session.set_tenant(&tenant));
    let nice = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let after = stat.rsplit_once(')').unwrap().1.to_owned();
        after.split_whitespace().nth(16).unwrap().parse::<i32>().unwrap()
    };
    thread::scope(|scope| {
        for session in &busy {
            scope.spawn(|| session.exec("sleep 6"));
        }
        thread::sleep(Duration::from_secs(2));
        let now: Vec<i32> = busy.iter().filter_map(|s| s.worker()).map(nice).collect();
        // A factor of 4 is six steps of 1.25.
        assert!(now.len() == 4 && now.iter().all(|n| *n >= 6), "{now:?}");
    });
}
