//! `declare` and `typeset` (bash manual 4.2), and what `local`, `export` and `readonly` share with them.
//!
//! One engine: what differs is where the variable lives and which attributes are given.

mod apply;
pub(crate) mod compound;
mod nameref;
pub(crate) mod print;

use std::rc::Rc;

use sh_expand::{Attributes, Cause, ExpandError, Reach, Site, Str};

use self::apply::{apply, assoc_instead};
use self::print::flags;
use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_name, split_reference};
use crate::state::compound::Elements;
use crate::state::options::SetOpt;
use crate::walk::Operand;

/// The status inside the shell of an assignment that could not be, to others 1; a process that did
/// nothing else ends with its last eight bits.
pub(crate) const BAD_ASSIGNMENT: i32 = 0x104;

/// Attributes to switch on and off, and how.
#[derive(Clone, Copy, Default)]
pub(super) struct Request {
    pub(super) on: Attributes,
    pub(super) off: Attributes,
    /// `-g`
    pub(super) global: bool,
    /// `-I`: a local variable begins with what it hides.
    pub(super) inherit: bool,
}

/// What a call asks for of each operand.
#[derive(Clone, Copy)]
pub(super) struct Declaration<'c> {
    /// The builtin's name.
    pub(super) command: &'c [u8],
    pub(super) place: Place,
    pub(super) request: Request,
}

impl Declaration<'_> {
    /// `export` and `readonly`, which mark the variable there is.
    pub(super) fn is_mark(&self) -> bool {
        matches!(self.command, b"export" | b"readonly")
    }

    /// The same for one operand: for a mark the kind of an array counts where there is a value, and only one kind does.
    fn for_operand(self, target: Option<&Target>) -> Self {
        if !self.is_mark() {
            return self;
        }
        let mut request = self.request;
        let valued = target.is_some_and(|t| t.value.is_some());
        request.on.assoc &= valued && !request.on.indexed;
        request.on.indexed &= valued;
        Declaration { request, ..self }
    }

    /// Whether an operand is of a form that can be declared: elements can be neither exported nor made readonly (their
    /// arrays can).
    fn takes(&self, t: &Target) -> bool {
        match &t.subscript {
            Some(sub) => !(self.is_mark() || sub.is_empty() && !t.value.is_some()),
            None => true,
        }
    }
}

/// Where the variable is to live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The scope of the innermost function.
    Local,
    /// The global variable, even if another hides it (`declare -g`).
    Global,
    /// Outside of functions: global, or from before the command.
    Top,
    /// The visible variable, wherever it is (`export`, `readonly`).
    Visible,
}

/// An operand taken apart.
pub(super) struct Target {
    pub(super) name: Vec<u8>,
    pub(super) subscript: Option<Vec<u8>>,
    pub(super) append: bool,
    pub(super) value: Value,
}

impl Target {
    /// The name and the subscript of an element.
    fn element(&self) -> Option<(&[u8], &[u8])> {
        self.subscript.as_ref().map(|subscript| (self.name.as_slice(), subscript.as_slice()))
    }
}

/// What is assigned.
pub(super) enum Value {
    None,
    Scalar(Str),
    Elements(Elements),
}

impl Value {
    pub(super) fn is_some(&self) -> bool {
        !matches!(self, Value::None)
    }
}

fn set_letter(a: &mut Attributes, letter: u8) -> bool {
    match letter {
        b'a' => a.indexed = true,
        b'A' => a.assoc = true,
        b'i' => a.integer = true,
        b'l' => a.lowercase = true,
        b'u' => a.uppercase = true,
        b'c' => a.capitalize = true,
        b'n' => a.nameref = true,
        b'r' => a.readonly = true,
        b't' => a.trace = true,
        b'x' => a.export = true,
        _ => return false,
    }
    true
}

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let in_function = shell.state.vars.function_level().is_some();
    declare(shell, call, if in_function { Place::Local } else { Place::Top })
}

pub(super) fn declare(shell: &mut Shell<'_>, call: &Call<'_>, place: Place) -> Flow {
    let p = match shell.options(call, "+aAcfFgiIlnprtux") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut request = Request::default();
    let (mut print, mut functions) = (false, None);
    for o in &p.options {
        match o.letter {
            b'g' => request.global |= !o.plus,
            b'I' => request.inherit = true,
            b'p' => print = true,
            b'f' => functions = functions.or(Some(false)),
            b'F' => functions = Some(true),
            l => {
                set_letter(if o.plus { &mut request.off } else { &mut request.on }, l);
            }
        }
    }
    let place = if request.global { Place::Global } else { place };
    let d = Declaration { command: call.name(), place, request };
    if let Some(names) = functions {
        return of_functions(shell, p.operands, d, Functions { names, print });
    }
    if p.operands.is_empty() {
        list(shell, d, print);
        return Ok(0);
    }
    match print {
        true => Ok(print_each(shell, p.operands, d)),
        false => operands(shell, call, p.first, d),
    }
}

