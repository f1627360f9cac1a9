//! The steps of a history, taken on real servers.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use limiter_core::{Clock, SystemClock, Timestamp};

use super::RealStep;
use super::client::{Client, Link};
use super::fleet::{Fleet, Needs};
use super::plan::Plan;
use crate::process::{Break, Endpoint, Input, Lane, Outcome, Pending};
use crate::scenario::{Persistence, Scenario};
use crate::server::Reply;
use crate::trace::Moment;
use crate::world::{Action, Attempted, Booking, EPOCH_MS, Ledger, Way};

/// Where the model stands in the very last millisecond of a key's life, the real clock is held this
/// far back: it goes on while steps are taken.
const MARGIN_MS: u64 = 30;

/// Real clients and real servers in the middle of a history.
pub(super) struct Stage<'a> {
    pub(super) scenario: &'a Scenario,
    plan: Plan,
    taken: usize,
    name: String,
    pub(super) fleet: Fleet,
    pub(super) clients: Vec<Client>,
    pub(super) ledger: Ledger,
    clock: SystemClock,
    begun: Timestamp,
    /// Reference time, as the model counts it.
    now: u64,
    /// How far the real clock is held back behind it, in milliseconds.
    behind_ms: u64,
    /// The longest that a reply took: a server may have executed so long before the judge saw it.
    pub(super) lag_ms: u64,
    pub(super) happened: RealStep,
}

impl<'a> Stage<'a> {
    pub(super) fn new(scenario: &'a Scenario, program: &Path, plan: Plan) -> Result<Self, String> {
        let mut fleet = Fleet::start(
            program,
            Needs {
                persistence: scenario.persistence,
                slow_disk: plan.slows_disk(),
                heir: plan.promotes_from(0),
                reader: scenario.subject.uses().replica,
            },
        )?;
        let name = fleet.primary().name()?;
        let parameters = &scenario.parameters;
        let per_process = scenario.subject.clients_per_process(parameters);
        let clients = (0..parameters.workers.div_ceil(per_process))
            .map(|worker| Client::start(scenario, scenario.subject.class(worker, parameters)))
            .collect();
        let clock = SystemClock::new();
        if let Some(phase_ms) = phase_ms(scenario) {
            let early = clock.now().as_millis() % parameters.window_ms;
            sleep(Duration::from_millis(
                (phase_ms + parameters.window_ms - early) % parameters.window_ms,
            ));
        }
        Ok(Self {
            scenario,
            plan,
            taken: 0,
            name,
            fleet,
            clients,
            ledger: Ledger::default(),
            begun: clock.now(),
            clock,
            now: EPOCH_MS,
            behind_ms: 0,
            lag_ms: 0,
            happened: RealStep::default(),
        })
    }

    pub(super) fn server_name(&self) -> &str {
        &self.name
    }

    /// Takes one step. `None` where it is not possible: the history has left the model's.
    ///
    /// # Errors
    /// Where a server cannot be driven any further.
    pub(super) fn step(
        &mut self,
        action: Action,
        moment: &Moment,
    ) -> Result<Option<RealStep>, String> {
        let preparation = self.plan.before(self.taken);
        if preparation.snapshot && self.scenario.persistence == Persistence::Rdb {
            self.fleet.primary().admin().words(["SAVE"])?;
        }
        if preparation.cut_off_replica {
            self.fleet.cut_off_heir()?;
        }
        self.happened = RealStep::default();
        if !self.take(action, moment)? {
            return Ok(None);
        }
        self.taken += 1;
        self.fleet.carry()?;
        self.happened.stored = self.fleet.primary().stored()?;
        Ok(Some(std::mem::take(&mut self.happened)))
    }

