//! Tests of the parts of the recipe that do not need the network, and need no compiler but this
//! machine's.

use std::fs;
use std::path::PathBuf;

use super::pins::{Pins, Profile};
use super::prebuilt::Prebuilt;
use super::workshop::{Key, Leftover, Workshop, sha256_file};
use super::{fetch, finish, packages};

/// A folder of its own for each test, removed at the end.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Temp {
        let dir = std::env::temp_dir().join(format!("xtask-python-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a temporary folder");
        Temp(dir)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn recipe() -> PathBuf {
    crate::env::root().join("python-dist")
}

fn key(text: &str) -> Key {
    let mut key = Key::new("test");
    key.text(text);
    key
}

#[test]
fn the_pins_are_well_formed() {
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    assert_eq!(format!("{}.15", pins.series()), pins.python);
    for name in ["cpython", "zig-x86_64", "dlmalloc", "zlib", "bzip2", "xz", "sqlite", "tzdata"] {
        pins.source(name).expect(name);
    }
    assert!(pins.source("nothing").is_err());
}

#[test]
fn every_patch_gives_its_reason() {
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    let mut folders = vec![recipe().join("patches")];
    folders.extend(["recipe/cython", "site/posix", "site/library"].map(|name| recipe().join(name)));
    folders.extend(pins.packages.iter().map(|name| recipe().join("packages").join(name)));
    let mut all = 0;
    for folder in folders {
        let names = super::workshop::sorted(&folder).expect("patches");
        // Patches are applied in the order of their numbers. Each number is used once; that of a
        // removed patch stays free.
        let mut last = 0;
        for name in names.iter().filter(|name| name.ends_with(".patch")) {
            let number = name.split('-').next().filter(|n| n.len() == 4);
            let number: u32 = number.and_then(|n| n.parse().ok()).expect(name);
            assert!(number > last, "{name}: not after {last}");
            last = number;
            let text = fs::read_to_string(folder.join(name)).expect(name);
            assert!(text.starts_with("Reason: "), "{name}");
            all += 1;
        }
    }
    assert!(all > 10);
}

/// The functions of `site/strings.c`, compiled for this machine, are compared with plain loops.
#[test]
fn string_functions_are_as_defined() {
    let temp = Temp::new("strings");
    let program = temp.0.join("strings");
    let mut cc = std::process::Command::new(super::host::cc());
    cc.args(["-O2", "-Wall", "-Werror", "-fno-builtin", "-o"]).arg(&program);
    let compiled = cc.arg(recipe().join("suites/strings.c")).status().expect("a C compiler");
    assert!(compiled.success());
    let done = std::process::Command::new(&program).output().expect("the program");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let compared: u64 = String::from_utf8_lossy(&done.stdout).trim().parse().expect("a number");
    assert!(compared > 9_000_000, "{compared}");
}

#[test]
fn every_package_is_described_and_pinned() {
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    let folders = super::workshop::sorted(&recipe().join("packages")).expect("packages");
    let mut listed = pins.packages.clone();
    listed.sort();
    // A wheel's folder has patches only.
    let folders: Vec<_> = folders.into_iter().filter(|n| !pins.wheels.contains_key(n)).collect();
    assert_eq!(folders, listed);
    for (n, name) in pins.packages.iter().enumerate() {
        let text = fs::read_to_string(recipe().join("packages").join(name).join("package.toml"));
        let package: packages::Recipe = toml::from_str(&text.expect(name)).expect(name);
        for need in &package.needs {
            assert!(pins.packages[..n].contains(need), "{name} needs {need} before it");
        }
        for part in &package.unpack {
            let source = pins.source(&part.source).expect(&part.source);
            // The owner is one of the packages that unpack the source.
            let owner = source.part_of.as_ref().expect(&part.source);
            assert!(pins.packages.contains(owner), "{} in {name}", part.source);
        }
    }
    for name in pins.packages.iter().chain(pins.wheels.keys()).chain(pins.rust.keys()) {
        pins.source(name).expect(name);
    }
}

#[test]
fn profiles_hold_what_they_say() {
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    for (name, profile) in Profile::ALL {
        assert_eq!(Profile::named(name), Some(profile));
        assert_eq!(profile.name(), name);
    }
    assert_eq!(Profile::named("all"), None);
    let of = |profile, name| pins.ships(profile, pins.source(name).expect(name));
    assert!(of(Profile::Core, "zlib") && of(Profile::Full, "zlib"));
    assert!(!of(Profile::Core, "numpy") && of(Profile::Data, "numpy"));
    assert!(!of(Profile::Core, "freetype") && of(Profile::Data, "freetype"));
    assert!(!of(Profile::Core, "libxml2") && of(Profile::Data, "libxml2"));
    assert!(!of(Profile::Data, "faker") && of(Profile::Full, "faker"));
    for name in ["scipy", "netlib-lapack", "libf2c", "scikit-learn", "statsmodels", "threadpoolctl"]
    {
        assert!(!of(Profile::Data, name) && of(Profile::Science, name), "{name}");
        assert!(of(Profile::Full, name), "{name}");
    }
    for name in ["pydantic", "pydantic-core"] {
        assert!(!of(Profile::Science, name) && of(Profile::Full, name), "{name}");
    }
    assert!(!of(Profile::Full, "versioneer"));
}

/// Contents that only larger profiles have do not change the result of a smaller profile.
#[test]
fn archives_do_not_depend_on_what_larger_profiles_have_besides() {
    let temp = Temp::new("keys");
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    let parts =
        ["pins.toml", "packages/p/x", "packages/scipy/x", "patches/x", "site/x", "recipe/x"];
    for name in parts.into_iter().chain(["full/pins.toml", "science/pins.toml"]) {
        let file = temp.0.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, name).expect("a file");
    }
    let keys = || Profile::ALL.map(|(_, p)| super::hash(&temp.0, &pins, p).expect("a key"));
    let distinct: std::collections::BTreeSet<_> = keys().into_iter().collect();
    assert_eq!(distinct.len(), Profile::ALL.len());
    // Returns whether the key changes with the file, for each of core, data, science and full.
    let changed = |name: &str| {
        let before = keys();
        fs::write(temp.0.join(name), "other").expect("a file");
        keys().iter().zip(&before).map(|(now, then)| now != then).collect::<Vec<_>>()
    };
    assert_eq!(changed("full/pins.toml"), [false, false, false, true]);
    assert_eq!(changed("science/pins.toml"), [false, false, true, true]);
    assert_eq!(changed("packages/scipy/x"), [false, false, true, true]);
    assert_eq!(changed("packages/p/x"), [true; 4]);
}

