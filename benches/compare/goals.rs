//! What was aimed at, beside what was measured.

use crate::page::table;

/// A bound on a figure.
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(&self, measured: f64) -> bool {
        match self {
            Self::AtMost(bound) => measured <= *bound,
            Self::AtLeast(bound) => measured >= *bound,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
        }
    }
}

/// One of them, under some work.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    pub(crate) work: String,
    pub(crate) bound: Bound,
    pub(crate) measured: f64,
}

impl Goal {
    fn row(&self) -> Vec<String> {
        let met = match self.bound.holds(self.measured) {
            true => "yes",
            false => "**no**",
        };
        vec![
            self.what.to_owned(),
            self.work.clone(),
            self.bound.to_string(),
            format!("{:.2}", self.measured),
            met.to_owned(),
        ]
    }
}

pub(crate) fn section(goals: &[Goal]) -> String {
    let rows: Vec<Vec<String>> = goals.iter().map(Goal::row).collect();
    let head = ["what", "work", "goal", "measured", "met"];
    format!("## Goals\n\n{}", table(&head, &rows))
}
