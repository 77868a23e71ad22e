//! The operands of `stty`: names of settings, their arguments, and their effects.

use super::modes::{CHARACTERS, MIN, ModeWord, SPECIALS, TIME, TerminalModes, find_mode};
use crate::common::number;
use crate::common::quote;

/// An error in an operand, which is found before the terminal is opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SettingError {
    /// There is no such setting, or it has a dash and cannot be switched off.
    Unknown(Vec<u8>),
    MissingArgument(Vec<u8>),
    BadNumber(Vec<u8>, &'static str),
}

impl SettingError {
    /// Returns the message, and whether the hint about `--help` follows it.
    pub fn message(&self) -> (Vec<u8>, bool) {
        match self {
            SettingError::Unknown(word) => {
                ([b"invalid argument ", &quote::quote_in_sentence(word)[..]].concat(), true)
            }
            SettingError::MissingArgument(word) => {
                ([b"missing argument to ", &quote::quote_in_sentence(word)[..]].concat(), true)
            }
            SettingError::BadNumber(word, reason) => {
                let word = quote::quote_in_sentence(word);
                ([b"invalid integer argument: ", &word[..], reason.as_bytes()].concat(), false)
            }
        }
    }
}

/// The change that one operand with its argument requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Mode {
        name: Vec<u8>,
        on: bool,
    },
    Group {
        name: &'static str,
        on: bool,
    },
    /// A special character, `min` or `time`, by its place in `c_cc`.
    Character {
        place: usize,
        value: u8,
    },
    InputSpeed(u32),
    OutputSpeed(u32),
    BothSpeeds(u32),
    Rows(u32),
    Columns(u32),
    Line(u8),
    Saved(Box<SavedModes>),
    PrintSize,
    PrintSpeed,
    /// A setting without an effect here: `drain`, which says when changes are made, or an unknown
    /// speed.
    Nothing,
}

/// The settings that `stty -g` printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SavedModes {
    words: [u32; 4],
    characters: [u8; CHARACTERS],
}

/// The names for several settings at once, and whether `-` may come before each name.
const GROUPS: &[(&str, bool)] = &[
    ("LCASE", true),
    ("cbreak", true),
    ("cooked", true),
    ("crt", false),
    ("decctlq", true),
    ("dec", false),
    ("ek", false),
    ("evenp", true),
    ("lcase", true),
    ("litout", true),
    ("nl", true),
    ("oddp", true),
    ("parity", true),
    ("pass8", true),
    ("raw", true),
    ("sane", false),
    ("tabs", true),
];

/// The speeds that a line can have, in baud.
const SPEEDS: &[u32] = &[
    0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400, 57600,
    115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_152_000, 1_500_000,
    2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
];

/// Parses all operands.
pub(super) fn parse_settings(words: &[Vec<u8>]) -> Result<Vec<Setting>, SettingError> {
    let mut words = words.iter();
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        settings.push(parse_setting(word, &mut words)?);
    }
    Ok(settings)
}

fn parse_setting(
    word: &[u8],
    rest: &mut std::slice::Iter<'_, Vec<u8>>,
) -> Result<Setting, SettingError> {
    let unknown = || SettingError::Unknown(word.to_vec());
    if let Some(name) = word.strip_prefix(b"-") {
        return parse_switch(name, false).ok_or_else(unknown);
    }
    if let Some(setting) = parse_switch(word, true) {
        return Ok(setting);
    }
    let mut argument = || rest.next().ok_or_else(|| SettingError::MissingArgument(word.to_vec()));
    if let Some(special) = SPECIALS.iter().find(|s| s.name.as_bytes() == word) {
        return Ok(Setting::Character {
            place: special.place,
            value: parse_character(argument()?)?,
        });
    }
    Ok(match word {
        b"min" => Setting::Character { place: MIN, value: parse_byte(argument()?)? },
        b"time" => Setting::Character { place: TIME, value: parse_byte(argument()?)? },
        b"line" => Setting::Line(parse_byte(argument()?)?),
        b"rows" => Setting::Rows(parse_number(argument()?)?),
        b"cols" | b"columns" => Setting::Columns(parse_number(argument()?)?),
        // An unknown speed is ignored, as is a word that is not a number.
        b"ispeed" => parse_speed(argument()?).map_or(Setting::Nothing, Setting::InputSpeed),
        b"ospeed" => parse_speed(argument()?).map_or(Setting::Nothing, Setting::OutputSpeed),
        b"size" => Setting::PrintSize,
        b"speed" => Setting::PrintSpeed,
        _ => match (parse_speed(word), parse_saved(word)) {
            (Some(speed), _) => Setting::BothSpeeds(speed),
            (None, Some(saved)) => Setting::Saved(Box::new(saved)),
            (None, None) => return Err(unknown()),
        },
    })
}

