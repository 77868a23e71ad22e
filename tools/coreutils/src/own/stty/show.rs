//! The forms in which `stty` prints settings.

use super::modes::{
    MIN, MODES, Mode, ModeWord, SPECIALS, SaneValue, SpecialCharacter, TIME, TerminalModes, WORDS,
};

/// A text whose words are wrapped to the width of the terminal.
struct WrappedLines {
    text: String,
    column: usize,
    width: usize,
}

impl WrappedLines {
    /// Adds a word. The blank before it does not count, as in GNU's.
    fn put(&mut self, word: &str) {
        if self.column > 0 && self.column + word.len() > self.width {
            self.end_line();
        }
        if self.column > 0 {
            self.text.push(' ');
            self.column += 1;
        }
        self.text.push_str(word);
        self.column += word.len();
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.text.push('\n');
            self.column = 0;
        }
    }
}

/// Returns the output of `stty -a`, wrapped to `width` bytes per line.
pub(super) fn show_all(modes: &TerminalModes, width: usize) -> String {
    let mut out = WrappedLines { text: String::new(), column: 0, width };
    show_speed(&mut out, modes);
    out.put(&format!("rows {}; columns {};", modes.rows, modes.columns));
    out.put(&format!("line = {};", modes.line));
    out.end_line();
    for special in SPECIALS {
        out.put(&show_special(modes, special));
    }
    show_counts(&mut out, modes);
    out.end_line();
    for word in WORDS {
        for mode in MODES.iter().filter(|m| m.word == word) {
            match (modes.is_on(mode), mode.is_switch) {
                (true, _) => out.put(mode.name),
                (false, true) => out.put(&format!("-{}", mode.name)),
                (false, false) => {}
            }
        }
        out.end_line();
    }
    out.text
}

/// Returns the output of `stty` without operands: the speed, and all settings that differ from
/// those of a sane terminal.
pub(super) fn show_changed(modes: &TerminalModes, width: usize) -> String {
    let mut out = WrappedLines { text: String::new(), column: 0, width };
    show_speed(&mut out, modes);
    out.put(&format!("line = {};", modes.line));
    out.end_line();
    for special in SPECIALS.iter().filter(|s| modes.characters[s.place] != s.sane) {
        out.put(&show_special(modes, special));
    }
    let is_raw = MODES.iter().any(|m| m.name == "icanon" && !modes.is_on(m));
    if is_raw {
        show_counts(&mut out, modes);
    }
    out.end_line();
    for word in WORDS {
        for mode in MODES.iter().filter(|m| m.word == word) {
            if let Some(shown) = show_difference(modes, mode) {
                out.put(&shown);
            }
        }
        out.end_line();
    }
    out.text
}

/// Returns a mode as `stty` without operands prints it, or `None` if the mode is as on a sane
/// terminal.
fn show_difference(modes: &TerminalModes, mode: &Mode) -> Option<String> {
    match (modes.is_on(mode), mode.sane) {
        (false, SaneValue::On) if mode.is_switch => Some(format!("-{}", mode.name)),
        (true, SaneValue::Off) => Some(mode.name.to_string()),
        // The mode is one of several values, and another of them is the sane one.
        (true, SaneValue::Any) if !mode.is_switch && has_sane_choice(mode) => {
            Some(mode.name.to_string())
        }
        _ => None,
    }
}

/// Returns whether a mode is one of several values of which one is the sane value.
fn has_sane_choice(mode: &Mode) -> bool {
    let is_rival = |m: &Mode| m.word == mode.word && m.mask == mode.mask && !m.is_switch;
    MODES.iter().any(|m| is_rival(m) && m.sane == SaneValue::On)
}

/// Returns the output of `stty -g`. It is also an operand that restores the settings.
pub(super) fn show_saved(modes: &TerminalModes) -> String {
    let words = [ModeWord::Input, ModeWord::Output, ModeWord::Control, ModeWord::Local];
    let words = words.iter().map(|w| modes.word(*w));
    let all = words.chain(modes.characters.iter().map(|c| u32::from(*c)));
    let texts: Vec<String> = all.map(|n| format!("{n:x}")).collect();
    texts.join(":") + "\n"
}

