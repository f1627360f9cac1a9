//! What scripts can reach: the globals of the real server, read-only.

use mlua::{Lua, MultiValue, Table, Value};

use super::errors::{Raised, at_caller};
use super::host::SharedHost;
use crate::server::Version;

/// The functions of the base library that every version has.
const BASE: &[&str] = &[
    "assert",
    "collectgarbage",
    "error",
    "gcinfo",
    "getmetatable",
    "ipairs",
    "load",
    "loadstring",
    "next",
    "rawequal",
    "rawget",
    "select",
    "setmetatable",
    "tonumber",
    "tostring",
    "type",
    "unpack",
    "_VERSION",
];

const READONLY: &str = "Attempt to modify a readonly table";

/// The tables of a sandbox.
pub(crate) struct Sandbox<'a> {
    lua: &'a Lua,
    host: SharedHost,
    /// From a read-only table to what it shows.
    shown: Table,
}

impl<'a> Sandbox<'a> {
    pub(crate) fn new(lua: &'a Lua, host: SharedHost) -> mlua::Result<Self> {
        Ok(Self {
            lua,
            host,
            shown: lua.create_table()?,
        })
    }

    /// A table that shows another one and refuses changes. Reading what is absent goes to `missing`.
    pub(crate) fn readonly(
        &self,
        table: &Table,
        missing: Option<mlua::Function>,
    ) -> mlua::Result<Table> {
        if let Some(missing) = missing {
            let meta = self.lua.create_table()?;
            meta.raw_set("__index", missing)?;
            table.set_metatable(Some(meta))?;
        }
        let front = self.lua.create_table()?;
        let meta = self.lua.create_table()?;
        meta.raw_set("__index", table)?;
        let refuse =
            |lua: &Lua, _: MultiValue| -> mlua::Result<()> { Err(at_caller(lua, READONLY)) };
        meta.raw_set("__newindex", self.lua.create_function(refuse)?)?;
        meta.raw_set("__metatable", false)?;
        front.set_metatable(Some(meta))?;
        self.shown.raw_set(&front, table)?;
        Ok(front)
    }

    /// Strings have methods; nobody may change which.
    pub(crate) fn guard_strings(&self) -> mlua::Result<()> {
        let meta: Table = self
            .lua
            .load("return getmetatable('')")
            .set_name("=server")
            .eval()?;
        meta.raw_set("__metatable", self.readonly(&meta, None)?)
    }

    /// A library that the model lacks: each use is an error that names it.
    pub(crate) fn absent(&self, name: &'static str) -> mlua::Result<Table> {
        let host = self.host.clone();
        let complain = move |lua: &Lua, (_, field): (Value, Value)| -> mlua::Result<()> {
            let what = format!("{name}.{}", field.to_string()?);
            host.borrow_mut().note_unmodelled(&what);
            Err(at_caller(lua, &format!("MODEL {what} is not modelled")))
        };
        self.readonly(
            &self.lua.create_table()?,
            Some(self.lua.create_function(complain)?),
        )
    }

    /// A function that the model lacks.
    pub(crate) fn absent_function(&self, name: &'static str) -> mlua::Result<mlua::Function> {
        let host = self.host.clone();
        self.lua
            .create_function(move |lua: &Lua, _: MultiValue| -> mlua::Result<()> {
                host.borrow_mut().note_unmodelled(name);
                Err(at_caller(lua, &format!("MODEL {name} is not modelled")))
            })
    }

    /// The base library, where it is plain Lua.
    pub(crate) fn base(&self, from: &Table, into: &Table, version: Version) -> mlua::Result<()> {
        for name in BASE {
            into.raw_set(*name, from.raw_get::<Value>(*name)?)?;
        }
        into.raw_set("pairs", self.pairs(from.raw_get("next")?)?)?;
        into.raw_set("rawset", self.rawset()?)?;
        if version == Version::Redis62 {
            into.raw_set("newproxy", from.raw_get::<Value>("newproxy")?)?;
            into.raw_set("getfenv", from.raw_get::<Value>("getfenv")?)?;
            into.raw_set(
                "print",
                self.lua.create_function(|_, _: MultiValue| Ok(()))?,
            )?;
            into.raw_set("setfenv", self.absent_function("setfenv")?)?;
        }
        Ok(())
    }

    /// `pairs`, which looks behind read-only tables.
    fn pairs(&self, next: mlua::Function) -> mlua::Result<mlua::Function> {
        let shown = self.shown.clone();
        self.lua
            .create_function(move |lua, args: MultiValue| match args.front() {
                Some(Value::Table(table)) => {
                    let behind: Option<Table> = shown.raw_get(table)?;
                    Ok((
                        next.clone(),
                        behind.unwrap_or_else(|| table.clone()),
                        Value::Nil,
                    ))
                }
                other => {
                    let kind = other.map_or("no value", Value::type_name);
                    Err(at_caller(
                        lua,
                        &format!("bad argument #1 to 'pairs' (table expected, got {kind})"),
                    ))
                }
            })
    }

    fn rawset(&self) -> mlua::Result<mlua::Function> {
        let shown = self.shown.clone();
        self.lua
            .create_function(move |_, (table, key, value): (Table, Value, Value)| {
                if shown.raw_get::<Value>(&table)?.is_table() {
                    return Err(Raised::Text(READONLY.into()).into());
                }
                table.raw_set(key, value)?;
                Ok(table)
            })
    }

    /// What happens when a script reads a global that is not there.
    pub(crate) fn missing_global(&self) -> mlua::Result<mlua::Function> {
        self.lua
            .create_function(|lua: &Lua, (_, name): (Value, Value)| -> mlua::Result<()> {
                let name = name.to_string()?;
                Err(at_caller(
                    lua,
                    &format!("Script attempted to access nonexistent global variable '{name}'"),
                ))
            })
    }
}
