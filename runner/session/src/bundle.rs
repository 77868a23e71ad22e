//! An image and its machine code in one compressed folder, which the packages for other languages
//! carry.
//!
//! # Format
//! `image.webc.zst` is the image. `code.zst` is a line of JSON ([`BundleContents`]), followed by
//! the bytes that it lists, one item after another. `bundle.json` has the image's size and
//! identity; it is written last.
//!
//! Unpacking is done once: the image goes to a folder named by its digest, machine code to the
//! folder where it is kept ([`wasibox_sandbox::artifact::carry`]). Code for another engine, or for
//! a CPU with features that this one lacks, is skipped and compiled later, as without a bundle.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wasibox_image::Image;
use wasibox_sandbox::artifact::carry::{
    self, ArtifactFolder, CarriedCode, CodeRequirements, CodeSubject,
};

/// Compression level: docs/decisions.md has the figures.
const LEVEL: i32 = 12;
/// Maximum size in bytes of the first line of `code.zst`, and of everything that it lists.
const MAX_LINE: u64 = 1 << 20;
const MAX_CODE: u64 = 4 << 30;

const IMAGE: &str = "image.webc.zst";
const CODE: &str = "code.zst";
const HEAD: &str = "bundle.json";

/// The contents of `bundle.json`.
#[derive(Debug, Serialize, Deserialize)]
struct BundleHead {
    /// [`Image::identity`] in hexadecimal.
    image: String,
    /// The size of the image in bytes.
    size: u64,
}

/// The contents of `code.zst`.
#[derive(Debug, Serialize, Deserialize)]
struct BundleContents {
    needs: CodeRequirements,
    parts: Vec<BundlePart>,
}

#[derive(Debug, Serialize, Deserialize)]
struct BundlePart {
    subject: CodeSubject,
    /// For a program, the sizes in bytes of its code and of its memory's template; for prepared
    /// memory a single size.
    sizes: Vec<u64>,
}

fn wrong_bundle(what: &str) -> Error {
    Error::Refused(format!("the bundle is damaged: {what}"))
}

fn at_path(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |e| Error::Refused(format!("{}: {e}", path.display()))
}

/// Writes a bundle of an image and of the machine code that is kept for it.
///
/// # Errors
/// If the image is damaged, its code is not kept (compile it first), or the folder cannot be
/// written.
pub fn pack_bundle(image: &Path, artifacts: &Path, to: &Path) -> Result<(), Error> {
    let opened = Image::open(image)?;
    let carried = carry::take_code(&opened, artifacts)?
        .ok_or_else(|| Error::Refused("its machine code is not kept".into()))?;
    std::fs::create_dir_all(to).map_err(at_path(to))?;
    let mut from = File::open(image).map_err(at_path(image))?;
    let size = write_compressed(&to.join(IMAGE), |out| std::io::copy(&mut from, out))?;
    let path = to.join(CODE);
    write_compressed(&path, |out| write_code(&carried, out))?;
    let head = BundleHead { image: hex_text(&opened.identity()), size };
    let text = serde_json::to_vec(&head).map_err(std::io::Error::other)?;
    Ok(std::fs::write(to.join(HEAD), text)?)
}

/// Returns the initial memory of each prepared program of an image, with the program's name
/// ([`carry::prepared_memories`]).
///
/// # Errors
/// If it cannot be read.
pub fn prepared_memories(image: &Image, artifacts: &Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
    Ok(carry::prepared_memories(image, artifacts)?)
}

fn write_compressed<T>(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<T>,
) -> Result<T, Error> {
    let file = File::create(path).map_err(at_path(path))?;
    let mut out = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
    out.include_checksum(true)?;
    let done = fill(&mut out).map_err(at_path(path))?;
    out.finish()?.flush().map_err(at_path(path))?;
    Ok(done)
}

fn write_code(carried: &[CarriedCode], out: &mut dyn Write) -> std::io::Result<()> {
    let bytes = |c: &CarriedCode| -> (CodeSubject, Vec<Vec<u8>>) {
        match c {
            CarriedCode::Program { subject, code, template } => {
                (subject.clone(), vec![code.clone(), template.clone()])
            }
            CarriedCode::Snapshot { subject, memory } => (subject.clone(), vec![memory.clone()]),
        }
    };
    let all: Vec<_> = carried.iter().map(bytes).collect();
    let part = |(subject, pieces): &(CodeSubject, Vec<Vec<u8>>)| BundlePart {
        subject: subject.clone(),
        sizes: pieces.iter().map(|p| p.len() as u64).collect(),
    };
    let contents =
        BundleContents { needs: CodeRequirements::of_own(), parts: all.iter().map(part).collect() };
    serde_json::to_writer(&mut *out, &contents)?;
    out.write_all(b"\n")?;
    all.iter().flat_map(|(_, pieces)| pieces).try_for_each(|piece| out.write_all(piece))
}

