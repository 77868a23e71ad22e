//! Tests that an outcome names the limit that was hit during its call.

use wasibox::{DiskLimits, Isolation, LimitHit, Limits, MountSpec, Outcome, Policy, Session};
use wasibox_sessions::*;

fn limited(disk: DiskLimits, memory: u64) -> Session {
    let limits = Limits { disk, memory, ..policy().limits };
    engine(Isolation::Threads).session(Policy { limits, ..policy() }).unwrap()
}

fn with(disk: DiskLimits) -> Session {
    limited(disk, Limits::default().memory)
}

fn hit(s: &Session, script: &str) -> (Option<LimitHit>, String) {
    let Outcome { limit_hit, stdout, stderr, .. } = s.exec(script).unwrap();
    (limit_hit, String::from_utf8([stdout, stderr].concat()).unwrap())
}

#[test]
fn disk_limits_are_named() {
    let normal = DiskLimits::default();
    let s = with(DiskLimits { bytes: 1 << 20, ..normal });
    let (limit, said) = hit(&s, "head -c 2M /dev/zero > /tmp/f");
    assert!(limit == Some(LimitHit::Disk) && said.contains("No space left on device"), "{said}");
    // The outcome of the next call names no limit.
    assert_eq!(hit(&s, "rm /tmp/f").0, None);
    let s = with(DiskLimits { entries: 20, ..normal });
    let (limit, said) =
        hit(&s, "cd /tmp; for i in $(seq 30); do : > $i || break; done; ls | wc -l");
    assert_eq!(limit, Some(LimitHit::Inodes), "{said}");
    let s = with(DiskLimits { file: 100_000, ..normal });
    let (limit, said) =
        hit(&s, "cd /tmp; head -c 200000 /dev/zero > f; wc -c < f; truncate -s 1M f");
    assert_eq!(limit, Some(LimitHit::FileSize), "{said}");
    assert!(said.starts_with("100000\n") && said.matches("File too large").count() == 2, "{said}");
    // A file that is already too long can become shorter, but not longer.
    assert_eq!(
        hit(&s, "cd /tmp; truncate -s 99999 f; printf x >> f; wc -c < f"),
        (None, "100000\n".into())
    );
    let script = "import os, errno\nn = []\ntry:\n  while True: n.append(os.pipe())\nexcept OSError as e:\n  print(errno.errorcode[e.errno], len(n))";
    let s = with(DiskLimits { pipes: 10, ..normal });
    assert_eq!(
        hit(&s, &format!("python3 -c '{script}'")),
        (Some(LimitHit::Pipes), "ENFILE 10\n".into())
    );
}

#[test]
fn limits_of_mounts_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let mount = MountSpec {
        host: dir.path().into(),
        guest: "/m".into(),
        writable: true,
        quota: Some(100_000),
    };
    let disk = DiskLimits { file: 50_000, ..DiskLimits::default() };
    let limits = Limits { disk, ..policy().limits };
    let s = engine(Isolation::Process);
    let s = s.session(Policy { limits, mounts: vec![mount], ..policy() }).unwrap();
    let (limit, said) = hit(&s, "head -c 60000 /dev/zero > /m/a");
    assert!(limit == Some(LimitHit::FileSize) && said.contains("File too large"), "{said}");
    assert_eq!(std::fs::metadata(dir.path().join("a")).unwrap().len(), 50_000);
    assert_eq!(hit(&s, "head -c 40000 /dev/zero > /m/b").0, None);
    let (limit, said) = hit(&s, "head -c 40000 /dev/zero > /m/c");
    assert!(limit == Some(LimitHit::MountQuota) && said.contains("No space left"), "{said}");
}

#[test]
fn the_memory_limit_is_named_only_if_it_ended_a_command() {
    let s = limited(DiskLimits::default(), 256 << 20);
    let take = "bytearray(1 << 30)";
    let caught = format!("python3 -c '\ntry: {take}\nexcept MemoryError: print(\"caught\")'");
    assert_eq!(hit(&s, &caught), (None, "caught\n".into()));
    let (limit, said) = hit(&s, &format!("python3 -c '{take}'"));
    assert!(limit == Some(LimitHit::Memory) && said.ends_with("MemoryError\n"), "{said}");
    // A later command that fails for another reason is not blamed on the limit.
    assert_eq!(hit(&s, &format!("{caught}; false")), (None, "caught\n".into()));
    let (limit, said) = hit(&s, &format!("python3 -c '{take}' 2> /dev/null || echo went on"));
    assert_eq!((limit, &*said), (Some(LimitHit::Memory), "went on\n"));
}
