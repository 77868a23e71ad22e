//! `runner chat`: a language model that works on a session.
//!
//! | file | contents |
//! |---|---|
//! | `view` | text, calls and questions on a terminal, or on standard error for scripts |
//!
//! Ctrl-C stops the turn: the request or the command ends, and the chat continues. Each call that
//! changes something is a commit of the session, so `:undo` takes it back.

mod view;

use crate::args::chat::ChatArgs;
use crate::{CliFailure, door, message};
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use signal_hook::iterator::Signals;
use std::io::{BufRead, IsTerminal};
use std::sync::Arc;
use view::TerminalView;
use wasibox_actions::Client;
use wasibox_chat::{
    COMMANDS, Chat, ChatCommand, ChatOptions, ChatRecord, Endpoint, EndpointOptions, TokenCounts,
    TurnEnd, TurnStop,
};

/// The number of sessions that are awake: the chat's own, and one that it was forked from.
const AWAKE: usize = 2;
const PROMPT: &str = "> ";
/// Maximum number of prompts that the line editor keeps.
const LINES: usize = 1000;

/// Chats until the user leaves, or sends one prompt.
pub fn run(args: &ChatArgs) -> Result<u8, CliFailure> {
    let key = std::env::var_os(&args.key_variable).filter(|key| !key.is_empty());
    let options = EndpointOptions {
        base: args.endpoint.clone(),
        key_variable: key.map(|_| args.key_variable.clone()),
        proxy: args.tools.grants.proxy.clone(),
    };
    let endpoint = Endpoint::new(&options).map_err(|why| CliFailure::new(2, why))?;
    let record = match &args.log {
        Some(path) => ChatRecord::open(path).map_err(|why| CliFailure::new(125, why))?,
        None => (ChatRecord::unkept(), Vec::new(), TokenCounts::default()),
    };
    let (machine, registry, _servers) = door::open_machine(&args.tools, AWAKE)?;
    for name in args.approve.iter().filter(|name| *name != "all") {
        if registry.get(name).is_none() {
            return Err(CliFailure::usage(format!("--approve: there is no tool '{name}'")));
        }
    }
    let space = machine.space();
    let client = match (&args.session, machine.is_durable()) {
        (Some(name), _) => Client::for_session(space, name),
        (None, true) => Client::for_session(space, door::MAIN),
        (None, false) => Client::new(space).map_err(|e| CliFailure::new(125, e))?,
    };
    let options = ChatOptions {
        model: args.model.clone(),
        system: args.system.clone(),
        approve: args.approve.clone(),
        steps: args.steps,
        max_tokens: args.max_tokens,
    };
    let chat = Chat::new(endpoint, registry, client, options, record);
    let stop = stop_on_signals()?;
    match &args.print {
        Some(prompt) => print_answer(chat, prompt, &stop),
        None => talk(chat, &stop),
    }
}

/// Returns a handle that SIGINT stops. SIGTERM ends the program, because between turns there is
/// nothing to stop; each call was committed when it ended.
fn stop_on_signals() -> Result<Arc<TurnStop>, CliFailure> {
    let stop = Arc::new(TurnStop::default());
    let mut signals = Signals::new([signal_hook::consts::SIGINT])?;
    let theirs = stop.clone();
    std::thread::spawn(move || signals.forever().for_each(|_| theirs.stop()));
    Ok(stop)
}

/// Sends one prompt, and prints the last answer alone to standard output.
fn print_answer(mut chat: Chat, prompt: &str, stop: &TurnStop) -> Result<u8, CliFailure> {
    let ended = chat
        .run_turn(prompt, &mut TerminalView::for_scripts(), stop)
        .map_err(|why| CliFailure::new(1, why))?;
    let answer = chat.messages().last().and_then(|last| last.content.as_deref());
    match ended {
        TurnEnd::Answered => {
            crate::print_text(&format!("{}\n", answer.unwrap_or_default().trim_end()))?;
            Ok(0)
        }
        TurnEnd::Stopped => Ok(130),
        TurnEnd::Steps | TurnEnd::Budget => {
            message::say_message(why_ended(ended));
            Ok(1)
        }
    }
}