/// `declare -p name...`; the status.
fn print_each(shell: &mut Shell<'_>, names: &[Str], d: Declaration<'_>) -> i32 {
    let mut status = 0;
    for name in names {
        let own = shell.state.vars.get(name).filter(|v| v.is_local());
        let found = d.command != b"local"
            || own.is_some_and(|v| Some(v.level) == shell.state.vars.function_level());
        match shell.declare_line(name, b"declare").filter(|_| found) {
            Some(line) => shell.out(&line),
            None => {
                shell.builtin_error(d.command, &[name, b": not found"]);
                status = 1;
            }
        }
    }
    status
}

/// `export` and `readonly`: one attribute on the visible variable.
pub(super) fn mark(shell: &mut Shell<'_>, call: &Call<'_>, mark: fn(&mut Attributes)) -> Flow {
    let p = match shell.options(call, "aAfnp") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut request = Request::default();
    mark(if p.has(b'n') { &mut request.off } else { &mut request.on });
    request.on.indexed = p.has(b'a');
    request.on.assoc = p.has(b'A');
    let d = Declaration { command: call.name(), place: Place::Visible, request };
    if p.has(b'f') {
        return of_functions(shell, p.operands, d, Functions { names: false, print: false });
    }
    if !p.operands.is_empty() {
        return operands(shell, call, p.first, d);
    }
    if !(p.has(b'a') && p.has(b'A')) {
        let mut on = Attributes { indexed: p.has(b'a'), assoc: p.has(b'A'), ..Default::default() };
        mark(&mut on);
        let request = Request { on, ..Request::default() };
        list(shell, Declaration { request, ..d }, false);
    }
    Ok(0)
}

/// Lists variables that have any of the requested attributes; with `-a` or `-A` beside others,
/// only such arrays.
fn list(shell: &mut Shell<'_>, d: Declaration<'_>, print: bool) {
    let Declaration { command, place, request: q } = d;
    let any = q.on != Attributes::default();
    let function = shell.state.vars.function_level();
    // To bash the options are a local variable of that name.
    if function.is_some_and(|level| shell.state.vars.has_own_options(level))
        && (command == b"local" || print && !any)
    {
        shell.out(b"local -\n");
    }
    if command == b"local" {
        let out: Vec<u8> = shell.without_own_scope(|shell| {
            let level = shell.state.vars.function_level().unwrap_or(0);
            let names = shell.state.vars.locals(level).into_iter();
            names.filter_map(|name| shell.declare_line(&name, b"declare")).flatten().collect()
        });
        shell.out(&out);
        return;
    }
    if !any && !print {
        shell.print_all_set();
        return;
    }
    let posix = shell.state.options.has(SetOpt::Posix) && place == Place::Visible;
    let command = if posix { command } else { b"declare" };
    let kind = match (q.on.indexed, q.on.assoc) {
        (true, _) => Some(b'a'),
        (_, true) => Some(b'A'),
        _ => None,
    };
    let mut want = flags(Attributes { indexed: false, ..q.on }, None).split_off(1);
    if kind == Some(b'A') && want.len() > 1 {
        want.retain(|c| *c != b'A');
    }
    let out = shell.without_own_scope(|shell| listing(shell, any, command, &want, kind));
    shell.out(&out);
}