#[test]
fn leaving_out_is_by_path_or_by_name() {
    let covers =
        |rule, path: &str| packages::covers(rule, path, path.rsplit('/').next().expect("a name"));
    assert!(covers("a/tests", "a/tests") && !covers("a/tests", "b/tests"));
    assert!(covers("**/tests", "a/b/tests") && !covers("**/tests", "a/mytests"));
    assert!(covers("**/*.pyi", "a/x.pyi") && !covers("**/*.pyi", "a/x.py"));
}

#[test]
fn parts_of_a_key_do_not_run_together() {
    let of = |parts: &[&str]| {
        let mut key = Key::new("k");
        parts.iter().for_each(|part| key.text(part));
        key.finish()
    };
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["ab"]), of(&["ab", ""]));
    assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
}

#[test]
fn a_kept_file_with_a_flipped_byte_stops_the_build() {
    let temp = Temp::new("flipped");
    let mut quiet = |_: &str| {};
    let mut shop = Workshop::new(&temp.0, &recipe(), &mut quiet).expect("workshop");
    let file = temp.0.join("good");
    fs::write(&file, b"the pinned bytes").expect("a file");
    let sha256 = sha256_file(&file).expect("its hash");
    let text = format!(
        "name = 'thing'\nversion = '1'\nsha256 = '{sha256}'\nlicence = 'MIT'\nlicence-files = []\n\
         origins = [{{ kind = 'url', url = 'unused:' }}]\n"
    );
    let source = toml::from_str(&text).expect("a source");
    let kept = temp.0.join("sources").join(format!("{}-thing", &sha256[..16]));

    fs::copy(&file, &kept).expect("copy");
    assert_eq!(fetch::fetch(&mut shop, &source).expect("verified"), kept);

    fs::write(&kept, b"the pinned bytez").expect("write");
    let got = sha256_file(&kept).expect("its hash");
    let message = format!("{:#}", fetch::fetch(&mut shop, &source).expect_err("refused"));
    assert!(message.contains("wrong SHA-256"), "{message}");
    assert!(message.contains(&format!("expected {sha256}")), "{message}");
    assert!(message.contains(&format!("got      {got}")), "{message}");
}

