//! The table of guarantees names tests that exist.

use std::fs;
use std::path::Path;

/// Each link of the page to a test: its name, and the file that it leads to.
fn links(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("[`").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once("`](")?;
        let (file, _) = rest.split_once(')')?;
        Some((name, file))
    })
}

#[test]
fn every_test_that_the_table_of_guarantees_names_is_there() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = fs::read_to_string(docs.join("guarantees.md")).expect("the page");
    assert!(links(&page).count() > 30);
    for (name, file) in links(&page) {
        let source = fs::read_to_string(docs.join(file)).unwrap_or_else(|error| {
            panic!("{file}, where {name} should be, cannot be read: {error}");
        });
        assert!(
            source.contains(&format!("fn {name}(")),
            "{file} has no {name}"
        );
    }
}
