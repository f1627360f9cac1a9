//! What the README shows is what the program prints.

use super::run;

/// Each `$ cargo run --release -- …` of the README with what is printed there.
fn shown() -> Vec<(String, Vec<String>)> {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let text = std::fs::read_to_string(readme).expect("the README is there");
    let mut shown = Vec::new();
    for block in text.split("```text\n$ cargo run --release -- ").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let mut lines = block.lines().map(str::to_owned);
        shown.push((lines.next().unwrap_or_default(), lines.collect()));
    }
    shown
}

#[test]
fn the_examples_of_the_readme_print_what_it_says() {
    let shown = shown();
    assert!(!shown.is_empty());
    for (arguments, expected) in shown {
        let printed = run(&arguments).out;
        for (expected, printed) in expected.iter().zip(printed.lines()) {
            // A line that is too long is cut with "…".
            match expected.strip_suffix('…') {
                Some(beginning) => assert!(printed.starts_with(beginning), "{printed}"),
                None => assert_eq!(expected.trim_end(), printed.trim_end(), "{arguments}"),
            }
        }
    }
}
