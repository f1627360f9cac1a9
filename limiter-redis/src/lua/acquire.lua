-- Decides one charge on a first-arrival window, and applies it if it is admitted.
--
-- KEYS    [1] the budget.
-- ARGV    [1] limit, [2] cost, [3] length, all as decimal digits.
-- Stored, units: as in first_arrival.lua, whose functions decide the same wherever a window is one
--         budget of several. This is the call that everybody waits for, so it is written straight on: each
--         function that a script makes costs it a tenth of a Redis command.
-- Reply   {1, total with this charge, left until the window's last millisecond}: admitted, charged.
--         {0, total, left until the window's last millisecond, or -2 where none is open}: denied.
--         {-1, what is wrong, 0}: the stored state is not this script's own; nothing was charged.
--         An error: nothing was charged, because the only write is the last call, and failed.
--
-- The state is read even where the cost is above the limit, so that a damaged budget is reported
-- as one whatever is asked of it.

local key, limit, cost = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local stored = redis.pcall('GET', key)
if not stored then
  if cost > limit then
    return {0, 0, -2}
  end
  redis.call('SET', key, ARGV[2], 'PX', ARGV[3])
  return {1, cost, tonumber(ARGV[3])}
end
if type(stored) == 'table' then
  if string.find(stored.err, 'WRONGTYPE', 1, true) then
    return {-1, 'not a string', 0}
  end
  return stored
end
if #stored > 16 or not string.find(stored, '^[1-9][0-9]*$') and stored ~= '0' then
  return {-1, 'not a count', 0}
end
local total = tonumber(stored)
if total > 9007199254740991 then
  return {-1, 'a count above 2^53 - 1', 0}
end
local left_ms = redis.pcall('PTTL', key)
if type(left_ms) == 'table' then
  return left_ms
end
if left_ms < 0 then
  return {-1, 'no deadline', 0}
end
if cost > limit - total then
  return {0, total, left_ms}
end
return {1, redis.call('INCRBY', key, ARGV[2]), left_ms}
