-- Leases on one budget: a sorted set with a deadline.
--
-- KEYS    one per budget: the sorted set.
-- ARGV    none of its own: limit, cost, length and nonce come from the driver.
-- Stored  one member for each permit, 'identity:number' with numbers from 1; its score is the last
--         instant of its lease. All members of one lease have the same score. The key's deadline is the
--         first instant after the last lease. At most 100,000 members of about 150 bytes.
-- Units   limit and cost are permits; scores and lengths are milliseconds.
-- Reply   none of its own: the driver says what it replies with.
--
-- Leases that have ended are removed by the next admission; all else reads past them.
--
-- Redis calls: ZRANGE, PTTL, TIME, ZCOUNT, ZSCORE, ZADD, ZREMRANGEBYSCORE and PEXPIREAT for an
-- admission (one ZADD for each 256 permits); ZRANGE, PTTL, TIME, ZCOUNT, ZSCORE, ZCOUNT and ZRANGE for
-- a denial; ZRANGE, PTTL, TIME, ZCOUNT, ZSCORE, ZREM, ZRANGE and PEXPIREAT for a release.

local RUN = 256

local function member(identity, number)
  return identity .. ':' .. digits(number)
end

-- A reply that must be a number: the number, and what is wrong.
local function count(reply)
  if type(reply) == 'table' then
    return nil, wrong_with(reply)
  end
  return reply, nil
end

-- The last instant of the lease at `place` in the order of their ends; nil where there is none.
local function end_at(key, place)
  local found = redis.pcall('ZRANGE', key, digits(place), digits(place), 'WITHSCORES')
  if found.err then
    return nil, wrong_with(found)
  end
  local last = whole(found[2])
  return last, found[1] and not last and 'a lease that ends at no instant' or nil
end

-- The last instant of a lease that lasts; nil where it does not.
local function end_of(key, identity)
  local score = redis.pcall('ZSCORE', key, member(identity, 1))
  if type(score) == 'table' then
    return nil, wrong_with(score)
  end
  local last = whole(score)
  return last and last >= now() and last or nil, nil
end

local function read(key)
  local last, wrong = end_at(key, -1)
  if not last then
    return nil, wrong
  end
  local left_ms
  left_ms, wrong = left_of(key)
  if not left_ms then
    return nil, wrong
  end
  local total
  total, wrong = count(redis.pcall('ZCOUNT', key, digits(now()), '+inf'))
  return not wrong and {total = total, last = last} or nil, wrong
end

local function room(total, ask)
  return math.max(0, ask.limit - total)
end

local function judge(leases, ask, key)
  local total = leases and leases.total or 0
  local remaining = room(total, ask)
  if leases then
    local held, wrong = end_of(key, ask.nonce)
    if held or wrong then
      return nil, nil, nil, wrong or {invalid = 'the nonce of the request already names a lease'}
    end
  end
  if ask.cost > ask.limit then
    return false, remaining, NEVER
  end
  if ask.cost <= remaining then
    return true
  end
  -- So many have to end before the cost fits; those that have ended already come first in the order.
  local ended, wrong = count(redis.pcall('ZCOUNT', key, '-inf', '(' .. digits(now())))
  local last
  if not wrong then
    last, wrong = end_at(key, ended + total - (ask.limit - ask.cost) - 1)
  end
  return false, remaining, last and math.max(1, last + 1 - now()), wrong
end

-- Gives each permit of a lease its score; `options` are those of ZADD.
local function save(key, options, identity, permits, last)
  for from = 1, permits, RUN do
    local words = {key, unpack(options)}
    for number = from, math.min(permits, from + RUN - 1) do
      words[#words + 1] = digits(last)
      words[#words + 1] = member(identity, number)
    end
    write('ZADD', unpack(words))
  end
end

local function charge(key, leases, ask)
  local present = leases or {total = 0, last = 0}
  local last = now() + ask.length
  local latest = math.max(last, present.last)
  save(key, {}, ask.nonce, ask.cost, last)
  write('ZREMRANGEBYSCORE', key, '-inf', '(' .. digits(now()))
  write('PEXPIREAT', key, digits(latest + 1))
  local total = present.total + ask.cost
  return total, room(total, ask), latest + 1 - now(), ask.nonce, 0
end

local function view(leases, ask)
  if leases.total == 0 then
    return nil
  end
  return leases.total, room(leases.total, ask), math.max(1, leases.last + 1 - now())
end

-- A lease is given back whole.
local function credit(key, _, ask)
  local last, wrong = end_of(key, ask.identity)
  if wrong then
    return nil, nil, wrong
  end
  return last and CREDITED or LATE, last and ask.charged or 0
end

local function give_back(key, _, ask, units)
  local given = 0
  for from = 1, units, RUN do
    local members = {}
    for number = from, math.min(units, from + RUN - 1) do
      members[#members + 1] = member(ask.identity, number)
    end
    given = given + write('ZREM', key, unpack(members))
  end
  local last = end_at(key, -1)
  if last then
    write('PEXPIREAT', key, digits(last + 1))
  end
  return given
end

local function renew(key, leases, ask)
  local last, wrong = end_of(key, ask.identity)
  if not last then
    return nil, wrong
  end
  local extended = math.max(last, now() + ask.length)
  save(key, {'XX'}, ask.identity, ask.charged, extended)
  write('PEXPIREAT', key, digits(math.max(extended, leases.last) + 1))
  return math.max(1, extended + 1 - now())
end

return {
  read = read, judge = judge, charge = charge, view = view,
  credit = credit, give_back = give_back, renew = renew,
}
