//! `calculate`: evaluates one expression with SymPy, in an interpreter of the calculator's own.
//!
//! The program is `wasibox-calculator`: Python code that parses its own notation, and never runs
//! text as code. It runs in sessions that no client can reach and that are granted nothing. Their
//! interpreters are kept, so that SymPy is imported only once. An expression that exceeds a limit
//! ends its interpreter, which is then restored to its prepared state. An interpreter is also
//! restored after many calls, because SymPy's caches grow.

use crate::exec::{CallStop, ClientCall};
use crate::machine::Machine;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wasibox::files::{FileBytes, Request, UploadOf};
use wasibox::{
    End, Exec, Input, LimitHit, Limits, NetworkPolicy, Outcome, Output, Policy, Session, Streams,
};
use wasibox::{Refusal, RefusalKind};

/// The maximum number of characters of an expression.
const CHARACTERS: usize = 1000;
/// The time limit of an expression, unless the policy file has another one.
const TIME: Duration = Duration::from_secs(10);
/// The memory limit of an interpreter in bytes.
const MEMORY: u64 = 512 << 20;
/// The maximum number of bytes of an answer.
const ANSWER: u64 = 1 << 20;
/// The maximum number of interpreters at once, so that one slow expression does not delay others.
const MOST: usize = 3;
/// The number of calls after which an interpreter is restored to its prepared state.
const CALLS: usize = 200;
/// The folder of the program in the session.
const FOLDER: &str = "/tmp/.calculator";
/// The code that imports the program.
const PREPARE: &str = "
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, '/tmp/.calculator')
import calculator
calculator.warm_up()
";
/// The code that evaluates the expression on standard input. A client's text is never part of a
/// program.
const ANSWERS: &str = "calculator.answer(sys.stdin.buffer.read().decode())";

/// The arguments of `calculate`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calculate {
    /// The expression as people write it, at most 1,000 characters.
    expression: String,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CalculateAnswer {
    pub expression: String,
    /// Exact if possible; `≈` precedes a rounded decimal.
    pub result: String,
    /// The steps of the computation, if any are worth showing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
}

impl ToolAction for Calculate {
    type Answer = CalculateAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<CalculateAnswer>, Refusal> {
        let calculated = worked_out(call.client.space().machine(), self.expression, call.stop)?;
        let mut text = calculated.result.clone();
        for step in &calculated.steps {
            text.push_str("\n- ");
            text.push_str(step);
        }
        Ok(ToolResult::new(calculated, text))
    }
}

/// Computes the value of an expression in the calculator's notation (docs/calculate.md).
///
/// # Errors
/// If the expression cannot be parsed, has no value, is too large or takes too long, or if the
/// image has no SymPy.
pub fn calculate(machine: &Machine, expression: &str) -> Result<CalculateAnswer, Refusal> {
    worked_out(machine, expression.to_owned(), &CallStop::default())
}

/// Returns whether the machine's image has SymPy.
pub(crate) fn is_there(machine: &Machine) -> bool {
    machine.engine().image().extra().versions.contains_key("sympy")
}

fn worked_out(
    machine: &Machine,
    expression: String,
    stop: &CallStop,
) -> Result<CalculateAnswer, Refusal> {
    if !is_there(machine) {
        return Err(Refusal::new(RefusalKind::Missing, "this image has no SymPy"));
    }
    let count = expression.chars().count();
    if count > CHARACTERS {
        let text = format!("the expression has {count} characters; {CHARACTERS} are the most");
        return Err(Refusal::invalid_request(text));
    }
    let mut calculator = machine.calculators().take_calculator(machine)?;
    let answer = calculator.calculate_answer(machine, &expression, stop);
    put_back(machine, calculator, &answer);
    let CalculatorResult { result, steps } = answer?;
    Ok(CalculateAnswer { expression, result, steps })
}

/// The program's answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum CalculatorReply {
    Said(CalculatorResult),
    Refused { error: String },
}

#[derive(Deserialize)]
struct CalculatorResult {
    result: String,
    steps: Vec<String>,
}

/// An interpreter that has SymPy.
struct Calculator {
    session: Session,
    /// The commit at which it was prepared.
    prepared: u64,
    calls: usize,
}

impl Calculator {
    fn new(machine: &Machine) -> Result<Calculator, Refusal> {
        let session = machine.engine().session(calculator_policy(&machine.policy().limits))?;
        for (name, text) in wasibox_calculator::PROGRAM {
            let path = format!("{FOLDER}/calculator/{name}");
            let data = FileBytes(text.as_bytes().to_vec());
            let upload = UploadOf { path, data, offset: None, mode: None };
            session.files(&Request::Upload(upload))?;
        }
        let outcome = session.exec(quiet_exec(Exec::python(PREPARE)))?;
        if outcome.exit_code != 0 {
            let text = String::from_utf8_lossy(&outcome.stderr);
            let text = format!("the calculator does not begin: {}", text.trim_end());
            return Err(Refusal::new(RefusalKind::Internal, text));
        }
        let prepared = session.head()?.number;
        Ok(Calculator { session, prepared, calls: 0 })
    }