/// Returns the reason why a turn has ended before the model's answer.
fn why_ended(ended: TurnEnd) -> &'static str {
    match ended {
        TurnEnd::Answered => "",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Steps => "the turn has as many answers as --steps allows",
        TurnEnd::Budget => "the chat has used the tokens that --max-tokens allows",
    }
}

/// Reads prompts and commands until the user leaves.
fn talk(mut chat: Chat, stop: &TurnStop) -> Result<u8, CliFailure> {
    let is_person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut lines = PromptReader::new(is_person)?;
    let mut view = TerminalView::for_people();
    if is_person {
        let begun = match chat.messages().len() {
            0 => String::new(),
            count => format!(", {count} messages so far"),
        };
        view.say(&format!("{}{begun}. :help lists commands, Ctrl-D leaves.", chat.model()));
    }
    while let Some(line) = lines.read()? {
        if line.trim().is_empty() {
            continue;
        }
        match ChatCommand::parse(&line) {
            Some(Ok(ChatCommand::Quit)) => break,
            Some(Ok(command)) => run_command(&mut chat, command, &mut view),
            Some(Err(why)) => view.say(&why.to_string()),
            None => {
                stop.clear();
                let ended = chat.run_turn(&line, &mut view, stop);
                view.end_turn();
                match ended {
                    Ok(TurnEnd::Answered) => {}
                    // The rest of a script may depend on the turn.
                    Ok(TurnEnd::Stopped) if !is_person => return Ok(130),
                    Ok(ended) => view.say(why_ended(ended)),
                    Err(why) => view.say(&why.to_string()),
                }
            }
        }
    }
    Ok(0)
}

fn run_command(chat: &mut Chat, command: ChatCommand, view: &mut TerminalView) {
    match command {
        ChatCommand::Help => {
            for (name, arguments, text) in COMMANDS {
                view.say(&format!(":{:<20} {text}", format!("{name} {arguments}")));
            }
        }
        ChatCommand::Model(None) => view.say(chat.model()),
        ChatCommand::Model(Some(name)) => chat.set_model(&name),
        ChatCommand::Tools => {
            for listed in chat.registry().tools() {
                view.say(&format!("{:<20} {}", listed.tool.name, listed.tool.title));
            }
        }
        ChatCommand::Tokens => {
            let tokens = chat.tokens();
            let (sent, received) = (tokens.prompt_tokens, tokens.completion_tokens);
            view.say(&format!("{sent} sent, {received} received"));
        }
        ChatCommand::Tool(name, arguments) => match chat.run_tool(name, arguments) {
            Ok(text) => view.print_result(&text),
            Err(why) => view.say(&why),
        },
        // The caller handles it.
        ChatCommand::Quit => {}
    }
}

/// The source of prompts: a line editor, or standard input as it is.
enum PromptReader {
    Editor(Box<DefaultEditor>),
    Lines,
}

impl PromptReader {
    fn new(is_person: bool) -> Result<PromptReader, CliFailure> {
        if !is_person {
            return Ok(PromptReader::Lines);
        }
        let failed = |why| CliFailure::new(125, format!("the line editor: {why}"));
        let config =
            Config::builder().max_history_size(LINES).map_err(failed)?.auto_add_history(true);
        let editor = DefaultEditor::with_config(config.build()).map_err(failed)?;
        Ok(PromptReader::Editor(Box::new(editor)))
    }

    /// Returns the next line; `None` at the end.
    fn read(&mut self) -> Result<Option<String>, CliFailure> {
        match self {
            PromptReader::Editor(editor) => match editor.readline(PROMPT) {
                Ok(line) => Ok(Some(line)),
                Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
                Err(ReadlineError::Eof) => Ok(None),
                Err(why) => Err(CliFailure::new(125, format!("the line editor: {why}"))),
            },
            PromptReader::Lines => {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line)?;
                Ok((read > 0).then_some(line))
            }
        }
    }
}
