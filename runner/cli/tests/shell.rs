//! Sessions and the interactive shell with the real image, from `WASIBOX_DIST` or the checkout's
//! `dist`.

use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn image() -> PathBuf {
    let checkout = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist");
    let dist = std::env::var_os("WASIBOX_DIST").map_or_else(checkout, PathBuf::from);
    let image = dist.join("image.webc").canonicalize();
    image.expect("no image: run cargo xtask dist")
}

fn environment(c: &mut Command, dir: &Path) {
    // The user's own cache is used, because compiling this image takes minutes.
    c.env("WASIBOX_IMAGE", image()).current_dir(dir).stdin(Stdio::null());
}

/// Runs a line in a native shell, in which `runner` is the program under test. Compiling the image,
/// once, may take long.
fn sh(dir: &Path, line: &str) -> Output {
    let mut c = Command::new("bash");
    let own = Path::new(env!("CARGO_BIN_EXE_runner")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
    environment(&mut c, dir);
    c.args(["-c", line]).env("PATH", path).output().unwrap()
}

/// Returns the output of a line, which must succeed.
fn prints(dir: &Path, line: &str) -> String {
    let o = sh(dir, line);
    let err = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{line}: {err}");
    String::from_utf8(o.stdout).unwrap()
}

#[test]
fn the_commands_of_the_manual_work_as_written() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("dist")).unwrap();
    std::os::unix::fs::symlink(image(), dir.join("dist/image.webc")).unwrap();
    assert_eq!(prints(dir, "runner session create --store w.wbx --image dist/image.webc a"), "a\n");
    prints(
        dir,
        r#"runner session exec   --store w.wbx a 'cd /tmp; export A=1; f() { echo "f $A"; }'"#,
    );
    assert_eq!(prints(dir, "runner session exec   --store w.wbx a 'pwd; f'"), "/tmp\nf 1\n");
    let out = prints(
        dir,
        r#"runner session exec   --store w.wbx --json a -- python3 -c 'open("n.txt","w").write("1")'"#,
    );
    let j: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&j["exit_code"], &j["commit"]), (&0.into(), &4.into()));
    assert_eq!(
        (&j["files"][0]["path"], &j["files"][0]["change"]),
        (&"/tmp/n.txt".into(), &"created".into())
    );
    let history = prints(dir, "runner session history --store w.wbx a");
    assert_eq!(history.lines().count(), 5, "{history}");
    let json: Value =
        serde_json::from_str(&prints(dir, "runner session history --store w.wbx --json a"))
            .unwrap();
    assert_eq!(json[2]["command"], "pwd; f");
    let diff = prints(dir, "runner session diff --store w.wbx a 2 4");
    assert!(
        diff.ends_with(
            "--- /dev/null\n+++ b/tmp/n.txt\n@@ -0,0 +1 @@\n+1\n\\ No newline at end of file\n"
        ),
        "{diff}"
    );
    prints(dir, "runner session undo --store w.wbx a");
    assert_eq!(prints(dir, "runner session exec --store w.wbx a 'ls /tmp'"), "");
    prints(dir, "runner session undo --store w.wbx a; runner session redo --store w.wbx a");
    prints(dir, "runner session restore --store w.wbx a 2");
    assert_eq!(prints(dir, "runner session fork --store w.wbx a b"), "b\n");
    assert_eq!(prints(dir, "runner session exec --store w.wbx b f"), "f 1\n");
    prints(
        dir,
        "runner snapshot export --store w.wbx a a.wbs ; runner snapshot import --store v.wbx a.wbs",
    );
    assert_eq!(prints(dir, "runner session exec --store v.wbx a 'pwd; f'"), "/tmp\nf 1\n");
    prints(dir, "runner kv set --store w.wbx a key value");
    assert_eq!(
        prints(dir, "runner kv get --store w.wbx a key; runner kv list --store w.wbx a"),
        "valuekey\n"
    );
    prints(dir, "runner kv delete --store w.wbx a key");
    assert_eq!(
        prints(
            dir,
            "echo 'cd /tmp; g=7\n\nif [ $g = 7 ]\nthen pwd; fi; read x; echo \"[$x]\"' | runner shell --store w.wbx a"
        ),
        "/tmp\n[]\n"
    );
    assert_eq!(prints(dir, "echo 'echo $g' | runner shell --store w.wbx a"), "7\n");
    assert_eq!(prints(dir, "printf 'x=1\\necho $x' | runner shell --image dist/image.webc"), "1\n");
    let o = sh(dir, "printf 'false\\nexit\\necho no' | runner shell");
    assert_eq!((o.status.code(), o.stdout.len()), (Some(1), 0));
}

