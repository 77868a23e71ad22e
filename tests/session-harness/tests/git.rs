//! git over HTTP: clone, fetch and push through the bridge, against the host's `git http-backend`.
//! Without git on the host these tests have nothing to compare with, and say so.

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use wasibox::{Isolation, NetworkPolicy, Policy, Session};
use wasibox_sessions::server::{Reply, Request, serve};
use wasibox_sessions::*;

/// The header that the server expects, as HTTP's Basic scheme has `ann:secret`.
const CREDENTIAL: &str = "Basic YW5uOnNlY3JldA==";

/// Returns the host's program for servers, if it is installed.
fn backend() -> Option<PathBuf> {
    let output = Command::new("git").arg("--exec-path").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    let program = Path::new(folder.trim()).join("git-http-backend");
    if !program.is_file() {
        eprintln!("no git http-backend here: not tested");
        return None;
    }
    Some(program)
}

/// Runs the host's git.
fn host_git(dir: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.current_dir(dir).args(["-c", "user.name=Host", "-c", "user.email=host@example.org"]);
    let output = git.args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Creates `r.git` in `dir`, with `count` commits on the branch main.
fn create_repository(dir: &Path, count: usize) {
    host_git(dir, &["init", "-q", "-b", "main", "w"]);
    let work = dir.join("w");
    for n in 0..count {
        std::fs::write(work.join("file"), format!("line {n}\n").repeat(100)).unwrap();
        host_git(&work, &["add", "file"]);
        host_git(&work, &["commit", "-q", "-m", &format!("commit {n}")]);
    }
    host_git(dir, &["clone", "-q", "--bare", "w", "r.git"]);
    host_git(&dir.join("r.git"), &["config", "http.receivepack", "true"]);
    host_git(&dir.join("r.git"), &["config", "uploadpack.allowFilter", "true"]);
}

/// Answers a request by the host's program, as a server with CGI does (RFC 3875).
fn answer(program: &Path, root: &Path, request: &Request) -> Reply {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut command = Command::new(program);
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("PATH_INFO", path).env("QUERY_STRING", query);
    command.env("REQUEST_METHOD", &request.method).env("REMOTE_USER", "ann");
    for (variable, header) in [
        ("CONTENT_TYPE", "content-type"),
        ("HTTP_CONTENT_ENCODING", "content-encoding"),
        ("GIT_PROTOCOL", "git-protocol"),
    ] {
        command.env(variable, request.header(header).unwrap_or_default());
    }
    command.env("CONTENT_LENGTH", request.body.len().to_string());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let body = request.body.clone();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&body)));
    let output = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    let end = output.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut reply = Reply::ok(&output[end + 4..]);
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                reply.status = status.split(' ').next().unwrap().parse().unwrap();
            }
            Some(("Content-Type", value)) => reply = reply.with("Content-Type", value),
            _ => {}
        }
    }
    reply
}

/// Returns a session for which the server's repositories below `/open/` are free, and those below
/// `/closed/` need the credential.
fn session(
    isolation: Isolation,
    dir: &Path,
    program: PathBuf,
    secrets: &[&str],
) -> (Session, String) {
    let (s, url, _) = session_with(isolation, dir, program, &["GET,POST http://HOST/"], secrets);
    (s, url)
}

