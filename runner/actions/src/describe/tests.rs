//! Descriptions of small images.

use super::*;
use std::fs;
use wasibox::MountSpec;

/// The smallest module: magic number and version.
const MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// Packs an image with these commands and folders.
fn image(commands: &[&str], folders: &[&str]) -> Arc<Image> {
    let dir = tempfile::tempdir().unwrap();
    for folder in folders {
        let path = dir.path().join("root").join(folder);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("METADATA"), "").unwrap();
    }
    fs::create_dir_all(dir.path().join("root/usr/local/bin")).unwrap();
    fs::write(dir.path().join("root/usr/local/bin/yq"), "#!/bin/sh\n").unwrap();
    let spec = wasibox_image::ImageSpec {
        name: "test/describe".into(),
        version: "1.2.3".into(),
        atoms: vec![("m".into(), MODULE.to_vec())],
        commands: commands.iter().map(|c| ((*c).into(), "m".into())).collect(),
        rootfs: vec![dir.path().join("root")],
        versions: [("cpython".to_owned(), "3.13.1".to_owned())].into(),
        ..wasibox_image::ImageSpec::default()
    };
    let bytes = wasibox_image::pack_image(&spec).unwrap();
    Arc::new(Image::from_bytes("test", bytes).unwrap())
}

fn with_python() -> Arc<Image> {
    let site = "usr/lib/python3.13/site-packages";
    let folders = ["numpy-2.4.0.dist-info", "numpy", "python_dateutil-2.9.0.dist-info"];
    let folders = folders.map(|name| format!("{site}/{name}"));
    image(&["bash", "cat", "pip", "python3"], &folders.each_ref().map(String::as_str))
}

#[test]
fn a_description_has_what_is_in_the_image() {
    let made = MachineDescription::new(&with_python(), &Policy::default()).unwrap();
    assert_eq!((&*made.image, &*made.version), ("test/describe", "1.2.3"));
    assert_eq!(made.commands, ["bash", "cat", "pip", "python3", "yq"]);
    let python = made.python.as_ref().unwrap();
    assert_eq!(python.version.as_deref(), Some("3.13.1"));
    let packages: Vec<_> = python.packages.iter().map(|p| (&*p.name, &*p.version)).collect();
    assert_eq!(packages, [("numpy", "2.4.0"), ("python-dateutil", "2.9.0")]);
    assert_eq!(made.javascript, None);
    let text = made.prompt();
    assert!(text.contains("Commands (5): bash cat pip python3 yq."), "{text}");
    assert!(text.contains("numpy 2.4.0, python-dateutil 2.9.0."), "{text}");
    assert!(text.contains("There is no network") && text.contains("`pip install` can use local"));
    assert!(!text.contains("JavaScript") && !text.contains("npm") && !text.contains("man NAME"));
    assert!(text.contains("the last 50 steps"), "{text}");
    let summary = made.summary();
    assert!(summary.len() < text.len() && summary.contains("numpy, python-dateutil"), "{summary}");

    let bare = MachineDescription::new(&image(&["sh"], &[]), &Policy::default()).unwrap();
    assert_eq!(bare.python, None);
    assert!(!bare.prompt().contains("Python") && !bare.prompt().contains("install"));
}

#[test]
fn a_description_has_what_the_policy_grants() {
    let mut policy = Policy::default();
    let mount = |guest: &str, writable, quota| MountSpec {
        host: "/secret/place".into(),
        guest: guest.into(),
        writable,
        quota,
    };
    policy.mounts = vec![mount("/out", true, Some(10 << 20)), mount("/data", false, None)];
    policy.network.allow = vec!["GET https://pypi.org/".into()];
    policy.network.deny = vec!["* https://old.example/".into()];
    policy.network.secrets = vec!["pypi.org: Authorization=hidden".into()];
    policy.limits.cpu = Some(Duration::from_secs(30));
    policy.growth.most_commits = usize::MAX;
    let made = MachineDescription::new(&with_python(), &policy).unwrap();
    let made = made.with_default_timeout(Duration::from_secs(120));
    let made = made.with_host_tools(vec!["weather".into()]);
    let text = made.prompt();
    for words in [
        "/data is the user's, read-only.",
        "/out is the user's: what you change there",
        "you can add 10 MiB.",
        "Requests are allowed to: GET https://pypi.org/. Denied in any case: * https://old.example/.",
        "can use an index only if these rules allow it",
        "2 min for a call, 1 h for one that asks for it, 30 s of CPU time, 2 GiB of memory",
        "can call: weather.",
        "of all steps",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = serde_json::to_string(&made).unwrap();
    for secret in ["/secret/place", "hidden"] {
        assert!(!text.contains(secret) && !json.contains(secret), "{secret}");
    }
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["folders"][0],
        serde_json::json!({"path": "/data", "kind": "mount", "writable": false, "quota": null})
    );
    assert_eq!(json["limits"]["default_timeout"], 120.0);
    assert_eq!(json["history"], serde_json::json!({"keep": 50, "most": null}));
}
