//! Prints the servers that the tests use, one a line.

use std::process::ExitCode;

fn main() -> ExitCode {
    match limiter_tests::find_servers() {
        Ok(servers) => {
            for program in servers {
                println!("{program} ({})", program.path().display());
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
