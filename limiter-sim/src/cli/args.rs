//! The arguments, and their bounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use limiter_core::{Length, MAX_UNITS};

use crate::report::Cell;
use crate::scenario::{MAX_FAULTS, Parameters, Persistence, Scenario, Search};
use crate::server::{Config, Node, Request};
use crate::subject::{self, Script, Subject};
use crate::world::Fault;

/// Shows which rate limiters keep their budget, and which do not: runs real client code and real
/// scripts against a modelled server, in every order of their steps.
///
/// Without a command it prints the failure matrix.
#[derive(Debug, Parser)]
#[command(name = "limiter-sim", version, args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) matrix: MatrixArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The failure matrix: stores × faults, the worst case in every cell
    Matrix(MatrixArguments),
    /// One store: the worst history that it allows, and a token that replays it
    Explore(ExploreArguments),
    /// A Lua script of any limiter: the worst history that it allows, and a token that replays it
    Script(ScriptArguments),
    /// A history again, step by step
    Replay(ReplayArguments),
    /// The stores, what each one is and, if it is broken, what it does wrong
    List(ListArguments),
}

#[derive(Debug, Args)]
pub(super) struct Numbers {
    /// Client workers
    #[arg(long, default_value_t = 16, value_parser = value_parser!(u64).range(1..=64))]
    workers: u64,
    /// Acquisitions that each worker makes, one after the other
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..=1000))]
    attempts: u32,
    /// Units that one window admits
    #[arg(long, default_value_t = 5, value_parser = value_parser!(u64).range(0..=MAX_UNITS))]
    limit: u64,
}

#[derive(Debug, Args)]
pub(super) struct MatrixArguments {
    #[command(flatten)]
    numbers: Numbers,
    /// The most faults in one history
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..=i64::from(MAX_FAULTS)))]
    max_faults: u32,
    /// States after which a cell is bounded instead of proved
    #[arg(long, default_value_t = 300_000, value_parser = value_parser!(u64).range(1..))]
    max_states: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExploreArguments {
    /// The store to explore; `limiter-sim list` names them
    #[arg(long, value_parser = parse_store)]
    pub(super) store: Arc<dyn Subject>,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Debug, Args)]
pub(super) struct ScriptArguments {
    /// The script
    file: PathBuf,
    /// A key, in the order of KEYS; may hold {worker}, {attempt}, {now_ms}, {now_s}, {random}. All calls
    /// are judged as spending one budget
    #[arg(
        long = "key",
        value_name = "KEY",
        required = true,
        allow_hyphen_values = true
    )]
    keys: Vec<String>,
    /// An argument, in the order of ARGV; may hold the same placeholders
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// What in the reply means admitted: `reply` or `reply[N]`, compared by == != < <= > >= with a number or a 'string', or `is nil`; joined by `and`
    #[arg(long, value_name = "EXPR")]
    admit_when: String,
    #[command(flatten)]
    pub(super) options: Options,
}

/// Every option of `explore` but the store.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    numbers: Numbers,
    /// The length of a window in milliseconds
    #[arg(long, default_value_t = 1000, value_parser = value_parser!(u64).range(1..=Length::MAX_MS))]
    window_ms: u64,
    /// Units that each acquisition asks for
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u64).range(1..=MAX_UNITS))]
    cost: u64,
    /// A fault that may happen, with the most times that it may: NAME or NAME=N
    #[arg(long, value_name = "NAME[=N]", value_parser = parse_fault)]
    fault: Vec<(Fault, Option<u32>)>,
    /// The most faults in one history, of all kinds together [default: 1 if any --fault is given, else 0]
    #[arg(long, value_parser = value_parser!(u32).range(0..=i64::from(MAX_FAULTS)))]
    max_faults: Option<u32>,
    /// What the server keeps on its disk: none, rdb, aof-no, aof-everysec, aof-always
    #[arg(long, default_value = "none", value_parser = Persistence::from_name)]
    persistence: Persistence,
    /// How often time may pass, each time to a deadline or 1 ms past it
    #[arg(long, default_value_t = 0, value_parser = value_parser!(u32).range(0..=1000))]
    time_steps: u32,
    /// How histories are chosen
    #[arg(long, value_enum, default_value_t = SearchName::Exhaustive)]
    search: SearchName,
    /// The seed of a sampling search
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Histories that a sampling search follows
    #[arg(long, default_value_t = 10_000, value_parser = value_parser!(u64).range(1..))]
    runs: u64,
    /// States after which an exhaustive search gives up
    #[arg(long, default_value_t = 100_000_000, value_parser = value_parser!(u64).range(1..))]
    max_states: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SearchName {
    Exhaustive,
    Random,
    Pct,
}

