//! `declare` and `typeset` (bash manual 4.2), and the parts that `local`, `export` and `readonly`
//! share with them.
//!
//! All five use one engine; they differ in the scope of the variable and in the attributes.

mod apply;
mod nameref;
mod operand;
pub(crate) mod print;

use std::rc::Rc;

use sh_expand::{Attributes, ErrorReach, ExpandError, Str};

use self::apply::apply_declaration;
use self::operand::DeclareOperand;
use self::print::attribute_flags;
use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::is_name;
use crate::state::options::SetOpt;

/// The attributes to switch on and off, and the options that affect this.
#[derive(Clone, Copy, Default)]
pub(super) struct DeclareRequest {
    pub(super) on: Attributes,
    pub(super) off: Attributes,
    /// `-I`: a local variable begins with the value and attributes of the one that it hides.
    pub(super) inherit: bool,
}

/// The request of a call for each operand.
#[derive(Clone, Copy)]
pub(super) struct Declaration<'c> {
    /// The builtin's name.
    pub(super) command: &'c [u8],
    pub(super) place: DeclareScope,
    pub(super) request: DeclareRequest,
}

impl Declaration<'_> {
    /// Returns whether this is `export` or `readonly`, which mark an existing variable.
    pub(super) fn is_mark(&self) -> bool {
        matches!(self.command, b"export" | b"readonly")
    }
}

/// The scope that the variable belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclareScope {
    /// The scope of the innermost function.
    Local,
    /// The global variable, even if a local one hides it (`declare -g`).
    Global,
    /// The scope outside of functions: the global one, or that of the assignments before the
    /// command.
    Top,
    /// The visible variable, in whichever scope (`export`, `readonly`).
    Visible,
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let in_function = shell.state.vars.function_level().is_some();
    declare_operands(shell, call, if in_function { DeclareScope::Local } else { DeclareScope::Top })
}

pub(super) fn declare_operands(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    place: DeclareScope,
) -> Flow {
    let p = shell.parse_builtin_options(call, "+aAcfFgiIlnprtux")?;
    let mut request = DeclareRequest::default();
    let (mut print, mut functions, mut global) = (false, None, false);
    for o in &p.options {
        match o.letter {
            b'g' => global |= !o.plus,
            b'I' => request.inherit = true,
            b'p' => print = true,
            b'f' => functions = functions.or(Some(false)),
            b'F' => functions = Some(true),
            l if o.plus => request.off |= Attributes::from_letters(&[l]),
            l => request.on |= Attributes::from_letters(&[l]),
        }
    }
    let place = if global { DeclareScope::Global } else { place };
    let d = Declaration { command: call.name(), place, request };
    if let Some(names) = functions {
        return of_functions(shell, p.operands, d, Functions { names, print });
    }
    if p.operands.is_empty() {
        list_variables(shell, d, print);
        return Ok(0);
    }
    if print { Ok(print_each(shell, p.operands, d)) } else { declare_from(shell, call, p.first, d) }
}

/// Performs `declare -p name...` and returns the status.
fn print_each(shell: &mut Shell<'_>, names: &[Str], d: Declaration<'_>) -> i32 {
    let mut status = 0;
    for name in names {
        let own = shell.state.vars.get(name).filter(|v| v.is_local());
        let found = d.command != b"local"
            || own.is_some_and(|v| Some(v.level) == shell.state.vars.function_level());
        match shell.declare_line(name, b"declare").filter(|_| found) {
            Some(line) => shell.write_out(&line),
            None => {
                shell.builtin_error(d.command, &[name, b": not found"]);
                status = 1;
            }
        }
    }
    status
}

/// Performs `export` and `readonly`: sets one attribute on the visible variable.
pub(super) fn mark_variables(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    mark: Attributes,
) -> Flow {
    let p = shell.parse_builtin_options(call, "aAfnp")?;
    let mut request = DeclareRequest::default();
    let mut array = Attributes::default();
    array.set(Attributes::INDEXED, p.has_letter(b'a'));
    array.set(Attributes::ASSOC, p.has_letter(b'A'));
    if p.has_letter(b'n') {
        (request.on, request.off) = (array, mark);
    } else {
        request.on = array | mark;
    }
    let d = Declaration { command: call.name(), place: DeclareScope::Visible, request };
    if p.has_letter(b'f') {
        return of_functions(shell, p.operands, d, Functions { names: false, print: false });
    }
    if !p.operands.is_empty() {
        return declare_from(shell, call, p.first, d);
    }
    if !(p.has_letter(b'a') && p.has_letter(b'A')) {
        let request = DeclareRequest { on: array | mark, ..DeclareRequest::default() };
        list_variables(shell, Declaration { request, ..d }, false);
    }
    Ok(0)
}

