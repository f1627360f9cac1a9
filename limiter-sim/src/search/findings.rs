//! What a search found.

use crate::world::{Action, Aftermath};

/// What a search says about a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A history breaks the promise; there is a witness.
    Violated,
    /// Every state within the bounds was seen, and no history breaks the promise.
    Proved,
    /// The search ended before every state was seen, and found nothing.
    Bounded,
}

impl Verdict {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Proved => "proved",
            Self::Bounded => "bounded",
        }
    }
}

/// How bad one history is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Units that counted at once: in the fullest window, in one interval, and so on.
    pub(crate) max_admitted: u64,
    /// What that exceeds the limit by.
    pub(crate) overspend: u64,
    /// Units charged that no caller was told about.
    pub(crate) waste: u64,
    /// Stored state denies for ever.
    pub(crate) immortal: bool,
    /// When all faults are over and the window has passed, nobody is admitted.
    pub(crate) stuck: bool,
    /// Nothing failed, and no order of the calls explains their answers.
    pub(crate) disordered: bool,
}

impl Figures {
    /// `judged` are the units that counted at once, and those of them that are too many.
    pub(crate) fn of(judged: (u64, u64), waste: u64, aftermath: Aftermath) -> Self {
        let (max_admitted, overspend) = judged;
        Self {
            max_admitted,
            overspend,
            waste,
            immortal: aftermath.immortal,
            stuck: !aftermath.recovered,
            disordered: false,
        }
    }

    pub(crate) fn is_violation(&self) -> bool {
        self.overspend > 0 || self.immortal || self.stuck || self.disordered
    }

    /// Whether nothing worse is to be told of the history than that its calls have no order.
    pub(crate) fn is_told_for_its_order(&self) -> bool {
        self.disordered && self.overspend == 0 && !self.immortal && !self.stuck
    }

    /// Whether a history with these figures shows at least what one with `other` shows: its
    /// violation or, where it has none, its waste.
    pub(crate) fn shows(&self, other: &Self) -> bool {
        if other.overspend > 0 {
            return self.max_admitted >= other.max_admitted;
        }
        if other.is_told_for_its_order() {
            return self.disordered;
        }
        if other.is_violation() {
            return self.immortal >= other.immortal && self.stuck >= other.stuck;
        }
        self.waste >= other.waste
    }
}

/// The worst over all histories that a search saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) exhausted: bool,
    /// The worst figures, each over all histories.
    pub(crate) worst: Figures,
    /// Distinct states.
    pub(crate) states: u64,
    /// Histories that were followed to their end.
    pub(crate) executions: u64,
    /// How many states had been seen when a history was worse than all before.
    worse_at: u64,
    /// Steps taken.
    pub(crate) steps: u64,
    /// Ends of histories: complete, or in a state that was seen before.
    pub(crate) paths: u64,
    most_admitted: Vec<Action>,
    immortal: Vec<Action>,
    stuck: Vec<Action>,
    most_wasted: Vec<Action>,
    disordered: Vec<Action>,
}

impl Findings {
    /// A history has come to its end. The first history that is as bad as any so far is kept.
    pub(crate) fn complete(&mut self, figures: Figures, history: impl Fn() -> Vec<Action>) {
        self.executions += 1;
        let before = self.worst;
        let worst = &mut self.worst;
        if figures.max_admitted > worst.max_admitted || self.executions == 1 {
            worst.max_admitted = figures.max_admitted;
            worst.overspend = figures.overspend;
            self.most_admitted = history();
        }
        if figures.immortal && !worst.immortal {
            worst.immortal = true;
            self.immortal = history();
        }
        if figures.stuck && !worst.stuck {
            worst.stuck = true;
            self.stuck = history();
        }
        if figures.waste > worst.waste {
            worst.waste = figures.waste;
            self.most_wasted = history();
        }
        if self.worst != before {
            self.worse_at = self.states;
        }
    }

