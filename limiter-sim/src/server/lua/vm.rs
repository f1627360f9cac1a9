//! One Lua engine with the sandbox of one server version.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, Value, VmState};

use super::errors::{self, Raised};
use super::host::{Host, SharedHost};
use super::sandbox::Sandbox;
use super::{Sha, bits, convert, json, library, math, prelude};
use crate::server::{Bytes, Reply, Version};

/// How many instructions pass between two looks at the limit.
const HOOK_INTERVAL: u32 = 1_000;
/// What all scripts of an engine may hold at once: a server takes as much as there is, and dies.
const MAX_MIB: usize = 256;
/// So many compiled scripts are kept.
const MAX_FUNCTIONS: usize = 1_000;

pub(crate) struct Vm {
    lua: Lua,
    pub(crate) host: SharedHost,
    globals: Table,
    xpcall: Function,
    handler: Function,
    functions: HashMap<Sha, Function>,
}

impl Vm {
    /// An engine in the sandbox of a version.
    pub(crate) fn new(version: Version) -> mlua::Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        lua.set_memory_limit(MAX_MIB << 20)?;
        let host: SharedHost = Rc::new(RefCell::new(Host::new(version)));
        let xpcall: Function = lua.globals().raw_get("xpcall")?;
        let globals = build(&lua, &host, version)?;
        let noted = host.clone();
        let handler = lua.create_function(move |lua, value: Value| {
            noted.borrow_mut().fault = Some(errors::fault(lua, &value));
            Ok(())
        })?;
        let counted = host.clone();
        lua.set_global_hook(
            HookTriggers::new().every_nth_instruction(HOOK_INTERVAL),
            move |_, _| {
                let left = &mut counted.borrow_mut().instructions_left;
                *left = left.saturating_sub(HOOK_INTERVAL);
                if *left == 0 {
                    Err(Raised::Endless.into())
                } else {
                    Ok(VmState::Continue)
                }
            },
        )?;
        Ok(Self {
            lua,
            host,
            globals,
            xpcall,
            handler,
            functions: HashMap::new(),
        })
    }

    /// Compiles a script unless it is known already; the error is the compiler's text.
    pub(crate) fn compile(&mut self, sha: Sha, body: &[u8]) -> Result<(), String> {
        if self.functions.contains_key(&sha) {
            return Ok(());
        }
        let chunk = self
            .lua
            .load(body)
            .set_name("@user_script")
            .set_mode(ChunkMode::Text);
        let function = chunk.into_function().map_err(|error| match error {
            mlua::Error::SyntaxError { message, .. } => message,
            other => other.to_string(),
        })?;
        if self.functions.len() >= MAX_FUNCTIONS {
            self.functions.clear();
        }
        self.functions.insert(sha, function);
        Ok(())
    }

    /// Runs a compiled script. The host must have been prepared.
    pub(crate) fn run(
        &mut self,
        sha: Sha,
        keys: &[Bytes],
        argv: &[Bytes],
        limit: u32,
    ) -> mlua::Result<Reply> {
        let version = self.host.borrow().version;
        let function = self
            .functions
            .get(&sha)
            .ok_or_else(|| mlua::Error::runtime("the script is not compiled"))?;
        self.globals.raw_set("KEYS", self.words(keys)?)?;
        self.globals.raw_set("ARGV", self.words(argv)?)?;
        let results: MultiValue = match self.xpcall.call((function, &self.handler)) {
            Err(mlua::Error::MemoryError(_)) => return Ok(errors::too_large(MAX_MIB)),
            results => results?,
        };
        let mut results = results.into_iter();
        if results.next() == Some(Value::Boolean(true)) {
            return convert::from_lua(&results.next().unwrap_or(Value::Nil), version);
        }
        // Lua calls no handler where it has no memory left for it.
        let Some(fault) = self.host.borrow_mut().fault.take() else {
            return Ok(errors::too_large(MAX_MIB));
        };
        if version == Version::Redis70
            && matches!(fault.kind, super::host::FaultKind::Other("table", _))
        {
            self.host
                .borrow_mut()
                .note_unmodelled("an error table without a text, which makes Redis 7.0 crash");
        }
        Ok(errors::reply(&fault, sha, version, limit))
    }

    fn words(&self, words: &[Bytes]) -> mlua::Result<Table> {
        let table = self.lua.create_table_with_capacity(words.len(), 0)?;
        for (at, word) in words.iter().enumerate() {
            table.raw_set(at + 1, self.lua.create_string(word)?)?;
        }
        Ok(table)
    }
}

/// Builds the globals and makes them the engine's. Returns the table behind the read-only one.
fn build(lua: &Lua, host: &SharedHost, version: Version) -> mlua::Result<Table> {
    let plain = lua.globals();
    let sandbox = Sandbox::new(lua, host.clone())?;
    let globals = lua.create_table()?;
    sandbox.guard_strings()?;
    sandbox.base(&plain, &globals, version)?;
    let coroutine: Table = plain.raw_get("coroutine")?;
    let (caught, raised, go_on) = library::translators(lua, host, version)?;
    let catching = lua.load(prelude::CATCHING).set_name("=server");
    let raw: (Value, Value, Value) = (
        plain.raw_get("pcall")?,
        plain.raw_get("xpcall")?,
        coroutine.raw_get("resume")?,
    );
    let (pcall, xpcall, resume): (Function, Function, Function) =
        catching.call((raw.0, raw.1, raw.2, caught, raised, go_on))?;
    globals.raw_set("pcall", pcall)?;
    globals.raw_set("xpcall", xpcall)?;
    coroutine.raw_set("resume", resume)?;
    let table: Table = plain.raw_get("math")?;
    math::random(lua, host, &table)?;
    for name in ["string", "table", "math", "coroutine"] {
        globals.raw_set(name, sandbox.readonly(&plain.raw_get(name)?, None)?)?;
    }
    let cjson = json::library(lua, &sandbox)?;
    globals.raw_set("cjson", sandbox.readonly(&cjson, None)?)?;
    globals.raw_set("bit", sandbox.readonly(&bits::library(lua)?, None)?)?;
    for name in ["cmsgpack", "struct"] {
        globals.raw_set(name, sandbox.absent(name)?)?;
    }
    let redis = sandbox.readonly(&library::redis(lua, host, &sandbox, version)?, None)?;
    globals.raw_set("redis", &redis)?;
    if version.is_valkey() {
        globals.raw_set("server", &redis)?;
    }
    if version >= Version::Redis82 {
        globals.raw_set("os", sandbox.absent("os")?)?;
    }
    let front = sandbox.readonly(&globals, Some(sandbox.missing_global()?))?;
    globals.raw_set("_G", &front)?;
    lua.set_globals(front)?;
    Ok(globals)
}
