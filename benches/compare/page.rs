//! The page of results: one section for each part, each with the machine that it was measured on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::machine;

const HEAD: &str = "\
# Results

Written by `cargo bench -p limiter-bench`; `-- memory`, `-- redis` or `-- simulator` measures one part anew.
Each figure is the median of alternating runs, with half the distance between the fastest and the slowest of
them after ±. Times are noisy and machines differ: the ratios are what to look at. [PROFILES.md](PROFILES.md) says why some goals are missed.
";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// Keeps a part's section until it is measured again.
pub(crate) fn keep(part: &str, section: &str) {
    let directory = directory();
    fs::create_dir_all(&directory).expect("a directory for results");
    let text = format!("Measured on {}.\n\n{section}", machine::line());
    fs::write(directory.join(part).with_extension("md"), text).expect("a file for a section");
}

/// Writes the page of all sections that there are.
pub(crate) fn write(parts: &[&str]) {
    let mut page = HEAD.to_owned();
    for part in parts {
        if let Ok(section) = fs::read_to_string(directory().join(part).with_extension("md")) {
            page += &format!("\n# {}\n\n{section}", capital(part));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    fs::write(path, page).expect("the page of results");
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = vec!["---".to_owned(); head.len()];
    let rows = rows.iter().map(|row| line(row));
    line(&head) + &line(&rule) + &rows.collect::<String>() + "\n"
}
