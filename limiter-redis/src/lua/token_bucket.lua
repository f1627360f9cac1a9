-- The token bucket on one budget: a string with a deadline.
--
-- KEYS    one per budget: the string.
-- ARGV    none of its own: limit, burst, cost and length come from the driver.
-- Stored  'used fraction t_ms', each as decimal digits: units that had not come back at t_ms, and what
--         had come back of the next one, in parts of the length (0 to length - 1). The key's deadline
--         is the instant at which the bucket is full again.
-- Units   used, limit, burst and cost are whole units, 0 to 2^53 - 1; length, fraction and t_ms are
--         milliseconds, the length at most 366 days, which is below 2^35.
-- Reply   none of its own: the driver says what it replies with.
--
-- Redis calls: GET, TIME and SET for an admission of an unused bucket; GET, PTTL, TIME and SET for
-- every other; GET, PTTL and TIME for a denial. The one write is the last call.

-- floor((elapsed * limit + fraction) / length) and its remainder, for 0 <= elapsed < length.
--
-- The product can have 88 bits, and a Lua number holds 53. So the limit is taken apart by the length,
-- limit = q * length + r, and elapsed at its 17th bit, elapsed = high * 2^17 + low:
--   elapsed * q           is at most the limit;
--   r * high              is below 2^35 * 2^18 = 2^53;
--   rest * 2^17 + r * low is at most (length - 1) * (2^18 - 1), which leaves room for a fraction.
-- A quotient of two whole numbers below 2^53, rounded down, is exact in doubles.
local function come_back(elapsed, limit, length, fraction)
  local r = limit % length
  local low = elapsed % 131072
  local parts = r * ((elapsed - low) / 131072)
  local rest = parts % length
  local lower = rest * 131072 + r * low + fraction
  local upper = (parts - rest) / length * 131072
  local whole_units = elapsed * ((limit - r) / length) + upper + math.floor(lower / length)
  return whole_units, lower % length
end

-- The first instant at which no more than `used` units are missing: a whole length later at most.
local function down_to(used, bucket, ask)
  local units, limit, length = bucket.used - used, ask.limit, ask.length
  if units <= 0 then
    return bucket.at
  end
  local parts = units * length - bucket.fraction
  if parts < MAX_UNITS and limit > 0 then
    local past = parts % limit
    local elapsed = (parts - past) / limit + (past > 0 and 1 or 0)
    return bucket.at + math.min(elapsed, length)
  end
  -- The product is too large to be exact: search for the first instant at which enough has come back.
  local before, enough = 0, length
  while enough - before > 1 do
    local middle = math.floor((before + enough) / 2)
    if come_back(middle, limit, length, bucket.fraction) >= units then
      enough = middle
    else
      before = middle
    end
  end
  return bucket.at + enough
end

local function refilled(bucket, ask)
  local at = now()
  if not bucket then
    return {used = 0, fraction = 0, at = at}
  end
  -- Where the clock stepped back, nothing has come back yet.
  local elapsed = math.max(0, at - bucket.at)
  at = math.max(at, bucket.at)
  if elapsed >= ask.length then
    return {used = 0, fraction = 0, at = at}
  end
  local units, fraction = come_back(elapsed, ask.limit, ask.length, bucket.fraction)
  if units >= bucket.used then
    return {used = 0, fraction = 0, at = at}
  end
  return {used = bucket.used - units, fraction = fraction, at = at}
end

local function read(key, ask)
  local stored = redis.pcall('GET', key)
  if not stored then
    return nil, nil
  end
  if type(stored) == 'table' then
    return nil, wrong_with(stored)
  end
  local used, fraction, at = string.match(stored, '^(%d+) (%d+) (%d+)$')
  used, fraction, at = whole(used), whole(fraction), whole(at)
  if not used or not fraction or not at or fraction >= ask.length then
    return nil, 'not a bucket'
  end
  local _, wrong = left_of(key)
  return not wrong and {used = used, fraction = fraction, at = at} or nil, wrong
end

local function room(used, ask)
  return math.max(0, ask.burst - used)
end

local function judge(bucket, ask)
  local remaining = room(refilled(bucket, ask).used, ask)
  if ask.cost > ask.burst then
    return false, remaining, NEVER
  end
  if ask.cost <= remaining then
    return true
  end
  return false, remaining, math.max(1, down_to(ask.burst - ask.cost, bucket, ask) - now())
end

local function save(key, bucket, ask)
  local full_at = down_to(0, bucket, ask)
  local text = digits(bucket.used) .. ' ' .. digits(bucket.fraction) .. ' ' .. digits(bucket.at)
  write('SET', key, text, 'PXAT', digits(full_at))
  return full_at
end

local function charge(key, bucket, ask)
  local charged = refilled(bucket, ask)
  charged.used = charged.used + ask.cost
  local full_at = save(key, charged, ask)
  local over_in = math.max(1, full_at - now())
  return charged.used, room(charged.used, ask), over_in, digits(full_at), 0
end

local function view(bucket, ask)
  local used = refilled(bucket, ask).used
  if used == 0 then
    return nil
  end
  return used, room(used, ask), math.max(1, down_to(0, bucket, ask) - now())
end

-- The identity of a charge is the instant at which the bucket would have been full after it. What
-- would still have come back until then can be given back: more is credit that it never took.
local function credit(_, bucket, ask)
  local present = refilled(bucket, ask)
  local left = math.min(math.max(0, ask.instant - present.at), ask.length)
  local due = left == ask.length and ask.limit or come_back(left, ask.limit, ask.length, 0)
  local units = math.min(ask.cost, present.used, due)
  if units == 0 then
    return LATE, 0
  end
  return CREDITED, units
end

local function give_back(key, bucket, ask, units)
  local left = refilled(bucket, ask)
  left.used = left.used - units
  if left.used == 0 then
    write('DEL', key)
  else
    save(key, left, ask)
  end
end

return {
  read = read, judge = judge, charge = charge, view = view,
  credit = credit, give_back = give_back,
}