    fn take(&mut self, action: Action, moment: &Moment) -> Result<bool, String> {
        if let Some(process) = action.process() {
            match self.clients.get(usize::from(process)) {
                Some(client) if !client.crashed => {}
                _ => return Ok(false),
            }
        }
        match action {
            Action::Go { process, lane, way } => {
                return self.go(
                    usize::from(process),
                    usize::from(lane),
                    way,
                    moment.exchanges,
                );
            }
            Action::Arrive { process } => {
                let number = usize::from(process);
                let Some(input) = self.clients[number].arriving() else {
                    return Ok(false);
                };
                self.turn(number, &input);
            }
            Action::Advance { to } => {
                let hold_back = if moment.at_a_deadline { MARGIN_MS } else { 0 };
                self.advance(to, hold_back);
            }
            Action::Crash { process } => self.crash(usize::from(process)),
            Action::Reboot { process } => {
                self.clients[usize::from(process)].reboot(self.scenario);
            }
            Action::ProcessClock { process, by_ms } => {
                self.clients[usize::from(process)].offset_ms += by_ms;
                self.fire_timers(usize::from(process));
            }
            other => return self.fault(other),
        }
        Ok(true)
    }

    /// What happens to servers.
    fn fault(&mut self, action: Action) -> Result<bool, String> {
        match action {
            Action::Evict { node, key } => return self.evict(node, usize::from(key)),
            Action::Full { node } => return self.admin(node, ["CONFIG", "SET", "maxmemory", "1"]),
            Action::Freed { node } => return self.admin(node, ["CONFIG", "SET", "maxmemory", "0"]),
            Action::FlushScripts { node } => return self.admin(node, ["SCRIPT", "FLUSH"]),
            Action::Restart { .. } => {
                self.fleet.restart()?;
                self.break_links(self.fleet.primary_number());
            }
            Action::SlowDisk => self.fleet.primary().stall_disk()?,
            Action::Failover { .. } => {
                let old = self.fleet.primary_number();
                self.fleet.promote(false)?;
                self.break_links(old);
                self.appoint_heir()?;
            }
            Action::SplitBrain { .. } => self.fleet.promote(true)?,
            Action::Heal => {
                self.heal();
                self.appoint_heir()?;
            }
            Action::Stall => self.fleet.stall()?,
            Action::CatchUp => self.fleet.catch_up()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The old primary, if there is one, is gone.
    pub(super) fn heal(&mut self) {
        if let Some(old) = self.fleet.old_number() {
            self.fleet.heal();
            self.break_links(old);
        }
    }

    fn appoint_heir(&mut self) -> Result<(), String> {
        match self.plan.promotes_from(self.taken + 1) {
            true => self.fleet.appoint_heir(),
            false => Ok(()),
        }
    }

    fn admin<const N: usize>(&mut self, node: u16, words: [&str; N]) -> Result<bool, String> {
        match self.fleet.node(node) {
            Some(server) => server.admin().words(words).map(|_| true),
            None => Ok(false),
        }
    }

    /// A key goes as in an eviction: it is gone, and who watches it notices. Which key a server
    /// evicts under pressure is its own choice, so it is told to delete this one.
    fn evict(&mut self, node: u16, key: usize) -> Result<bool, String> {
        let Some(server) = self.fleet.node(node) else {
            return Ok(false);
        };
        match server.keys()?.get(key) {
            Some(key) => server.admin().words(["DEL", key]).map(|_| true),
            None => Ok(false),
        }
    }

    fn break_links(&mut self, server: u32) {
        for client in &mut self.clients {
            client.break_links(server);
        }
    }

    /// Waits until the real clock has come to reference time `to`, or to `hold_back` before it.
    pub(super) fn advance(&mut self, to: u64, hold_back: u64) {
        let wait = (to - self.now + self.behind_ms).saturating_sub(hold_back);
        // One more than asked for: deadlines are whole milliseconds of a clock that was between two.
        sleep(Duration::from_millis(wait + u64::from(hold_back == 0)));
        self.behind_ms = hold_back;
        self.now = to;
        for number in 0..self.clients.len() {
            self.fire_timers(number);
        }
    }

    pub(super) fn reference_time(&self) -> u64 {
        self.now
    }

    fn fire_timers(&mut self, number: usize) {
        if self.clients[number].crashed {
            return;
        }
        while let Some(timer) = self.clients[number].due_timer(self.clients_time(number)) {
            self.turn(number, &Input::Fired { timer });
        }
    }

    /// What a client's clock shows: real time at the beginning, and then as the history says.
    fn clients_time(&self, number: usize) -> u64 {
        let passed = self.now - EPOCH_MS;
        let offset = self.clients[number].offset_ms;
        (self.begun.as_millis() + passed).saturating_add_signed(offset)
    }

    /// Real time, as the judge counts it.
    fn judged_time(&self) -> u64 {
        EPOCH_MS + self.clock.now().millis_since(self.begun)
    }

    pub(super) fn turn(&mut self, number: usize, input: &Input) -> bool {
        let own = self.clients_time(number);
        let turn = self.clients[number].turn(self.scenario, input, own);
        if let Some(client) = turn.went_ahead {
            let now = self.judged_time();
            let attempted = &mut self.clients[number].attempted[client];
            let told_at = Some(attempted.admitted_at(now));
            let rest = Attempted {
                told_at,
                ..Attempted::default()
            };
            let attempted = std::mem::replace(attempted, rest);
            self.settle(attempted, Outcome::Admitted);
        }
        for (client, outcome) in turn.ended {
            let attempted = std::mem::take(&mut self.clients[number].attempted[client]);
            self.settle(attempted, outcome);
        }
        turn.read_clock
    }

    fn settle(&mut self, attempted: Attempted, told: Outcome) {
        self.book(Booking::Settled(attempted, told));
        // Who went ahead was told so before.
        if attempted.told_at.is_none() {
            self.happened.outcomes.push(told);
        }
    }

    fn book(&mut self, booking: Booking) {
        let now = self.judged_time();
        self.ledger
            .book(booking, self.scenario.parameters.cost, now);
    }

    fn crash(&mut self, number: usize) {
        let cost = self.scenario.parameters.cost;
        let now = self.judged_time();
        for attempted in self.clients[number].crash() {
            self.ledger.settle(attempted, None, cost, now);
        }
    }

    /// A client takes one of the things that it can do next. A step of the model may hold several
    /// requests of one pipeline: `exchanges` of them.
    pub(super) fn go(
        &mut self,
        number: usize,
        lane: usize,
        way: Way,
        exchanges: usize,
    ) -> Result<bool, String> {
        let pending = match self.clients[number]
            .lanes(self.scenario)
            .into_iter()
            .nth(lane)
        {
            Some(Lane::Send(pending)) if !self.clients[number].waits(&pending) => pending,
            Some(Lane::Start { client, attempt }) => {
                let read_clock = self.turn(number, &Input::Start { client, attempt });
                match &self.clients[number].lanes(self.scenario)[..] {
                    [Lane::Send(pending)] if !read_clock => pending.clone(),
                    _ => return Ok(true),
                }
            }
            _ => return Ok(false),
        };
        self.send(number, pending, way, exchanges)?;
        Ok(true)
    }

    fn send(
        &mut self,
        number: usize,
        mut pending: Pending,
        way: Way,
        exchanges: usize,
    ) -> Result<(), String> {
        for sent in 1.. {
            let ticket = pending.ticket;
            let broken = |why| Input::Broken { ticket, why };
            let link = self.clients[number].link(pending.connection);
            if matches!(link, Link::Broken) {
                *link = Link::Fresh;
                self.happened.replies.push(None);
                self.turn(number, &broken(Break::Closed));
                return Ok(());
            }
            if way == Way::LostRequest {
                self.happened.replies.push(None);
                self.turn(number, &broken(Break::TimedOut));
                return Ok(());
            }
            let reply = self.execute(number, &pending, way)?;
            self.happened.replies.push(Some(reply.to_string()));
            match way {
                Way::LostReply => {
                    self.cut(number, pending.connection)?;
                    self.turn(number, &broken(Break::TimedOut));
                    return Ok(());
                }
                Way::LateReply => {
                    self.clients[number].hold(&pending, reply);
                    return Ok(());
                }
                Way::Crash => {
                    self.crash(number);
                    return Ok(());
                }
                Way::Through | Way::ToOld | Way::LostRequest => {}
            }
            self.turn(number, &Input::Reply { ticket, reply });
            let lanes = self.clients[number].lanes(self.scenario);
            let next = lanes.into_iter().find_map(|lane| match lane {
                Lane::Send(pending) if pending.ticket == ticket + 1 => Some(pending),
                _ => None,
            });
            match next {
                Some(next) if sent < exchanges => pending = next,
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// A server executes a request; what the judges need to know of it is kept.
    fn execute(&mut self, number: usize, pending: &Pending, way: Way) -> Result<Reply, String> {
        let endpoint = self.clients[number].endpoint(pending.connection);
        let fleet = &mut self.fleet;
        let link = self.clients[number].link(pending.connection);
        if matches!(link, Link::Fresh) {
            *link = match (endpoint, way, fleet.old_number()) {
                (Endpoint::Replica, ..) => Link::Open(fleet.connect(endpoint)?, None),
                (Endpoint::Primary, Way::ToOld, Some(old)) => {
                    let server = fleet.numbered(old).ok_or("the old primary is gone")?;
                    Link::Open(server.connect()?, Some(old))
                }
                (Endpoint::Primary, ..) => {
                    Link::Open(fleet.connect(endpoint)?, Some(fleet.primary_number()))
                }
            };
        }
        let Link::Open(line, server) = link else {
            unreachable!("it was opened above, or was open")
        };
        let Some(server) = server.and_then(|server| fleet.numbered(server)) else {
            return line.ask(&pending.request);
        };
        let before = server.changes()?;
        let sent = self.clock.now();
        let reply = line.ask(&pending.request)?;
        let replied = self.clock.now();
        let wrote = server.changes()? != before;
        // Both are cut down to whole milliseconds.
        self.lag_ms = self.lag_ms.max(replied.millis_since(sent) + 1);
        let at = EPOCH_MS + replied.millis_since(self.begun);
        self.record(number, pending, &reply, wrote, at);
        Ok(reply)
    }

    fn record(&mut self, number: usize, pending: &Pending, reply: &Reply, wrote: bool, now: u64) {
        let Some(client) = pending.client else {
            return;
        };
        let subject = &self.scenario.subject;
        let charged = subject.charges(&pending.request, reply, &self.scenario.parameters);
        let moment = self.ledger.moment(now);
        let attempted = &mut self.clients[number].attempted[client];
        if let Some(admitted_at) = attempted.told_at
            && charged < 0
        {
            let units = charged.unsigned_abs();
            return self.book(Booking::GivenBack { units, admitted_at });
        }
        if wrote {
            attempted.wrote_at = Some(moment);
        }
        attempted.charged += charged;
        if charged > 0 {
            attempted.charged_at = Some(now);
        }
    }

    /// Cuts a connection after the server has executed; the client's next request finds a new one to
    /// the same server.
    fn cut(&mut self, number: usize, connection: usize) -> Result<(), String> {
        let link = self.clients[number].link(connection);
        if let Link::Open(line, server) = link {
            *line = match server.and_then(|server| self.fleet.numbered(server)) {
                Some(server) => server.connect()?,
                None => self.fleet.connect(Endpoint::Replica)?,
            };
        }
        Ok(())
    }
}

/// How far into a window the model begins, where the clock cuts the windows: then the servers' clock
/// has to be as far into one.
fn phase_ms(scenario: &Scenario) -> Option<u64> {
    let promise = scenario.subject.promise(&scenario.parameters);
    let window_ms = scenario.parameters.window_ms;
    promise
        .is_cut_by_the_clock()
        .then(|| EPOCH_MS.checked_rem(window_ms))
        .flatten()
}
