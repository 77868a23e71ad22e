//! Rules for git: which requests they allow, and which commands of a push.

use super::*;
use crate::rules::{RequestRule, RequestRules, RuleFault};
use http::header::HeaderValue;

const A: &str = "1111111111111111111111111111111111111111";
const B: &str = "2222222222222222222222222222222222222222";
const NONE: &str = "0000000000000000000000000000000000000000";
const REPOSITORY: &str = "https://h/o/r";
const AGENT: &str = "git-push https://h/o/r refs/heads/agent/*";

fn rules(allow: &[&str], deny: &[&str]) -> RequestRules {
    let all = |texts: &[&str]| texts.iter().map(|t| t.parse().expect("a rule")).collect();
    RequestRules { allow: all(allow), deny: all(deny) }
}

fn allows(rules: &RequestRules, method: &str, url: &str) -> bool {
    rules.check_allowed(method, &Url::parse(url).expect("a URL")).is_ok()
}

fn list(commands: &[(&str, &str, &str)], options: &[&str]) -> PushList {
    PushList {
        commands: commands
            .iter()
            .map(|(old, new, name)| PushCommand {
                name: (*name).into(),
                old: (*old).into(),
                new: (*new).into(),
            })
            .collect(),
        options: options.iter().map(|o| (*o).into()).collect(),
        wants_report: true,
        has_side_band: true,
    }
}

/// Judges a push to the repository; the result has the reasons of the refused commands.
fn push_to(
    rules: &RequestRules,
    repository: &str,
    commands: &[(&str, &str, &str)],
    options: &[&str],
) -> Vec<Option<String>> {
    let url = Url::parse(&format!("{repository}/git-receive-pack")).expect("a URL");
    let mut permit = rules.check("POST", &url).expect("a permit");
    assert!(permit.must_judge_push());
    let list = list(commands, options);
    let verdict = permit.judge_push(&list);
    let reasons: Vec<_> = verdict.refs.into_iter().map(|one| one.refused).collect();
    assert_eq!(verdict.refusal.is_some(), reasons.iter().any(Option::is_some));
    reasons
}

fn is_allowed(rules: &RequestRules, command: (&str, &str, &str)) -> bool {
    push_to(rules, REPOSITORY, &[command], &[]) == [None]
}

#[test]
fn fetching_is_two_requests() {
    let r = rules(&["git-fetch https://h/o/r"], &[]);
    assert!(allows(&r, "GET", "https://h/o/r/info/refs?service=git-upload-pack"));
    assert!(allows(&r, "POST", "https://h/o/r/git-upload-pack"));
    for (method, url) in [
        ("GET", "https://h/o/r/info/refs?service=git-receive-pack"),
        ("POST", "https://h/o/r/git-receive-pack"),
        ("GET", "https://h/o/r/info/refs"),
        ("GET", "https://h/o/r/HEAD"),
        ("GET", "https://h/o/r/objects/info/packs"),
        ("GET", "https://h/o/r/archive/main.zip"),
        ("GET", "https://h/o/r"),
        ("GET", "https://h/o/r.git/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/R/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/rr/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/r/x/info/refs?service=git-upload-pack"),
        ("GET", "https://h/x/o/r/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/x/../../o/s/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o//r/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/r/%2e%2e/s/info/refs?service=git-upload-pack"),
        ("GET", "http://h/o/r/info/refs?service=git-upload-pack"),
        ("GET", "https://h:8443/o/r/info/refs?service=git-upload-pack"),
        ("GET", "https://h.evil.org/o/r/info/refs?service=git-upload-pack"),
        ("HEAD", "https://h/o/r/info/refs?service=git-upload-pack"),
        ("POST", "https://h/o/r/info/lfs/objects/batch"),
    ] {
        assert!(!allows(&r, method, url), "{method} {url}");
    }
    // A push needs the requests of a fetch.
    let r = rules(&[AGENT], &[]);
    assert!(allows(&r, "GET", "https://h/o/r/info/refs?service=git-upload-pack"));
    assert!(allows(&r, "POST", "https://h/o/r/git-upload-pack"));
    assert!(allows(&r, "GET", "https://h/o/r/info/refs?service=git-receive-pack"));
    assert!(allows(&r, "POST", "https://h/o/r/git-receive-pack"));
    assert!(!allows(&r, "PUT", "https://h/o/r/refs/heads/main"));
    assert!(!allows(&r, "POST", "https://h/o/r.git/git-receive-pack"));
}

