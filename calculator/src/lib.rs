//! The program of the tool `calculate`: Python code over SymPy, which parses a notation of its own
//! and never runs text as code. `docs/calculate.md` describes the notation, and
//! `program/__init__.py` has a map of the files.
#![forbid(unsafe_code)]

/// The files of the Python package `calculator`: names and texts.
pub const PROGRAM: &[(&str, &str)] = &[
    ("__init__.py", include_str!("../program/__init__.py")),
    ("algebra.py", include_str!("../program/algebra.py")),
    ("calculus.py", include_str!("../program/calculus.py")),
    ("commands.py", include_str!("../program/commands.py")),
    ("equations.py", include_str!("../program/equations.py")),
    ("errors.py", include_str!("../program/errors.py")),
    ("evaluate.py", include_str!("../program/evaluate.py")),
    ("forms.py", include_str!("../program/forms.py")),
    ("functions.py", include_str!("../program/functions.py")),
    ("guards.py", include_str!("../program/guards.py")),
    ("integers.py", include_str!("../program/integers.py")),
    ("lexer.py", include_str!("../program/lexer.py")),
    ("parser.py", include_str!("../program/parser.py")),
    ("phrases.py", include_str!("../program/phrases.py")),
    ("samples.py", include_str!("../program/samples.py")),
    ("show.py", include_str!("../program/show.py")),
    ("tree.py", include_str!("../program/tree.py")),
    ("typed.py", include_str!("../program/typed.py")),
    ("units.py", include_str!("../program/units.py")),
    ("words.py", include_str!("../program/words.py")),
];

#[cfg(test)]
mod tests {
    #[test]
    fn every_file_of_the_program_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("program");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.ends_with(".py"));
        names.sort();
        let listed: Vec<&str> = super::PROGRAM.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, names);
    }
}
