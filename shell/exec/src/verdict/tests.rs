//! One test for each row of the tables; `shell/cli/tests/cases/verdicts.sh` has what bash does.

use sh_expand::{Asked, Cause, ExpandError, Reach, Site};

use super::syntax::{AfterSyntax, Place, syntax_verdict};
use super::{Assigning, Before, Mode, Verdict, assigning, verdict};

const SCRIPT: Mode = Mode {
    posix: false,
    errexit: false,
    exits_here: false,
    interactive: false,
    command_string: false,
    exit_trap: false,
    subshell: false,
    status: 0,
};
const FAILED: Mode = Mode { status: 7, ..SCRIPT };
const ERREXIT: Mode = Mode { errexit: true, exits_here: true, ..FAILED };
const POSIX: Mode = Mode { posix: true, ..SCRIPT };
const STRING: Mode = Mode { command_string: true, ..SCRIPT };
const PROMPT: Mode = Mode { interactive: true, ..SCRIPT };

fn text() -> Vec<u8> {
    b"x".to_vec()
}

fn unbound(asked: Asked) -> ExpandError {
    Cause::Unbound { name: text(), asked }.into()
}

fn arithmetic() -> ExpandError {
    Cause::Arithmetic { expression: text(), reason: String::new(), token: text() }.into()
}

fn bad_substitution() -> ExpandError {
    Cause::BadSubstitution(text()).into()
}

fn missing() -> ExpandError {
    Cause::Missing { parameter: text(), reason: text() }.into()
}

#[test]
fn interrupted() {
    assert_eq!(verdict(&Cause::Interrupted.into(), &POSIX), Verdict::PassOn);
}

#[test]
fn limits() {
    assert_eq!(verdict(&Cause::TooLarge.into(), &PROMPT), Verdict::Exit(1));
}

#[test]
fn refused_in_a_subscript_with_errexit() {
    let e = ExpandError::readonly(b"x").at(Site::Subscript);
    assert_eq!(verdict(&e, &ERREXIT), Verdict::Leave(7));
}

#[test]
fn failed_in_a_subscript() {
    let e = arithmetic().at(Site::Subscript);
    assert_eq!(verdict(&e, &ERREXIT), Verdict::Abandon(1, Before::Replaced));
    assert_eq!(verdict(&e, &FAILED), Verdict::Abandon(1, Before::Replaced));
    assert_eq!(verdict(&e, &STRING), Verdict::GiveUp(1));
    let subshell = Mode { subshell: true, ..STRING };
    assert_eq!(verdict(&e, &subshell), Verdict::Abandon(1, Before::Replaced));
}

#[test]
fn no_number_for_an_integer() {
    let e = arithmetic().at(Site::Value);
    assert_eq!(verdict(&e, &STRING), Verdict::GiveUp(1));
    assert_eq!(verdict(&e, &FAILED), Verdict::Abandon(7, Before::KeptIfFailed));
}

#[test]
fn unset_in_an_expression() {
    let e = unbound(Asked::Expression);
    assert_eq!(verdict(&e, &FAILED), Verdict::Leave(1));
    assert_eq!(verdict(&e, &STRING), Verdict::GiveUp(127));
    assert_eq!(verdict(&e, &Mode { exit_trap: true, ..SCRIPT }), Verdict::GiveUp(1));
}

#[test]
fn unset_at_the_prompt() {
    assert_eq!(verdict(&unbound(Asked::Parameter), &PROMPT), Verdict::Prompt);
    assert_eq!(verdict(&missing(), &Mode { errexit: true, ..PROMPT }), Verdict::Prompt);
}

#[test]
fn unset_with_errexit() {
    assert_eq!(verdict(&unbound(Asked::Parameter), &ERREXIT), Verdict::Leave(1));
    assert_eq!(verdict(&missing(), &ERREXIT), Verdict::Leave(7));
}

#[test]
fn unset() {
    assert_eq!(verdict(&missing(), &FAILED), Verdict::GiveUp(1));
    assert_eq!(verdict(&missing(), &STRING), Verdict::GiveUp(127));
    assert_eq!(verdict(&missing(), &Mode { subshell: true, ..STRING }), Verdict::GiveUp(1));
}

