//! Compares tables and charts made in the guest with the results of native CPython with the same
//! packages (`tests/python/data/README.md` describes the origin of those files).

use std::path::Path;
use std::process::Command;

use wasibox_tests::exec::Exec;
use wasibox_tests::root;

/// The maximum root mean square of the differences between two pictures' bytes, on a scale of 255.
/// It is the tolerance of Matplotlib's own tests for pictures that may differ by rounding.
const TOLERANCE: f64 = 2.0;

struct Picture {
    size: (u32, u32),
    bytes: Vec<u8>,
}

fn picture(file: &Path) -> Picture {
    let open = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut decoder = png::Decoder::new(std::io::BufReader::new(open));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("size")];
    let info = reader.next_frame(&mut bytes).expect("PNG");
    assert_eq!(info.color_type, png::ColorType::Rgba, "{}", file.display());
    Picture { size: (info.width, info.height), bytes }
}

/// Returns the root mean square of the differences between two pictures' bytes.
fn difference(ours: &Path, expected: &Path) -> f64 {
    let (a, b) = (picture(ours), picture(expected));
    assert_eq!(a.size, b.size, "{}", ours.display());
    let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
    let sum: f64 = a.bytes.iter().zip(&b.bytes).map(square).sum();
    (sum / a.bytes.len() as f64).sqrt()
}

fn assert_alike(ours: &Path, expected: &Path) {
    let d = difference(ours, expected);
    assert!(d <= TOLERANCE, "{} differs from its native twin by {d:.2}", ours.display());
}

#[test]
fn a_table_of_50_mb_gives_the_same_numbers() {
    let (tmp, data) = (tempfile::tempdir().unwrap(), root().join("tests/python/data"));
    let csv = tmp.path().join("sales.csv");
    let made = Command::new("python3").arg(data.join("sales_csv.py")).arg(&csv).status();
    assert!(made.expect("python3").success());
    let output = tempfile::tempdir().unwrap();
    let done = Exec::new(&["python3", "/t/sales.py", "/csv/sales.csv", "/output"])
        .mount(tmp.path(), "/csv:ro")
        .mount(&data, "/t:ro")
        .mount(output.path(), "/output:rw")
        .opt(&["--timeout", "600"])
        .run();
    let expected = std::fs::read_to_string(data.join("sales.expected")).unwrap();
    for (ours, native) in done.stdout.lines().zip(expected.lines()) {
        assert_eq!(ours, native, "{}", done.stderr);
    }
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (expected.as_str(), ""));
    assert_alike(&output.path().join("revenue.png"), &data.join("revenue.png"));
    let book = std::fs::read(output.path().join("sales.xlsx")).unwrap();
    assert!(book.starts_with(b"PK"), "a workbook is a zip archive");
}

#[test]
fn charts_look_the_same() {
    let (tmp, data) = (tempfile::tempdir().unwrap(), root().join("tests/python/data"));
    Exec::new(&["python3", "/t/charts.py", "/charts"])
        .mount(&data, "/t:ro")
        .mount(tmp.path(), "/charts:rw")
        .opt(&["--timeout", "600"])
        .ok();
    let expected: Vec<_> = std::fs::read_dir(data.join("charts")).unwrap().flatten().collect();
    assert_eq!(expected.len(), 13);
    for chart in expected {
        assert_alike(&tmp.path().join(chart.file_name()), &chart.path());
    }
}

/// Tests the measure itself: a picture equals itself and differs from another one.
#[test]
fn the_measure_distinguishes_pictures() {
    let charts = root().join("tests/python/data/charts");
    assert_eq!(difference(&charts.join("pie.png"), &charts.join("pie.png")), 0.0);
    assert!(difference(&charts.join("pie.png"), &charts.join("boxes.png")) > 10.0);
}