#[test]
fn folders_have_all_repositories_below() {
    let r = rules(&["git-fetch https://h/o/*", "git-push *://g:*/* refs/heads/*"], &[]);
    assert!(allows(&r, "POST", "https://h/o/r/git-upload-pack"));
    assert!(allows(&r, "POST", "https://h/o/a/b.git/git-upload-pack"));
    assert!(!allows(&r, "POST", "https://h/o/git-upload-pack"));
    assert!(!allows(&r, "POST", "https://h/oo/r/git-upload-pack"));
    assert!(!allows(&r, "POST", "https://h/o/r/git-receive-pack/git-upload-pack"));
    assert!(allows(&r, "POST", "http://g:81/x/git-receive-pack"));
    assert!(!allows(&r, "POST", "http://g:81/git-receive-pack"));
}

#[test]
fn commands_are_judged_by_ref_and_action() {
    let r = rules(&[AGENT], &[]);
    assert!(is_allowed(&r, (NONE, A, "refs/heads/agent/x")));
    assert!(is_allowed(&r, (A, B, "refs/heads/agent/x")));
    assert!(is_allowed(&r, (A, B, "refs/heads/agent/x/y")));
    for (command, why) in [
        ((A, B, "refs/heads/main"), "not allowed by this sandbox's rules"),
        ((NONE, A, "refs/heads/main"), "not allowed by this sandbox's rules"),
        ((A, NONE, "refs/heads/main"), "not allowed by this sandbox's rules"),
        ((A, B, "refs/heads/agents/x"), "not allowed by this sandbox's rules"),
        ((A, B, "refs/heads/Agent/x"), "not allowed by this sandbox's rules"),
        ((A, B, "refs/tags/agent/x"), "not allowed by this sandbox's rules"),
        ((A, B, "refs/remotes/origin/refs/heads/agent/x"), "not allowed by this sandbox's rules"),
        ((A, B, "refs/replace/x"), "not allowed by this sandbox's rules"),
        ((A, NONE, "refs/heads/agent/x"), "deleting it is not allowed by this sandbox's rules"),
        ((NONE, NONE, "refs/heads/agent/x"), "deleting it is not allowed by this sandbox's rules"),
    ] {
        assert_eq!(
            push_to(&r, REPOSITORY, &[command], &[]),
            [Some(why.to_string())],
            "{command:?}"
        );
    }
    // One refused command refuses all, and says which.
    let said = push_to(
        &r,
        REPOSITORY,
        &[(A, B, "refs/heads/agent/x"), (A, B, "refs/heads/main"), (A, B, "refs/heads/agent/y")],
        &[],
    );
    assert_eq!(said.iter().filter(|why| why.is_some()).count(), 1);
    // Options may merge or deploy.
    let said = push_to(&r, REPOSITORY, &[(A, B, "refs/heads/agent/x")], &["merge_request.create"]);
    assert_eq!(said, [Some("push options are not allowed by this sandbox's rules".to_string())]);
    let r = rules(&["git-push https://h/o/r refs/heads/agent/* update,push-options"], &[]);
    assert_eq!(push_to(&r, REPOSITORY, &[(A, B, "refs/heads/agent/x")], &["ci.skip"]), [None]);
    assert!(!is_allowed(&r, (NONE, B, "refs/heads/agent/x")));
}

