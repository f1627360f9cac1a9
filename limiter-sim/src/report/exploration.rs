//! The result of one exploration.

use serde::Serialize;

use super::{Style, regression, story};
use crate::scenario::Scenario;
use crate::search::{self, Explored, Verdict};
use crate::trace::{Replay, Token, replay, shrink};
use crate::world::{Action, Fault};

/// What `explore` prints; the field names are a contract.
#[derive(Clone, Debug, Serialize)]
pub struct Exploration {
    /// The store.
    pub store: String,
    /// The faults that could happen.
    pub faults: Vec<Fault>,
    /// The most of them in one history.
    pub max_faults: u32,
    /// What the server kept on its disk.
    pub persistence: &'static str,
    /// Client workers.
    pub workers: usize,
    /// Acquisitions that each worker made.
    pub attempts: u32,
    /// Units that one window admits.
    pub limit: u64,
    /// The length of a window in milliseconds.
    pub window_ms: u64,
    /// Units that each acquisition asked for.
    pub cost: u64,
    /// How often time could pass.
    pub time_steps: u32,
    /// How histories were chosen.
    pub search: &'static str,
    /// The seed of a sampling search.
    pub seed: u64,
    /// `violated`, `proved` or `bounded`.
    pub verdict: &'static str,
    /// Whether every state within the bounds was seen.
    pub exhausted: bool,
    /// Units that counted at once (in the fullest window, in one interval, out of a bucket, in leases),
    /// in the worst history.
    pub max_admitted: u64,
    /// What that exceeds the limit by.
    pub overspend: u64,
    /// Units charged that no caller was told about, in the worst history.
    pub waste: u64,
    /// Whether some history leaves a counter that denies for ever.
    pub immortal: bool,
    /// Whether, after every history, a fresh caller is admitted when the window has passed.
    pub recovered: bool,
    /// Whether without faults, in a sample of 200 histories, some order of the calls explains all
    /// answers. Also true where that was not looked for: under faults, and for subjects that may
    /// answer otherwise.
    pub linearizes: bool,
    /// Distinct states.
    pub states: u64,
    /// Histories that were followed to their end.
    pub executions: u64,
    /// None of the faults can meet the store: nothing was explored.
    pub not_applicable: bool,
    /// Faults that could happen and never had a consequence.
    pub vacuous: Vec<Fault>,
    /// What the server said that is no answer: errors, keys that a script did not declare.
    pub notes: Vec<String>,
    /// The worst history, as a token that replays it.
    pub token: Option<String>,
    /// The history that wastes most, where some does and none is a violation.
    pub waste_token: Option<String>,
    /// What was found, in one sentence.
    pub story: String,
    /// A test of the same scenario, to paste into a store's own repository.
    #[serde(skip)]
    pub regression_test: String,
    #[serde(skip)]
    pub(crate) replay: Option<Replay>,
}

impl Exploration {
    /// Explores `scenario`.
    ///
    /// # Errors
    /// Where client code drifts: where it does not do the same again when the same history is taken
    /// again. Nothing that was found can be relied on then.
    pub(crate) fn of(scenario: &Scenario, progress: &(dyn Fn(u64) + Sync)) -> Result<Self, String> {
        scenario.check()?;
        if !scenario.is_applicable() {
            return Ok(Self::not_applicable(scenario));
        }
        let explored = search::explore(scenario, progress)?;
        let findings = &explored.findings;
        let violated = findings.verdict() == Verdict::Violated;
        let mut logged = scenario.clone();
        logged.keep_log = true;
        let scenario = &logged;
        let take_again = |history: &[_]| replay(scenario, history).map(|replay| replay.figures);
        if !findings.are_repeated(take_again)? {
            return Err(format!(
                "{} drifts: its worst history does not do again what it did in the search",
                scenario.subject.name()
            ));
        }
        let witness = if violated {
            Some(shrink(scenario, findings.witness()))
        } else {
            findings.wasting().map(|history| shrink(scenario, history))
        };
        // One trace is taken twice more, with fresh client code each time.
        let (told, token) =
            Self::token(scenario, witness.as_deref().unwrap_or(findings.witness()))?;
        let mut exploration = Self::new(scenario, &explored);
        if violated {
            exploration.token = Some(token);
            exploration.replay = Some(told);
        } else if witness.is_some() {
            exploration.waste_token = Some(token);
        }
        Ok(exploration)
    }

