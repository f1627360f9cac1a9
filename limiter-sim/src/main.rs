//! The command line of the simulator.

use std::process::ExitCode;

fn main() -> ExitCode {
    limiter_sim::cli::run()
}