/// When Git applies the output of `diff` to the files of the older state, files of the image
/// included, they become those of the newer state.
#[test]
fn git_applies_a_difference() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let run =
        |script: &str| prints(dir, &format!("runner session exec --store w.wbx a '{script}'"));
    prints(dir, "runner session create --store w.wbx a");
    run(
        "cd /tmp; seq 100 > long; echo x > gone; printf abc > end; mkdir d; echo t > d/e; ln -s long link; chmod 755 end; echo 1 > \"a b\"",
    );
    run(
        "seq 100 | sed s/50/fifty/ > long; rm gone; printf abd > end; mv d/e d/f; ln -sfn end link; chmod 644 end; echo 2 >> \"a b\"; echo r >> /etc/hostname",
    );
    run("printf \"\\000\\001\" > long; rm /etc/hostname");
    for (n, name) in [(2, "old"), (3, "new")] {
        prints(
            dir,
            &format!(
                "runner session restore --store w.wbx a {n}; runner session exec --store w.wbx a 'tar -cf /tmp/t.tar -C / tmp etc/hostname --exclude t.tar'"
            ),
        );
        prints(
            dir,
            &format!(
                "mkdir {name}; runner session exec --store w.wbx a 'cat /tmp/t.tar' | tar -xf - -C {name}"
            ),
        );
    }
    prints(
        dir,
        "runner session diff --store w.wbx a 2 3 > d.patch; cd old; git init -q .; git apply --unsafe-paths ../d.patch",
    );
    let differs = sh(dir, "diff -r --no-dereference -x .git -x t.tar old new");
    assert_eq!(String::from_utf8_lossy(&differs.stdout), "");
    assert_eq!(prints(dir, "stat -c %a old/tmp/end; readlink old/tmp/link"), "644\nend\n");
    let last = prints(dir, "runner session diff --store w.wbx a 3 4");
    assert!(
        last.contains("Binary files a/tmp/long and b/tmp/long differ (295 bytes and 2 bytes)\n"),
        "{last}"
    );
    assert!(
        last.contains("diff --git a/etc/hostname b/etc/hostname\ndeleted file mode 100644\n"),
        "{last}"
    );
    // Without the image, its contents are unknown.
    let o = sh(dir, "WASIBOX_IMAGE= runner session diff --store w.wbx a 2 3");
    assert!(o.status.success() && String::from_utf8_lossy(&o.stderr).contains("no image at hand"));
    assert!(String::from_utf8_lossy(&o.stdout).contains("+fifty\n"));
}

/// A runner on a terminal of its own.
struct Terminal {
    master: File,
    child: Child,
    seen: String,
}

impl Terminal {
    fn new(dir: &Path, args: &[&str]) -> Terminal {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let size = rustix::termios::Winsize { ws_row: 30, ws_col: 90, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, size).unwrap();
        let slave = || File::options().read(true).write(true).open(&name).unwrap();
        // `setsid` lets the program have the terminal, so that Ctrl-C is a signal for it.
        let mut c = Command::new("setsid");
        environment(&mut c, dir);
        c.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_runner"), "shell"]).args(args);
        c.env("TERM", "xterm").stdin(slave()).stdout(slave()).stderr(slave());
        rustix::io::ioctl_fionbio(&master, true).unwrap();
        Terminal { child: c.spawn().unwrap(), master: master.into(), seen: String::new() }
    }

    fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until `text` is shown after the text that was waited for before.
    fn shows(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "{text:?} is not in {:?}",
                self.seen
            );
            let mut bytes = [0; 4096];
            match self.master.read(&mut bytes) {
                Ok(n) => self.seen += &String::from_utf8_lossy(&bytes[..n]),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn ends(mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(30) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            // A terminal that is not read may block its writers.
            let _ = self.master.read(&mut [0; 4096]);
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        panic!("it goes on: {:?}", self.seen);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program still runs if the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_person_types() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    prints(dir, "runner session create --store w.wbx a");
    // This compiles the image's programs before the test waits for output.
    prints(
        dir,
        "runner session exec --store w.wbx a 'mkdir /tmp/some_folder; echo 1 > /tmp/some_folder/inner'",
    );
    let mut t = Terminal::new(dir, &["--store", "w.wbx", "a"]);
    t.shows("a:/home/user$ ");
    t.types("cd /tmp\r");
    // Input that is typed before the prompt goes to the command that still runs.
    let prompt = "a:/tmp$ ";
    t.shows(prompt);
    // A command of several lines is entered.
    t.types("for x in 1 2\rdo echo \"<$x>\"\rdone\r");
    t.shows("<1>\r\n<2>\r\n");
    t.shows(prompt);
    t.types("echo $COLUMNS\r");
    t.shows("\n90\r\n");
    t.shows(prompt);
    // A path and a command are completed.
    t.types("cat som\tinn\t\r");
    t.shows("\n1\r\n");
    t.shows(prompt);
    t.types("basena\t/x/y\r");
    t.shows("\ny\r\n");
    t.shows(prompt);
    // Programs have a terminal, and their changes are undone.
    t.types("stty size\r");
    t.shows("30 90\r\n");
    t.shows(prompt);
    t.types("touch new_file\r");
    t.shows(prompt);
    t.types("undo\r");
    t.shows("  echo $COLUMNS\r\n");
    t.shows(prompt);
    t.types("ls\r");
    t.shows("some_folder\r\n");
    t.shows(prompt);
    t.types("redo\r");
    t.shows("touch new_file");
    t.shows(prompt);
    t.types("ls nothing\r");
    t.shows(prompt);
    t.types("echo \"status $?\"\r");
    t.shows("\nstatus 2\r\n");
    t.shows(prompt);
    // A command that reads gets the user's input.
    t.types("echo ready; read -r x; echo \"[$x]\"\r");
    t.shows("\nready\r\n");
    t.types("typed\r");
    t.shows("\n[typed]\r\n");
    t.shows(prompt);
    // The terminal gets text and colours only.
    t.types("printf '\\033]0;t\\007\\033[31mred\\n'\r");
    t.shows("?]0;t?\u{1b}[31mred");
    t.shows(prompt);
    // Ctrl-C ends the running command, not the shell, and discards a line that is being typed.
    t.types("echo begun; while :; do :; done\r");
    t.shows("\nbegun\r\n");
    t.types("\x03");
    t.shows(prompt);
    t.types("half\x03");
    t.shows("half");
    t.shows(prompt);
    t.types("echo 'after '$((40 + 2))\r");
    t.shows("\nafter 42\r\n");
    t.shows(prompt);
    // Ctrl-D leaves.
    t.types("(exit 5)\r");
    t.shows("(exit 5)");
    t.shows(prompt);
    t.types("\x04");
    assert_eq!(t.ends(), Some(5));
    // The history of the editor is available again.
    let mut t = Terminal::new(dir, &["--store", "w.wbx", "a"]);
    t.shows("a:/tmp$ ");
    t.types("\x1b[A\x1b[A");
    t.shows("echo 'after '$((40 + 2))");
    t.types("\x03");
    t.shows("a:/tmp$ ");
    t.types("exit 3\r");
    assert_eq!(t.ends(), Some(3));
}