/// Returns a session with these rules and secrets, in which HOST is the server, and the requests
/// that the server has got.
fn session_with(
    isolation: Isolation,
    dir: &Path,
    program: PathBuf,
    rules: &[&str],
    secrets: &[&str],
) -> (Session, String, Arc<Mutex<Vec<String>>>) {
    let root = dir.to_path_buf();
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&requests);
    let at = serve(move |request| {
        seen.lock().unwrap().push(format!("{} {}", request.method, request.path));
        let closed = request.path.strip_prefix("/closed");
        if closed.is_some() && request.header("authorization") != Some(CREDENTIAL) {
            return Reply::ok("").status(401).with("WWW-Authenticate", "Basic realm=\"git\"");
        }
        let path = closed.or(request.path.strip_prefix("/open")).unwrap_or("/none");
        let inner = Request {
            method: request.method.clone(),
            path: path.to_owned(),
            head: request.head.clone(),
            body: request.body.clone(),
        };
        answer(&program, &root, &inner)
    });
    let all = |texts: &[&str]| texts.iter().map(|t| t.replace("HOST", &at.to_string())).collect();
    let network =
        NetworkPolicy { allow: all(rules), secrets: all(secrets), ..NetworkPolicy::default() };
    let s = engine(isolation).session(Policy { network, ..policy() }).unwrap();
    sh(&s, "git config --global user.name Ann; git config --global user.email ann@example.org");
    sh(&s, "git config --global init.defaultBranch main");
    (s, format!("http://{at}"), requests)
}

#[test]
fn clone_fetch_and_push() {
    let Some(program) = backend() else { return };
    for isolation in [Isolation::Process, Isolation::Threads] {
        let dir = tempfile::tempdir().unwrap();
        create_repository(dir.path(), 30);
        let (s, url) = session(isolation, dir.path(), program.clone(), &[]);
        let bare = dir.path().join("r.git");
        let head = host_git(&bare, &["rev-parse", "main"]);
        assert_eq!(
            sh(&s, &format!("git clone -q {url}/open/r.git r; cd r; git rev-parse HEAD")),
            format!("{head}\n")
        );
        assert_eq!(
            sh(&s, "git fsck; git rev-list --count HEAD; git status -sb"),
            "30\n## main...origin/main\n"
        );

        // Push, by the host's own check a whole repository.
        assert_eq!(sh(&s, "echo new > new; git add new; git commit -qm new; git push -q"), "");
        assert_eq!(host_git(&bare, &["log", "-1", "--format=%s %an", "main"]), "new Ann");
        assert_eq!(host_git(&bare, &["fsck", "--full", "--strict"]), "");
        assert_eq!(
            sh(
                &s,
                "git push -q origin main:refs/heads/other; git ls-remote --heads origin | wc -l"
            ),
            "2\n"
        );
        assert_eq!(
            sh(&s, "git push -q origin :other; git ls-remote --heads origin | wc -l"),
            "1\n"
        );
        // More than a request's usual buffer, so that the body has no length.
        sh(&s, "head -c 3000000 /dev/urandom > big; git add big; git commit -qm big");
        assert_eq!(sh(&s, "git push -q; git status -sb"), "## main...origin/main\n");
        assert_eq!(host_git(&bare, &["cat-file", "-s", "main:big"]), "3000000");
        // A history that does not follow.
        let said =
            sh(&s, "git reset -q --hard HEAD~5; git commit -q --allow-empty -m x; git push -q");
        assert!(said.contains("[rejected]") && said.ends_with("[1]"), "{said}");

        // Fetch of what others pushed.
        host_git(
            &dir.path().join("w"),
            &["pull", "-q", "--ff-only", bare.to_str().unwrap(), "main"],
        );
        host_git(&dir.path().join("w"), &["commit", "-q", "--allow-empty", "-m", "theirs"]);
        host_git(&dir.path().join("w"), &["push", "-q", bare.to_str().unwrap(), "HEAD:main"]);
        let said = sh(
            &s,
            "git fetch -q; git log -1 --format=%s origin/main; \
             git reset -q --hard origin/main; git pull",
        );
        assert_eq!(said, "theirs\nAlready up to date.\n");

        // Shallow and partial clones; the older protocols.
        let said = sh(
            &s,
            &format!(
                "cd; git clone -q --depth 1 {url}/open/r.git shallow; \
                 cd shallow; git rev-list --count HEAD; \
                 git fetch -q --unshallow; git rev-list --count HEAD"
            ),
        );
        assert_eq!(said, "1\n33\n");
        let said = sh(
            &s,
            &format!(
                "cd; git clone -q --filter=blob:none --no-checkout {url}/open/r.git partial; \
                 cd partial; git cat-file -p HEAD~10:file | head -1"
            ),
        );
        assert_eq!(said, "line 22\n");
        for version in ["0", "1"] {
            let said = sh(
                &s,
                &format!(
                    "cd; rm -rf old; \
                     git -c protocol.version={version} clone -q {url}/open/r.git old; \
                     git -C old rev-list --count HEAD"
                ),
            );
            assert_eq!(said, "33\n");
        }
        let said = sh(&s, &format!("cd; git clone -q {url}/open/none.git"));
        assert!(said.contains("not found") && said.ends_with("[128]"), "{said}");
    }
}