#[test]
fn steps_are_done_once_and_continued_after_a_failure() {
    let temp = Temp::new("steps");
    let mut lines = Vec::new();
    let mut say = |line: &str| lines.push(line.to_string());
    let mut shop = Workshop::new(&temp.0, &recipe(), &mut say).expect("workshop");

    let failed = shop.step("s", key("a"), Leftover::Continue, |bench| {
        fs::write(bench.dir.join("half"), "work")?;
        let script = "echo the reason; exit 3";
        bench.run(std::process::Command::new("sh").args(["-c", script]))
    });
    let message = format!("{:#}", failed.expect_err("fails"));
    assert!(message.contains("the reason") && message.contains("full log: "), "{message}");

    let mut seen = false;
    shop.step("s", key("a"), Leftover::Continue, |bench| {
        seen = bench.dir.join("half").is_file();
        Ok(())
    })
    .expect("goes on");
    assert!(seen, "the failed step's work was thrown away");
    shop.step("s", key("a"), Leftover::Continue, |_| unreachable!("done before")).expect("cached");

    let mut again = false;
    shop.step("s", key("b"), Leftover::Discard, |_| {
        again = true;
        Ok(())
    })
    .expect("another key");
    assert!(again);
    assert!(lines.iter().any(|l| l == "python: s: cached"), "{lines:?}");
}

#[test]
fn a_damaged_result_is_not_used() {
    let temp = Temp::new("damaged");
    let (library, dist) = (temp.0.join("library"), temp.0.join("dist"));
    for (name, text) in
        [("root/usr/lib/a.py", "a = 1\n"), ("licences/x/LICENSE", "free\n"), ("module", "wasm")]
    {
        let path = library.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
        fs::write(path, text).expect("file");
    }
    let pins = Pins::read(&recipe().join("pins.toml")).expect("pins.toml");
    let parts = finish::Parts {
        module: library.join("module"),
        library: library.clone(),
        sites: Vec::new(),
    };
    let build = || {
        let mut quiet = |_: &str| {};
        let mut shop = Workshop::new(&temp.0, &recipe(), &mut quiet).expect("workshop");
        finish::assemble(&mut shop, &pins, &parts, &dist).expect("done");
    };
    assert!(!finish::check(&dist).expect("absent"), "nothing is there yet");
    build();
    assert!(finish::check(&dist).expect("whole"));

    fs::write(dist.join("root/usr/lib/a.py"), "a = 2\n").expect("write");
    let why = format!("{:#}", finish::check(&dist).expect_err("changed"));
    assert!(why.contains("root/usr/lib/a.py"), "{why}");
    build();
    fs::write(dist.join("root/usr/lib/b.py"), "").expect("write");
    finish::check(&dist).expect_err("added");
    build();
    fs::remove_file(dist.join("licences/x/LICENSE")).expect("remove");
    finish::check(&dist).expect_err("missing");
}

