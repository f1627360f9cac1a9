//! Any Lua limiter as a subject: a script, the keys and arguments that its client sends, and what in
//! its reply means *admitted*.

use std::fmt;
use std::sync::Arc;

use limiter_core::Clock;
use redis::Value;
use sha1_smol::Sha1;

use super::{Subject, Uses};
use crate::fingerprint::Digest;
use crate::process::{Attempt, Endpoint, Env, Outcome, Program};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::expression::Expression;

/// A script and how it is called.
#[derive(Clone)]
pub struct Script {
    name: String,
    source: Arc<str>,
    call: Arc<Call>,
}

/// How a script is called. In keys and arguments `{worker}`, `{attempt}`, `{now_ms}`, `{now_s}` and
/// `{random}` stand for what they say.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub(crate) sha: String,
    pub(crate) keys: Vec<String>,
    pub(crate) arguments: Vec<String>,
    pub(crate) admit_when: Expression,
}

impl Script {
    /// A script under a name, called with `keys` and `arguments`.
    ///
    /// # Errors
    /// Where `admit_when` is not an expression: says where, and what is allowed.
    pub fn new(
        name: impl Into<String>,
        source: &str,
        keys: Vec<String>,
        arguments: Vec<String>,
        admit_when: &str,
    ) -> Result<Self, String> {
        Ok(Self {
            name: name.into(),
            source: source.into(),
            call: Arc::new(Call {
                sha: Sha1::from(source).digest().to_string(),
                keys,
                arguments,
                admit_when: admit_when.parse()?,
            }),
        })
    }

    /// A script called as a token says, under the SHA-1 that its own text has.
    pub(crate) fn called(name: &str, source: &str, call: Call) -> Self {
        Self {
            name: name.to_owned(),
            source: source.into(),
            call: Arc::new(Call {
                sha: Sha1::from(source).digest().to_string(),
                ..call
            }),
        }
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        self.call.keys.iter().chain(&self.call.arguments)
    }

    fn mentions(&self, placeholder: &str) -> bool {
        self.words().any(|word| word.contains(placeholder))
    }

    fn reads_clock(&self) -> bool {
        self.mentions("{now_ms}") || self.mentions("{now_s}")
    }
}

impl Subject for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &str {
        "a script, sent by EVALSHA, and by EVAL where the server does not know it"
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        Box::new(Caller {
            env: env.clone(),
            script: self.clone(),
        })
    }

    fn uses(&self) -> Uses {
        Uses {
            clock: self.reads_clock(),
            ..Uses::SCRIPTS
        }
    }

    fn class(&self, worker: usize, _: &Parameters) -> usize {
        let differ = self.mentions("{worker}") || self.mentions("{random}");
        if differ { worker } else { 0 }
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        let script = request.is("EVALSHA") || request.is("EVAL");
        let reply = redis::parse_redis_value(&reply.to_resp());
        let admitted = reply.is_ok_and(|value| self.call.admit_when.holds(&value));
        if script && admitted {
            parameters.cost.cast_signed()
        } else {
            0
        }
    }

    fn unordered(&self) -> Option<&str> {
        Some("nobody says which rule the script follows")
    }

    fn script(&self) -> Option<&Call> {
        Some(&self.call)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("name", &self.name)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

struct Caller {
    env: Env,
    script: Script,
}

impl Program for Caller {
    fn attempt(&mut self, _client: usize, attempt: u32) -> Attempt {
        let (env, script) = (self.env.clone(), self.script.clone());
        Box::pin(async move { call(&env, &script, attempt).await })
    }
}

async fn call(env: &Env, script: &Script, attempt: u32) -> Outcome {
    let now_ms = if script.reads_clock() {
        env.clock().now().as_millis()
    } else {
        0
    };
    let random = Digest::of(&("random", env.class(), attempt)).0;
    let fill = |word: &String| {
        word.replace("{worker}", &env.class().to_string())
            .replace("{attempt}", &attempt.to_string())
            .replace("{now_ms}", &now_ms.to_string())
            .replace("{now_s}", &(now_ms / 1000).to_string())
            .replace("{random}", &format!("{random:032x}"))
    };
    let command = |name: &str, script_or_sha: &str| {
        let mut command = redis::cmd(name);
        command.arg(script_or_sha).arg(script.call.keys.len());
        for word in script.words() {
            command.arg(fill(word));
        }
        command
    };
    let mut connection = env.connect(Endpoint::Primary);
    let mut reply = command("EVALSHA", &script.call.sha)
        .query_async(&mut connection)
        .await;
    if let Err(error) = &reply
        && error.code() == Some("NOSCRIPT")
    {
        reply = command("EVAL", &script.source)
            .query_async::<Value>(&mut connection)
            .await;
    }
    match reply {
        Ok(value) if script.call.admit_when.holds(&value) => Outcome::Admitted,
        Ok(_) => Outcome::Denied,
        Err(_) => Outcome::Failed,
    }
}
