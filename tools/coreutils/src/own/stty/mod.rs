//! `stty` (GNU): the settings of a terminal.
//!
//! | file | contents |
//! |---|---|
//! | `modes` | the modes, the special characters, and the state of a terminal |
//! | `settings` | operands, and their effect on that state |
//! | `show` | the forms of output |
//!
//! A terminal of the session has settings, which `stty` reads and changes. A stream of the guest may
//! also be a terminal of the host, which the runner connected to it: its settings can neither be
//! read nor changed. For such a one `stty` prints the settings of a sane terminal with the size that
//! the kernel reports, and a setting that would change one of them fails with GNU's message about a
//! terminal that does not accept a setting.

mod modes;
mod settings;
mod show;

use std::fs::File;
use std::rc::Rc;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, InputSource};
use box_sys::terminal::{self, AttributesMoment};

use self::modes::TerminalModes;
use self::settings::{Setting, apply_setting, parse_settings};
use crate::common::{input, number, quote};

/// An option of `stty`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SttyFlag {
    All,
    Device,
    Save,
}

const SPEC: Spec<SttyFlag> = Spec::new(
    "[-F DEVICE] [-a | -g | SETTING...]",
    "Print or change the settings of the terminal that is the standard input.\n\
     Without operands, print the speed and the settings that differ from those of a sane terminal.",
    &[
        Opt::new(SttyFlag::All, 'a', "all").with_help("Print all settings"),
        Opt::new(SttyFlag::Save, 'g', "save")
            .with_help("Print all settings as one word, which is a SETTING that restores them"),
        Opt::new(SttyFlag::Device, 'F', "file")
            .with_argument("DEVICE", "The terminal, instead of the standard input"),
    ],
)
.with_footer(
    "A dash before a mode switches it off. CHAR is a character, ^C, a number, or ^- for none.\n\
     \n\
     Characters (NAME CHAR): discard eof eol eol2 erase intr kill lnext quit rprnt start stop\n\
     susp swtch werase\n\
     Numbers (NAME N): cols columns ispeed line min ospeed rows time; N alone is the speed\n\
     Printed: size speed\n\
     Line: clocal cread crtscts cs5 cs6 cs7 cs8 cstopb hup hupcl parenb parodd cmspar\n\
     Input: brkint icrnl ignbrk igncr ignpar imaxbel inlcr inpck istrip iuclc iutf8 ixany ixoff\n\
     ixon parmrk tandem\n\
     Output: bs0-1 cr0-3 ff0-1 nl0-1 tab0-3 vt0-1 ocrnl ofdel ofill olcuc onlcr onlret onocr\n\
     opost tabs\n\
     Local: crterase crtkill ctlecho echo echoctl echoe echok echoke echonl echoprt extproc\n\
     flusho icanon iexten isig noflsh prterase tostop xcase\n\
     Several at once: LCASE cbreak cooked crt dec decctlq ek evenp lcase litout nl oddp parity\n\
     pass8 raw sane",
);

/// A terminal, and its name in messages.
struct TerminalState {
    shown: Vec<u8>,
    file: Option<Rc<File>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (options, operands) = split_words(args);
    let p = SPEC.parse_or_exit(ctx, &options, Exit::FAILURE)?;
    if p.count_of(SttyFlag::Device) > 1 {
        ctx.error("only one device may be specified");
        return Ok(Exit::FAILURE);
    }
    let (all, save) = (p.has_option(SttyFlag::All), p.has_option(SttyFlag::Save));
    if all && save {
        let text =
            "the options for verbose and stty-readable output styles are\nmutually exclusive";
        ctx.error(text);
        return Ok(Exit::FAILURE);
    }
    if (all || save) && !operands.is_empty() {
        ctx.error("when specifying an output style, modes may not be set");
        return Ok(Exit::FAILURE);
    }
    let settings = match parse_settings(&operands) {
        Ok(settings) => settings,
        Err(e) => {
            let (text, needs_hint) = e.message();
            ctx.error_bytes(&[&text]);
            return Ok(if needs_hint { input::usage_hint(ctx) } else { Exit::FAILURE });
        }
    };
    let terminal = open_terminal(ctx, p.last_value(SttyFlag::Device))?;
    let modes = read_modes(ctx, &terminal)?;
    let width = screen_width(ctx);
    Ok(match (all, save, settings.is_empty()) {
        (true, ..) => ctx.print(&show::show_all(&modes, width)),
        (_, true, _) => ctx.print(&show::show_saved(&modes)),
        (.., true) => ctx.print(&show::show_changed(&modes, width)),
        _ => change_modes(ctx, &terminal, modes, &settings),
    })
}

