//! `declare a=(...)`: a compound value is assigned while the words are expanded, before the
//! builtin runs, redirections are made and other operands are looked at; the builtin then sees
//! the name alone (bash: `expand_declaration_argument`).
//!
//! Only what changes the values is known by then: options before the operand that tell the
//! array's kind, where it lives, or how values are converted. They count as they are written, and
//! those that are no options to the builtin may, too.

use sh_expand::{Cause, ExpandError, Reach, Site, Str};
use sh_syntax::ast::{ArrayElement, Assignment, CommandWord};

use super::declare::{Place, Request, Target, Value};
use super::declare_apply::{apply, other_kind_error};
use crate::Shell;
use crate::state::assign::list_to_member;
use crate::state::compound::Shown;
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
    let (q, name) = (request(before), argv.first().map_or(&b""[..], |name| name));
    let local = shell.state.vars.function_level().is_some() && !q.global;
    let place = match name {
        b"alias" | b"export" | b"readonly" => Place::Visible,
        _ if local => Place::Local,
        _ if q.global => Place::Global,
        _ => Place::Top,
    };
    if a.subscript.is_some() {
        return Err(list_to_member(a));
    }
    // A local variable hides a nameref.
    let (resolved, element) = match place == Place::Local && !is_own(shell, &a.name) {
        true => (a.name.to_vec(), None),
        false => {
            let target = shell.follow(&a.name)?;
            (target.name.into_owned(), target.subscript.map(|sub| sub.to_vec()))
        }
    };
    if let (Some(sub), true) = (element, place != Place::Local) {
        // A nameref to an element: the array gets the attributes, the words are expanded, and nothing
        // else is done; in functions bash does not even say so.
        let assoc = q.on.assoc || shell.is_assoc(&resolved);
        let elements = shell.expand_declared(&resolved, assoc, elements)?;
        shell.trace_elements(&a.name, &elements, a.append);
        let whole =
            Target { name: resolved.clone(), subscript: None, append: false, value: Value::None };
        let mut q = q;
        q.on.indexed |= !q.on.assoc && !shell.is_assoc(&resolved);
        apply(shell, name, whole, q, place)?;
        if shell.state.vars.function_level().is_some() {
            return Ok(());
        }
        let written = [resolved.as_slice(), b"[", &sub, b"]"].concat();
        return Err(Cause::NotAnIdentifier(written).into());
    }
    let var = assigned_to(shell, &resolved, q, place);
    let was_assoc = var.is_some_and(Var::is_assoc);
    let was_indexed = var.is_some_and(|v| v.is_array() && !v.is_assoc());
    let assoc = q.on.assoc || was_assoc;
    let other_kind = q.on.assoc && was_indexed || q.on.indexed && was_assoc;
    let written = elements;
    let mut elements = match other_kind || q.on.assoc {
        true => shell.expand_compound(&resolved, assoc, written, Shown::Never)?,
        false => shell.expand_declared(&resolved, assoc, written)?,
    };
    if !other_kind && q.on.assoc {
        Shell::show_keyless(written, &mut elements, Shown::AsWritten);
        shell.trace_elements(&a.name, &elements, a.append);
        Shell::show_keyless(written, &mut elements, Shown::Quoted);
        shell.refuse_null_keys(written, &mut elements, Shown::Quoted)?;
    } else if !other_kind {
        shell.trace_elements(&a.name, &elements, a.append);
    }
    let value = Value::Elements(elements);
    let target = Target { name: a.name.to_vec(), subscript: None, append: a.append, value };
    let r = match other_kind {
        // No POSIX shell ends for it.
        true => Err(other_kind_error(&a.name, was_assoc).at(Site::Declaration)),
        false => apply(shell, name, target, q, place),
    };
    if r.is_ok()
        && shell.state.options.has(SetOpt::AllExport)
        && place != Place::Local
        && !q.on.indexed
        && !q.on.assoc
    {
        shell.state.vars.entry(&resolved).attrs.export = true;
    }
    match r {
        // A readonly variable that a local one would hide: the builtin tells it once more.
        Err(e)
            if e.reach() == Reach::Readonly
                && place == Place::Local
                && !is_own(shell, &resolved) =>
        {
            let function = shell.state.frames.last().map(|f| f.name.clone()).unwrap_or_default();
            shell.error(&[&function, b": ", &e.message()]);
            Ok(())
        }
        // In functions the builtin looks at the array's kind once more.
        Err(e)
            if matches!(place, Place::Local | Place::Global)
                && matches!(*e.cause, Cause::Conversion { .. }) =>
        {
            shell.error(&[&e.message()]);
            Ok(())
        }
        other => other,
    }
}

/// Whether the running function has a variable of that name.
fn is_own(shell: &Shell<'_>, name: &[u8]) -> bool {
    let vars = &shell.state.vars;
    vars.get(name).is_some_and(|v| Some(v.level) == vars.function_level())
}

/// The variable that is assigned to, not one that hides it or that it hides.
fn assigned_to<'s>(shell: &'s Shell<'_>, name: &[u8], q: Request, place: Place) -> Option<&'s Var> {
    let vars = &shell.state.vars;
    match place {
        Place::Global => vars.global(name),
        Place::Local => {
            let inherits = q.inherit || shell.state.options.shopt(ShOpt::LocalVarInherit);
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
