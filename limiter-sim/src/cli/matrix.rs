//! The bare command, and `limiter-sim matrix`.

use super::args::MatrixArguments;
use super::progress::Progress;
use super::{FINE, print, print_json};
use crate::report::{Matrix, Style};

pub(super) fn run(arguments: &MatrixArguments) -> Result<u8, String> {
    let cells = arguments.cells();
    let contended = cells.partition_point(|cell| cell.scenario.is_undisturbed());
    let progress = Progress::cells(cells.len());
    // What contention alone does takes a moment; so it is told at once, and the rest when it is done.
    let (first, rest) = cells.split_at(contended);
    let first = Matrix::of(first, &|| progress.cell())?;
    if !arguments.json {
        progress.aside(|| print(&first.summary(Style::of_stdout())));
    }
    let matrix = first.followed_by(Matrix::of(rest, &|| progress.cell())?);
    progress.finish();
    if arguments.json {
        print_json(&matrix)?;
    } else {
        print(&matrix.render(Style::of_stdout()));
    }
    Ok(FINE)
}
