//! `runner image extract` and `runner image pack`.

use crate::CliFailure;
use crate::args::image::{AddedProgram, ImageCommand};
use std::path::Path;
use wasibox_image::module::module_facts;
use wasibox_image::{Image, ImageError, ROOT, pack_to};

pub fn run(command: ImageCommand) -> Result<u8, CliFailure> {
    match command {
        ImageCommand::Extract { image, dir } => {
            open(&image.path()?)?.extract_to(&dir).map_err(failed)?;
        }
        ImageCommand::Pack { image, add, new } => pack(&image.path()?, &add, &new)?,
    }
    Ok(0)
}

/// Writes a copy of an image that has further programs.
fn pack(path: &Path, add: &[AddedProgram], new: &Path) -> Result<(), CliFailure> {
    let image = open(path)?;
    // The packer reads files of the host, so the root file system is written to some first.
    let folder = tempfile::tempdir().map_err(|e| CliFailure::new(125, e))?;
    let contents = folder.path().join("image");
    image.extract_to(&contents).map_err(failed)?;
    let mut spec = image.to_spec(contents.join(ROOT)).map_err(failed)?;
    for program in add {
        let wasm = std::fs::read(&program.file)
            .map_err(|e| CliFailure::new(125, format!("{}: {e}", program.file.display())))?;
        if module_facts(&wasm).is_none() {
            let text = format!("{}: not a program for wasm32-wasip1", program.file.display());
            return Err(CliFailure::new(125, text));
        }
        // A program of the same name is replaced with its commands, and a command that another
        // program had gets this one.
        spec.atoms.retain(|(name, _)| *name != program.name);
        spec.commands
            .retain(|(command, atom)| *atom != program.name && !program.commands.contains(command));
        spec.atoms.push((program.name.clone(), wasm));
        spec.commands.extend(program.commands.iter().map(|c| (c.clone(), program.name.clone())));
        spec.versions.remove(&program.name);
        spec.licenses.retain(|l| l.component != program.name);
    }
    pack_to(&spec, new).map_err(failed)?;
    Ok(())
}

fn open(path: &Path) -> Result<Image, CliFailure> {
    Image::open(path).map_err(failed)
}

fn failed(e: ImageError) -> CliFailure {
    CliFailure::new(125, e)
}
