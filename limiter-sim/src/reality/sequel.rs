//! What a history has left behind on real servers: whether fresh callers are admitted again.

use super::client::Client;
use super::plan::LONGEST_WAIT_MS;
use super::stage::Stage;
use crate::process::{Input, Lane, Outcome};
use crate::search::Figures;
use crate::world::{Aftermath, Way};

/// Windows that pass before a counter is called immortal.
const WINDOWS: u64 = 10;
/// The most fresh calls that are made to use a budget up.
const MOST_CALLS: u64 = 256;
/// A fresh call that takes more steps than this never returns.
const MOST_STEPS: usize = 1_000;

impl Stage<'_> {
    /// Ends all faults, waits, and judges.
    pub(super) fn figures(&mut self) -> Result<Figures, String> {
        let promise = self.scenario.subject.promise(&self.scenario.parameters);
        let cost = self.scenario.parameters.cost;
        let clock_was_set = self.clients.iter().any(|client| client.offset_ms != 0);
        // A busy machine is not the store's fault.
        let seen = promise.clone().seen_late(self.lag_ms);
        let judged = self.ledger.judge(&seen, cost, clock_was_set);
        let waste = self.ledger.waste();
        let aftermath = if cost > promise.most() {
            // Nothing is ever admitted, by the promise itself.
            Aftermath {
                immortal: false,
                recovered: true,
            }
        } else {
            self.end_faults()?;
            Aftermath {
                recovered: self.recovers()?,
                immortal: self.is_immortal()?,
            }
        };
        Ok(Figures::of(judged, waste, aftermath))
    }

    fn end_faults(&mut self) -> Result<(), String> {
        self.heal();
        self.fleet.catch_up()?;
        let primary = self.fleet.primary();
        primary.admin().words(["CONFIG", "SET", "maxmemory", "0"])?;
        primary.recover_disk()
    }

    fn recovers(&mut self) -> Result<bool, String> {
        let offsets = self.clients.iter().map(|client| client.offset_ms);
        let largest = offsets.map(i64::unsigned_abs).max().unwrap_or(0);
        let window = self.scenario.parameters.window_ms;
        self.advance(self.reference_time() + window + largest + 1, 0);
        Ok(self.fresh_call()? == Some(Outcome::Admitted))
    }

    fn is_immortal(&mut self) -> Result<bool, String> {
        let parameters = &self.scenario.parameters;
        let window = parameters.window_ms;
        let calls = (parameters.limit / parameters.cost + 1).min(MOST_CALLS);
        for _ in 0..calls {
            if self.fresh_call()? != Some(Outcome::Admitted) {
                break;
            }
        }
        let longest = self.fleet.primary().longest_life_ms()?;
        if longest > LONGEST_WAIT_MS {
            // It has a deadline; to see it pass would take too long.
            return Ok(false);
        }
        self.advance(self.reference_time() + longest + 1, 0);
        let server_alone = !self.scenario.subject.uses().clock;
        if server_alone && self.fleet.primary().keys()?.is_empty() {
            // Nothing is left that could deny, however long one waits.
            return Ok(false);
        }
        self.advance(self.reference_time() + WINDOWS * window, 0);
        Ok(self.fresh_call()? == Some(Outcome::Denied))
    }

    /// One call that nothing disturbs: by a new process, or, where processes keep state, by one that
    /// is there. `None` where it never returns.
    fn fresh_call(&mut self) -> Result<Option<Outcome>, String> {
        let keeps_state = self.scenario.subject.keeps_state();
        let there = self.clients.iter().position(|client| !client.crashed);
        let number = match there {
            Some(number) if keeps_state => number,
            _ => {
                let class = self.scenario.subject.class(0, &self.scenario.parameters);
                self.clients.push(Client::start(self.scenario, class));
                self.clients.len() - 1
            }
        };
        let attempt = self.clients[number].begun();
        self.happened = super::RealStep::default();
        self.turn(number, &Input::Start { client: 0, attempt });
        for _ in 0..MOST_STEPS {
            if let Some(outcome) = self.happened.outcomes.first() {
                return Ok(Some(*outcome));
            }
            let lanes = self.clients[number].lanes(self.scenario);
            let send = |lane: &Lane| matches!(lane, Lane::Send(_));
            let Some(lane) = lanes.iter().position(send) else {
                return Ok(None);
            };
            self.go(number, lane, Way::Through, 1)?;
        }
        Ok(None)
    }
}
