//! Runs the command lines of `find.toml` and `xargs.toml`, and compares the results with the
//! recorded output of GNU findutils.

use box_applet::AppletTable;
use box_cases::Suite;

static TABLE: AppletTable = AppletTable::new(box_find::APPLETS, &[]);

#[test]
fn find() {
    Suite::parse(include_str!("find.toml")).ours(&TABLE);
}

#[test]
fn find_authority() {
    Suite::parse(include_str!("find.toml")).authority();
}

#[test]
fn xargs() {
    Suite::parse(include_str!("xargs.toml")).ours(&TABLE);
}

#[test]
fn xargs_authority() {
    Suite::parse(include_str!("xargs.toml")).authority();
}
