//! Prints the servers that the tests use, one a line.

fn main() {
    for program in limiter_tests::servers() {
        println!("{program} ({})", program.path().display());
    }
}
