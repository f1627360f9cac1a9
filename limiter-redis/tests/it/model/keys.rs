//! Keys with types and deadlines.

use std::collections::BTreeMap;

use mlua::{Lua, Value as LuaValue};
use redis::Value;

/// What a key holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    Text(Vec<u8>),
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    /// Members and scores.
    Sorted(BTreeMap<Vec<u8>, i64>),
}

/// All keys. A key lives while `now <= deadline`.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(pub(super) BTreeMap<Vec<u8>, (Held, Option<u64>)>);

impl Keys {
    pub(super) fn expire(&mut self, now_ms: u64) {
        self.0
            .retain(|_, (_, deadline)| deadline.is_none_or(|deadline| now_ms <= deadline));
    }

    /// As Valkey and PEXPIREAT do it: a deadline that is not in the future deletes.
    pub(super) fn set_deadline(&mut self, key: &[u8], deadline: u64, now_ms: u64) {
        if deadline <= now_ms {
            self.0.remove(key);
        } else if let Some((_, stored)) = self.0.get_mut(key) {
            *stored = Some(deadline);
        }
    }

    pub(super) fn put(&mut self, key: &[u8], held: Held) {
        let deadline = self.0.get(key).and_then(|(_, deadline)| *deadline);
        self.0.insert(key.to_vec(), (held, deadline));
    }
}

/// The reply of a command.
pub(super) enum Reply {
    Int(i64),
    Text(Option<Vec<u8>>),
    Okay,
    List(Vec<Option<Vec<u8>>>),
}

impl Reply {
    pub(super) fn into_value(self) -> Value {
        let text = |text: Option<Vec<u8>>| text.map_or(Value::Nil, Value::BulkString);
        match self {
            Self::Int(number) => Value::Int(number),
            Self::Text(bytes) => text(bytes),
            Self::Okay => Value::Okay,
            Self::List(list) => Value::Array(list.into_iter().map(text).collect()),
        }
    }

    pub(super) fn into_lua(self, lua: &Lua) -> mlua::Result<LuaValue> {
        let text = |text: Option<Vec<u8>>| match text {
            Some(text) => Ok(LuaValue::String(lua.create_string(text)?)),
            None => Ok::<_, mlua::Error>(LuaValue::Boolean(false)),
        };
        Ok(match self {
            Self::Int(number) => LuaValue::Number(number as f64),
            Self::Text(bytes) => text(bytes)?,
            Self::Okay => {
                let table = lua.create_table()?;
                table.set("ok", "OK")?;
                LuaValue::Table(table)
            }
            Self::List(list) => {
                let list: mlua::Result<Vec<LuaValue>> = list.into_iter().map(text).collect();
                LuaValue::Table(lua.create_sequence_from(list?)?)
            }
        })
    }
}
