//! The package for Node: its native module, `runner`, and the output of TypeScript's compiler for
//! `sdk/node/lib`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{env, kept, test};

/// The native module.
const NATIVE: kept::GuestProgram = kept::GuestProgram {
    package: "wasibox-node",
    profile: "release",
    target: None,
    file: "libwasibox_node.so",
    with: &["wasibox-cli"],
};

/// The file name of the native module in the package, whose TypeScript loads it by platform and
/// architecture.
const MODULE: &str = "wasibox.linux-x64.node";

/// Returns a `node_modules` with the compiler, types, and the frameworks that have adapters.
pub fn node_tools() -> Result<PathBuf> {
    test::node_modules("sdk/node/tests", "sdk-node")
}

pub fn tsc_command(tools: &Path, project: &Path) -> Command {
    let mut tsc = Command::new("node");
    tsc.arg(tools.join("typescript/bin/tsc")).arg("-p").arg(project);
    tsc.arg("--typeRoots").arg(tools.join("@types"));
    tsc
}

/// Builds the package's file in `out`. `python` is an environment that has auditwheel.
pub fn build_package(python: &Path, out: &Path) -> Result<()> {
    let built = kept::build_program(&NATIVE)?;
    let stage = env::cache()?.join(format!("sdk-node-stage-{}", std::process::id()));
    super::copy_folder(&env::root().join("sdk/node"), &stage)?;
    super::copy_licences(&stage)?;
    super::write_notices(&stage, &["wasibox-node", "wasibox-cli"])?;
    env::run(&mut tsc_command(&node_tools()?, &stage))?;
    let native = stage.join("native");
    std::fs::create_dir_all(&native)?;
    let (module, runner) = (native.join(MODULE), native.join("runner"));
    std::fs::write(&module, &built.bytes)?;
    std::fs::copy(env::dist().join("runner"), &runner).context("dist/runner")?;
    write_libc(&stage.join("package.json"), &super::oldest_platform(python, &[&module, &runner])?)?;
    npm_pack(&stage, out)?;
    Ok(std::fs::remove_dir_all(&stage)?)
}

/// Writes the C library that a package requires into its description. `lib/native.cts` reports it
/// if the module does not load.
fn write_libc(description: &Path, platform: &str) -> Result<()> {
    let version = glibc_version(platform)
        .with_context(|| format!("{platform}: the package for Node would be for no known Linux"))?;
    let mut json: serde_json::Value = serde_json::from_slice(&env::read(description)?)?;
    json["config"]["glibc"] = format!(">={version}").into();
    env::write(description, format!("{}\n", serde_json::to_string_pretty(&json)?).as_bytes())
}

/// Returns the version in a tag, for example `2.34` of `manylinux_2_34_x86_64`.
fn glibc_version(platform: &str) -> Option<String> {
    let mut words = platform.strip_prefix("manylinux_")?.splitn(3, '_');
    let (major, minor) = (words.next()?, words.next()?);
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

/// Runs `npm pack`.
pub fn npm_pack(from: &Path, to: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(to).current_dir(from);
    env::command_output(&mut npm).map(drop)
}

/// Returns the folder in which the packages are installed for their tests.
pub fn installed_folder() -> Result<PathBuf> {
    let work = env::cache()?.join("sdk-node-test/work");
    ensure!(
        work.join("node_modules/wasibox").is_dir(),
        "the package for Node is not installed: cargo xtask sdk"
    );
    Ok(work)
}

/// Installs the packages in a folder without other files of this project, as a user would;
/// frameworks and compiler are found in the folder above it.
fn install_packages() -> Result<PathBuf> {
    let above = env::cache()?.join("sdk-node-test");
    let work = above.join("work");
    let _ = std::fs::remove_dir_all(&above);
    super::copy_folder(&env::root().join("sdk/node/tests"), &work)?;
    std::fs::remove_file(work.join("package-lock.json"))?;
    std::fs::write(work.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")?;
    std::os::unix::fs::symlink(node_tools()?, above.join("node_modules"))?;
    let mut npm = Command::new("npm");
    // The installation is offline, because the packages depend only on each other.
    npm.args(["install", "--silent", "--offline", "--no-audit", "--no-fund"]);
    env::run(npm.args(super::find_packages(".tgz")?).current_dir(&work))?;
    Ok(work)
}

/// Checks types as a strict program would, then runs the tests.
pub fn test_package() -> Result<()> {
    let work = install_packages()?;
    for project in ["tsconfig.json", "tsconfig.adapters.json"] {
        env::run(&mut tsc_command(&node_tools()?, &work.join(project)))?;
    }
    let docs = ["docs/start.md", "docs/sdk-node.md", "sdk/node/README.md"];
    let docs = docs.map(|name| env::root().join(name).display().to_string()).join(":");
    let mut node = Command::new("node");
    node.args(["--expose-gc", "--test", "--test-reporter=dot"]).env("WASIBOX_DOCS", docs);
    node.env("WASIBOX_EXAMPLES", env::root().join("examples/node"));
    node.env("WASIBOX_PACKAGES", env::dist().join("sdk"));
    env::run(node.current_dir(&work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_the_oldest_c_library() {
        assert_eq!(glibc_version("manylinux_2_34_x86_64").as_deref(), Some("2.34"));
        assert_eq!(glibc_version("manylinux_2_17_aarch64").as_deref(), Some("2.17"));
        for other in ["linux_x86_64", "musllinux_1_2_x86_64", "manylinux2014_x86_64", "manylinux_2"]
        {
            assert_eq!(glibc_version(other), None, "{other}");
        }
    }

    #[test]
    fn the_description_says_it_and_keeps_the_rest() {
        let file = std::env::temp_dir().join(format!("wasibox-needs-{}", std::process::id()));
        std::fs::copy(env::root().join("sdk/node/package.json"), &file).unwrap();
        let read = || -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
        };
        let before = read();
        write_libc(&file, "manylinux_2_34_x86_64").unwrap();
        let mut after = read();
        let config = after.as_object_mut().unwrap().remove("config").unwrap();
        assert_eq!(config, serde_json::json!({"glibc": ">=2.34"}));
        assert_eq!(after, before);
        assert!(write_libc(&file, "linux_x86_64").is_err());
        std::fs::remove_file(&file).unwrap();
    }
}