    /// The same exploration under another persistence that makes no difference to it.
    pub(crate) fn under(&self, scenario: &Scenario) -> Self {
        let renamed = |token: &String| {
            let mut token: Token = token.parse().expect("it was written by this program");
            token.persistence = scenario.persistence;
            token.to_string()
        };
        Self {
            persistence: scenario.persistence.name(),
            token: self.token.as_ref().map(renamed),
            waste_token: self.waste_token.as_ref().map(renamed),
            regression_test: regression::test(scenario),
            ..self.clone()
        }
    }

    fn token(scenario: &Scenario, history: &[Action]) -> Result<(Replay, String), String> {
        let told = replay(scenario, history)?;
        let token = Token::of(scenario, history, &told);
        token
            .replay(scenario)
            .map_err(|drift| format!("{} drifts: {drift}", scenario.subject.name()))?;
        Ok((told, token.to_string()))
    }

    pub(crate) fn render(&self, style: Style) -> String {
        if self.not_applicable {
            return format!("not applicable: {}\n", self.story);
        }
        let mut text = format!(
            "{}: {}\n{}, {}, {}\n",
            self.verdict,
            self.story,
            counted(self.states, "state", "states"),
            counted(self.executions, "complete history", "complete histories"),
            if self.exhausted {
                "all within the bounds"
            } else {
                "not all within the bounds"
            },
        );
        if !self.vacuous.is_empty() {
            let names: Vec<&str> = self.vacuous.iter().map(|fault| fault.name()).collect();
            text += &format!("vacuous: {} never had a consequence\n", names.join(", "));
        }
        for note in &self.notes {
            text += &format!("note: {note}\n");
        }
        if let (Some(token), Some(replay)) = (&self.token, &self.replay) {
            text += &format!(
                "\n{}\nlimiter-sim replay {token}\n\n{}",
                story::steps(&replay.steps, style),
                self.regression_test
            );
        }
        if let Some(token) = &self.waste_token {
            text += &format!("\nthe most waste: limiter-sim replay {token}\n");
        }
        text
    }

    fn new(scenario: &Scenario, explored: &Explored) -> Self {
        let findings = &explored.findings;
        let worst = &findings.worst;
        Self {
            verdict: findings.verdict().as_str(),
            exhausted: findings.exhausted,
            max_admitted: worst.max_admitted,
            overspend: worst.overspend,
            waste: worst.waste,
            immortal: worst.immortal,
            recovered: !worst.stuck,
            linearizes: !worst.disordered,
            states: findings.states,
            executions: findings.executions,
            vacuous: explored.vacuous.clone(),
            notes: explored.notes.clone(),
            story: story::sentence(scenario, findings),
            not_applicable: false,
            ..Self::not_applicable(scenario)
        }
    }

    /// Nothing was explored: none of the faults can meet the store.
    fn not_applicable(scenario: &Scenario) -> Self {
        let parameters = &scenario.parameters;
        let name = scenario.subject.name();
        let kinds = scenario.faults.kinds.iter();
        let faults: Vec<Fault> = kinds.map(|(fault, _)| *fault).collect();
        let names: Vec<&str> = faults.iter().map(|fault| fault.name()).collect();
        let story = format!(
            "{} cannot meet {name} as it is set up",
            names.join(" with ")
        );
        Self {
            store: name.to_owned(),
            faults,
            max_faults: scenario.faults.total,
            persistence: scenario.persistence.name(),
            workers: parameters.workers,
            attempts: parameters.attempts,
            limit: parameters.limit,
            window_ms: parameters.window_ms,
            cost: parameters.cost,
            time_steps: scenario.time_steps,
            search: scenario.search.name(),
            seed: scenario.seed,
            verdict: Verdict::Proved.as_str(),
            exhausted: true,
            max_admitted: 0,
            overspend: 0,
            waste: 0,
            immortal: false,
            recovered: true,
            linearizes: true,
            states: 0,
            executions: 0,
            not_applicable: true,
            vacuous: Vec::new(),
            notes: Vec::new(),
            token: None,
            waste_token: None,
            story,
            regression_test: regression::test(scenario),
            replay: None,
        }
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}

impl Scenario {
    /// Explores the scenario.
    ///
    /// # Errors
    /// Where a number is out of bounds, and where client code drifts: where it does not do the same
    /// again when the same history is taken again. Nothing that was found can be relied on then.
    pub fn explore(&self) -> Result<Exploration, String> {
        Exploration::of(self, &|_| ())
    }
}
