//! `declare a=(...)`: a compound value is assigned while the words are expanded, before the
//! builtin runs, redirections are made and other operands are looked at; the builtin then sees
//! the name alone (bash: `expand_declaration_argument`).
//!
//! Only what changes the values is known by then: options before the operand that tell the
//! array's kind, where it lives, or how values are converted. They count as they are written, and
//! those that are no options to the builtin may, too.

use sh_expand::{Cause, ExpandError, Reach, Site, Str};
use sh_syntax::ast::{ArrayElement, Assignment, CommandWord};

use super::apply::{apply, other_kind_error};
use super::{Declaration, Place, Request, Target, Value, is_own};
use crate::Shell;
use crate::state::assign::list_to_member;
use crate::state::compound::{Elements, Shown};
use crate::state::options::{SetOpt, ShOpt};
use crate::state::vars::Var;

/// Assigns the elements of the operand `a` of the command whose words so far are `argv`, written
/// as `before`.
///
/// # Errors
/// Those of expansions and assignments; the command is then abandoned.
pub(crate) fn assign_operand(
    shell: &mut Shell<'_>,
    argv: &[Str],
    before: &[CommandWord],
    a: &Assignment,
    elements: &[ArrayElement],
) -> Result<(), ExpandError> {
    let d = declaration(shell, argv, before);
    if a.subscript.is_some() {
        return Err(list_to_member(a));
    }
    // A local variable hides a nameref.
    let (resolved, element) = match d.place == Place::Local && !is_own(shell, &a.name) {
        true => (a.name.to_vec(), None),
        false => {
            let target = shell.follow(&a.name)?;
            (target.name.into_owned(), target.subscript)
        }
    };
    if let (Some(sub), true) = (element, d.place != Place::Local) {
        return to_element(shell, a, elements, (&resolved, &sub), d);
    }
    let done = match expanded(shell, a, elements, &resolved, d)? {
        Some(elements) => {
            let (name, value) = (a.name.to_vec(), Value::Elements(elements));
            apply(shell, Target { name, subscript: None, append: a.append, value }, d)
        }
        // No POSIX shell ends for it.
        None => {
            let is_assoc = assigned_to(shell, &resolved, d).is_some_and(Var::is_assoc);
            Err(other_kind_error(&a.name, is_assoc).at(Site::Declaration))
        }
    };
    let on = d.request.on;
    if done.is_ok()
        && shell.state.options.has(SetOpt::AllExport)
        && d.place != Place::Local
        && !on.indexed
        && !on.assoc
    {
        shell.state.vars.entry(&resolved).attrs.export = true;
    }
    let Err(e) = done else { return Ok(()) };
    let in_function = matches!(d.place, Place::Local | Place::Global);
    if e.reach() == Reach::Readonly && d.place == Place::Local && !is_own(shell, &resolved) {
        // A readonly variable that a local one would hide: the builtin tells it once more.
        let function = shell.state.calls.innermost_name();
        shell.error(&[&function, b": ", &e.message()]);
        Ok(())
    } else if in_function && matches!(*e.cause, Cause::Conversion { .. }) {
        // In functions the builtin looks at the array's kind once more.
        shell.error(&[&e.message()]);
        Ok(())
    } else {
        Err(e)
    }
}

/// What is known of the call before its operands are: the options as they are written.
fn declaration<'c>(shell: &Shell<'_>, argv: &'c [Str], before: &[CommandWord]) -> Declaration<'c> {
    let (request, command) = (request(before), argv.first().map_or(&b""[..], |name| name));
    let local = shell.state.vars.function_level().is_some() && !request.global;
    let place = match command {
        b"alias" | b"export" | b"readonly" => Place::Visible,
        _ if local => Place::Local,
        _ if request.global => Place::Global,
        _ => Place::Top,
    };
    Declaration { command, place, request }
}

