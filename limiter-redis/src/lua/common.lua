-- What the rules share, in front of them in every script that knows them all.
--
-- KEYS, ARGV, reply: none of its own.
-- Units   instants and waits are milliseconds; instants are of the server's own clock.
--
-- A rule is a table of functions on one budget. `ask` is what the policy and the caller say: limit,
-- burst, length, cost and nonce, and cost and length once more as the texts they came in as. `state`
-- is what `read` returned, nil where nothing is stored that can still deny; what is in it is the
-- rule's own business. Only `charge`, `give_back` and `renew` write.
--
--   read(key, ask)                 state, wrong
--   judge(state, ask, key)         admitted, remaining, wait (NEVER where no wait will do), wrong
--   charge(key, state, ask)        total, remaining, milliseconds until it is as if never used,
--                                  identity of what was charged, serial
--   view(state, ask)               total, remaining, milliseconds until it is as if never used
--   credit(key, state, ask)        outcome of a refund, units, wrong: decides and writes nothing
--   give_back(key, state, ask, units)   does what `credit` decided; units, where they can be fewer
--   renew(key, state, ask)         milliseconds until the lease is over; nil where it is lost
--
-- `wrong` is a string for state that no script here wrote, the error reply itself for a read that
-- the server refused, and a table with `invalid` for what cannot be served as it was asked.

local MAX_UNITS = 9007199254740991
local NEVER = -1
local CREDITED, LATE, REPEATED, REFUSED = 1, 2, 3, 4

-- Text with which a number can be sent: `..` would cut it at 14 digits.
local function digits(number)
  return string.format('%.0f', number)
end

-- The number that stored text is; nil for everything that `digits` does not write. tonumber alone
-- would take '0x10', '1e3', ' 5 ' and 'nan'.
local function whole(text)
  if not text or #text > 16 or not string.find(text, '^[1-9][0-9]*$') and text ~= '0' then
    return nil
  end
  local number = tonumber(text)
  return number <= MAX_UNITS and number or nil
end

local function wrong_with(reply)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then
    return 'another type'
  end
  return reply
end

-- Milliseconds until the deadline of a key, nil where there is no such key, and what is wrong.
local function left_of(key)
  local left_ms = redis.pcall('PTTL', key)
  if type(left_ms) == 'table' then
    return nil, left_ms
  end
  if left_ms == -1 then
    return nil, 'no deadline'
  end
  return left_ms >= 0 and left_ms or nil, nil
end

-- The present instant: one for all budgets of a call, and read only where a rule needs it, because
-- within a script it moves on Redis 6.2.
local present
local function now()
  if not present then
    local time = redis.call('TIME')
    present = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return present
end

-- Every write goes through here, so that it is known whether one was done before an error.
local written = false
local function write(...)
  local reply = redis.call(...)
  written = true
  return reply
end

-- Does `work`, which writes, and returns its reply. All has been read and judged before, so what
-- fails here is not up to the state. A server that is full, read-only or not able to persist refuses
-- the first write; later ones are refused only to a user who may not run their commands.
local function apply(work)
  local done, reply = pcall(work)
  if done then
    return reply
  end
  local text = type(reply) == 'table' and reply.err or tostring(reply)
  return redis.error_reply((written and 'HALFWRITTEN ' or 'NOTWRITTEN ') .. text)
end

-- The rules by their stored forms, each made when it is first needed.
local makers, made = {}, {}
local function rule(form)
  if not made[form] then
    made[form] = makers[form]()
  end
  return made[form]
end

