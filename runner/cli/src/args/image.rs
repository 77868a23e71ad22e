//! `image ...`.

use super::grants::text;
use super::stored::{ImageArg, ImageFileArg};
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Subcommand)]
#[command(about = "Take an image apart, or add programs to one")]
pub enum ImageCommand {
    /// Write an image's programs and files into a new folder
    #[command(
        after_help = "The programs are in FOLDER/programs, the root file system in FOLDER/root.\n\n\
        Examples:\n  runner image extract parts\n  runner image extract parts other.webc"
    )]
    Extract {
        /// The folder, which must not exist
        #[arg(value_name = "FOLDER")]
        dir: PathBuf,
        #[command(flatten)]
        image: ImageFileArg,
    },
    /// Write a copy of an image with further programs
    #[command(
        after_help = "A program is a module for wasm32-wasip1. One of the same name is replaced, and so is a\n\
        command of another program. `runner compile NEW` compiles what is new.\n\n\
        Examples:\n  runner image pack --add hello=hello.wasm new.webc\n  \
        runner image pack --add tools=tools.wasm:count,sum new.webc"
    )]
    Pack {
        /// A program and its commands (default: one of its own name); repeatable
        #[arg(
            long,
            required = true,
            value_name = "NAME=FILE[:COMMAND,...]",
            value_parser = text(AddedProgram::parse)
        )]
        add: Vec<AddedProgram>,
        #[command(flatten)]
        image: ImageArg,
        /// The new image
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
}

/// A program for a new image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedProgram {
    pub name: String,
    pub file: PathBuf,
    pub commands: Vec<String>,
}

impl AddedProgram {
    /// Reads `NAME=FILE[:COMMAND,...]`.
    fn parse(text: &str) -> Option<AddedProgram> {
        let (name, rest) = text.split_once('=')?;
        // A colon belongs to the file's path if a slash follows.
        let named = rest.rsplit_once(':').filter(|(_, commands)| !commands.contains('/'));
        let (file, commands) = named.unwrap_or((rest, name));
        let commands: Vec<String> = commands.split(',').map(str::to_owned).collect();
        let is_fine = |name: &str| !name.is_empty() && !name.contains(['/', ',', '\0']);
        let is_written = is_fine(name) && !file.is_empty() && commands.iter().all(|c| is_fine(c));
        is_written.then(|| AddedProgram { name: name.into(), file: file.into(), commands })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_with_their_commands() {
        let program = |name: &str, file: &str, commands: &[&str]| {
            let commands = commands.iter().map(|c| (*c).to_owned()).collect();
            Some(AddedProgram { name: name.into(), file: file.into(), commands })
        };
        assert_eq!(AddedProgram::parse("a=b.wasm"), program("a", "b.wasm", &["a"]));
        assert_eq!(AddedProgram::parse("a=b:c,d"), program("a", "b", &["c", "d"]));
        assert_eq!(AddedProgram::parse("a=x:y/b"), program("a", "x:y/b", &["a"]));
        for wrong in ["", "a", "=b", "a=", "a=b:", "a=b:c,", "a/b=c", "a=:c"] {
            assert_eq!(AddedProgram::parse(wrong), None, "{wrong}");
        }
    }
}
