//! `stty` on terminals of this machine, compared with that of GNU coreutils: both make the same
//! changes, each to its own terminal, and both must print the same about each terminal.
#![cfg(target_os = "linux")]

use box_applet::{AppletRun, AppletTable, Ctx, Env, InputSource, OutStream, OutputSink, StdInput};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

static TABLE: AppletTable = AppletTable::new(box_coreutils::APPLETS, &[]);

/// Settings, a call each.
const CHANGES: &[&str] = &[
    "raw",
    "raw -echo",
    "-raw",
    "cooked",
    "cbreak",
    "-cbreak",
    "sane",
    "raw sane",
    "-icanon min 5 time 3",
    "-icrnl -ixon ixany",
    "intr ^X quit undef erase ^H kill @",
    "eol ^A eol2 0x42 werase 7 lnext ^-",
    "rows 40 columns 132",
    "cols 20",
    "-opost",
    "olcuc iuclc",
    "ocrnl onlret onocr -onlcr",
    "tab3",
    "tabs",
    "-tabs",
    "nl",
    "-nl",
    "evenp",
    "-evenp",
    "pass8",
    "-pass8",
    "litout",
    "-litout",
    "crt",
    "dec",
    "ek",
    "lcase",
    "decctlq",
    "noflsh tostop -echoctl echoprt -echoke",
    "-isig -iexten",
    "istrip inlcr igncr parmrk inpck ignpar brkint ignbrk",
    "iutf8",
    "hupcl cstopb -cread clocal",
    "9600",
    "ispeed 19200 ospeed 19200",
    "115200",
    "4:0:bf:a3b:3:1c:7f:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0",
    "size speed",
    "cs7",
    "parenb",
];

struct Pair {
    _master: OwnedFd,
    path: String,
}

fn open_pair() -> Pair {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a terminal");
    let path = ptsname(&master, Vec::new()).expect("its name").into_string().expect("text");
    Pair { _master: master, path }
}

fn ours(words: &[&str]) -> (String, String, u8) {
    let applet = TABLE.find(b"stty").expect("stty");
    let AppletRun::Ctx(run) = applet.run else { panic!("stty runs in a context") };
    let (out, err) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    let os = box_sys::Os::with_applets(|_| false);
    let mut ctx = Ctx {
        name: "stty".into(),
        applet: applet.name,
        arg0: b"stty".to_vec(),
        env: [(b"LC_ALL".to_vec(), b"C".to_vec())].into_iter().collect::<Env>(),
        cwd: PathBuf::from("/"),
        stdin: StdInput::new(InputSource::Closed),
        stdout: OutStream::buffered(OutputSink::Buffer(out.clone())),
        stderr: OutStream::unbuffered(OutputSink::Buffer(err.clone())),
        extra_fds: Vec::new(),
        procs: &os,
        table: &TABLE,
    };
    let args: Vec<Vec<u8>> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
    let exit = run(&mut ctx, &args);
    let status = ctx.finish(exit).0;
    drop(ctx);
    let text = |bytes: &Rc<RefCell<Vec<u8>>>| String::from_utf8_lossy(&bytes.borrow()).into_owned();
    (text(&out), text(&err), status)
}

fn theirs(words: &[&str]) -> (String, String, u8) {
    let done = Command::new("stty")
        .args(words)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C")])
        .output()
        .expect("stty");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = done.status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(u8::MAX);
    (text(&done.stdout), text(&done.stderr), status)
}

#[test]
fn stty_changes_and_prints_what_that_of_gnu_does() {
    let version = Command::new("stty").arg("--version").output();
    let version = version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    if !version.unwrap_or_default().contains("coreutils) 9.1") {
        eprintln!("GNU coreutils 9.1 is not installed: nothing is compared");
        return;
    }
    let mut wrong = Vec::new();
    for change in CHANGES {
        let pairs = [open_pair(), open_pair()];
        let (own, other) = (pairs[0].path.as_str(), pairs[1].path.as_str());
        let words = |path| ["-F", path].into_iter().chain(change.split(' ')).collect::<Vec<&str>>();
        let (a, b) = (ours(&words(own)), theirs(&words(other)));
        // glibc's tcsetattr reports itself what a pseudo-terminal has not taken.
        let same = "unable to perform all requested operations";
        let b = (b.0, b.1.replace(other, own).replace("Invalid argument", same), b.2);
        if a != b {
            wrong.push(format!("{change}: ours {a:?}\n  GNU {b:?}"));
        }
        for form in ["-a", "-g", ""] {
            let show = |path| {
                let form = (!form.is_empty()).then_some(form);
                ["-F", path].into_iter().chain(form).collect::<Vec<&str>>()
            };
            let (by_ours, by_gnu, of_other) =
                (ours(&show(own)), theirs(&show(own)), theirs(&show(other)));
            if by_ours != by_gnu || by_gnu != of_other {
                wrong.push(format!("{change} {form}: ours {by_ours:?}\n  GNU {by_gnu:?}\n  GNU after GNU's {of_other:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
