//! What came out of a check.

use std::fmt;

use super::{Clause, Form};
use crate::{BudgetStore, RuleSet};

/// What came of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The clause holds.
    Passed,
    /// The store does not offer what the clause is about, or time is real: this is why.
    Skipped(String),
    /// The clause is broken: this was seen.
    Failed(String),
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) clause: &'static Clause,
    pub(super) form: Form,
    pub(super) verdict: Verdict,
}

/// The verdict on every clause, to be printed.
///
/// Its `Display` has one line per clause with what it promises, and one for each form that failed or
/// was skipped.
#[derive(Clone, Debug)]
pub struct Report {
    store: String,
    keeps_a_rule: bool,
    lines: Vec<Line>,
}

impl Report {
    pub(super) fn new(store: &dyn BudgetStore, lines: Vec<Line>) -> Self {
        Self {
            store: store.to_string(),
            keeps_a_rule: store.capabilities().rules != RuleSet::NONE,
            lines,
        }
    }

    /// Whether no clause is broken. A store that declares no rule at all, and so leaves out nearly
    /// everything, has not passed.
    pub fn passed(&self) -> bool {
        self.keeps_a_rule && self.broken().is_empty()
    }

    /// The names of the clauses that are broken under any form, in the order of the list.
    pub fn broken(&self) -> Vec<&'static str> {
        let failed = |line: &&Line| matches!(line.verdict, Verdict::Failed(_));
        let names = self
            .lines
            .iter()
            .filter(failed)
            .map(|line| line.clause.name());
        let mut names: Vec<_> = names.collect();
        names.dedup();
        names
    }

    /// Every test: the clause's name, the form, and what came of it.
    pub fn tests(&self) -> impl Iterator<Item = (&'static str, Form, &Verdict)> {
        let lines = self.lines.iter();
        lines.map(|line| (line.clause.name(), line.form, &line.verdict))
    }

    fn count(&self, is: impl Fn(&Verdict) -> bool) -> usize {
        self.lines.iter().filter(|line| is(&line.verdict)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.count(|verdict| *verdict == Verdict::Passed);
        let failed = self.count(|verdict| matches!(verdict, Verdict::Failed(_)));
        let skipped = self.count(|verdict| matches!(verdict, Verdict::Skipped(_)));
        writeln!(
            f,
            "{}: {passed} passed, {failed} failed, {skipped} skipped",
            self.store
        )?;
        if !self.keeps_a_rule {
            writeln!(f, "  FAILED: its capabilities name no rule that it keeps")?;
        }
        for lines in self
            .lines
            .chunk_by(|one, next| one.clause.name() == next.clause.name())
        {
            let clause = lines[0].clause;
            let forms = lines.iter();
            let forms = forms.filter(|line| line.verdict == Verdict::Passed).count();
            let (name, of) = (clause.name(), lines.len());
            writeln!(f, "  {name:<22} {forms}/{of}  {}", clause.promise())?;
            for line in lines {
                match &line.verdict {
                    Verdict::Passed => {}
                    Verdict::Skipped(why) => writeln!(f, "    skipped  {}: {why}", line.form)?,
                    Verdict::Failed(why) => writeln!(f, "    FAILED   {}: {why}", line.form)?,
                }
            }
        }
        Ok(())
    }
}