fn show_speed(out: &mut WrappedLines, modes: &TerminalModes) {
    if modes.input_speed == 0 || modes.input_speed == modes.output_speed {
        out.put(&format!("speed {} baud;", modes.output_speed));
    } else {
        out.put(&format!("ispeed {} baud; ospeed {} baud;", modes.input_speed, modes.output_speed));
    }
}

fn show_special(modes: &TerminalModes, special: &SpecialCharacter) -> String {
    format!("{} = {};", special.name, show_character(modes.characters[special.place]))
}

fn show_counts(out: &mut WrappedLines, modes: &TerminalModes) {
    out.put(&format!("min = {}; time = {};", modes.characters[MIN], modes.characters[TIME]));
}

/// Returns a special character in printable form, such as `^C`, `M-x` or `<undef>`.
fn show_character(c: u8) -> String {
    match c {
        0 => "<undef>".to_string(),
        1..0x20 => format!("^{}", char::from(c + 0x40)),
        0x20..0x7f => char::from(c).to_string(),
        0x7f => "^?".to_string(),
        0x80 => "M-^@".to_string(),
        0x81.. => format!("M-{}", show_character(c - 0x80)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::modes::find_mode;
    use super::*;

    /// The output of GNU coreutils 9.1 on a pseudo-terminal after `stty sane rows 25 cols 80`.
    const SANE: &str = "\
speed 38400 baud; rows 25; columns 80; line = 0;
intr = ^C; quit = ^\\; erase = ^?; kill = ^U; eof = ^D; eol = <undef>;
eol2 = <undef>; swtch = <undef>; start = ^Q; stop = ^S; susp = ^Z; rprnt = ^R;
werase = ^W; lnext = ^V; discard = ^O; min = 1; time = 0;
-parenb -parodd -cmspar cs8 -hupcl -cstopb cread -clocal -crtscts
-ignbrk brkint -ignpar -parmrk -inpck -istrip -inlcr -igncr icrnl ixon -ixoff
-iuclc -ixany imaxbel -iutf8
opost -olcuc -ocrnl onlcr -onocr -onlret -ofill -ofdel nl0 cr0 tab0 bs0 vt0 ff0
isig icanon iexten echo echoe echok -echonl -noflsh -xcase -tostop -echoprt
echoctl echoke -flusho -extproc
";

    #[test]
    fn a_sane_terminal() {
        let modes = TerminalModes::sane(25, 80);
        assert_eq!(show_all(&modes, 80), SANE);
        assert_eq!(show_changed(&modes, 80), "speed 38400 baud; line = 0;\n");
        assert_eq!(
            show_saved(&modes),
            "2502:5:bf:8a3b:3:1c:7f:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0\n"
        );
    }

    /// Expected values: GNU coreutils 9.1 on a pseudo-terminal.
    #[test]
    fn lines_are_as_wide_as_the_terminal() {
        let shown = show_all(&TerminalModes::sane(25, 40), 40);
        let head: Vec<&str> = shown.lines().take(4).collect();
        assert_eq!(
            head,
            [
                "speed 38400 baud; rows 25; columns 40;",
                "line = 0;",
                "intr = ^C; quit = ^\\; erase = ^?;",
                "kill = ^U; eof = ^D; eol = <undef>;"
            ]
        );
    }

    /// Expected values: GNU coreutils 9.1 after `-icanon`, after `nl` and after `-tabs`.
    #[test]
    fn changes_are_listed_by_word() {
        let after = |names: &[&str], on: bool| {
            let mut modes = TerminalModes::sane(25, 80);
            for name in names {
                modes.switch(find_mode(name.as_bytes()).unwrap(), on);
            }
            show_changed(&modes, 80)
        };
        let speed = "speed 38400 baud; line = 0;\n";
        assert_eq!(after(&["icanon"], false), format!("{speed}min = 1; time = 0;\n-icanon\n"));
        assert_eq!(after(&["icrnl", "onlcr"], false), format!("{speed}-icrnl\n-onlcr\n"));
        assert_eq!(after(&["tab3"], true), format!("{speed}tab3\n"));
    }
}
