//! The bare command, and `limiter-sim matrix`.

use super::args::MatrixArguments;
use super::progress::Progress;
use super::{FINE, print, print_json};
use crate::report::{Matrix, Style};

pub(super) fn run(arguments: &MatrixArguments) -> Result<u8, String> {
    let cells = arguments.cells();
    let progress = Progress::cells(cells.len());
    let matrix = Matrix::of(&cells, &|| progress.cell())?;
    progress.finish();
    if arguments.json {
        print_json(&matrix)?;
    } else {
        print(&matrix.render(Style::of_stdout()));
    }
    Ok(FINE)
}