    /// Takes over what was found in histories that come after all of these. How many states there were is left
    /// to whoever knows what both have seen.
    pub(super) fn go_on_with(&mut self, later: Self) {
        let is_first = self.executions == 0;
        self.executions += later.executions;
        self.steps += later.steps;
        self.paths += later.paths;
        if later.worst.max_admitted > self.worst.max_admitted || is_first {
            self.worst.max_admitted = later.worst.max_admitted;
            self.worst.overspend = later.worst.overspend;
            self.most_admitted = later.most_admitted;
        }
        if later.worst.immortal && !self.worst.immortal {
            self.worst.immortal = true;
            self.immortal = later.immortal;
        }
        if later.worst.stuck && !self.worst.stuck {
            self.worst.stuck = true;
            self.stuck = later.stuck;
        }
        if later.worst.waste > self.worst.waste {
            self.worst.waste = later.worst.waste;
            self.most_wasted = later.most_wasted;
        }
    }

    /// In this history, without faults, no order of the calls explains their answers.
    pub(super) fn has_no_order(&mut self, history: Vec<Action>) {
        self.worst.disordered = true;
        self.disordered = history;
    }

    /// Whether there is a violation, and none of the last `patience` states led to a worse one.
    pub(crate) fn is_stale(&self, patience: u64) -> bool {
        self.worst.is_violation() && self.states - self.worse_at > patience
    }

    /// Begins to wait for something worse anew.
    pub(super) fn renew_patience(&mut self) {
        self.worse_at = self.states;
    }

    /// Takes over what another search of the same scenario found, where this one found nothing
    /// worse. If that search allowed fewer faults, its witnesses are smaller.
    pub(crate) fn prefer(mut self, other: Self) -> Self {
        if other.executions == 0 {
            return self;
        }
        if other.worst.max_admitted >= self.worst.max_admitted {
            self.worst.max_admitted = other.worst.max_admitted;
            self.worst.overspend = other.worst.overspend;
            self.most_admitted = other.most_admitted;
        }
        if other.worst.immortal {
            self.worst.immortal = true;
            self.immortal = other.immortal;
        }
        if other.worst.stuck {
            self.worst.stuck = true;
            self.stuck = other.stuck;
        }
        if other.worst.waste >= self.worst.waste {
            self.worst.waste = other.worst.waste;
            self.most_wasted = other.most_wasted;
        }
        self
    }

    pub(crate) fn verdict(&self) -> Verdict {
        if self.worst.is_violation() {
            Verdict::Violated
        } else if self.exhausted {
            Verdict::Proved
        } else {
            Verdict::Bounded
        }
    }

    /// Whether each history that was kept shows what it was kept for when it is taken again.
    ///
    /// # Errors
    /// Where one cannot be taken again.
    pub(crate) fn are_repeated(
        &self,
        take_again: impl Fn(&[Action]) -> Result<Figures, String>,
    ) -> Result<bool, String> {
        let worst = &self.worst;
        Ok(
            take_again(&self.most_admitted)?.max_admitted == worst.max_admitted
                && (!worst.immortal || take_again(&self.immortal)?.immortal)
                && (!worst.stuck || take_again(&self.stuck)?.stuck)
                && (!worst.disordered || take_again(&self.disordered)?.disordered)
                && take_again(&self.most_wasted)?.waste == worst.waste,
        )
    }

    /// The history that wasted most, where some did.
    pub(crate) fn wasting(&self) -> Option<&[Action]> {
        (self.worst.waste > 0).then_some(&self.most_wasted)
    }

    /// The history to tell: the one for overspend, else for an immortal counter, else for a budget
    /// that does not recover, else for calls without an order; where there is none of these, the one that admitted most.
    pub(crate) fn witness(&self) -> &[Action] {
        if self.worst.overspend > 0 {
            &self.most_admitted
        } else if self.worst.immortal {
            &self.immortal
        } else if self.worst.stuck {
            &self.stuck
        } else if self.worst.disordered {
            &self.disordered
        } else {
            &self.most_admitted
        }
    }
}