/// Splits the words into options with their arguments, and settings. Settings may also begin with a
/// dash.
fn split_words(args: &[Vec<u8>]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut options, mut operands) = (Vec::new(), Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let is_option = match word.strip_prefix(b"--") {
            Some(b"") => {
                operands.extend(words.by_ref().cloned());
                continue;
            }
            Some(long) => {
                let name = long.split(|c| *c == b'=').next().unwrap_or_default();
                matches!(name, b"help" | b"version") || SPEC.find_long(name).is_ok()
            }
            None => word
                .strip_prefix(b"-")
                .is_some_and(|letters| !letters.is_empty() && SPEC.match_letters(letters).is_ok()),
        };
        let argument = if is_option && SPEC.takes_next(word) { words.next() } else { None };
        if !is_option || (SPEC.takes_next(word) && argument.is_none()) {
            operands.push(word.clone());
            continue;
        }
        options.push(word.clone());
        options.extend(argument.cloned());
    }
    (options, operands)
}

fn open_terminal(ctx: &mut Ctx<'_>, device: Option<&[u8]>) -> Result<TerminalState, Exit> {
    let Some(device) = device else {
        let file = match ctx.stdin.source() {
            InputSource::File(f) => Some(f.clone()),
            _ => None,
        };
        return Ok(TerminalState { shown: b"'standard input'".to_vec(), file });
    };
    let shown = quote::quote_with_colon(device);
    match File::open(ctx.path(device)) {
        Ok(file) => Ok(TerminalState { shown, file: Some(Rc::new(file)) }),
        Err(e) => Err(input::file_error(ctx, device, &e)),
    }
}

/// Returns the settings of the terminal; prints a message if the file is not a terminal.
fn read_modes(ctx: &mut Ctx<'_>, state: &TerminalState) -> Result<TerminalModes, Exit> {
    let file = state.file.as_deref().filter(|f| box_sys::is_terminal(f));
    let Some(file) = file else {
        let text = b": Inappropriate ioctl for device";
        return Err(input::report_failure(ctx, &[&state.shown, text]));
    };
    let (rows, columns) = box_sys::terminal_size(file).unwrap_or_default();
    Ok(match terminal::attributes(file) {
        Ok(attributes) => TerminalModes::from_termios(&attributes, rows, columns),
        Err(_) => TerminalModes::sane(rows, columns),
    })
}

/// Returns the width of lines: that of the terminal at standard output, or else `$COLUMNS`, or else
/// 80.
fn screen_width(ctx: &Ctx<'_>) -> usize {
    let variable = || ctx.env.get(b"COLUMNS").and_then(number::parse_decimal);
    let shown = match ctx.stdout.sink() {
        box_applet::OutputSink::File(file) => box_sys::terminal_size(file).ok(),
        _ => None,
    };
    let columns = shown.map(|(_, columns)| u64::from(columns)).filter(|n| *n > 0);
    columns.or_else(variable).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(80)
}

/// Performs the settings in order. Fails if they would change the modes.
fn change_modes(
    ctx: &mut Ctx<'_>,
    state: &TerminalState,
    modes: TerminalModes,
    settings: &[Setting],
) -> Exit {
    let mut wanted = modes.clone();
    for setting in settings {
        apply_setting(&mut wanted, setting);
        match setting {
            Setting::PrintSize => {
                ctx.print(&format!("{} {}\n", modes.rows, modes.columns));
            }
            Setting::PrintSpeed => {
                ctx.print(&format!("{}\n", modes.output_speed));
            }
            _ => {}
        }
    }
    if wanted == modes {
        return Exit::SUCCESS;
    }
    let file = state.file.as_deref();
    if file.is_some_and(|file| write_modes(file, &modes, &wanted).is_ok_and(|same| same)) {
        return Exit::SUCCESS;
    }
    input::report_failure(ctx, &[&state.shown, b": unable to perform all requested operations"])
}

/// Changes the modes and the size of a terminal; returns whether it has accepted all of them.
fn write_modes(file: &File, from: &TerminalModes, to: &TerminalModes) -> std::io::Result<bool> {
    if (from.rows, from.columns) != (to.rows, to.columns) {
        let old = terminal::window_size(file)?;
        let bounded = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let size =
            terminal::WindowSize { rows: bounded(to.rows), columns: bounded(to.columns), ..old };
        terminal::set_window_size(file, size)?;
    }
    let wanted = to.to_termios();
    terminal::set_attributes(file, &wanted, AttributesMoment::Drained)?;
    Ok(terminal::attributes(file)? == wanted)
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn settings_may_look_like_options() {
        let words = |text: &str| -> Vec<Vec<u8>> {
            text.split(' ').map(|w| w.as_bytes().to_vec()).collect()
        };
        let split = split_words(&words("-F /dev/tty -echo raw"));
        assert_eq!(split, (words("-F /dev/tty"), words("-echo raw")));
        assert_eq!(split_words(&words("-a")), (words("-a"), Vec::new()));
        assert_eq!(split_words(&words("-F")), (Vec::new(), words("-F")));
        assert_eq!(split_words(&words("--foo")), (Vec::new(), words("--foo")));
        assert_eq!(split_words(&words("-- size")), (Vec::new(), words("size")));
    }
}