#[test]
fn actions_are_what_a_rule_names() {
    let create = (NONE, A, "refs/heads/x");
    let update = (A, B, "refs/heads/x");
    let delete = (A, NONE, "refs/heads/x");
    for (actions, expected) in [
        ("", [true, true, false]),
        ("create", [true, false, false]),
        ("update", [false, true, false]),
        ("delete", [false, false, true]),
        ("create,update,delete", [true, true, true]),
        ("push-options", [false, false, false]),
    ] {
        let r = rules(&[&format!("git-push https://h/o/r refs/heads/* {actions}")], &[]);
        assert_eq!([create, update, delete].map(|c| is_allowed(&r, c)), expected, "{actions}");
        // Without refs a rule is about all of them.
        let r = rules(&[&format!("git-push https://h/o/r {actions}")], &[]);
        assert_eq!([create, update, delete].map(|c| is_allowed(&r, c)), expected, "{actions}");
    }
    // Rules are not mixed: none of these allows to delete a branch.
    let r = rules(
        &["git-push https://h/o/r refs/heads/*", "git-push https://h/o/r refs/tags/* delete"],
        &[],
    );
    assert!(!is_allowed(&r, delete));
    assert!(is_allowed(&r, update));
    assert!(is_allowed(&r, (A, NONE, "refs/tags/v1")));
    // Rules of other repositories do not count.
    let r = rules(&[AGENT, "git-push https://h/o/other refs/*"], &[]);
    assert!(!is_allowed(&r, update));
    let r = rules(&[AGENT, "git-fetch https://h/*"], &[]);
    assert!(!is_allowed(&r, update));
}

