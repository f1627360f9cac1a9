//! Running a script: along a known path as far as it goes, then in Lua.

use std::cell::{Cell, RefCell};
use std::mem;

use super::call::Answer;
use super::memo::{Memo, Question, Step};
use super::vm::Vm;
use super::{RandomState, Sha};
use crate::server::node::Node;
use crate::server::session::ConnectionId;
use crate::server::{Bytes, Config, Reply, Request, Version};

/// How this thread runs scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptMode {
    /// In Lua only where it is not known yet what the script does.
    #[default]
    Memoised,
    /// Always in Lua.
    Live,
}

thread_local! {
    static MODE: Cell<ScriptMode> = const { Cell::new(ScriptMode::Memoised) };
    static ENGINES: RefCell<[Option<Engine>; 4]> = const { RefCell::new([None, None, None, None]) };
}

/// Chooses how scripts run on this thread. Both ways give the same replies; this exists to show it.
pub fn set_script_mode(mode: ScriptMode) {
    MODE.set(mode);
}

struct Engine {
    vm: Vm,
    memo: Memo,
    /// A node that stands in while the real one is lent to Lua.
    stand_in: Option<Node>,
    answers: Vec<Answer>,
}

fn with_engine<R>(version: Version, act: impl FnOnce(&mut Engine) -> R) -> R {
    ENGINES.with_borrow_mut(|engines| {
        let engine = engines[version as usize].get_or_insert_with(|| Engine::new(version));
        act(engine)
    })
}

/// Why a script does not compile, if so. `body` is the script without its first line of flags.
pub(crate) fn compile_error(version: Version, sha: Sha, body: &[u8]) -> Option<String> {
    with_engine(version, |engine| engine.vm.compile(sha, body).err())
}

/// Runs a script that is in the node's cache.
pub(crate) fn run(
    node: &mut Node,
    connection: ConnectionId,
    request: &Request,
    sha: Sha,
    keys: &[Bytes],
    argv: &[Bytes],
) -> Reply {
    with_engine(node.version(), |engine| {
        engine.run(node, connection, request, sha, keys, argv)
    })
}

impl Engine {
    fn new(version: Version) -> Self {
        let vm = Vm::new(version)
            .unwrap_or_else(|error| panic!("the Lua sandbox cannot be built: {error}"));
        let stand_in = Node::new(Config::new(version)).ok();
        Self {
            vm,
            memo: Memo::default(),
            stand_in,
            answers: Vec::new(),
        }
    }

    fn run(
        &mut self,
        node: &mut Node,
        connection: ConnectionId,
        request: &Request,
        sha: Sha,
        keys: &[Bytes],
        argv: &[Bytes],
    ) -> Reply {
        let limit = node.config().instruction_limit();
        let key = request.fingerprint().wrapping_add(u128::from(limit));
        self.answers.clear();
        if MODE.get() == ScriptMode::Memoised
            && let Some(reply) = self.follow(key, node, connection)
        {
            return reply;
        }
        if self.compile(node, sha).is_none() {
            return Reply::error("MODEL the script is not in the cache");
        }
        self.go_live(key, node, connection, (sha, keys, argv), limit)
    }

    /// Follows the known path. Without an end in sight, the answers so far are kept for Lua.
    fn follow(&mut self, key: u128, node: &mut Node, connection: ConnectionId) -> Option<Reply> {
        let runs = self.memo.runs(key)?;
        let mut step = runs.first()?;
        loop {
            match step {
                Step::Done { reply, unmodelled } => {
                    if let Some(what) = unmodelled {
                        node.note_unmodelled(what);
                    }
                    return Some(reply.clone());
                }
                Step::Ask(at) => {
                    let answer = answer(runs.question(*at), node, connection);
                    let next = runs.after(*at, &answer);
                    self.answers.push(answer);
                    step = next?;
                }
            }
        }
    }

    fn compile(&mut self, node: &Node, sha: Sha) -> Option<()> {
        let script = node.scripts.script(sha)?;
        let (_, body) = super::flags::parse(&script.source, node.version()).ok()?;
        self.vm.compile(sha, &script.source[body..]).ok()
    }

    fn go_live(
        &mut self,
        key: u128,
        node: &mut Node,
        connection: ConnectionId,
        (sha, keys, argv): (Sha, &[Bytes], &[Bytes]),
        limit: u32,
    ) -> Reply {
        {
            let mut host = self.vm.host.borrow_mut();
            host.known = mem::take(&mut self.answers);
            host.log.clear();
            host.connection = connection;
            host.declared = keys.to_vec();
            host.random = RandomState::seeded(0);
            host.instructions_left = limit;
            host.unmodelled = None;
            host.fault = None;
            host.node = self.stand_in.take();
            if let Some(stand_in) = &mut host.node {
                mem::swap(stand_in, node);
            }
        }
        let outcome = self.vm.run(sha, keys, argv, limit);
        let mut host = self.vm.host.borrow_mut();
        if let Some(lent) = &mut host.node {
            mem::swap(lent, node);
        }
        self.stand_in = host.node.take();
        let reply =
            outcome.unwrap_or_else(|error| Reply::error(format!("MODEL Lua failed: {error}")));
        let unmodelled = host.unmodelled.take().map(String::into_boxed_str);
        if let Some(what) = &unmodelled {
            node.note_unmodelled(what);
        }
        let log = mem::take(&mut host.log);
        self.memo.learn(
            key,
            log,
            Step::Done {
                reply: reply.clone(),
                unmodelled,
            },
        );
        reply
    }
}

/// The answer to a question that a script is known to ask.
fn answer(question: &Question, node: &mut Node, connection: ConnectionId) -> Answer {
    if question.undeclared.is_empty() {
        question.ask.perform(node, connection)
    } else {
        super::host::perform_undeclared(&question.ask, &question.undeclared, node, connection)
    }
}