/// Parses a setting without an argument. `on` is false if there is a dash before it.
fn parse_switch(name: &[u8], on: bool) -> Option<Setting> {
    if name == b"drain" {
        return Some(Setting::Nothing);
    }
    if let Some(mode) = find_mode(name) {
        let setting = Setting::Mode { name: mode.name.into(), on };
        return (on || mode.is_switch).then_some(setting);
    }
    let (group, has_opposite) = GROUPS.iter().find(|(g, _)| g.as_bytes() == name)?;
    (on || *has_opposite).then_some(Setting::Group { name: group, on })
}

/// Parses a special character, which is the character itself, `^C` or a number. `^-` and `undef`
/// mean that there is none.
fn parse_character(word: &[u8]) -> Result<u8, SettingError> {
    match word {
        [] | b"^-" | b"undef" => Ok(0),
        [c] => Ok(*c),
        [b'^', b'?', ..] => Ok(0x7f),
        [b'^', c, ..] => Ok(c & 0x1f),
        _ => parse_byte(word),
    }
}

fn parse_byte(word: &[u8]) -> Result<u8, SettingError> {
    let out_of_range = || SettingError::BadNumber(word.to_vec(), ": Numerical result out of range");
    u8::try_from(parse_number(word)?).map_err(|_| out_of_range())
}

/// Parses a number in C's notation that fits in C's `int`.
fn parse_number(word: &[u8]) -> Result<u32, SettingError> {
    let bad = |reason| SettingError::BadNumber(word.to_vec(), reason);
    let (digits, radix) = match word {
        [b'0', b'x' | b'X', rest @ ..] => (rest, 16),
        [b'0', rest @ ..] if !rest.is_empty() => (rest, 8),
        _ => (word, 10),
    };
    let is_number = !digits.is_empty() && digits.iter().all(|c| char::from(*c).is_digit(radix));
    if !is_number {
        return Err(bad(""));
    }
    let text = std::str::from_utf8(digits).map_err(|_| bad(""))?;
    u32::from_str_radix(text, radix)
        .ok()
        .filter(|n| i32::try_from(*n).is_ok())
        .ok_or_else(|| bad(": Value too large for defined data type"))
}

fn parse_speed(word: &[u8]) -> Option<u32> {
    let n = match word {
        b"exta" => 19200,
        b"extb" => 38400,
        b"134.5" => 134,
        _ => u32::try_from(number::parse_decimal(word)?).ok()?,
    };
    SPEEDS.contains(&n).then_some(n)
}

/// Parses the output of `stty -g`.
fn parse_saved(word: &[u8]) -> Option<SavedModes> {
    let text = std::str::from_utf8(word).ok()?;
    let numbers: Option<Vec<u32>> =
        text.split(':').map(|n| u32::from_str_radix(n, 16).ok()).collect();
    let numbers = numbers.filter(|n| n.len() == 4 + CHARACTERS)?;
    let mut characters = [0; CHARACTERS];
    for (place, n) in characters.iter_mut().zip(&numbers[4..]) {
        *place = u8::try_from(*n).ok()?;
    }
    let words = [numbers[0], numbers[1], numbers[2], numbers[3]];
    Some(SavedModes { words, characters })
}

/// Applies a setting to modes.
pub(super) fn apply_setting(modes: &mut TerminalModes, setting: &Setting) {
    match setting {
        Setting::Mode { name, on } => switch(modes, name, *on),
        Setting::Group { name, on } => apply_group(modes, name, *on),
        Setting::Character { place, value } => modes.characters[*place] = *value,
        Setting::InputSpeed(n) => modes.input_speed = *n,
        Setting::OutputSpeed(n) => modes.output_speed = *n,
        Setting::BothSpeeds(n) => (modes.input_speed, modes.output_speed) = (*n, *n),
        Setting::Rows(n) => modes.rows = *n,
        Setting::Columns(n) => modes.columns = *n,
        Setting::Line(n) => modes.line = *n,
        Setting::Saved(saved) => {
            let words = [ModeWord::Input, ModeWord::Output, ModeWord::Control, ModeWord::Local];
            words.into_iter().zip(saved.words).for_each(|(word, n)| modes.put_word(word, n));
            modes.characters = saved.characters;
        }
        Setting::PrintSize | Setting::PrintSpeed | Setting::Nothing => {}
    }
}

fn switch(modes: &mut TerminalModes, name: &[u8], on: bool) {
    if let Some(mode) = find_mode(name) {
        modes.switch(mode, on);
    }
}

/// Switches modes by name: those with a dash off, the others on.
fn switch_all(modes: &mut TerminalModes, names: &str) {
    for name in names.split(' ') {
        let bare = name.strip_prefix('-');
        switch(modes, bare.unwrap_or(name).as_bytes(), bare.is_none());
    }
}