/// A step of unpacking a bundle, shown to the user as a line.
#[derive(Debug, thiserror::Error)]
pub enum BundleStep {
    #[error("unpacking the image ({} MB), once", .bytes.div_ceil(1_000_000))]
    Begins { bytes: u64 },
    #[error(
        "the machine code that came with the image is not used, and programs are compiled: {0}"
    )]
    CodeNotTaken(String),
    #[error("unpacked the image in {:.1} s", .0.as_secs_f64())]
    Ends(Duration),
}

/// Unpacks the image of a bundle into `images`, and its machine code into `artifacts`. Existing
/// files stay. `progress` is called for each step that takes time.
///
/// # Errors
/// If the bundle is damaged or a folder cannot be written. Code that cannot be kept is not an
/// error: it is reported, and compiled later.
pub fn unpack_bundle(
    bundle: &Path,
    images: &Path,
    artifacts: Option<&Path>,
    progress: &dyn Fn(BundleStep),
) -> Result<PathBuf, Error> {
    let path = bundle.join(HEAD);
    let text = std::fs::read(&path).map_err(at_path(&path))?;
    let head: BundleHead = serde_json::from_slice(&text).map_err(|_| wrong_bundle(HEAD))?;
    let is_name = head.image.len() == 64 && head.image.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_name {
        return Err(wrong_bundle(HEAD));
    }
    let image = images.join(format!("{}.webc", head.image));
    let is_there = |path: &Path| path.metadata().is_ok_and(|m| m.is_file() && m.len() == head.size);
    if is_there(&image) {
        return Ok(image);
    }
    std::fs::create_dir_all(images).map_err(at_path(images))?;
    // One process unpacks while others wait for it.
    let lock = images.join(format!("{}.lock", head.image));
    let held = File::create(&lock).map_err(at_path(&lock))?;
    held.lock().map_err(at_path(&lock))?;
    if is_there(&image) {
        return Ok(image);
    }
    progress(BundleStep::Begins { bytes: head.size });
    let begin = Instant::now();
    if let Some(artifacts) = artifacts
        && let Err(e) = take_code(&bundle.join(CODE), artifacts)
    {
        progress(BundleStep::CodeNotTaken(e.to_string()));
    }
    // The image is put in place last, so that an image that is in place has its code.
    take_image(&bundle.join(IMAGE), &image, &head)?;
    progress(BundleStep::Ends(begin.elapsed()));
    Ok(image)
}

fn take_image(from: &Path, to: &Path, head: &BundleHead) -> Result<(), Error> {
    let part = to.with_extension(format!("{}.part", std::process::id()));
    let done = (|| {
        let mut frame = zstd::Decoder::new(File::open(from).map_err(at_path(from))?)?;
        let mut out = File::create(&part).map_err(at_path(&part))?;
        let mut all = (&mut frame).take(head.size + 1);
        let size = std::io::copy(&mut all, &mut out).map_err(at_path(&part))?;
        if size != head.size || hex_text(&Image::open(&part)?.identity()) != head.image {
            return Err(wrong_bundle(IMAGE));
        }
        std::fs::rename(&part, to).map_err(at_path(to))
    })();
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// Keeps the machine code if it is for this machine.
fn take_code(from: &Path, artifacts: &Path) -> Result<(), Error> {
    let mut code = BufReader::new(zstd::Decoder::new(File::open(from).map_err(at_path(from))?)?);
    let mut line = Vec::new();
    (&mut code).take(MAX_LINE).read_until(b'\n', &mut line)?;
    let contents: BundleContents = serde_json::from_slice(&line).map_err(|_| wrong_bundle(CODE))?;
    contents.needs.check_host().map_err(Error::Refused)?;
    let into = ArtifactFolder::open_dir(artifacts).map_err(Error::Refused)?;
    let mut left = MAX_CODE;
    for BundlePart { subject, sizes } in contents.parts {
        let mut pieces = Vec::new();
        for size in sizes {
            left = left.checked_sub(size).ok_or_else(|| wrong_bundle(CODE))?;
            let mut piece = Vec::new();
            (&mut code).take(size).read_to_end(&mut piece)?;
            if piece.len() as u64 != size {
                return Err(wrong_bundle(CODE));
            }
            pieces.push(piece);
        }
        let carried = match <[Vec<u8>; 2]>::try_from(pieces) {
            Ok([code, template]) => CarriedCode::Program { subject, code, template },
            Err(mut pieces) => match (pieces.pop(), pieces.pop()) {
                (Some(memory), None) => CarriedCode::Snapshot { subject, memory },
                _ => return Err(wrong_bundle(CODE)),
            },
        };
        into.put_carried(&carried)?;
    }
    Ok(())
}

fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
