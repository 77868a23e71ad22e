//! Third-party programs in a session's calls: the input that they see.

use std::process::Stdio;
use wasibox::{Exec, Input, Isolation};
use wasibox_sessions::*;

/// Tests that `rg` searches the directory in a call without input, as at a terminal, and its input
/// in a call that has one.
#[test]
fn rg_searches_the_input_only_if_there_is_one() {
    for engine in [Isolation::Process, Isolation::Threads].map(engine) {
        let s = engine.session(policy()).unwrap();
        assert_eq!(sh(&s, "cd /tmp; echo 'a needle' > hay; rg needle"), "hay:a needle\n");
        assert_eq!(sh(&s, "test -c /dev/stdin && cat && echo end"), "end\n");
        let mut with_input = Exec::script("rg needle; test -p /dev/stdin && echo pipe");
        with_input.input = Input::Bytes(b"another needle\n".to_vec());
        let outcome = s.exec(with_input).unwrap();
        assert_eq!(outcome.stdout, b"another needle\npipe\n");
    }
}

/// Tests that the host's `/dev/null` is the guest's, and a pipe a pipe.
#[test]
fn null_device_of_the_caller_is_that_of_the_guest() {
    let run = |stdin: Stdio| {
        let mut runner = std::process::Command::new(dist().join("runner"));
        runner.arg("exec").arg(dist().join("image.webc")).args(["--", "sh", "-c"]);
        runner.arg("cd /tmp; echo needle > hay; rg needle; stat -L -c %F /dev/stdin").stdin(stdin);
        String::from_utf8(runner.output().unwrap().stdout).unwrap()
    };
    assert_eq!(run(Stdio::null()), "hay:needle\ncharacter special file\n");
    assert_eq!(run(Stdio::piped()), "fifo\n");
}