/// Gives special characters the values they have on a sane terminal.
fn reset_specials(modes: &mut TerminalModes, names: &[&str]) {
    for special in SPECIALS.iter().filter(|s| names.contains(&s.name)) {
        modes.characters[special.place] = special.sane;
    }
}

const RAW: &str = "-ignbrk -brkint -ignpar -parmrk -inpck -istrip -inlcr -igncr -icrnl -ixon \
                   -ixoff -icanon -opost -isig -iuclc -ixany -imaxbel -xcase";

fn apply_group(modes: &mut TerminalModes, name: &str, on: bool) {
    match (name, on) {
        ("sane", _) => modes.make_sane(),
        ("raw", true) | ("cooked", false) => {
            switch_all(modes, RAW);
            (modes.characters[MIN], modes.characters[TIME]) = (1, 0);
        }
        ("raw", false) | ("cooked", true) => {
            switch_all(modes, "brkint ignpar istrip icrnl ixon opost isig icanon");
            reset_specials(modes, &["eof", "eol"]);
        }
        ("cbreak", on) => switch(modes, b"icanon", !on),
        ("nl", true) => switch_all(modes, "-icrnl -onlcr"),
        ("nl", false) => switch_all(modes, "icrnl -inlcr -igncr onlcr -ocrnl -onlret"),
        ("ek", _) => reset_specials(modes, &["erase", "kill"]),
        ("crt", _) => switch_all(modes, "echoe echoctl echoke"),
        ("dec", _) => {
            switch_all(modes, "echoe echoctl echoke -ixany");
            reset_specials(modes, &["intr", "erase", "kill"]);
        }
        ("lcase" | "LCASE", true) => switch_all(modes, "xcase iuclc olcuc"),
        ("lcase" | "LCASE", false) => switch_all(modes, "-xcase -iuclc -olcuc"),
        ("tabs", true) => switch(modes, b"tab0", true),
        ("tabs", false) => switch(modes, b"tab3", true),
        ("evenp" | "parity", true) => switch_all(modes, "parenb -parodd cs7"),
        ("oddp", true) => switch_all(modes, "parenb parodd cs7"),
        ("evenp" | "oddp" | "parity", false) => switch_all(modes, "-parenb cs8"),
        ("decctlq", true) => switch_all(modes, "-ixany"),
        ("decctlq", false) => switch_all(modes, "ixany"),
        ("pass8", true) => switch_all(modes, "-parenb -istrip cs8"),
        ("pass8", false) => switch_all(modes, "parenb istrip cs7"),
        ("litout", true) => switch_all(modes, "-parenb -istrip -opost cs8"),
        ("litout", false) => switch_all(modes, "parenb istrip opost cs7"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::{show_changed, show_saved};
    use super::*;

    fn settings(words: &str) -> Result<Vec<Setting>, SettingError> {
        let words: Vec<Vec<u8>> = words.split(' ').map(|w| w.as_bytes().to_vec()).collect();
        parse_settings(&words)
    }

    fn after(words: &str) -> TerminalModes {
        let mut modes = TerminalModes::sane(25, 80);
        settings(words).unwrap().iter().for_each(|s| apply_setting(&mut modes, s));
        modes
    }

    /// Expected values: GNU coreutils 9.1 on a pseudo-terminal.
    #[test]
    fn groups_do_what_their_parts_do() {
        let speed = "speed 38400 baud; line = 0;\n";
        let raw = "min = 1; time = 0;\n-brkint -icrnl -imaxbel\n-opost\n-isig -icanon\n";
        assert_eq!(show_changed(&after("raw"), 80), format!("{speed}{raw}"));
        assert_eq!(show_changed(&after("-cooked"), 80), format!("{speed}{raw}"));
        assert_eq!(show_changed(&after("litout"), 80), format!("{speed}-opost\n"));
        assert_eq!(show_changed(&after("lcase"), 80), format!("{speed}iuclc\nolcuc\nxcase\n"));
        let same =
            ["sane", "echo", "cbreak -cbreak", "ek crt dec", "ixany decctlq", "-evenp pass8"];
        for words in same {
            assert_eq!(after(words), TerminalModes::sane(25, 80), "{words}");
        }
    }

    #[test]
    fn saved_settings_are_restored() {
        let raw = after("raw -echo intr ^X");
        let saved = show_saved(&raw);
        assert_eq!(after(saved.trim()), raw);
        assert!(settings("2502:5:bf").is_err());
    }

    #[test]
    fn specials_are_written_in_several_ways() {
        for (word, value) in [("^C", 3), ("x", b'x'), ("0x7f", 127), ("017", 15), ("^-", 0)] {
            assert_eq!(parse_character(word.as_bytes()), Ok(value), "{word}");
        }
        assert!(matches!(parse_character(b"abc"), Err(SettingError::BadNumber(..))));
    }
}
