//! A small model of a server: it runs the store's own scripts in the Lua engine that Redis uses, on a
//! clock that the test owns. It has the commands of the scripts and nothing else, and panics at any
//! other.

mod commands;
mod keys;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use limiter_core::{Clock, ManualClock};
use mlua::{Lua, MultiValue, Value as LuaValue};
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, Value};

use keys::Keys;

/// A connection to a modelled server; clones share it.
#[derive(Clone)]
pub(crate) struct Model {
    clock: ManualClock,
    keys: Arc<Mutex<Keys>>,
}

impl Model {
    /// An empty server whose time is `clock`.
    pub(crate) fn on(clock: ManualClock) -> Self {
        let keys = Arc::default();
        Self { clock, keys }
    }

    /// Removes what is over, as a server does also while nobody asks.
    pub(crate) fn expire(&self) {
        let now_ms = self.clock.now().as_millis();
        self.keys.lock().unwrap().expire(now_ms);
    }

    /// Every key that is stored, and its deadline.
    pub(crate) fn deadlines(&self) -> Vec<(String, Option<u64>)> {
        let keys = self.keys.lock().unwrap();
        let named = keys.0.iter().map(|(key, (_, deadline))| {
            let key = String::from_utf8_lossy(key).into_owned();
            (key, *deadline)
        });
        named.collect()
    }

    fn run(&self, words: &[Vec<u8>]) -> Value {
        let mut keys = self.keys.lock().unwrap();
        let now_ms = self.clock.now().as_millis();
        match words[0].as_slice() {
            b"EVAL" => {
                let script = String::from_utf8(words[1].clone()).unwrap();
                let count: usize = String::from_utf8_lossy(&words[2]).parse().unwrap();
                let (names, arguments) = words[3..].split_at(count);
                eval(&mut keys, now_ms, &script, names, arguments)
            }
            _ => match keys.run(now_ms, words) {
                Ok(reply) => reply.into_value(),
                Err(error) => panic!("{error}"),
            },
        }
    }
}

impl ConnectionLike for Model {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        async move {
            let words: Vec<Vec<u8>> = cmd
                .args_iter()
                .map(|word| match word {
                    redis::Arg::Simple(word) => word.to_vec(),
                    _ => panic!("a command is made of words"),
                })
                .collect();
            if words[0] == b"EVALSHA" {
                return redis::parse_redis_value(b"-NOSCRIPT none is kept\r\n");
            }
            Ok(self.run(&words))
        }
        .boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        panic!("the store sends no pipelines")
    }

    fn get_db(&self) -> i64 {
        0
    }
}

thread_local! {
    static ENGINE: Lua = Lua::new();
    static LOADED: std::cell::RefCell<HashMap<String, mlua::Function>> = Default::default();
}

fn eval(
    keys: &mut Keys,
    now_ms: u64,
    script: &str,
    names: &[Vec<u8>],
    arguments: &[Vec<u8>],
) -> Value {
    let keys = std::cell::RefCell::new(keys);
    let reply = ENGINE.with(|lua| {
        lua.scope(|scope| {
            let keys = &keys;
            let run =
                move |lua: &Lua, words: MultiValue| -> mlua::Result<Result<LuaValue, String>> {
                    let words = words.iter().map(word).collect::<Vec<_>>();
                    match keys.borrow_mut().run(now_ms, &words) {
                        Ok(reply) => Ok(Ok(reply.into_lua(lua)?)),
                        Err(error) => Ok(Err(error)),
                    }
                };
            let call = scope.create_function(move |lua, words| {
                run(lua, words)?.map_err(mlua::Error::runtime)
            })?;
            let pcall = scope.create_function(move |lua, words| {
                Ok(match run(lua, words)? {
                    Ok(reply) => reply,
                    Err(error) => LuaValue::Table(error_table(lua, &error)?),
                })
            })?;
            let error_reply = lua.create_function(|lua, text: String| error_table(lua, &text))?;
            let redis = lua.create_table()?;
            redis.set("call", call)?;
            redis.set("pcall", pcall)?;
            redis.set("error_reply", error_reply)?;
            let list = |words: &[Vec<u8>]| {
                let words = words.iter().map(|word| lua.create_string(word));
                lua.create_sequence_from(words.collect::<mlua::Result<Vec<_>>>()?)
            };
            let globals = lua.globals();
            globals.set("redis", redis)?;
            globals.set("KEYS", list(names)?)?;
            globals.set("ARGV", list(arguments)?)?;
            let function = LOADED.with_borrow_mut(|loaded| {
                if let Some(function) = loaded.get(script) {
                    return Ok::<_, mlua::Error>(function.clone());
                }
                let function = lua.load(script).into_function()?;
                loaded.insert(script.to_owned(), function.clone());
                Ok(function)
            })?;
            to_value(&function.call::<LuaValue>(())?)
        })
    });
    reply.expect("a script runs to its end")
}

fn error_table(lua: &Lua, text: &str) -> mlua::Result<mlua::Table> {
    let table = lua.create_table()?;
    table.set("err", text)?;
    Ok(table)
}

/// A word of a command: numbers in the shortest form, as later servers have it.
fn word(value: &LuaValue) -> Vec<u8> {
    match value {
        LuaValue::String(text) => text.as_bytes().to_vec(),
        LuaValue::Integer(number) => number.to_string().into_bytes(),
        LuaValue::Number(number) => panic!("a number where text was meant: {number}"),
        other => panic!("{other:?} is no word of a command"),
    }
}

fn to_value(value: &LuaValue) -> mlua::Result<Value> {
    Ok(match value {
        LuaValue::Nil | LuaValue::Boolean(false) => Value::Nil,
        LuaValue::Integer(number) => Value::Int(*number),
        // Cut toward zero, as servers do: a number that is not whole is a mistake of the script.
        LuaValue::Number(number) => {
            assert_eq!(number.fract(), 0.0, "{number} would be cut");
            Value::Int(*number as i64)
        }
        LuaValue::String(text) => Value::BulkString(text.as_bytes().to_vec()),
        LuaValue::Table(table) => {
            if let Ok(error) = table.get::<String>("err") {
                panic!("the script failed: {error}");
            }
            let parts = table.sequence_values::<LuaValue>();
            let parts: mlua::Result<Vec<Value>> = parts.map(|part| to_value(&part?)).collect();
            Value::Array(parts?)
        }
        other => panic!("{other:?} is no reply"),
    })
}
