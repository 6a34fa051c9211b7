//! `takt serve`: the live page, until stopped.

use std::net::SocketAddr;
use std::path::PathBuf;

use takt_base::shown::duration;
use takt_base::words::plural;
use takt_serve::{Place, ServeError, ServeOptions, ServeReport, Server, Token};

use crate::{Answer, Output, Problem, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt serve
  takt serve --listen 127.0.0.1:9000
  takt serve --listen 192.168.10.2:8258

takt prints `ready ADDRESS` and runs until Ctrl-C. Open that address in a browser: the page lists
the processes of this user that stream or run slots, and follows one. Prometheus finds their counts
at /metrics.

On loopback, only you and root see the page. On any other address each request needs a token, which
takt makes and prints as part of the address. The connection is not encrypted: to watch from another
machine, prefer `ssh -L 8258:127.0.0.1:8258 HOST`.

Exit status: 0 stopped, 2 the page could not be served.")]
pub struct Args {
    /// Address and port of the page.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8258", value_parser = listen)]
    listen: SocketAddr,
    /// File with the token that each request needs: 16 to 256 letters, digits, `-` and `_`. Only its owner may read it.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not an address and a port, such as 127.0.0.1:8258 or [::1]:8258"))
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let token = args.token_file.as_deref().map(Token::read).transpose().map_err(problem)?;
    let options = ServeOptions { listen: args.listen, token, place: Place::User };
    let server = Server::open(options).map_err(problem)?;
    let stop = stop_on_signal()?;
    output.line(format!("ready {}", server.url()));
    if !server.local().ip().to_canonical().is_loopback() {
        output.note("others can reach this address, and nothing is encrypted: who knows the token sees the page");
    }
    let report = server.run(&stop).map_err(problem)?;
    output.answer(&report, || text(&report), Answer::Yes)
}

fn problem(error: ServeError) -> Problem {
    Problem::caused("the page can't be served", error, ServeError::fix)
}

fn text(report: &ServeReport) -> String {
    let ServeReport { duration_s, pages, refused_requests } = report;
    let refused = plural(*refused_requests, "request");
    format!("{} in {}, {refused} refused", plural(*pages, "page"), duration(*duration_s))
}