#[test]
fn denying_comes_first() {
    let main = (A, B, "refs/heads/main");
    let r = rules(
        &["git-push https://h/o/r refs/heads/*"],
        &["git-push https://h/o/r refs/heads/main"],
    );
    let said = push_to(&r, REPOSITORY, &[main], &[]);
    assert_eq!(said, [Some("denied by this sandbox's rules".to_string())]);
    assert!(!is_allowed(&r, (A, B, "refs/heads/MAIN")));
    assert!(is_allowed(&r, (A, B, "refs/heads/x")));
    let r = rules(
        &["git-push https://h/o/r refs/heads/* create,update,delete"],
        &["git-push https://h/o/r delete"],
    );
    assert!(is_allowed(&r, main));
    assert!(!is_allowed(&r, (A, NONE, "refs/heads/x")));

    // Over rules for requests, too: they allow the rest.
    let r = rules(&["* https://h/"], &["git-push https://h/o/r.git refs/heads/main"]);
    for repository in ["https://h/o/r", "https://h/o/r.git", "https://h/O/R"] {
        assert_ne!(push_to(&r, repository, &[main], &[]), [None], "{repository}");
        assert_eq!(push_to(&r, repository, &[(A, NONE, "refs/heads/x")], &[]), [None]);
    }
    for (method, url) in [
        ("POST", "https://h/o/r/git-receive-pack?x"),
        ("POST", "https://h/o//r/git-receive-pack"),
        ("POST", "https://h/o/r//git-receive-pack"),
        ("POST", "https://h/o/r/git%2dreceive-pack/"),
        ("POST", "https://h/o/r;x/git-receive-pack"),
        ("POST", "https://h/o/r%2fgit-receive-pack"),
        ("POST", "https://h/o/r/Git-Receive-Pack"),
        ("POST", "https://h/o/%252572/git-receive-pack"),
        ("PUT", "https://h/o/r/git-receive-pack"),
        ("post", "https://h/o/r/git-receive-pack"),
    ] {
        assert!(!allows(&r, method, url), "{method} {url}");
    }
    assert!(allows(&r, "GET", "https://h/o/r/info/refs?service=git-receive-pack"));
    assert!(allows(&r, "POST", "https://h/o/s/git-receive-pack?x"));
    assert!(allows(&r, "POST", "https://h/o/r/git-upload-pack"));

    // An address that is denied is denied for every name that leads there.
    let r = rules(
        &["git-push http://h/r refs/*", "git-push http://8.8.8.8/r refs/*"],
        &["git-push http://8.8.8.8/r refs/heads/main"],
    );
    let reaches = |host: &str| {
        let url = Url::parse(&format!("http://{host}/r/git-receive-pack")).expect("a URL");
        let permit = r.check("POST", &url).expect("a permit");
        permit.check_address("8.8.8.8".parse().expect("an address")).is_ok()
    };
    assert!(!reaches("h"));
    assert!(reaches("8.8.8.8"));
    assert_eq!(push_to(&r, "http://8.8.8.8/r", &[(A, B, "refs/heads/x")], &[]), [None]);
    assert_ne!(push_to(&r, "http://8.8.8.8/r", &[main], &[]), [None]);

    // All pushes, and all fetches.
    let r = rules(&["* https://h/"], &["git-push https://h/o/*"]);
    assert!(!allows(&r, "POST", "https://h/o/r/git-receive-pack"));
    assert!(!allows(&r, "GET", "https://h/o/r/info/refs?service=git%2Dreceive-pack"));
    assert!(!allows(&r, "GET", "https://h/o/r/info/refs?a=b&service=git-receive-pack"));
    assert!(allows(&r, "POST", "https://h/o/r/git-upload-pack"));
    let r = rules(&["* https://h/", AGENT], &["git-fetch https://h/o/r"]);
    for (method, url) in [
        ("POST", "https://h/o/r/git-upload-pack"),
        ("GET", "https://h/o/r/info/refs?service=git-upload-pack"),
        ("GET", "https://h/o/r/info/refs"),
        ("GET", "https://h/o/r.git/info/refs"),
        ("GET", "https://h/o/r/HEAD"),
        ("GET", "https://h/o/r/objects/pack/x.pack"),
        ("GET", "https://h/o/r/info/refs?service=git-receive-pack&service=git-upload-pack"),
    ] {
        assert!(!allows(&r, method, url), "{method} {url}");
    }
    assert!(allows(&r, "GET", "https://h/o/r/info/refs?service=git-receive-pack"));
    assert!(allows(&r, "GET", "https://h/o/r/README"));
}

#[test]
fn heads_of_pushes_are_those_of_git() {
    let r = rules(&[AGENT], &[]);
    let check = |service: &str, headers: &[(&'static str, &'static str)], body| {
        let url = Url::parse(&format!("{REPOSITORY}/{service}")).expect("a URL");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        r.check("POST", &url).expect("a permit").check_head(&map, body).is_ok()
    };
    let own = ("content-type", "application/x-git-receive-pack-request");
    let some = BodyLength::Unknown;
    assert!(check("git-receive-pack", &[own], some));
    assert!(check("git-receive-pack", &[own, ("git-protocol", "version=2")], BodyLength::Bytes(4)));
    for (headers, body) in [
        (vec![], some),
        (vec![("content-type", "application/x-www-form-urlencoded")], some),
        (vec![("content-type", "multipart/form-data")], some),
        (vec![("content-type", "application/x-git-upload-pack-request")], some),
        (vec![("content-type", "application/x-git-receive-pack-request; a=b")], some),
        (vec![own, own], some),
        (vec![own, ("content-encoding", "gzip")], some),
        (vec![own, ("content-encoding", "identity")], some),
        (vec![own, ("git-protocol", "version=3")], some),
        (vec![own, ("git-protocol", "version=1:x")], some),
        (vec![own], BodyLength::None),
        (vec![own], BodyLength::Bytes(0)),
    ] {
        assert!(!check("git-receive-pack", &headers, body), "{headers:?}");
    }
    let fetch = ("content-type", "application/x-git-upload-pack-request");
    assert!(check("git-upload-pack", &[fetch, ("content-encoding", "gzip")], some));
    assert!(!check("git-upload-pack", &[own], some));
}

