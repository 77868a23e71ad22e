//! One test for each row of the tables; `shell/cli/tests/cases/verdicts.sh` records bash's
//! behaviour.

use sh_expand::{ErrorReach, ExpandCause, ExpandError};

use super::syntax::{AfterSyntax, TextPlace, syntax_verdict};
use super::{Assigning, Mode, Verdict, assigning, verdict};

const SCRIPT: Mode =
    Mode { posix: false, exits_here: false, interactive: false, command_string: false };
const POSIX: Mode = Mode { posix: true, ..SCRIPT };
const ERREXIT: Mode = Mode { exits_here: true, ..SCRIPT };
const PROMPT: Mode = Mode { interactive: true, ..SCRIPT };
const STRING: Mode = Mode { command_string: true, ..SCRIPT };

#[test]
fn interruptions_and_limits_in_every_mode() {
    for mode in [SCRIPT, POSIX, ERREXIT, PROMPT] {
        assert_eq!(verdict(ErrorReach::Interrupted, &mode), Verdict::PassOn);
        assert_eq!(verdict(ErrorReach::Limit, &mode), Verdict::Exit(1));
    }
}

#[test]
fn at_the_prompt_commands_are_dropped() {
    for reach in [ErrorReach::Command, ErrorReach::Readonly, ErrorReach::Exit] {
        assert_eq!(verdict(reach, &PROMPT), Verdict::Discard(1));
        assert_eq!(verdict(reach, &Mode { posix: true, ..PROMPT }), Verdict::Discard(1));
    }
}

#[test]
fn unset_names_end_the_shell() {
    assert_eq!(verdict(ErrorReach::Exit, &SCRIPT), Verdict::GiveUp(1));
    assert_eq!(verdict(ErrorReach::Exit, &STRING), Verdict::GiveUp(127));
    assert_eq!(verdict(ErrorReach::Exit, &ERREXIT), Verdict::Leave(1));
}

#[test]
fn errors_end_a_posix_shell_and_one_with_errexit() {
    assert_eq!(verdict(ErrorReach::Command, &SCRIPT), Verdict::Discard(1));
    assert_eq!(verdict(ErrorReach::Command, &POSIX), Verdict::GiveUp(1));
    assert_eq!(verdict(ErrorReach::Command, &ERREXIT), Verdict::Leave(1));
    assert_eq!(verdict(ErrorReach::Readonly, &SCRIPT), Verdict::Discard(1));
    assert_eq!(verdict(ErrorReach::Readonly, &POSIX), Verdict::Discard(1));
    assert_eq!(verdict(ErrorReach::Readonly, &ERREXIT), Verdict::Leave(1));
}

#[test]
fn assignments_of_builtins() {
    assert_eq!(assigning(&ExpandCause::Interrupted.into()), Assigning::Unwind);
    assert_eq!(assigning(&ExpandError::already_printed(ErrorReach::Exit)), Assigning::Unwind);
    assert_eq!(assigning(&ExpandError::readonly_variable(b"x")), Assigning::Refused);
    assert_eq!(assigning(&ExpandError::bad_subscript(b"a", b"-9")), Assigning::Refused);
    assert_eq!(assigning(&ExpandError::not_an_identifier(b"1")), Assigning::Fail);
}

#[test]
fn texts_that_do_not_parse() {
    use AfterSyntax::{Continue, End, Exit};
    assert_eq!(syntax_verdict(TextPlace::Prompt, &PROMPT), Continue);
    for mode in [SCRIPT, POSIX, ERREXIT] {
        assert_eq!(syntax_verdict(TextPlace::Script, &mode), End);
        assert_eq!(syntax_verdict(TextPlace::Action, &mode), End);
    }
    assert_eq!(syntax_verdict(TextPlace::Text, &SCRIPT), End);
    assert_eq!(syntax_verdict(TextPlace::Text, &ERREXIT), Exit);
    assert_eq!(syntax_verdict(TextPlace::Text, &POSIX), Exit);
    assert_eq!(syntax_verdict(TextPlace::Text, &Mode { interactive: true, ..POSIX }), End);
}