#[test]
fn any_in_posix_mode() {
    assert_eq!(verdict(&bad_substitution(), &POSIX), Verdict::GiveUp(1));
    assert_eq!(verdict(&arithmetic().at(Site::Expansion), &POSIX), Verdict::GiveUp(1));
    let e = ExpandError::readonly(b"x").at(Site::Default);
    assert_eq!(verdict(&e, &Mode { command_string: true, ..POSIX }), Verdict::GiveUp(127));
    assert_eq!(verdict(&bad_substitution(), &Mode { interactive: true, ..POSIX }), Verdict::Prompt);
    // But not these, nor an assignment, which ends such a shell for a reason of its own.
    let e: ExpandError = Cause::InvalidIndirect(text()).into();
    assert_eq!(verdict(&e, &POSIX), Verdict::Discard(1));
    assert_eq!(verdict(&ExpandError::readonly(b"x"), &POSIX), Verdict::Discard(1));
}

#[test]
fn any_with_errexit() {
    assert_eq!(verdict(&bad_substitution(), &ERREXIT), Verdict::Leave(1));
    assert_eq!(verdict(&ExpandError::readonly(b"x"), &ERREXIT), Verdict::Leave(7));
    assert_eq!(verdict(&Cause::InvalidName(text()).into(), &ERREXIT), Verdict::Leave(7));
    let posix = Mode { posix: true, ..ERREXIT };
    assert_eq!(verdict(&ExpandError::bad_subscript(b"a", b"-9"), &posix), Verdict::Leave(7));
    let string = Mode { command_string: true, ..posix };
    assert_eq!(verdict(&bad_substitution(), &string), Verdict::Leave(1));
}

#[test]
fn what_errexit_survives() {
    assert_eq!(verdict(&arithmetic(), &ERREXIT), Verdict::Discard(1));
    assert_eq!(verdict(&arithmetic().at(Site::Expansion), &ERREXIT), Verdict::Discard(1));
    let e = Cause::InRange { parameter: text(), cause: arithmetic().cause };
    assert_eq!(verdict(&e.into(), &ERREXIT), Verdict::Discard(1));
    assert_eq!(verdict(&Cause::NegativeLength(text()).into(), &ERREXIT), Verdict::Discard(1));
    assert_eq!(verdict(&ExpandError::not_an_identifier(b"1"), &ERREXIT), Verdict::Discard(1));
}

#[test]
fn defaults_that_cannot_be_assigned() {
    let e = ExpandError::readonly(b"x").at(Site::Default);
    assert_eq!(verdict(&e, &FAILED), Verdict::Discard(2));
    assert_eq!(verdict(&e, &STRING), Verdict::Discard(1));
}

#[test]
fn all_others() {
    assert_eq!(verdict(&bad_substitution(), &FAILED), Verdict::Discard(1));
    assert_eq!(verdict(&ExpandError::told(Reach::Line), &POSIX), Verdict::Discard(1));
}

#[test]
fn the_innermost_place_counts() {
    let e = arithmetic().at(Site::Expansion).at(Site::Subscript).at(Site::Value);
    assert_eq!(e.reach(), Reach::Expansion);
    // One that does not matter to the cause is passed over.
    let e = ExpandError::readonly(b"x").at(Site::Value).at(Site::Subscript);
    assert_eq!(e.reach(), Reach::Abandon);
}

#[test]
fn assignments_of_builtins() {
    assert_eq!(assigning(&arithmetic().at(Site::Subscript)), Assigning::Unwind);
    assert_eq!(assigning(&Cause::Interrupted.into()), Assigning::Unwind);
    assert_eq!(assigning(&ExpandError::readonly(b"x")), Assigning::Refused);
    assert_eq!(assigning(&ExpandError::bad_subscript(b"a", b"-9")), Assigning::Refused);
    assert_eq!(assigning(&arithmetic().at(Site::Value)), Assigning::Drop);
    assert_eq!(assigning(&ExpandError::not_an_identifier(b"1")), Assigning::Fail);
}

#[test]
fn texts_that_do_not_parse() {
    use AfterSyntax::{End, Exit, GoOn};
    assert_eq!(syntax_verdict(Place::Prompt, &PROMPT), GoOn);
    for mode in [SCRIPT, FAILED, POSIX, ERREXIT] {
        assert_eq!(syntax_verdict(Place::Script, &mode), End);
        assert_eq!(syntax_verdict(Place::Action, &mode), End);
    }
    assert_eq!(syntax_verdict(Place::Text, &FAILED), End);
    assert_eq!(syntax_verdict(Place::Text, &ERREXIT), Exit);
    assert_eq!(syntax_verdict(Place::Text, &POSIX), Exit);
    assert_eq!(syntax_verdict(Place::Text, &Mode { interactive: true, ..POSIX }), End);
}