/// A finished folder with one file in each part.
fn finished(dir: &std::path::Path) {
    let mut sums = String::new();
    for file in ["licences/x/SOURCE", "python.wasm", "root/usr/lib/a.py"] {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, file).expect("a file");
        sums += &format!("{}  {file}\n", sha256_file(&path).expect("its sum"));
    }
    fs::write(dir.join(finish::SUMS), sums).expect("sums");
}

#[test]
fn a_prebuilt_archive_is_used_and_compared() {
    let temp = Temp::new("prebuilt");
    let (built, to) = (temp.0.join("built"), temp.0.join("to"));
    finished(&built);
    let archive = Prebuilt::for_profile(&temp.0, Profile::Data);
    let mut quiet = |_: &str| {};
    assert!(!archive.unpack("recipe", &to, &mut quiet).expect("no archive is no error"));
    let first = archive.write("recipe", &built).expect("an archive");
    let sum = sha256_file(&first).expect("its sum");
    archive.write("recipe", &built).expect("an archive");
    assert_eq!(sha256_file(&first).expect("its sum"), sum, "equal inputs, equal archives");
    assert!(archive.unpack("recipe", &to, &mut quiet).expect("unpacked"));
    assert!(finish::check(&to).expect("whole"));
    assert!(archive.compare("recipe", &to).expect("the same bytes").is_some());
    fs::write(built.join(finish::SUMS), "0  python.wasm\n").expect("other sums");
    let why = archive.compare("recipe", &built).expect_err("other bytes");
    assert!(why.to_string().contains("python.wasm"), "{why}");
    assert!(archive.is_of("recipe").expect("a record"));
    assert!(!archive.is_of("other").expect("a record"));
    assert!(archive.compare("other", &built).expect("another recipe").is_none());
}

#[test]
fn a_prebuilt_archive_of_another_recipe_or_of_other_bytes_is_refused() {
    let temp = Temp::new("refused");
    let (built, to) = (temp.0.join("built"), temp.0.join("to"));
    finished(&built);
    let archive = Prebuilt::for_profile(&temp.0, Profile::Data);
    let file = archive.write("recipe", &built).expect("an archive");
    let mut said = String::new();
    assert!(!archive.unpack("changed", &to, &mut |line| said += line).expect("not used"));
    assert!(said.contains("another recipe") && !to.exists(), "{said}");
    let mut bytes = fs::read(&file).expect("the archive");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("one flipped bit");
    let why = archive.unpack("recipe", &to, &mut |_| {}).expect_err("refused").to_string();
    assert!(why.contains("expected") && why.contains("--from-source"), "{why}");
    assert!(!to.exists());
}

/// The patches must fit our own files in the library, because otherwise only a build with SciPy
/// would notice a change of those files. CPython's own files are pinned, so the patches for them
/// fit until the pins change.
#[test]
fn patches_of_the_larger_profiles_fit_the_library() {
    let temp = Temp::new("science-library");
    let patches = recipe().join(super::science::PATCHES);
    let mut fitted = 0;
    for name in super::workshop::sorted(&patches).expect("patches") {
        let text = fs::read_to_string(patches.join(&name)).expect("a patch");
        let files: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("+++ b/")).collect();
        let ours = |file: &&str| recipe().join("site/lib").join(file).is_file();
        if !files.iter().all(ours) {
            assert!(!files.iter().any(ours), "{name} changes files of ours and of CPython");
            continue;
        }
        for file in &files {
            let to = temp.0.join(file);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(recipe().join("site/lib").join(file), to).expect("a copy");
        }
        let mut patch = super::host::tool("patch", &temp.0);
        patch.args(["-p1", "--fuzz=0", "--silent", "--input"]).arg(patches.join(&name));
        assert!(patch.status().expect("patch").success(), "{name}");
        for file in files {
            let before = fs::read(recipe().join("site/lib").join(file)).expect("ours");
            assert_ne!(fs::read(temp.0.join(file)).expect("the result"), before);
            fitted += 1;
        }
    }
    assert!(fitted > 0, "no patch is for a file of ours");
}
