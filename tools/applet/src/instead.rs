//! Replacements for commands that do not exist.

use crate::AppletTable;

pub use box_advice::missing::LIST;

/// Returns the advice about a command that was not found, if there is any.
pub fn find_instead(name: &[u8], table: &AppletTable) -> Option<&'static str> {
    let line = box_advice::missing::find_advice(name)?;
    (!table.is_program(name)).then_some(line.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_exist_have_no_advice() {
        const EMPTY: AppletTable = AppletTable::new(&[], &[]);
        assert!(find_instead(b"ag", &EMPTY).is_some());
        assert_eq!(find_instead(b"ag", &AppletTable::new(&[], &[("ag", "")])), None);
    }
}
