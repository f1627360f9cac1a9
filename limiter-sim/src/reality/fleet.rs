//! The real servers of one history.

use std::path::Path;

use super::line::Line;
use super::server::Server;
use crate::process::Endpoint;
use crate::scenario::Persistence;

/// Tells servers apart: a connection stays with the one that it was opened to.
pub(super) type ServerNumber = u32;

/// Who takes writes, who did, who will, and who is read.
pub(super) struct Fleet {
    primary: Server,
    number: ServerNumber,
    /// A primary that does not know that it is one no more.
    old: Option<(Server, ServerNumber)>,
    /// The replica that will be promoted.
    heir: Option<Heir>,
    /// The replica that clients read.
    reader: Option<Reader>,
}

struct Heir {
    server: Server,
    cut_off: bool,
}

struct Reader {
    server: Server,
    stalled: bool,
}

/// What a history needs beside a primary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    pub(super) persistence: Persistence,
    pub(super) slow_disk: bool,
    pub(super) heir: bool,
    pub(super) reader: bool,
}

impl Fleet {
    pub(super) fn start(program: &Path, needs: Needs) -> Result<Self, String> {
        let mut primary = Server::start(program, needs.persistence, needs.slow_disk)?;
        let reader = match needs.reader {
            true => Some(Reader {
                server: primary.replica()?,
                stalled: false,
            }),
            false => None,
        };
        let mut fleet = Self {
            primary,
            number: 0,
            old: None,
            heir: None,
            reader,
        };
        if needs.heir {
            fleet.appoint_heir()?;
        }
        Ok(fleet)
    }

    pub(super) fn primary(&mut self) -> &mut Server {
        &mut self.primary
    }

    pub(super) fn primary_number(&self) -> ServerNumber {
        self.number
    }

    pub(super) fn old_number(&self) -> Option<ServerNumber> {
        self.old.as_ref().map(|(_, number)| *number)
    }

    /// The server of this number, while it runs.
    pub(super) fn numbered(&mut self, number: ServerNumber) -> Option<&mut Server> {
        if number == self.number {
            return Some(&mut self.primary);
        }
        let old = self.old.as_mut().filter(|(_, old)| *old == number);
        old.map(|(server, _)| server)
    }

    /// The server that a step calls node number `node`: the old primary comes first.
    pub(super) fn node(&mut self, node: u16) -> Option<&mut Server> {
        match (node, &mut self.old) {
            (0, Some((old, _))) => Some(old),
            (0, None) | (1, Some(_)) => Some(&mut self.primary),
            _ => None,
        }
    }

    /// A new connection to where `endpoint` leads now.
    pub(super) fn connect(&self, endpoint: Endpoint) -> Result<Line, String> {
        match (endpoint, &self.reader) {
            (Endpoint::Replica, Some(reader)) => reader.server.connect(),
            _ => self.primary.connect(),
        }
    }

    /// Lets the replica that clients read receive what the primary has done.
    pub(super) fn carry(&mut self) -> Result<(), String> {
        match &mut self.reader {
            Some(reader) if !reader.stalled => reader.server.catch_up(&mut self.primary),
            _ => Ok(()),
        }
    }

    /// A replica follows the primary, to be promoted later.
    pub(super) fn appoint_heir(&mut self) -> Result<(), String> {
        self.heir = Some(Heir {
            server: self.primary.replica()?,
            cut_off: false,
        });
        Ok(())
    }

    /// The replica that will be promoted has received all until now, and receives no more.
    pub(super) fn cut_off_heir(&mut self) -> Result<(), String> {
        let Some(heir) = self.heir.as_mut().filter(|heir| !heir.cut_off) else {
            return Ok(());
        };
        heir.server.catch_up(&mut self.primary)?;
        heir.cut_off = true;
        heir.server.stand_alone()
    }

    /// The replica takes the primary's place; the old primary is killed, or goes on if `beside`.
    pub(super) fn promote(&mut self, beside: bool) -> Result<(), String> {
        self.cut_off_heir()?;
        let heir = self.heir.take().ok_or("there is no replica to promote")?;
        let old = std::mem::replace(&mut self.primary, heir.server);
        if beside {
            self.old = Some((old, self.number));
        }
        self.number += 1;
        self.reconnect_replicas()
    }

    /// The old primary is gone, and what it alone had.
    pub(super) fn heal(&mut self) {
        self.old = None;
    }

    /// Kills the primary and starts it again.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        self.primary.restart()?;
        self.reconnect_replicas()
    }

    /// Every replica that is one takes over all that the primary has.
    fn reconnect_replicas(&mut self) -> Result<(), String> {
        if let Some(reader) = self.reader.as_mut().filter(|reader| !reader.stalled) {
            reader.server.follow(&mut self.primary)?;
        }
        if let Some(heir) = self.heir.as_mut().filter(|heir| !heir.cut_off) {
            heir.server.follow(&mut self.primary)?;
        }
        Ok(())
    }

    /// The replica that clients read receives no more.
    pub(super) fn stall(&mut self) -> Result<(), String> {
        let reader = self.reader.as_mut().ok_or("no replica is read")?;
        reader.stalled = true;
        reader.server.stand_alone()
    }

    /// It receives again, first of all what it has missed.
    pub(super) fn catch_up(&mut self) -> Result<(), String> {
        match self.reader.as_mut().filter(|reader| reader.stalled) {
            Some(reader) => {
                reader.stalled = false;
                reader.server.follow(&mut self.primary)
            }
            None => Ok(()),
        }
    }
}
