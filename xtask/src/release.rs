//! `cargo xtask release VERSION`: makes everything that is published of a version in
//! `dist/release/`, from the files in `dist/`.
//!
//! | file | contents |
//! |---|---|
//! | `wasibox-V-linux-x86_64.tar.gz` | the runner, manual pages, completions, licences |
//! | `wasibox-image-V-linux-x86_64.tar` | the image and its machine code, compressed with zstd |
//! | `install.sh` | installs those two for one user; it has their digests |
//! | `wasibox_V_amd64.deb` | both for Debian (`debian.rs`) |
//! | `wasibox-V-oci-amd64.tar` | both as a container image (`oci.rs`) |
//! | `wasibox.rb` | a Homebrew formula with both |
//! | wheels, npm packages | those of `dist/sdk`, and `dist/web` as `wasibox-web` and as a page |
//! | `wasibox-V.cdx.json`, `LICENCES.md` | all components with licences (`sbom.rs`) |
//! | `wasibox-V-sources.tar.gz` | the sources of copyleft programs in the image |
//! | `NOTES.md` | the version's section of CHANGELOG.md |
//! | `SHA256SUMS` | the digests of all of these |
//!
//! All files are functions of `dist/` and the checkout, except that the container image has
//! libraries of the machine. Dates are fixed and names sorted; `--twice` makes the release two
//! times and compares.

mod archive;
mod changelog;
mod debian;
mod oci;
mod sbom;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use wasibox_image::Image;

use crate::key::{sha256_file, sorted};
use crate::progress::Steps;
use crate::{env, notices, sdk};
use archive::{Content, FileTree};

/// The address of the repository, from Cargo.toml.
pub const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The folder of the compressed image, which the runner finds by its place beside its own.
const IMAGE_FOLDER: &str = "lib/wasibox/wasibox_image/data";

/// Options of `cargo xtask release`.
#[derive(Debug, clap::Args)]
pub struct ReleaseOptions {
    /// The version, which must be that of the checkout.
    version: String,
    /// Make it two times, and compare.
    #[arg(long)]
    twice: bool,
}