#[test]
fn redirects_stay_in_the_repository() {
    let r = rules(&[AGENT, "GET https://h/free/", "git-fetch https://h/o/other"], &[]);
    let check = |from: &str, to: &str| {
        let (from, to) = (Url::parse(from).expect("a URL"), Url::parse(to).expect("a URL"));
        r.check("GET", &from).expect("a permit").check_redirect(&from, &to).is_ok()
    };
    let refs = "https://h/o/r/info/refs?service=git-upload-pack";
    assert!(check(refs, "https://h/o/r/info/refs?service=git-upload-pack"));
    for elsewhere in [
        "https://h/o/other/info/refs?service=git-upload-pack",
        "https://h/o/r.git/info/refs?service=git-upload-pack",
        "https://h/free/x",
        "https://other/o/r/info/refs?service=git-upload-pack",
        "http://h/o/r/info/refs?service=git-upload-pack",
        "https://h:8443/o/r/info/refs?service=git-upload-pack",
    ] {
        assert!(!check(refs, elsewhere), "{elsewhere}");
    }
    assert!(check("https://h/free/a", "https://other/"));
}

#[test]
fn addresses_are_those_of_the_rules_that_allow() {
    let r = rules(
        &["git-push http://h/r refs/heads/a/* at 10.0.0.0/8", "git-push http://h/r refs/heads/b/*"],
        &[],
    );
    let reaches = |names: &[&str], address: &str| {
        let url = Url::parse("http://h/r/git-receive-pack").expect("a URL");
        let mut permit = r.check("POST", &url).expect("a permit");
        let commands: Vec<_> = names.iter().map(|name| (A, B, *name)).collect();
        assert!(permit.judge_push(&list(&commands, &[])).refusal.is_none());
        permit.check_address(address.parse().expect("an address")).is_ok()
    };
    assert!(reaches(&["refs/heads/a/x"], "10.1.1.1"));
    assert!(!reaches(&["refs/heads/a/x"], "8.8.8.8"));
    assert!(reaches(&["refs/heads/b/x"], "8.8.8.8"));
    assert!(!reaches(&["refs/heads/b/x"], "10.1.1.1"));
    assert!(!reaches(&["refs/heads/a/x", "refs/heads/b/x"], "8.8.8.8"));
    assert!(!reaches(&["refs/heads/a/x", "refs/heads/b/x"], "10.1.1.1"));
}

#[test]
fn refusals_name_the_rule_that_would_allow() {
    let r = rules(&[AGENT], &[]);
    for (method, url, needed) in [
        ("GET", "https://h/o/s/info/refs?service=git-upload-pack", "git-fetch https://h/o/s"),
        ("POST", "https://h:8/a%20b/git-upload-pack", "git-fetch https://h:8/a%20b"),
        (
            "GET",
            "https://h/o/s.git/info/refs?service=git-receive-pack",
            "git-push https://h/o/s.git refs/heads/*",
        ),
        ("GET", "https://h/o/s/info/refs", "GET https://h/o/s/info/refs"),
    ] {
        let parsed = Url::parse(url).expect("a URL");
        let refusal = r.check_allowed(method, &parsed).expect_err("no rule");
        assert_eq!(refusal.needed, needed);
        assert!(allows(&rules(&[needed], &[]), method, url), "{needed}");
    }
    let url = Url::parse("https://h/o/r/git-receive-pack").expect("a URL");
    for (command, options, needed) in [
        ((A, B, "refs/heads/main"), &[][..], "git-push https://h/o/r refs/heads/main"),
        ((A, NONE, "refs/heads/main"), &[], "git-push https://h/o/r refs/heads/main delete"),
        (
            (NONE, A, "refs/heads/main"),
            &["x"],
            "git-push https://h/o/r refs/heads/main create,push-options",
        ),
    ] {
        let list = list(&[command], options);
        let verdict = r.check("POST", &url).expect("a permit").judge_push(&list);
        let refusal = verdict.refusal.expect("a refusal");
        assert_eq!(refusal.first.needed, needed);
        let more = rules(&[needed], &[]);
        assert!(more.check("POST", &url).expect("a permit").judge_push(&list).refusal.is_none());
        let said = String::from_utf8(refusal.report.expect("a report")).expect("text");
        assert!(said.contains(&format!("the rule '{needed}' would allow it")), "{said}");
    }
}