#[derive(Debug, Args)]
pub(super) struct ReplayArguments {
    /// A token that `explore` printed: `ls1:…`
    pub(super) token: String,
    /// A Redis or Valkey server's program: take the history on real processes of it as well
    #[arg(long, value_name = "PATH")]
    pub(super) server: Option<PathBuf>,
    /// The script that the token belongs to, if it belongs to one
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Options {
    /// The scenario of these options with `subject`.
    pub(super) fn scenario(&self, subject: Arc<dyn Subject>) -> Result<Scenario, String> {
        let mut scenario = Scenario::new(subject)
            .parameters(Parameters {
                window_ms: self.window_ms,
                cost: self.cost,
                ..self.numbers.parameters()
            })
            .persistence(self.persistence)
            .time_steps(self.time_steps)
            .search(match self.search {
                SearchName::Exhaustive => Search::Exhaustive,
                SearchName::Random => Search::Random,
                SearchName::Pct => Search::Pct,
            })
            .seed(self.seed)
            .runs(self.runs)
            .max_states(self.max_states);
        let total = self.max_faults.unwrap_or(u32::from(!self.fault.is_empty()));
        for (number, (fault, times)) in self.fault.iter().enumerate() {
            if self.fault[..number].iter().any(|(other, _)| other == fault) {
                return Err(format!(
                    "--fault {fault} is given twice; give its bound once, as {fault}=N"
                ));
            }
            scenario = scenario.fault(*fault, times.unwrap_or(total));
        }
        Ok(scenario.max_faults(total))
    }
}

impl ScriptArguments {
    pub(super) fn subject(&self) -> Result<Arc<dyn Subject>, String> {
        let source = read_script(&self.file)?;
        let name = self
            .file
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into());
        check_script(&name, &source)?;
        let (keys, arguments) = (self.keys.clone(), self.arguments.clone());
        let script = Script::new(name, &source, keys, arguments, &self.admit_when)
            .map_err(|error| format!("--admit-when: {error}"))?;
        Ok(Arc::new(script))
    }
}

/// # Errors
/// What the server says where the script does not compile.
fn check_script(name: &str, source: &str) -> Result<(), String> {
    let mut node = Node::new(Config::default()).map_err(|error| error.to_string())?;
    let loaded = node.execute(0, &Request::new(["SCRIPT", "LOAD", source]));
    match loaded.as_error() {
        Some(error) => Err(format!("{name} does not compile: {}", error.lossy())),
        None => Ok(()),
    }
}

pub(super) fn read_script(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

impl MatrixArguments {
    /// One scenario per cell.
    pub(super) fn cells(&self) -> Vec<Cell> {
        Cell::all(&self.numbers.parameters(), self.max_faults, self.max_states)
    }
}

impl Numbers {
    fn parameters(&self) -> Parameters {
        Parameters {
            workers: usize::try_from(self.workers).expect("at most 64"),
            attempts: self.attempts,
            limit: self.limit,
            ..Parameters::default()
        }
    }
}

/// `NAME` or `NAME=N`.
fn parse_fault(text: &str) -> Result<(Fault, Option<u32>), String> {
    let (name, times) = match text.split_once('=') {
        None => (text, None),
        Some((name, times)) => match times.parse() {
            Ok(times @ 1..=MAX_FAULTS) => (name, Some(times)),
            _ => {
                return Err(format!(
                    "{times:?} is no bound for a fault: allowed is 1 to {MAX_FAULTS}"
                ));
            }
        },
    };
    Ok((name.parse()?, times))
}

fn parse_store(name: &str) -> Result<Arc<dyn Subject>, String> {
    subject::named(name).ok_or_else(|| {
        let catalogue = subject::catalogue();
        let names: Vec<&str> = catalogue.iter().map(|subject| subject.name()).collect();
        format!("no store has that name; there are {}", names.join(", "))
    })
}