#[test]
fn credentials() {
    let Some(program) = backend() else { return };
    let dir = tempfile::tempdir().unwrap();
    create_repository(dir.path(), 2);
    let (s, url) = session(Isolation::Process, dir.path(), program.clone(), &[]);
    let said = sh(&s, &format!("git clone -q {url}/closed/r.git r"));
    assert!(said.contains("could not read Username for") && said.ends_with("[128]"), "{said}");
    // By the URL, and by a helper.
    let with = url.replace("http://", "http://ann:secret@");
    assert_eq!(
        sh(&s, &format!("git clone -q {with}/closed/r.git a; git -C a rev-list --count HEAD")),
        "2\n"
    );
    let helper =
        r#"git -c credential.helper='!f() { echo username=ann; echo password=secret; }; f'"#;
    assert_eq!(
        sh(&s, &format!("{helper} clone -q {url}/closed/r.git b; git -C b rev-list --count HEAD")),
        "2\n"
    );
    let said = sh(
        &s,
        &format!(
            "git -c http.extraHeader='Authorization: {CREDENTIAL}' \
             ls-remote --heads {url}/closed/r.git | wc -l"
        ),
    );
    assert_eq!(said, "1\n");

    // By the bridge: no token gets into the session.
    let secret = format!("http://HOST/: Authorization={CREDENTIAL}");
    let (s, url) = session(Isolation::Process, dir.path(), program, &[&secret]);
    assert_eq!(
        sh(
            &s,
            &format!(
                "git clone -q {url}/closed/r.git r; cd r; \
                 git commit -q --allow-empty -m by-secret; git push -q"
            )
        ),
        ""
    );
    assert_eq!(
        host_git(&dir.path().join("r.git"), &["log", "-1", "--format=%s", "main"]),
        "by-secret"
    );
    assert_eq!(sh(&s, "cat .git/config | grep -c YW5u"), "0\n[1]");
}