/// A nameref to an element: the array gets the attributes, the words are expanded, and nothing
/// else is done; in functions bash does not even say so.
fn to_element(
    shell: &mut Shell<'_>,
    a: &Assignment,
    elements: &[ArrayElement],
    (array, subscript): (&[u8], &[u8]),
    d: Declaration<'_>,
) -> Result<(), ExpandError> {
    let assoc = d.request.on.assoc || shell.is_assoc(array);
    let elements = shell.expand_declared(array, assoc, elements)?;
    shell.trace_elements(&a.name, &elements, a.append);
    let whole = Target { name: array.to_vec(), subscript: None, append: false, value: Value::None };
    let mut request = d.request;
    request.on.indexed |= !request.on.assoc && !shell.is_assoc(array);
    apply(shell, whole, Declaration { request, ..d })?;
    if shell.state.vars.function_level().is_some() {
        return Ok(());
    }
    Err(Cause::NotAnIdentifier([array, b"[", subscript, b"]"].concat()).into())
}

/// The elements, expanded as the array's kind wants; `None` if the array is of the other kind.
fn expanded(
    shell: &mut Shell<'_>,
    a: &Assignment,
    written: &[ArrayElement],
    resolved: &[u8],
    d: Declaration<'_>,
) -> Result<Option<Elements>, ExpandError> {
    let on = d.request.on;
    let var = assigned_to(shell, resolved, d);
    let was_assoc = var.is_some_and(Var::is_assoc);
    let was_indexed = var.is_some_and(|v| v.is_array() && !v.is_assoc());
    let assoc = on.assoc || was_assoc;
    let other_kind = on.assoc && was_indexed || on.indexed && was_assoc;
    let mut elements = match other_kind || on.assoc {
        true => shell.expand_compound(resolved, assoc, written, Shown::Never)?,
        false => shell.expand_declared(resolved, assoc, written)?,
    };
    if other_kind {
        return Ok(None);
    }
    if on.assoc {
        Shell::show_keyless(written, &mut elements, Shown::AsWritten);
        shell.trace_elements(&a.name, &elements, a.append);
        Shell::show_keyless(written, &mut elements, Shown::Quoted);
        shell.refuse_null_keys(written, &mut elements, Shown::Quoted)?;
    } else {
        shell.trace_elements(&a.name, &elements, a.append);
    }
    Ok(Some(elements))
}

/// The variable that is assigned to, not one that hides it or that it hides.
fn assigned_to<'s>(shell: &'s Shell<'_>, name: &[u8], d: Declaration<'_>) -> Option<&'s Var> {
    let vars = &shell.state.vars;
    match d.place {
        Place::Global => vars.global(name),
        Place::Local => {
            let inherits = d.request.inherit || shell.state.options.shopt(ShOpt::LocalVarInherit);
            vars.get(name).filter(|v| inherits || Some(v.level) == vars.function_level())
        }
        Place::Visible | Place::Top => vars.get(name),
    }
}

fn request(words: &[CommandWord]) -> Request {
    let mut q = Request::default();
    // Whether the builtin still takes the words for options.
    let mut options = true;
    for word in words.iter().skip(1) {
        let raw = match word {
            CommandWord::Word(word) => &*word.raw,
            CommandWord::Assignment(_) => b"",
        };
        let (on, letters) = match raw.split_first() {
            Some((b'-', letters)) => (true, letters),
            Some((b'+', letters)) => (false, letters),
            _ => (false, &b""[..]),
        };
        options &= matches!(raw.first(), Some(b'-' | b'+')) && raw != b"--";
        let set = if on { &mut q.on } else { &mut q.off };
        for letter in letters {
            match letter {
                // In any word.
                b'a' if on => set.indexed = true,
                b'A' if on => set.assoc = true,
                b'g' if on => q.global = true,
                _ if !options => {}
                b'i' => set.integer = true,
                b'l' => set.lowercase = true,
                b'u' => set.uppercase = true,
                b'c' => set.capitalize = true,
                b'I' => q.inherit = true,
                _ => {}
            }
        }
    }
    q
}