/// Runs the task.
pub fn run(options: &ReleaseOptions) -> Result<ExitCode> {
    let version = options.version.as_str();
    let own = env!("CARGO_PKG_VERSION");
    ensure!(
        version == own,
        "the checkout is version {own}: change Cargo.toml, then cargo xtask generate"
    );
    let out = env::dist().join("release");
    make_release(&out, version)?;
    if options.twice {
        let again = env::dist().join("release-again");
        make_release(&again, version)?;
        let sums = |dir: &Path| env::read(&dir.join("SHA256SUMS"));
        ensure!(sums(&out)? == sums(&again)?, "dist/release and dist/release-again differ");
        std::fs::remove_dir_all(&again).with_context(|| again.display().to_string())?;
        eprintln!("two releases of this dist/ are equal");
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the release in a folder.
fn make_release(out: &Path, version: &str) -> Result<()> {
    let dist = env::dist();
    for name in ["runner", "image.webc"] {
        ensure!(dist.join(name).is_file(), "there is no dist/{name}: cargo xtask dist");
    }
    if out.exists() {
        std::fs::remove_dir_all(out).with_context(|| out.display().to_string())?;
    }
    let work = env::cache()?.join(format!("release-{}", std::process::id()));
    for folder in [out, &work] {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut steps = Steps::new(7);

    steps.begin_step("components and licences");
    let libraries = oci::system_libraries(&dist.join("runner"))?;
    let crates = notices::linked_crates(notices::SHIPPED)?;
    let mut components = sbom::crate_components(&crates);
    components.extend(sbom::image_components(&Image::open(&dist.join("image.webc"))?)?);
    components.extend(sbom::page_components()?);
    components.extend(oci::library_components(&libraries));
    components.sort();
    let sources = format!("wasibox-{version}-sources.tar.gz");
    let licences = sbom::licence_list(version, &sources, &components);
    env::write(&out.join("LICENCES.md"), licences.as_bytes())?;
    let bom = sbom::cyclonedx(version, &components)?;
    env::write(&out.join(format!("wasibox-{version}.cdx.json")), bom.as_bytes())?;
    steps.end_step(&format!("{} components", components.len()));

    steps.begin_step("sources of copyleft programs");
    if dist.join("sources").is_dir() {
        let mut tree = FileTree::default();
        for name in sorted(&dist.join("sources"))? {
            tree.add_host_folder(&name, &dist.join("sources").join(&name))?;
        }
        tree.write_tar_gz(&out.join(&sources), &format!("wasibox-{version}-sources/"))?;
    }
    steps.end_step(&sources);

    steps.begin_step("archives: runner, image");
    let program = program_tree(&work, &licences, &notices::notices_text(&crates)?)?;
    let mut image = FileTree::default();
    let data = sdk::packed_image()?;
    image.add_host_folder(IMAGE_FOLDER, &data)?;
    let names = ArchiveNames {
        program: format!("wasibox-{version}-linux-x86_64.tar.gz"),
        image: format!("wasibox-image-{version}-linux-x86_64.tar"),
    };
    program.write_tar_gz(&out.join(&names.program), "")?;
    image.write_tar(&out.join(&names.image), "")?;
    write_from_template(out, "install.sh", include_str!("release/install.sh"), version, &names)?;
    write_from_template(out, "wasibox.rb", include_str!("release/wasibox.rb"), version, &names)?;
    steps.end_step(&format!("{}, {}", names.program, names.image));

    let mut all = program;
    all.add_host_folder(IMAGE_FOLDER, &data)?;

    steps.begin_step("Debian package");
    debian::write_package(&out.join(format!("wasibox_{version}_amd64.deb")), &work, version, &all)?;
    steps.end_step("ok");

    steps.begin_step("container image");
    let oci = out.join(format!("wasibox-{version}-oci-amd64.tar"));
    oci::write_image(&oci, &work, version, &libraries, &all)?;
    steps.end_step("ok");

    steps.begin_step("packages for Python, Node and pages");
    steps.end_step(&copy_packages(out, version)?);

    steps.begin_step("notes and SHA256SUMS");
    let changes = String::from_utf8(env::read(&env::root().join("CHANGELOG.md"))?)?;
    let section = match changelog::section(&changes, version) {
        Some(section) => section,
        None => {
            eprintln!("      CHANGELOG.md has no section {version}, so the notes are [Unreleased]");
            changelog::section(&changes, "Unreleased")
                .context("CHANGELOG.md has no [Unreleased]")?
        }
    };
    env::write(&out.join("NOTES.md"), format!("# Wasibox {version}\n\n{section}\n").as_bytes())?;
    let mut sums = String::new();
    for name in sorted(out)? {
        sums.push_str(&format!("{}  {name}\n", sha256_file(&out.join(&name))?));
    }
    env::write(&out.join("SHA256SUMS"), sums.as_bytes())?;
    steps.end_step(&format!("{} files", sums.lines().count() + 1));
    std::fs::remove_dir_all(&work)?;
    steps.finish_task(&format!("{} is complete", out.display()));
    Ok(())
}

/// The names of the archives that `install.sh` and the formula unpack.
struct ArchiveNames {
    program: String,
    image: String,
}

/// Returns the runner with its manual pages, completions and licences, as below `/usr` or
/// `~/.local`.
fn program_tree(work: &Path, licences: &str, notices: &str) -> Result<FileTree> {
    // Called by this name, the runner uses it in manual pages and completions.
    let named = work.join("wasibox");
    let _ = std::fs::remove_file(&named);
    std::os::unix::fs::symlink(env::dist().join("runner"), &named)?;
    let mut tree = FileTree::default();
    tree.add_program("lib/wasibox/wasibox/bin/runner", Content::File(env::dist().join("runner")));
    tree.add_link("bin/wasibox", "../lib/wasibox/wasibox/bin/runner");
    let pages = work.join("man");
    env::run(Command::new(&named).arg("man").arg(&pages))?;
    tree.add_host_folder("share/man/man1", &pages)?;
    for (shell, path) in [
        ("bash", "share/bash-completion/completions/wasibox"),
        ("zsh", "share/zsh/site-functions/_wasibox"),
        ("fish", "share/fish/vendor_completions.d/wasibox.fish"),
    ] {
        let text = env::command_output(Command::new(&named).args(["completions", shell]))?;
        tree.add_text(path, &text);
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        tree.add_file(&format!("share/doc/wasibox/{name}"), Content::File(env::root().join(name)));
    }
    tree.add_text("share/doc/wasibox/LICENCES.md", licences);
    tree.add_text("share/doc/wasibox/THIRD-PARTY.txt", notices);
    Ok(tree)
}

/// Writes a file whose template has names in `@`.
fn write_from_template(
    out: &Path,
    name: &str,
    template: &str,
    version: &str,
    names: &ArchiveNames,
) -> Result<()> {
    let program = sha256_file(&out.join(&names.program))?;
    let image = sha256_file(&out.join(&names.image))?;
    let sums = format!("{program} {}\n{image} {}", names.program, names.image);
    let values = [
        ("@VERSION@", version),
        ("@ADDRESS@", ADDRESS),
        ("@SUMS@", &sums),
        ("@PROGRAM@", &names.program),
        ("@PROGRAM_SUM@", &program),
        ("@IMAGE@", &names.image),
        ("@IMAGE_SUM@", &image),
    ];
    let text = values.iter().fold(template.to_string(), |text, (key, v)| text.replace(key, v));
    env::write(&out.join(name), text.as_bytes())
}

/// Copies the packages of `dist/sdk` and packs `dist/web`; returns a note about them. Packages of
/// another version are an error.
fn copy_packages(out: &Path, version: &str) -> Result<String> {
    let (built, pages) = (env::dist().join("sdk"), env::dist().join("web"));
    let mut names = Vec::new();
    if built.is_dir() {
        for name in sorted(&built)? {
            if !name.contains(&format!("-{version}")) {
                bail!("dist/sdk/{name} is not of version {version}: remove it");
            }
            std::fs::copy(built.join(&name), out.join(&name)).with_context(|| name.clone())?;
            names.push(name);
        }
    }
    if pages.is_dir() {
        sdk::node::npm_pack(&pages, out)?;
        let mut tree = FileTree::default();
        tree.add_host_folder(&format!("wasibox-page-{version}"), &pages)?;
        let name = format!("wasibox-page-{version}.tar.gz");
        tree.write_tar_gz(&out.join(&name), "")?;
        names.push(name);
    }
    Ok(match &names[..] {
        [] => "none: cargo xtask dist --sdk --web".to_string(),
        names => names.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_completely() {
        let dir = std::env::temp_dir().join(format!("wasibox-template-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let names = ArchiveNames { program: "p.tar.gz".into(), image: "i.tar".into() };
        for name in ["p.tar.gz", "i.tar"] {
            std::fs::write(dir.join(name), name).unwrap();
        }
        for (name, template) in [
            ("install.sh", include_str!("release/install.sh")),
            ("wasibox.rb", include_str!("release/wasibox.rb")),
        ] {
            write_from_template(&dir, name, template, "0.1.0", &names).unwrap();
            let text = std::fs::read_to_string(dir.join(name)).unwrap();
            assert!(!text.contains('@'), "{text}");
            assert!(text.contains(&env::sha256(b"i.tar")) && text.contains(ADDRESS), "{text}");
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
