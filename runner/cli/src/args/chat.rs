//! `chat`.

use super::door::ToolArgs;
use clap::Args;
use std::path::PathBuf;

const CHAT: &str = "\
The endpoint is any server with the chat completions API: a local one (Ollama, llama.cpp, vLLM) or one with a
key, which is read from the environment variable that --key-variable names and is in no log. `:help` in the
chat lists what can be done without the model, such as `:undo`.

Examples:
  runner chat --image image.webc --endpoint http://127.0.0.1:11434/v1 --model qwen3 --workspace project.zip
  runner chat --image image.webc --endpoint https://api.example.com/v1 --model large --log chat.jsonl \\
    --store work.wbx --session chat --approve delete_file
  runner chat --image image.webc --model qwen3 --input data.csv --print 'How many rows has data.csv?'";

/// Chat with a language model that works on a session
#[derive(Args)]
#[command(after_help = CHAT)]
pub struct ChatArgs {
    #[command(flatten)]
    pub tools: ToolArgs,
    /// The server's address, to which /chat/completions is added
    #[arg(
        long,
        value_name = "URL",
        env = "OPENAI_BASE_URL",
        default_value = "http://127.0.0.1:11434/v1"
    )]
    pub endpoint: String,
    /// The model
    #[arg(long, value_name = "NAME", env = "WASIBOX_MODEL")]
    pub model: String,
    /// The environment variable that has the server's key; without one no key is sent
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    pub key_variable: String,
    /// The session; without one, or without a store, it is gone with the chat
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Keep the chat in this file, and go on with the chat that it has
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Instructions for the model, in addition to the description of the machine
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Ask before the model calls these tools, a list separated by commas; "all" stands for all
    /// that change something
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub approve: Vec<String>,
    /// Maximum number of the model's answers in one turn
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub steps: u32,
    /// Maximum number of tokens of the whole chat, as the server counts them
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Send this prompt, print the answer and leave
    #[arg(long, value_name = "PROMPT")]
    pub print: Option<String>,
}