/// Lists variables that have any of the requested attributes. With `-a` or `-A` in addition, lists
/// only arrays of that kind.
fn list_variables(shell: &mut Shell<'_>, d: Declaration<'_>, print: bool) {
    let Declaration { command, place, request: q } = d;
    let any = !q.on.is_empty();
    let function = shell.state.vars.function_level();
    // bash treats options saved by `local -` as a local variable named `-`.
    if function.is_some_and(|level| shell.state.vars.has_own_options(level))
        && (command == b"local" || print && !any)
    {
        shell.write_out(b"local -\n");
    }
    if command == b"local" {
        let out: Vec<u8> = shell.without_own_scope(|shell| {
            let level = shell.state.vars.function_level().unwrap_or(0);
            let names = shell.state.vars.local_names(level).into_iter();
            names.filter_map(|name| shell.declare_line(&name, b"declare")).flatten().collect()
        });
        shell.write_out(&out);
        return;
    }
    if !any && !print {
        shell.print_all_set();
        return;
    }
    let posix = shell.state.options.has_set(SetOpt::Posix) && place == DeclareScope::Visible;
    let command = if posix { command } else { b"declare" };
    // The letter of the requested array attribute; of the first one if there are two.
    let kind = (q.on & Attributes::ARRAY).letters().first().copied();
    let mut want = attribute_flags(q.on - Attributes::INDEXED, None).split_off(1);
    if kind == Some(b'A') && want.len() > 1 {
        want.retain(|c| *c != b'A');
    }
    let out = shell.without_own_scope(|shell| variables_listing(shell, any, command, &want, kind));
    shell.write_out(&out);
}

fn variables_listing(
    shell: &mut Shell<'_>,
    any: bool,
    command: &[u8],
    want: &[u8],
    kind: Option<u8>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for name in shell.state.vars.sorted_names() {
        let Some(v) = shell.state.vars.get(&name) else { continue };
        let have = attribute_flags(v.attrs, v.value().as_ref());
        let others = want == b"-" || want.iter().any(|c| have.contains(c));
        if any && !(others && kind.is_none_or(|c| have.contains(&c))) {
            continue;
        }
        if name.as_ref() == b"_" && any {
            continue;
        }
        if let Some(line) = shell.declare_line(&name, command) {
            out.extend_from_slice(&line);
        }
    }
    out
}

/// The options `-F` and `-p`.
#[derive(Clone, Copy)]
struct Functions {
    names: bool,
    print: bool,
}

/// Performs `declare -f` and its variants: shows functions, or gives them attributes.
fn of_functions(shell: &mut Shell<'_>, list: &[Str], d: Declaration<'_>, how: Functions) -> Flow {
    let DeclareRequest { on, off, .. } = d.request;
    if list.is_empty() {
        shell.print_functions(!how.names, on);
        return Ok(0);
    }
    let changes = !(on | off).is_empty();
    let mut status = 0;
    for name in list {
        status |= i32::from(!if changes {
            mark_function(shell, name, d)
        } else {
            show_function(shell, name, d, how)
        });
    }
    Ok(status)
}

/// Shows a function and returns whether there is one.
fn show_function(shell: &mut Shell<'_>, name: &Str, d: Declaration<'_>, how: Functions) -> bool {
    if DeclareOperand::from_text(name).is_some_and(|t| t.value.is_some() && is_name(&t.name)) {
        shell.builtin_error(d.command, &[b"cannot use `-f' to make functions"]);
        return false;
    }
    if how.print && how.names && shell.state.functions.contains_key(&***name) {
        shell.print_function_flags(name, true);
        return true;
    }
    let shown = shell.print_function(name, !how.names);
    match (shown, how.print) {
        (true, true) => shell.print_function_flags(name, false),
        (false, true) => shell.builtin_error(d.command, &[name, b": not found"]),
        _ => {}
    }
    shown
}

