//! Requests and replies that do not get through.

use super::super::process::Link;
use super::super::simulation::Simulation;
use super::super::{Action, Fault, Way, World};
use crate::process::{Input, Lane};

impl Simulation {
    pub(super) fn offer_network_faults(
        &mut self,
        world: &World,
        numbers: &[usize],
        to: &mut Vec<Action>,
    ) {
        let ways = [
            (Fault::LostRequest, Way::LostRequest),
            (Fault::LostReply, Way::LostReply),
            (Fault::LateReply, Way::LateReply),
            (Fault::ClientCrash, Way::Crash),
        ];
        for (fault, way) in ways {
            if !self.may(world, fault) {
                continue;
            }
            for number in numbers {
                let mut lanes = Vec::new();
                self.offer_lanes(world, *number, way, &mut lanes);
                lanes.retain(|action| match action {
                    Action::Go { lane, .. } => self.sends(world, *number, usize::from(*lane)),
                    _ => false,
                });
                to.extend(lanes);
            }
        }
    }

    /// A connection that is not open yet can reach either of two primaries.
    pub(super) fn offer_old_primary(
        &mut self,
        world: &World,
        numbers: &[usize],
        to: &mut Vec<Action>,
    ) {
        for number in numbers {
            let mut lanes = Vec::new();
            self.offer_lanes(world, *number, Way::ToOld, &mut lanes);
            lanes.retain(|action| match action {
                Action::Go { lane, .. } => self.opens(world, *number, usize::from(*lane)),
                _ => false,
            });
            to.extend(lanes);
        }
    }

    /// Whether this step would send a request on a connection that is not broken.
    fn sends(&mut self, world: &World, number: usize, lane: usize) -> bool {
        self.link_of(world, number, lane)
            .is_some_and(|link| link != Link::Broken)
    }

    /// Whether this step would open a connection to a primary.
    fn opens(&mut self, world: &World, number: usize, lane: usize) -> bool {
        self.link_of(world, number, lane) == Some(Link::Fresh)
    }

    /// The connection on which this step would send a request, if it would send one.
    fn link_of(&mut self, world: &World, number: usize, lane: usize) -> Option<Link> {
        let process = &world.processes[number];
        let pending = match self.automaton.lanes_at(process.position)[lane].clone() {
            Lane::Send(pending) => Some(pending),
            Lane::Start { client, attempt } => {
                let start = Input::Start { client, attempt };
                let own = process.own_time(world.now);
                let begun = self.automaton.advance(process.position, start, own);
                self.sent_at_once(begun)
            }
        };
        let link = |pending: crate::process::Pending| {
            process
                .links
                .get(pending.connection)
                .copied()
                .unwrap_or_default()
        };
        pending.map(link)
    }
}
