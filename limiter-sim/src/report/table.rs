//! Tables on a terminal and in a file.

use std::io::IsTerminal;

use comfy_table::{Cell, ContentArrangement, Table, presets};

/// Whether to colour, and how wide the output may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) colour: bool,
}

impl Style {
    /// Colour only on a terminal, and not where `NO_COLOR` is set to anything.
    pub(crate) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            colour: std::io::stdout().is_terminal() && !refused,
        }
    }
}

/// A table without lines: columns, two spaces apart.
pub(super) fn table(
    head: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
) -> String {
    let mut table = Table::new();
    if style.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(head);
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}