/// A push that no rule allows is refused in git's own words, and reaches no server; the token
/// stays outside.
#[test]
fn pushes_are_judged_ref_by_ref() {
    let Some(program) = backend() else { return };
    for isolation in [Isolation::Process, Isolation::Threads] {
        let dir = tempfile::tempdir().unwrap();
        create_repository(dir.path(), 3);
        host_git(dir.path(), &["clone", "-q", "--bare", "w", "s.git"]);
        let bare = dir.path().join("r.git");
        host_git(&bare, &["config", "receive.advertisePushOptions", "true"]);
        let (s, url, requests) = session_with(
            isolation,
            dir.path(),
            program.clone(),
            &[
                "git-push http://HOST/closed/r.git refs/heads/agent/*",
                "git-push http://HOST/closed/r.git refs/tags/agent-* create,delete",
                "git-fetch http://HOST/open/s.git",
            ],
            &[&format!("http://HOST/closed/: Authorization={CREDENTIAL}")],
        );
        let main = host_git(&bare, &["rev-parse", "main"]);
        let cloned = format!("git clone -q {url}/closed/r.git r; git -C r rev-parse HEAD");
        assert_eq!(sh(&s, &cloned), format!("{main}\n"));
        sh(&s, "cd ~/r; echo new > new; git add new; git commit -qm new; git tag agent-1");
        assert_eq!(
            sh(
                &s,
                "cd ~/r; git push -q origin HEAD:refs/heads/agent/a agent-1; git rev-parse HEAD"
            ),
            format!("{}\n", host_git(&bare, &["rev-parse", "agent/a"]))
        );
        // A body without length, after git's question whether it may push.
        let big = "cd ~/r; head -c 3000000 /dev/urandom > big; git add big; git commit -qm big; \
                   git push -q origin HEAD:refs/heads/agent/a HEAD:refs/heads/agent/b";
        assert_eq!(sh(&s, big), "");
        assert_eq!(host_git(&bare, &["cat-file", "-s", "agent/b:big"]), "3000000");
        let before = host_git(&bare, &["for-each-ref"]);
        let pushes = || {
            let all = requests.lock().unwrap();
            all.iter().filter(|r| r.starts_with("POST") && r.ends_with("receive-pack")).count()
        };
        let sent = pushes();

        let words = "! [remote rejected] HEAD -> main (not allowed by this sandbox's rules)";
        for (push, expected) in [
            ("origin HEAD:main", words),
            ("--force origin HEAD:main", words),
            ("origin HEAD:main HEAD:refs/heads/agent/c", words),
            ("--atomic origin HEAD:main HEAD:refs/heads/agent/c", words),
            (
                "origin HEAD:main HEAD:refs/heads/agent/c",
                "(another ref of this push is not allowed)",
            ),
            ("origin :main", "! [remote rejected] main (not allowed by this sandbox's rules)"),
            ("origin :agent/a", "(deleting it is not allowed by this sandbox's rules)"),
            ("origin HEAD:refs/heads/agentx", "HEAD -> agentx (not allowed"),
            ("origin HEAD:refs/tags/v1", "HEAD -> v1 (not allowed"),
            ("--force origin HEAD:refs/tags/agent-1", "(updating it is not allowed"),
            ("-o ci.skip origin HEAD:refs/heads/agent/c", "(push options are not allowed"),
            ("--mirror origin", "[remote rejected]"),
            ("origin HEAD:main", "would allow it"),
        ] {
            let said = sh(&s, &format!("cd ~/r; git push {push}"));
            assert!(said.contains(expected) && said.ends_with("[1]"), "{push}: {said}");
        }
        assert_eq!(pushes(), sent, "nothing of a refused push is sent");
        assert_eq!(host_git(&bare, &["for-each-ref"]), before);
        let hint = format!("the rule 'git-push {url}/closed/r.git refs/heads/main' would allow it");
        let said = sh(&s, "cd ~/r; git push origin HEAD:main");
        assert!(said.contains("remote: refs/heads/main in ") && said.contains(&hint), "{said}");

        // Pushes that a rule allows still work: of a tag, and of a rewritten branch.
        assert_eq!(sh(&s, "cd ~/r; git push -q origin :refs/tags/agent-1"), "");
        let rewritten = "cd ~/r; git reset -q --hard HEAD~1; git commit -qm x --allow-empty; \
                         git push -q --force origin HEAD:refs/heads/agent/a";
        assert_eq!(sh(&s, rewritten), "");

        // Other repositories and requests.
        let fetched =
            format!("cd; git clone -q {url}/open/s.git s; git -C s rev-list --count HEAD");
        assert_eq!(sh(&s, &fetched), "3\n");
        for command in [
            "cd ~/s; git push origin HEAD:refs/heads/x".into(),
            format!("git ls-remote {url}/closed/s.git"),
            format!("git ls-remote {url}/open/r.git"),
            format!("git ls-remote {url}/open/s"),
            format!("curl -sSf {url}/open/s.git/HEAD"),
            format!("curl -sSf {url}/open/s.git/info/refs"),
            format!("curl -sSf -X PUT -d x {url}/closed/r.git/refs/heads/main"),
            format!("curl -sSf --data-binary x {url}/closed/r.git/git-receive-pack"),
        ] {
            let said = sh(&s, &command);
            assert!(
                said.contains("policy") || said.contains("cannot be judged"),
                "{command}: {said}"
            );
            assert!(!said.ends_with("[0]"), "{command}: {said}");
        }
        // No token gets into the session, and the log has refs and ids.
        assert_eq!(
            sh(&s, "cd; grep -r YW5u r/.git .gitconfig | wc -l; env | grep -c YW5u"),
            "0\n0\n[1]"
        );
        assert!(host_git(&bare, &["fsck", "--full", "--strict"]).is_empty());
    }
}

