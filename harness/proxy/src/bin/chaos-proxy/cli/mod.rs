//! `toxiproxy-cli`: Toxiproxy's command line tool, with its commands, aliases, flags and output. It works with
//! Toxiproxy's own server too.

mod client;
mod command;
mod parse;
mod show;

use std::io::IsTerminal;

use crate::{FAILED, Failure};
use client::Client;
use parse::Asked;

/// Runs one command. Every failure ends with 1, as scripts expect.
pub(crate) async fn run(words: Vec<String>) -> Result<(), Failure> {
    let url = std::env::var("TOXIPROXY_URL").ok();
    match parse::parse(words, url).map_err(failed)? {
        Asked::Help(text) => print!("{text}"),
        Asked::Version => println!("toxiproxy-cli version {}", chaos_proxy::TOXIPROXY_VERSION),
        Asked::Run { url, command } => {
            let client = Client::new(&url).map_err(failed)?;
            let style = show::Style::new(std::io::stdout().is_terminal());
            print!("{}", command::run(&client, &command, style).await.map_err(failed)?);
        }
    }
    Ok(())
}

fn failed(text: String) -> Failure {
    Failure::new(FAILED, text)
}
