//! Runs the command lines of `cases.toml`, and compares them with GNU grep's recorded output, and
//! that with an installed GNU grep.

use box_applet::AppletTable;
use box_cases::Suite;

static TABLE: AppletTable = AppletTable::new(box_grep::APPLETS, &[]);

#[test]
fn ours() {
    Suite::parse(include_str!("cases.toml")).ours(&TABLE);
}

#[test]
fn authority() {
    Suite::parse(include_str!("cases.toml")).authority();
}