/// The log has the commands of a push, allowed or refused.
#[test]
fn the_log_names_refs_and_ids() {
    let Some(program) = backend() else { return };
    let dir = tempfile::tempdir().unwrap();
    create_repository(dir.path(), 1);
    let (s, url, _) = session_with(
        Isolation::Process,
        dir.path(),
        program,
        &["git-push http://HOST/open/r.git refs/heads/agent/*"],
        &[],
    );
    let id = host_git(&dir.path().join("r.git"), &["rev-parse", "main"]);
    sh(
        &s,
        &format!(
            "git clone -q {url}/open/r.git r; cd r; git push -q origin HEAD:refs/heads/agent/a"
        ),
    );
    sh(&s, "cd ~/r; git push -q origin :main");
    let mut log = Vec::new();
    s.audit(&mut |_, entry| log.push(serde_json::from_str::<Value>(entry).unwrap())).unwrap();
    let pushes: Vec<&Value> = log.iter().filter(|e| !e["push"].is_null()).collect();
    let none = "0".repeat(40);
    assert_eq!(
        json!(pushes.iter().map(|e| [&e["push"], &e["status"]]).collect::<Vec<_>>()),
        json!([
            [[{"ref": "refs/heads/agent/a", "action": "create", "old": none, "new": id}], 200],
            [[{"ref": "refs/heads/main", "action": "delete", "old": id, "new": none,
               "refused": "not allowed by this sandbox's rules"}], null],
        ])
    );
    assert_eq!(pushes[1]["sent"], 0);
    let error = pushes[1]["error"].as_str().unwrap();
    assert!(error.contains("refs/heads/main delete' would allow it"), "{error}");
}

#[test]
fn what_no_rule_allows_is_refused() {
    let Some(program) = backend() else { return };
    let dir = tempfile::tempdir().unwrap();
    create_repository(dir.path(), 1);
    let (s, _) = session(Isolation::Process, dir.path(), program, &[]);
    let said = sh(&s, "git clone -q https://example.com/r.git");
    assert!(
        said.contains("not allowed by the sandbox's policy") && said.ends_with("[128]"),
        "{said}"
    );
    // Without any rule there is no bridge.
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let said = sh(&s, "git clone -q https://example.com/r.git");
    assert!(
        said.contains("not allowed by the sandbox's policy") && said.ends_with("[128]"),
        "{said}"
    );
}

#[test]
fn git_says_how_to_set_an_identity() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let said = sh(&s, "git init -q -b main; git commit --allow-empty -m x");
    for text in [
        "Author identity unknown",
        "*** Please tell me who you are.",
        "git config --global user.email \"you@example.com\"",
        "unable to auto-detect email address",
    ] {
        assert!(said.contains(text), "{said}");
    }
    // What was set is there in the next call, with the repository.
    sh(&s, "git config --global user.name Ann; git config --global user.email ann@example.org");
    assert_eq!(sh(&s, "git commit -q --allow-empty -m x; git log --format='%an %s'"), "Ann x\n");
    assert_eq!(
        sh(&s, "git log --oneline | wc -l; GIT_PAGER='sed s/^/p/' git --paginate log --format=%s"),
        "1\nx\n"
    );
}
