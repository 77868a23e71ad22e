//! Runs the command lines of `cases.toml`, and compares the results with the recorded output of GNU
//! sed.

use box_applet::AppletTable;
use box_cases::Suite;

static TABLE: AppletTable = AppletTable::new(box_sed::APPLETS, &[]);

#[test]
fn ours() {
    Suite::parse(include_str!("cases.toml")).ours(&TABLE);
}

#[test]
fn authority() {
    Suite::parse(include_str!("cases.toml")).authority();
}