fn listing(
    shell: &mut Shell<'_>,
    any: bool,
    command: &[u8],
    want: &[u8],
    kind: Option<u8>,
) -> Vec<u8> {
    let mut out = Vec::new();
    for name in shell.state.vars.sorted_names() {
        let Some(v) = shell.state.vars.get(&name) else { continue };
        let have = flags(v.attrs, v.value().as_ref());
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

/// `-F`, and `-p` beside it.
#[derive(Clone, Copy)]
struct Functions {
    names: bool,
    print: bool,
}

/// `declare -f` and its kin: shows functions, or gives them attributes.
fn of_functions(shell: &mut Shell<'_>, list: &[Str], d: Declaration<'_>, how: Functions) -> Flow {
    let Request { on, off, .. } = d.request;
    if list.is_empty() {
        shell.print_functions(!how.names, on);
        return Ok(0);
    }
    let changes = on != Attributes::default() || off != Attributes::default();
    let mut status = 0;
    for name in list {
        status |= i32::from(!match changes {
            true => mark_function(shell, name, d),
            false => show_function(shell, name, d, how),
        });
    }
    Ok(status)
}

/// Shows a function; whether that could be done.
fn show_function(shell: &mut Shell<'_>, name: &Str, d: Declaration<'_>, how: Functions) -> bool {
    if from_text(name).is_some_and(|t| t.value.is_some() && is_name(&t.name)) {
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

/// Gives a function attributes; whether that could be done.
fn mark_function(shell: &mut Shell<'_>, name: &Str, d: Declaration<'_>) -> bool {
    let Request { on, off, .. } = d.request;
    let Some(f) = Rc::make_mut(&mut shell.state.functions).get_mut(name.as_slice()) else {
        if d.is_mark() {
            shell.builtin_error(d.command, &[name, b": not a function"]);
        }
        return false;
    };
    f.export = (f.export || on.export) && !off.export;
    f.readonly |= on.readonly;
    f.trace = (f.trace || on.trace) && !off.trace;
    if off.readonly && f.readonly {
        shell.builtin_error(d.command, &[name, b": readonly function"]);
        return false;
    }
    shell.state.vars.touch_env();
    true
}

/// The operands from index `first` of `argv` on, one after another.
fn operands(shell: &mut Shell<'_>, call: &Call<'_>, first: usize, d: Declaration<'_>) -> Flow {
    let mut status = 0;
    for (i, text) in call.argv.iter().enumerate().skip(first) {
        if text.as_slice() == b"-" && call.name() == b"local" {
            keep_options(shell);
            continue;
        }
        let target = match call.operands.iter().find(|o| o.index == i) {
            Some(o) => Some(from_tree(o)),
            None => from_text(text),
        };
        status = status.max(operand(shell, text, target, d)?);
    }
    Ok(status)
}

/// `local -`: the options are put back where the function returns.
fn keep_options(shell: &mut Shell<'_>) {
    let level = shell.state.vars.function_level().unwrap_or(0);
    let options = Box::new(shell.state.options.clone());
    if let Some(s) = shell.state.vars.scope_mut(level) {
        s.options.get_or_insert(options);
    }
}

/// Declares what one operand says, `text` taken apart as `target`; the operand's status.
fn operand(shell: &mut Shell<'_>, text: &Str, target: Option<Target>, d: Declaration<'_>) -> Flow {
    let d = d.for_operand(target.as_ref());
    if d.request.on.nameref && !may_be_reference(shell, text, target.as_ref(), d) {
        return Ok(1);
    }
    let Some(target) = target.filter(|t| is_name(&t.name) && d.takes(t)) else {
        return Ok(not_a_name(shell, text, d));
    };
    if d.request.on.indexed && d.request.on.assoc && shell.state.vars.get(&target.name).is_none() {
        let message = b": cannot convert associative to indexed array";
        shell.builtin_error(d.command, &[&target.name, message]);
        return match assoc_instead(shell, target, d) {
            Ok(()) => Ok(1),
            Err(e) => Err(shell.expansion_failed(e)),
        };
    }
    let traced = match &target.value {
        Value::Scalar(value) if d.place == Place::Visible && shell.tracing() => {
            let sign: &[u8] = if target.append { b"+=" } else { b"=" };
            Some([&target.name, sign, &crate::xtrace::value_quote(value)].concat())
        }
        _ => None,
    };
    let assigns = target.value.is_some() && !hides_readonly(shell, &target, d.place);
    let done = apply(shell, target, d);
    if let Some(text) = traced
        && done.as_ref().err().is_none_or(|e| e.reach() == Reach::Readonly)
    {
        shell.trace_text(&text);
    }
    match done {
        Ok(()) => Ok(0),
        Err(e) => operand_failed(shell, e, assigns, d),
    }
}

/// Whether a nameref can be made of an operand; if not, a message says why.
fn may_be_reference(
    shell: &mut Shell<'_>,
    text: &[u8],
    target: Option<&Target>,
    d: Declaration<'_>,
) -> bool {
    if let Some((name, sub)) = target.and_then(Target::element) {
        let message = b"]: reference variable cannot be an array";
        shell.builtin_error(d.command, &[name, b"[", sub, message]);
        return false;
    }
    if !text.is_empty() {
        return true;
    }
    // To bash nothing refers to itself.
    let in_function = shell.state.vars.function_level().is_some();
    shell.builtin_error(
        d.command,
        &[match in_function {
            true => b"warning: : circular name reference",
            false => b": nameref variable self references not allowed",
        }],
    );
    in_function
}

/// Complains of an operand that is no name; its status.
fn not_a_name(shell: &mut Shell<'_>, text: &[u8], d: Declaration<'_>) -> i32 {
    let marks = d.is_mark();
    // Of an element the message has the name, of what is nothing at all the whole operand.
    let named = from_text(text).filter(|t| marks && is_name(&t.name));
    let element = named.as_ref().and_then(Target::element);
    let end = match element {
        Some((name, sub)) => name.len() + sub.len() + 2,
        None => memchr::memchr(b'=', text).filter(|_| named.is_some()).unwrap_or(text.len()),
    };
    shell.builtin_error(d.command, &[b"`", &text[..end], b"': not a valid identifier"]);
    match !marks || element.is_some() && end < text.len() {
        true => BAD_ASSIGNMENT,
        false => 1,
    }
}

/// Reports that an operand could not be declared. `assigns`: it has a value for a variable that may be written.
fn operand_failed(
    shell: &mut Shell<'_>,
    e: ExpandError,
    assigns: bool,
    d: Declaration<'_>,
) -> Flow {
    let reach = e.reach();
    if crate::verdict::is_arithmetic(&e.cause) && matches!(reach, Reach::Command | Reach::Number) {
        shell.builtin_error(d.command, &[&e.message()]);
        return Err(shell.unwind(&e.at(Site::Value)));
    }
    if !matches!(reach, Reach::Command | Reach::Readonly) {
        return Err(shell.expansion_failed(e));
    }
    let marks = d.is_mark();
    match marks || e.is_missing_element() {
        true => shell.assignment_error(d.command, &e),
        false => shell.tell(&[d.command, b": "].concat(), &e),
    }
    let is_refused = reach == Reach::Readonly;
    if is_refused && marks || e.is_missing_element() {
        shell.refused()?;
    }
    let options = &shell.state.options;
    if is_refused && marks && options.has(SetOpt::Posix) && !options.is_interactive() {
        return Err(shell.ends_with(1));
    }
    let wrong_kind = matches!(
        *e.cause,
        Cause::Conversion { .. }
            | Cause::Destruction(_)
            | Cause::ListToMember(_)
            | Cause::ArrayAsReference(_)
    );
    let reference = (d.request.on.nameref || d.request.off.nameref) && is_refused;
    Ok(if assigns && !wrong_kind && !reference { BAD_ASSIGNMENT } else { 1 })
}

/// Whether the running function has a variable of that name.
fn is_own(shell: &Shell<'_>, name: &[u8]) -> bool {
    let vars = &shell.state.vars;
    vars.get(name).is_some_and(|v| Some(v.level) == vars.function_level())
}

/// Whether a local variable would hide a global one that is readonly.
fn hides_readonly(shell: &Shell<'_>, target: &Target, place: Place) -> bool {
    let visible = shell.state.vars.get(&target.name);
    place == Place::Local && visible.is_some_and(|v| v.level == 0 && v.attrs.readonly)
}

fn from_tree(o: &Operand<'_>) -> Target {
    let a = o.assignment;
    let value = Value::Scalar(o.value.clone());
    Target { name: a.name.to_vec(), subscript: None, append: a.append, value }
}

fn from_text(text: &[u8]) -> Option<Target> {
    let Some(eq) = memchr::memchr(b'=', text) else {
        let (name, sub) = split_reference(text);
        let (name, subscript) = (name.to_vec(), sub.map(<[u8]>::to_vec));
        return Some(Target { name, subscript, append: false, value: Value::None });
    };
    // A subscript may itself hold `=`.
    let (name, subscript, rest) = match memchr::memchr(b'[', &text[..eq]) {
        Some(open) => {
            let inside = &text[open + 1..];
            let close = sh_expand::closing_bracket(inside)?;
            (&text[..open], Some(inside[..close].to_vec()), &inside[close + 1..])
        }
        None => {
            let end = if text[..eq].ends_with(b"+") { eq - 1 } else { eq };
            (&text[..end], None, &text[end..])
        }
    };
    let (append, value) = match rest.strip_prefix(b"+") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let value = Value::Scalar(Rc::new(value.strip_prefix(b"=")?.to_vec()));
    Some(Target { name: name.to_vec(), subscript, append, value })
}
