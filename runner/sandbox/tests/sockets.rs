//! Sockets as a guest sees them: `tests/guest/src/sockets.rs` run in the sandbox. Error numbers are
//! WASI's (`wasi_snapshot_preview1.witx`). They are returned in the same cases as on Linux, with
//! which `runner/vfs/tests/sockets.rs` compares.

mod common;

use common::*;
use wasibox_sandbox::{Limits, Policy, ProcessStatus};

#[test]
fn calls_have_wasix_layouts_and_linux_answers() {
    let o = run(&["sockets"]);
    let expected = "\
at 1 [127, 0, 0, 1]
peer Some(53)
same true
type 6
peek 3 \"hel\"
read \"hello\"
empty Some(6)
nobody Some(6)
end Ok(0) then Some(64)
pair Ok(4)
late Some(6)
datagram 3 on e true
refused Some(14)
started Some(26)
error true
localhost 0 2 [1, 0, 127, 0, 0, 1]
example 44
";
    assert_eq!((o.status, o.out.as_str()), (ProcessStatus::Exited(0), expected), "{}", o.err);
}

#[test]
fn processes_talk_over_the_loopback() {
    let o = run(&["echo-server", "200"]);
    assert_eq!(o.out, "serving\n200 right, server 0 0 0\n", "{}", o.err);
}

#[test]
fn waiting_calls_can_be_killed() {
    for what in ["accept", "recv", "send", "connect"] {
        let o = run(&["kill-waiting", what]);
        assert_eq!(o.out, "kill 0\nsignal 15\n", "{what}: {}", o.err);
    }
}

#[test]
fn a_process_has_as_many_sockets_as_descriptors() {
    let limits = Limits { descriptors: 100, ..Limits::default() };
    let o = start(&["many-sockets"], Policy { limits, ..Policy::default() }, b"").unwrap();
    // Three streams and the root are there already; 33 is EMFILE.
    assert_eq!(o.out, "96 then errno 33\n3 1 Ok(())\n", "{}", o.err);
}

#[test]
#[ignore = "a measurement"]
fn throughput() {
    let o = run(&["bench-sockets", "4000", "10000"]);
    print!("{}", o.out);
}