    fn calculate_answer(
        &mut self,
        machine: &Machine,
        expression: &str,
        stop: &CallStop,
    ) -> Result<CalculatorResult, Refusal> {
        self.calls += 1;
        let mut exec = quiet_exec(Exec::python(ANSWERS));
        exec.input = Input::Bytes(expression.as_bytes().to_vec());
        let set = machine.set_count("calculate", "timeout").map(Duration::from_secs);
        let most = machine.tools().calculate.timeout.or(set).unwrap_or(TIME);
        let time = machine.call_timeout(None)?.min(most);
        exec.timeout = Some(time);
        let outcome = stop.exec(&self.session, exec, Streams::default())?;
        calculator_result(&outcome, time)
    }

    /// Restores the interpreter to its prepared state.
    fn renew_interpreter(&mut self) -> Result<(), Refusal> {
        self.calls = 0;
        self.session.roll_back(self.prepared)?;
        // The commits of its calls are not needed any more.
        self.session.store()?.collect_garbage()?;
        // This call restores the interpreter now, not with the next expression.
        self.session.exec(quiet_exec(Exec::python("None")))?;
        Ok(())
    }
}

/// Gives a calculator back after an answer. If it has to be renewed first, another thread does
/// that, so that the caller does not wait.
fn put_back(
    machine: &Machine,
    mut calculator: Calculator,
    answer: &Result<CalculatorResult, Refusal>,
) {
    let kind = answer.as_ref().err().map(|e| e.kind);
    if kind == Some(RefusalKind::Internal) {
        return machine.calculators().forget_one();
    }
    let was_ended = matches!(kind, Some(RefusalKind::Limit | RefusalKind::Cancelled));
    if !was_ended && calculator.calls < CALLS {
        return machine.calculators().give_back(calculator);
    }
    machine.calculators().lock_places().renewing += 1;
    let theirs = machine.clone();
    let thread = std::thread::Builder::new().name("wasibox-calculator".into());
    let renewed = thread.spawn(move || {
        let renewed = calculator.renew_interpreter();
        theirs.calculators().lock_places().renewing -= 1;
        match renewed {
            Ok(()) => theirs.calculators().give_back(calculator),
            Err(_) => theirs.calculators().forget_one(),
        }
    });
    if renewed.is_err() {
        machine.calculators().lock_places().renewing -= 1;
        machine.calculators().forget_one();
    }
}

/// Returns a policy that grants nothing, with limits that are at most those of other sessions.
fn calculator_policy(most: &Limits) -> Policy {
    let limits = Limits { memory: most.memory.min(MEMORY), ..*most };
    Policy { limits, network: NetworkPolicy::default(), ..Policy::default() }
}

fn quiet_exec(mut exec: Exec) -> Exec {
    exec.list_files = false;
    exec.output = Output::Capture { limit: ANSWER };
    exec
}

fn calculator_result(outcome: &Outcome, time: Duration) -> Result<CalculatorResult, Refusal> {
    match outcome.limit_hit {
        Some(LimitHit::Timeout | LimitHit::Cpu) => {
            let text = format!("this takes longer than {} seconds", time.as_secs_f64());
            return Err(Refusal::new(RefusalKind::Limit, text));
        }
        Some(_) if outcome.exit_code != 0 => {
            return Err(Refusal::new(RefusalKind::Limit, "this takes more memory than there is"));
        }
        _ => {}
    }
    if outcome.end == End::Interrupted {
        return Err(Refusal::new(RefusalKind::Cancelled, "nobody waits for the result any more"));
    }
    let reply = outcome.value_json.as_deref().and_then(|json| serde_json::from_str(json).ok());
    match reply {
        Some(CalculatorReply::Said(said)) => Ok(said),
        Some(CalculatorReply::Refused { error }) => Err(Refusal::invalid_request(error)),
        None => Err(Refusal::new(RefusalKind::Internal, "the calculator has failed")),
    }
}

/// The calculators of a machine, which are created as they are needed.
#[derive(Default)]
pub(crate) struct Calculators {
    places: Mutex<CalculatorPlaces>,
    freed: Condvar,
}

#[derive(Default)]
struct CalculatorPlaces {
    idle: Vec<Calculator>,
    /// The number of calculators that are idle, in use or being renewed.
    made: usize,
    /// The number of calculators that are being renewed, which takes less time than creating one.
    renewing: usize,
}

impl Calculators {
    fn lock_places(&self) -> MutexGuard<'_, CalculatorPlaces> {
        self.places.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes a free calculator, a new one while there are few, or the first that becomes free.
    fn take_calculator(&self, machine: &Machine) -> Result<Calculator, Refusal> {
        let until = Instant::now() + TIME * 2;
        let mut places = self.lock_places();
        loop {
            if let Some(calculator) = places.idle.pop() {
                return Ok(calculator);
            }
            if places.made < MOST && places.renewing == 0 {
                break;
            }
            let Some(wait) = until.checked_duration_since(Instant::now()) else {
                return Err(Refusal::new(RefusalKind::Busy, "all calculators are busy; try again"));
            };
            places = self.freed.wait_timeout(places, wait).unwrap_or_else(|e| e.into_inner()).0;
        }
        places.made += 1;
        drop(places);
        Calculator::new(machine).inspect_err(|_| self.forget_one())
    }

    /// Returns an interpreter to the pool.
    fn give_back(&self, calculator: Calculator) {
        self.lock_places().idle.push(calculator);
        self.freed.notify_one();
    }

    /// Notes that an interpreter has ended.
    fn forget_one(&self) {
        self.lock_places().made -= 1;
        self.freed.notify_one();
    }
}
