//! The library `bit`: operations on 32-bit integers.

use mlua::{Lua, MultiValue, Table, Value};

use super::errors::at_caller;

/// A number as 32 bits: rounded to the nearest integer, then cut to its low bits.
fn to_bits(number: f64) -> i32 {
    // Adding 2^52 + 2^51 leaves the integer in the low bits of the mantissa.
    (number + 6_755_399_441_055_744.0).to_bits() as u32 as i32
}

fn argument(lua: &Lua, args: &MultiValue, at: usize, function: &str) -> mlua::Result<i32> {
    let value = args.get(at).cloned().unwrap_or(Value::Nil);
    let kind = args.get(at).map_or("no value", Value::type_name);
    match lua.coerce_number(value)? {
        Some(number) => Ok(to_bits(number)),
        None => {
            let number = at + 1;
            Err(at_caller(
                lua,
                &format!("bad argument #{number} to '{function}' (number expected, got {kind})"),
            ))
        }
    }
}

/// Builds the library.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    let one = |name: &'static str, act: fn(i32) -> i32| -> mlua::Result<()> {
        let function =
            move |lua: &Lua, args: MultiValue| Ok(f64::from(act(argument(lua, &args, 0, name)?)));
        bit.raw_set(name, lua.create_function(function)?)
    };
    one("tobit", |x| x)?;
    one("bnot", |x| !x)?;
    one("bswap", i32::swap_bytes)?;
    let many = |name: &'static str, act: fn(i32, i32) -> i32| -> mlua::Result<()> {
        let function = move |lua: &Lua, args: MultiValue| {
            let mut result = argument(lua, &args, 0, name)?;
            for at in 1..args.len() {
                result = act(result, argument(lua, &args, at, name)?);
            }
            Ok(f64::from(result))
        };
        bit.raw_set(name, lua.create_function(function)?)
    };
    many("band", |x, y| x & y)?;
    many("bor", |x, y| x | y)?;
    many("bxor", |x, y| x ^ y)?;
    let shift = |name: &'static str, act: fn(i32, u32) -> i32| -> mlua::Result<()> {
        let function = move |lua: &Lua, args: MultiValue| {
            let (value, by) = (
                argument(lua, &args, 0, name)?,
                argument(lua, &args, 1, name)?,
            );
            Ok(f64::from(act(value, by as u32 & 31)))
        };
        bit.raw_set(name, lua.create_function(function)?)
    };
    shift("lshift", |x, n| x << n)?;
    shift("rshift", |x, n| (x as u32 >> n) as i32)?;
    shift("arshift", |x, n| x >> n)?;
    shift("rol", i32::rotate_left)?;
    shift("ror", i32::rotate_right)?;
    bit.raw_set("tohex", lua.create_function(tohex)?)?;
    Ok(bit)
}

fn tohex(lua: &Lua, args: MultiValue) -> mlua::Result<String> {
    let value = argument(lua, &args, 0, "tohex")?;
    let digits = if args.len() > 1 {
        argument(lua, &args, 1, "tohex")?
    } else {
        8
    };
    let count = digits.unsigned_abs().min(8) as usize;
    let text = if digits < 0 {
        format!("{value:08X}")
    } else {
        format!("{value:08x}")
    };
    Ok(text[8 - count..].to_owned())
}
