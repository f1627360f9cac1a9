//! The part of the sandbox that is written in Lua: wherever a script can catch an error, it gets what the
//! real server would have raised.

/// Arguments: raw `pcall`, `xpcall`, `coroutine.resume`; then functions that turn an error into what
/// `pcall`, and what everything else, hands out; then one that raises if the script has run for too long.
/// Result: the three functions that take the place of the raw ones.
pub(crate) const CATCHING: &str = r"
local raw_pcall, raw_xpcall, raw_resume, caught, raised, go_on = ...

local function settle(translate, ok, ...)
  go_on()
  if ok then
    return ok, ...
  end
  return ok, translate((...))
end

local function pcall(...)
  return settle(caught, raw_pcall(...))
end

local function xpcall(f, handler)
  return settle(raised, raw_xpcall(f, function(e) return handler(raised(e)) end))
end

local function resume(...)
  return settle(raised, raw_resume(...))
end

return pcall, xpcall, resume
";