#[test]
fn texts_and_tables_are_the_same() {
    for (text, canonical) in [
        ("git-fetch https://H/o/r/", "git-fetch https://h/o/r"),
        ("GIT-FETCH https://h:443", "git-fetch https://h"),
        ("git-fetch https://h/*", "git-fetch https://h/*"),
        ("git-fetch *://*:*/*", "git-fetch *://*:*/*"),
        ("git-push https://h/o/r at 10.0.0.0/8", "git-push https://h/o/r at 10.0.0.0/8"),
        (
            "git-push  https://h/o/r  refs/heads/a refs/tags/* delete,create,delete at ::1",
            "git-push https://h/o/r refs/heads/a refs/tags/* create,delete at ::1/128",
        ),
    ] {
        let rule: RequestRule = text.parse().expect("a rule");
        assert_eq!(rule.to_string(), canonical);
        assert_eq!(canonical.parse::<RequestRule>().expect("a rule"), rule);
    }
    let read: RequestRules = serde_json::from_str(
        r#"{"allow": ["git-push https://h/o/r refs/heads/a update at 10.0.0.0/8",
                     {"methods": ["git-push"], "url": "https://h/o/r", "refs": ["refs/heads/a"],
                      "actions": ["update"], "at": ["10.0.0.0/8"]}]}"#,
    )
    .expect("rules");
    assert_eq!(read.allow[0], read.allow[1]);
}

#[test]
fn mistakes_are_named() {
    use RuleFault as F;
    for (text, fault) in [
        ("git-push", F::Form),
        ("git-push refs/heads/main", F::Scheme),
        ("git-fetch h/o/r", F::Scheme),
        ("git-fetch https://h/o/r refs/heads/main", F::Git),
        ("git-fetch,GET https://h/o/r", F::Git),
        ("GET,git-push https://h/o/r", F::Git),
        ("git-pull https://h/o/r", F::Git),
        ("git-receive-pack https://h/o/r", F::Git),
        ("GET https://h/o/r refs/heads/main", F::Form),
        ("git-push https://h/o/r main", F::Action),
        ("git-push https://h/o/r heads/main", F::Ref),
        ("git-push https://h/o/r refs/heads/main create update", F::Ref),
        ("git-push https://h/o/r create refs/heads/main", F::Ref),
        ("git-push https://h/o/r refs/heads/*/*", F::Ref),
        ("git-push https://h/o/r refs/heads/../main", F::Ref),
        ("git-push https://h/o/r refs/heads/x create,", F::Action),
        ("git-push https://h/o/r refs/heads/x force", F::Force),
        ("git-push https://h/o/r refs/heads/x update,force", F::Force),
        ("git-push https://h/o/*/r", F::Path),
        ("git-push https://h/o/r*", F::Path),
        ("git-push https://h/o/r?x", F::Path),
        ("git-push https://h/o/../r", F::Path),
        ("git-push https://h/o//r", F::Path),
        ("git-push https://u:p@h/o/r", F::User),
        ("git-push https://h/o/r refs/heads/x at here", F::At),
    ] {
        let got = text.parse::<RequestRule>().map(|r| r.to_string());
        assert_eq!(got.map_err(|e| e.fault), Err(fault), "{text}");
    }
}
