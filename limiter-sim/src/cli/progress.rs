//! Progress on standard error: only where that is a terminal, and only where work is long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that appears after the first second.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// For a search that does not know how many states there are.
    pub(super) fn states(name: &str) -> Self {
        let bar = ProgressBar::new_spinner().with_prefix(name.to_owned());
        Self::styled(bar, "{spinner} {prefix}: {human_pos} states, {elapsed}")
    }

    /// For a known number of cells.
    pub(super) fn cells(count: usize) -> Self {
        Self::styled(
            ProgressBar::new(count as u64),
            "{bar:40} {pos}/{len} cells, {elapsed}",
        )
    }

    fn styled(bar: ProgressBar, template: &str) -> Self {
        let style = ProgressStyle::with_template(template).expect("a fixed template");
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub(super) fn seen(&self, states: u64) {
        self.0.set_position(states);
    }

    pub(super) fn cell(&self) {
        self.0.inc(1);
    }

    /// Takes the bar away while something else is printed.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
