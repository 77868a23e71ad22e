//! Runs scripts that process data, as agents write them, and compares their output with that of
//! native CPython (`tests/python/data/README.md`).
//!
//! Text must be the same. Numbers may differ, because a different order of sums and a different
//! libm change them: by `RELATIVE` of the value, by `ABSOLUTE` near zero, or by one in the last
//! digit if at least `ROUNDED` decimals are printed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wasibox_tests::exec::Exec;
use wasibox_tests::root;

const RELATIVE: f64 = 1e-8;
const ABSOLUTE: f64 = 1e-9;
const ROUNDED: usize = 4;

/// The parts of a line. Widths of columns depend on the last digits, so several spaces count as
/// one.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    /// The number, and the value of one unit of its last digit, or 0 if that digit may not differ.
    Number(f64, f64),
}

fn parts(line: &str) -> Vec<Part> {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let bytes = line.as_bytes();
    let (mut parts, mut text, mut at) = (Vec::new(), String::new(), 0);
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        match number(rest).filter(|_| !in_word) {
            Some((len, part)) => {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(part);
                at += len;
            }
            None => {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                text.push_str(&rest[..next]);
                at += next;
            }
        }
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// Parses a decimal number with a fraction or an exponent at the beginning of the text. Returns its
/// length and the number. Integers remain text, because they are counts and names.
fn number(text: &str) -> Option<(usize, Part)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(sign);
    let mut len = sign + whole;
    let mut decimals = 0;
    if bytes.get(len) == Some(&b'.') {
        decimals = digits(len + 1);
        len += 1 + decimals;
    }
    let mut exponent = 0;
    if whole > 0 && matches!(bytes.get(len), Some(b'e')) {
        let signed = usize::from(matches!(bytes.get(len + 1), Some(b'-' | b'+')));
        let count = digits(len + 1 + signed);
        if count > 0 {
            exponent = text[len + 1..len + 1 + signed + count].parse().ok()?;
            len += 1 + signed + count;
        }
    }
    if whole == 0 || (decimals == 0 && exponent == 0) {
        return None;
    }
    let value = text[..len].parse().ok()?;
    let unit = 10f64.powi(exponent - i32::try_from(decimals).ok()?);
    Some((len, Part::Number(value, if decimals >= ROUNDED { unit } else { 0.0 })))
}

fn alike(ours: &Part, native: &Part) -> bool {
    match (ours, native) {
        (Part::Number(a, unit), Part::Number(b, other)) => {
            let most = (RELATIVE * b.abs()).max(ABSOLUTE).max(unit.min(*other) * 1.01);
            (a - b).abs() <= most
        }
        _ => ours == native,
    }
}

fn lines_alike(ours: &str, native: &str) -> bool {
    let (ours, native) = (parts(ours), parts(native));
    ours.len() == native.len() && ours.iter().zip(&native).all(|(a, b)| alike(a, b))
}

fn scripts() -> Vec<PathBuf> {
    let folder = root().join("tests/python/data/scripts");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "py")).collect();
    files.sort();
    files
}

/// Returns a description of the difference between the script's output and its expected file, or of
/// the script's failure; `None` if there is neither.
fn difference(script: &Path) -> Option<String> {
    let name = script.file_name().unwrap().to_str().unwrap();
    let output = tempfile::tempdir().unwrap();
    let done = Exec::new(&["python3", &format!("/t/{name}")])
        .mount(script.parent().unwrap(), "/t:ro")
        .mount(output.path(), "/output:rw")
        .opt(&["--timeout", "300"])
        .run();
    if done.status != 0 {
        return Some(format!("{name}: status {}\n{}", done.status, done.stderr));
    }
    let native = std::fs::read_to_string(script.with_extension("expected")).unwrap();
    let (ours, native): (Vec<_>, Vec<_>) =
        (done.stdout.lines().collect(), native.lines().collect());
    let differs = ours.iter().zip(&native).find(|(a, b)| !lines_alike(a, b));
    if let Some((ours, native)) = differs {
        return Some(format!("{name}:\n  ours   {ours}\n  native {native}"));
    }
    (ours.len() != native.len())
        .then(|| format!("{name}: {} lines, not {}", ours.len(), native.len()))
}

/// Returns the module of the package that a script needs in addition to the profile `data`. The
/// script's first line names the package.
fn wanted(script: &Path) -> Option<&'static str> {
    let text = std::fs::read_to_string(script).unwrap();
    let name = text.strip_prefix("\"\"\"needs ")?.split(':').next().unwrap();
    let module = match name {
        "SciPy" => "scipy",
        "scikit-learn" => "sklearn",
        "statsmodels" => "statsmodels",
        "pydantic" => "pydantic",
        _ => panic!("{}: needs {name}?", script.display()),
    };
    Some(module)
}

fn image_has(module: &str) -> bool {
    let ask = format!("import importlib.util as u; print(u.find_spec({module:?}) is not None)");
    let done = Exec::new(&["python3", "-c", &ask]).run();
    assert_eq!(done.status, 0, "{}", done.stderr);
    done.stdout == "True\n"
}

fn assert_alike(scripts: &[PathBuf]) {
    let differing: Vec<String> = scripts.iter().filter_map(|script| difference(script)).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn scripts_print_what_they_print_natively() {
    let scripts: Vec<_> = scripts().into_iter().filter(|s| wanted(s).is_none()).collect();
    assert!(scripts.len() >= 19, "{scripts:?}");
    assert_alike(&scripts);
}

/// Tests the scripts that need a larger profile. The image of the profile `data` has none of their
/// packages; that of `science` has all but pydantic.
#[test]
fn scripts_for_larger_profiles_do_so_too() {
    let all: Vec<_> = scripts().into_iter().filter(|s| wanted(s).is_some()).collect();
    assert!(all.len() >= 12, "{all:?}");
    let modules: BTreeSet<_> = all.iter().filter_map(|script| wanted(script)).collect();
    let (here, absent): (BTreeSet<_>, BTreeSet<_>) =
        modules.into_iter().partition(|module| image_has(module));
    if !absent.is_empty() {
        eprintln!("not run, since the image lacks it: scripts for {absent:?}");
    }
    let has = |script: &PathBuf| wanted(script).is_some_and(|module| here.contains(module));
    assert_alike(&all.into_iter().filter(has).collect::<Vec<_>>());
}

/// Tests the comparison itself: the differences that it allows, and those that it refuses.
#[test]
fn numbers_are_distinguished() {
    assert!(lines_alike("p 0.12345678901234", "p  0.12345678901239"));
    assert!(lines_alike("a=1.500001 b", "a=1.500002 b"), "one in the last digit");
    assert!(lines_alike("[1e-17, 2.0]", "[-3.5e-18, 2.0]"), "as good as zero");
    assert!(lines_alike("(2.5e+10, x)", "(2.50000001e+10, x)"));
    assert!(!lines_alike("p 0.1234567", "p 0.1234599"));
    assert!(!lines_alike("price 1.5", "price 1.6"), "short numbers are not rounded ones");
    assert!(!lines_alike("12 of 7", "13 of 7"), "counts are exact");
    assert!(!lines_alike("x1.5", "x1.6"), "names are exact");
    assert!(!lines_alike("a 1.5", "b 1.5"));
    assert!(!lines_alike("1.5", "1.5 2.5"));
    assert!(!lines_alike("nan", "1.5"));
}
