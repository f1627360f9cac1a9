//! The part of `math` that the server replaces.

use mlua::{Lua, MultiValue, Table, Value};

use super::errors::at_caller;
use super::host::SharedHost;

/// `math.random` and `math.randomseed` on the server's own generator.
pub(super) fn random(lua: &Lua, host: &SharedHost, math: &Table) -> mlua::Result<()> {
    let drawing = host.clone();
    let random = lua.create_function(move |lua, args: MultiValue| {
        const MAX: i64 = i32::MAX as i64;
        let r = (drawing.borrow_mut().draw() % MAX) as f64 / MAX as f64;
        let (low, high, at) = match args.len() {
            0 => return Ok(Value::Number(r)),
            1 => (1, int_argument(lua, &args, 0, "random")?, 1),
            2 => (
                int_argument(lua, &args, 0, "random")?,
                int_argument(lua, &args, 1, "random")?,
                2,
            ),
            _ => return Err(at_caller(lua, "wrong number of arguments")),
        };
        if low > high {
            return Err(at_caller(
                lua,
                &format!("bad argument #{at} to 'random' (interval is empty)"),
            ));
        }
        let width = f64::from(high.wrapping_sub(low).wrapping_add(1));
        Ok(Value::Number((r * width).floor() + f64::from(low)))
    })?;
    math.raw_set("random", random)?;
    let seeding = host.clone();
    let seed = lua.create_function(move |lua, args: MultiValue| {
        let seed = int_argument(lua, &args, 0, "randomseed")?;
        seeding.borrow_mut().seed(seed);
        Ok(())
    })?;
    math.raw_set("randomseed", seed)
}

fn int_argument(lua: &Lua, args: &MultiValue, at: usize, function: &str) -> mlua::Result<i32> {
    let value = args.get(at).cloned().unwrap_or(Value::Nil);
    let kind = args.get(at).map_or("no value", Value::type_name);
    match lua.coerce_number(value)? {
        Some(number) => Ok(number as i64 as i32),
        None => {
            let number = at + 1;
            Err(at_caller(
                lua,
                &format!("bad argument #{number} to '{function}' (number expected, got {kind})"),
            ))
        }
    }
}
