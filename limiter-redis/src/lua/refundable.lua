-- A first-arrival or aligned window whose charges can be given back: a hash with a deadline.
--
-- KEYS    one per budget: the hash.
-- ARGV    none of its own: limit, cost, length and nonce come from the driver.
-- Stored  c  units charged in the open window; it only grows, so each admission has a total of its
--            own, its serial
--         r  units refunded in it
--         w  the window's identity: the nonce of the admission that opened it
--         a serial, as decimal digits, for each charge that was refunded: up to 1,024 of them
--         The key's deadline is, as that of the counters without refunds, a first-arrival window's
--         last millisecond, or the first one after an aligned window.
-- Units   c, r, limit and cost are whole units, 0 to 2^53 - 1.
-- Reply   none of its own: the driver says what it replies with.
--
-- Whoever puts this file into a script defines `aligned` in front of it: true or false.
--
-- Redis calls: HMGET, PTTL, HSET and PEXPIRE, or HMGET, PTTL, TIME, HSET and PEXPIREAT, for the first
-- admission of a window; HMGET, PTTL and HINCRBY for every other; HMGET and PTTL for a denial; HMGET,
-- PTTL, HEXISTS, HLEN and HSET for a refund. An aligned window that is over, and was not removed yet,
-- is deleted first.

local FIELDS, MOST_REFUNDS = 3, 1024

-- Keys of windows that are over and have not been removed yet.
local stale = {}

local function read(key)
  local fields = redis.pcall('HMGET', key, 'c', 'r', 'w')
  if fields.err then
    return nil, wrong_with(fields)
  end
  local left_ms, wrong = left_of(key)
  if not left_ms then
    return nil, wrong
  end
  local charged, refunded, identity = whole(fields[1]), whole(fields[2]), fields[3]
  if not charged or charged == 0 or not refunded or refunded > charged then
    return nil, 'not the counts of a window'
  end
  if not identity or #identity ~= 32 or string.find(identity, '[^0-9a-f]') then
    return nil, 'not the identity of a window'
  end
  if aligned and left_ms == 0 then
    stale[key] = true
    return nil, nil
  end
  local over_in = aligned and left_ms or left_ms + 1
  return {charged = charged, refunded = refunded, identity = identity, over_in = over_in}, nil
end

-- What was charged must stay a number that can be held; what would take it beyond has to wait.
local function room(charged, refunded, limit)
  return math.min(math.max(0, limit - (charged - refunded)), MAX_UNITS - charged)
end

local function judge(window, ask)
  local remaining = ask.limit
  if window then
    remaining = room(window.charged, window.refunded, ask.limit)
  end
  if ask.cost > ask.limit then
    return false, remaining, NEVER
  end
  if ask.cost <= remaining then
    return true
  end
  return false, remaining, window.over_in
end

local function open(key, ask)
  if stale[key] then
    write('DEL', key)
  end
  write('HSET', key, 'c', ask.cost_text, 'r', '0', 'w', ask.nonce)
  if aligned then
    local left_ms = ask.length - now() % ask.length
    write('PEXPIREAT', key, digits(now() + left_ms))
    return left_ms
  end
  write('PEXPIRE', key, ask.length_text)
  return ask.length + 1
end

local function charge(key, window, ask)
  if window then
    local total = write('HINCRBY', key, 'c', ask.cost_text)
    local remaining = room(total, window.refunded, ask.limit)
    return total, remaining, window.over_in, window.identity, total
  end
  local over_in = open(key, ask)
  return ask.cost, room(ask.cost, 0, ask.limit), over_in, ask.nonce, ask.cost
end

local function view(window, ask)
  local remaining = room(window.charged, window.refunded, ask.limit)
  return window.charged - window.refunded, remaining, window.over_in
end

local function credit(key, window, ask)
  if window.identity ~= ask.identity or ask.serial > window.charged then
    return LATE, 0
  end
  local refunded = redis.pcall('HEXISTS', key, digits(ask.serial))
  if type(refunded) == 'table' then
    return nil, nil, refunded
  end
  if refunded == 1 then
    return REPEATED, 0
  end
  local fields = redis.pcall('HLEN', key)
  if type(fields) == 'table' then
    return nil, nil, fields
  end
  if fields - FIELDS >= MOST_REFUNDS then
    return REFUSED, 0
  end
  return CREDITED, math.min(ask.cost, window.charged - window.refunded)
end

local function give_back(key, window, ask, units)
  write('HSET', key, 'r', digits(window.refunded + units), digits(ask.serial), '1')
end

return {
  read = read, judge = judge, charge = charge, view = view,
  credit = credit, give_back = give_back,
}