/// Gives a function attributes and returns whether that was possible.
fn mark_function(shell: &mut Shell<'_>, name: &Str, d: Declaration<'_>) -> bool {
    let DeclareRequest { on, off, .. } = d.request;
    let Some(f) = Rc::make_mut(&mut shell.state.functions).get_mut(name.as_slice()) else {
        if d.is_mark() {
            shell.builtin_error(d.command, &[name, b": not a function"]);
        }
        return false;
    };
    f.attrs |= on & Attributes::OF_FUNCTIONS;
    f.attrs -= off & (Attributes::EXPORT | Attributes::TRACE);
    if (off & f.attrs).intersects(Attributes::READONLY) {
        shell.builtin_error(d.command, &[name, b": readonly function"]);
        return false;
    }
    shell.state.vars.touch_env();
    true
}

/// Declares the operands from index `first` of `argv` on, one after another.
fn declare_from(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    first: usize,
    d: Declaration<'_>,
) -> Flow {
    let mut status = 0;
    for (i, text) in call.argv.iter().enumerate().skip(first) {
        if text.as_slice() == b"-" && call.name() == b"local" {
            keep_options(shell);
            continue;
        }
        let target = match call.operands.iter().find(|o| o.index == i) {
            Some(o) => Some(DeclareOperand::from_source(o)),
            None => DeclareOperand::from_text(text),
        };
        status = status.max(declare_operand(shell, text, target, d)?);
    }
    Ok(status)
}

/// Performs `local -`: the options are restored when the function returns.
fn keep_options(shell: &mut Shell<'_>) {
    let level = shell.state.vars.function_level().unwrap_or(0);
    let options = Box::new(shell.state.options.clone());
    if let Some(s) = shell.state.vars.scope_mut(level) {
        s.options.get_or_insert(options);
    }
}

/// Declares one operand, whose `text` was split into `target`, and returns its status.
fn declare_operand(
    shell: &mut Shell<'_>,
    text: &Str,
    target: Option<DeclareOperand<'_>>,
    mut d: Declaration<'_>,
) -> Flow {
    let marks = d.is_mark();
    // Elements can be neither exported nor made readonly; their arrays can.
    let takes = |t: &DeclareOperand<'_>| is_name(&t.name) && !(marks && t.subscript.is_some());
    let Some(target) = target.filter(takes) else {
        shell.builtin_error(d.command, &[b"`", text, b"': not a valid identifier"]);
        return Ok(1);
    };
    let on = &mut d.request.on;
    if on.intersects(Attributes::INDEXED) && on.intersects(Attributes::ASSOC) {
        let message = b": cannot convert associative to indexed array";
        shell.builtin_error(d.command, &[&target.name, message]);
        return Ok(1);
    }
    if marks && !target.value.is_some() {
        // -a and -A determine the kind of the assigned value.
        *on -= Attributes::ARRAY;
    }
    match apply_declaration(shell, target, d) {
        Ok(()) => Ok(0),
        Err(e) => operand_failed(shell, e, d),
    }
}

/// Reports that an operand could not be declared.
fn operand_failed(shell: &mut Shell<'_>, e: ExpandError, d: Declaration<'_>) -> Flow {
    let reach = e.reach();
    if !matches!(reach, ErrorReach::Command | ErrorReach::Readonly) {
        return Err(shell.expansion_failed(e));
    }
    let is_refused = reach == ErrorReach::Readonly;
    if is_refused && d.is_mark() {
        shell.report(b"", &e)
    } else {
        shell.report(&[d.command, b": "].concat(), &e)
    }
    if is_refused && d.is_mark() {
        shell.refused()?;
        let options = &shell.state.options;
        if options.has_set(SetOpt::Posix) && !options.is_interactive() {
            // An assignment error of a special builtin (POSIX XCU 2.8.1).
            return Err(shell.ends_with(1));
        }
    }
    Ok(1)
}

/// Sets the case attributes, of which only one can hold; a request for two at once sets none.
fn set_cases(attrs: &mut Attributes, q: DeclareRequest) {
    let wanted = q.on & Attributes::CASES;
    if !wanted.is_empty() {
        *attrs -= Attributes::CASES;
    }
    if wanted.letters().len() == 1 {
        *attrs |= wanted;
    }
    *attrs -= q.off & Attributes::CASES;
}

/// Returns whether the running function has a variable of that name.
fn is_own(shell: &Shell<'_>, name: &[u8]) -> bool {
    let vars = &shell.state.vars;
    vars.get(name).is_some_and(|v| Some(v.level) == vars.function_level())
}
