//! From a request to its reply: the checks before a command runs, in the order of the real server.

use super::command::{Command, Context, Flags};
use super::node::{Node, Role};
use super::reply::{Failure, printed};
use super::session::ConnectionId;
use super::{Reply, Request, Version};

/// So many bytes of an unknown command are told, and as many of its arguments.
const SHOWN: usize = 128;

pub(crate) const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";
pub(crate) const READONLY: &str = "READONLY You can't write against a read only replica.";
pub(crate) const NOREPLICAS: &str = "NOREPLICAS Not enough good replicas to write.";

impl Node {
    /// Executes one request of a connection at the node's time.
    pub fn execute(&mut self, id: ConnectionId, request: &Request) -> Reply {
        let reply = self.dispatch(id, request);
        self.note_written(id);
        reply.unwrap_or_else(Reply::from)
    }

    fn dispatch(&mut self, id: ConnectionId, request: &Request) -> Result<Reply, Failure> {
        let command = match self.admit(id, request) {
            Ok(command) => command,
            Err(failure) => return Err(self.refuse(id, request, failure)),
        };
        let in_transaction = !self.sessions.is_empty()
            && self
                .session(id)
                .is_some_and(|session| session.multi.is_some());
        if in_transaction && !command.flags.has(Flags::UNQUEUED) {
            self.with_session(id, |session| session.queue(request));
            return Ok(Reply::status("QUEUED"));
        }
        self.run_command(id, command, request)
    }

    pub(crate) fn run_command(
        &mut self,
        id: ConnectionId,
        command: &'static Command,
        request: &Request,
    ) -> Result<Reply, Failure> {
        (command.run)(&mut Context {
            node: self,
            request,
            connection: id,
        })
    }

    /// A refused command breaks the open transaction; a refused `EXEC` ends it.
    fn refuse(&mut self, id: ConnectionId, request: &Request, failure: Failure) -> Failure {
        if self
            .session(id)
            .is_none_or(|session| session.multi.is_none())
        {
            return failure;
        }
        if request
            .command()
            .is_some_and(|command| command.name == "exec")
            && request.argv().len() == 1
        {
            self.with_session(id, |session| {
                session.multi = None;
                session.unwatch();
            });
            return format!(
                "EXECABORT Transaction discarded because of: {}",
                failure.0.lossy()
            )
            .into();
        }
        let version = self.version();
        self.with_session(id, |session| session.break_transaction(version));
        failure
    }

    fn admit(&mut self, id: ConnectionId, request: &Request) -> Result<&'static Command, Failure> {
        let command = self.known_command(request)?;
        let plain = self.config.max_memory.is_none()
            && self.config.min_replicas_to_write == 0
            && self.role == Role::Primary
            && !self.loading;
        if plain && self.sessions.is_empty() {
            return Ok(command);
        }
        let flags = self.effective_flags(id, command, request);
        let transaction = self.session(id).and_then(|session| session.multi.as_ref());
        let in_transaction = transaction.is_some();
        if in_transaction && self.version().is_valkey() && command.flags.has(Flags::NO_MULTI) {
            return Err(format!(
                "ERR Command '{}' not allowed inside a transaction",
                command.name
            )
            .into());
        }
        self.check_memory(command, flags, in_transaction)?;
        if flags.has(Flags::WRITE) {
            self.check_writable()?;
        }
        if self.loading && !flags.has(Flags::LOADING) {
            return Err(format!(
                "LOADING {} is loading the dataset in memory",
                self.version().product()
            )
            .into());
        }
        Ok(command)
    }

    /// The command, if the version has it and its number of arguments is right.
    fn known_command(&mut self, request: &Request) -> Result<&'static Command, Failure> {
        let Some(command) = request
            .command()
            .filter(|command| command.since <= self.version())
        else {
            return Err(self.unknown_command(request));
        };
        if !command.accepts(request.argv().len(), self.version()) {
            return Err(wrong_arity(command.name));
        }
        match command.subcommands {
            Some(check) if self.version() >= Version::Redis70 => {
                check(self, request).map(|()| command)
            }
            _ => Ok(command),
        }
    }

    fn unknown_command(&mut self, request: &Request) -> Failure {
        self.note_if_real(request);
        let old = self.version() == Version::Redis62;
        let (open, close, end) = if old {
            ("`", "`", ", ")
        } else {
            ("'", "'", " ")
        };
        let argv = request.argv();
        let cut = |word: &[u8], most: usize| {
            let mut word = printed(word);
            word.truncate(most);
            word
        };
        let quoted = |word: Vec<u8>, end: &str| {
            [open.as_bytes(), &word, close.as_bytes(), end.as_bytes()].concat()
        };
        let most = if old { usize::MAX } else { SHOWN };
        let mut arguments = Vec::new();
        for word in &argv[1..] {
            if arguments.len() >= SHOWN {
                break;
            }
            arguments.extend(quoted(cut(word, SHOWN - arguments.len()), end));
        }
        let name = quoted(cut(&argv[0], most), ", with args beginning with: ");
        Failure(
            [b"ERR unknown command ", name.as_slice(), &arguments]
                .concat()
                .into(),
        )
    }

    /// Notes a real command that the model lacks. One that it has, and that only later versions have,
    /// is answered as this version answers it.
    pub(crate) fn note_if_real(&mut self, request: &Request) {
        let name = request.name();
        if request.command().is_none() && super::command::is_real(&name) {
            self.note_unmodelled(&name);
        }
    }

    /// What the command may do, with the flags of a queued transaction or of a script's first line.
    fn effective_flags(
        &self,
        id: ConnectionId,
        command: &'static Command,
        request: &Request,
    ) -> Flags {
        match command.name {
            "exec" => {
                let queue = self.session(id).and_then(|session| session.multi.as_ref());
                let queue = queue.map_or(&[][..], |transaction| &transaction.queue);
                let commands = queue
                    .iter()
                    .filter_map(|queued| Some((queued.command()?, queued)));
                commands.fold(command.flags, |flags, (queued, request)| {
                    flags.with(
                        self.effective_flags(id, queued, request)
                            .only(Flags::WRITE.with(Flags::DENY_OOM)),
                    )
                })
            }
            "eval" | "evalsha" | "eval_ro" | "evalsha_ro" => {
                self.script_flags(command.flags, request)
            }
            _ => command.flags,
        }
    }

    fn check_memory(
        &mut self,
        command: &Command,
        flags: Flags,
        in_transaction: bool,
    ) -> Result<(), Failure> {
        if self.config.max_memory.is_none() {
            return Ok(());
        }
        let short = self.free_memory();
        let any_queued = in_transaction
            && self.version() <= Version::Redis70
            && !command.flags.has(Flags::ENDS_MULTI);
        if short && (flags.has(Flags::DENY_OOM) || any_queued) {
            return Err(OOM.into());
        }
        // What scripts go by, also those that a transaction runs later.
        if self.version() > Version::Redis62 || command.flags.has(Flags::SCRIPT) {
            self.out_of_memory = short;
        }
        Ok(())
    }

    /// Whether clients may write at all.
    pub(crate) fn check_writable(&self) -> Result<(), Failure> {
        if self.role == Role::Primary && self.replication.good < self.config.min_replicas_to_write {
            return Err(NOREPLICAS.into());
        }
        if self.role == Role::Replica {
            return Err(READONLY.into());
        }
        Ok(())
    }
}

pub(crate) fn wrong_arity(name: &str) -> Failure {
    format!("ERR wrong number of arguments for '{name}' command").into()
}
