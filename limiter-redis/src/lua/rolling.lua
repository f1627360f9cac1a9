-- The rolling window on one budget: a hash with a deadline.
--
-- KEYS    one per budget: the hash.
-- ARGV    none of its own: limit, cost and length come from the driver.
-- Stored  h, t   index of the oldest and of the latest entry, 1 to 2^53 - 1
--         s      units of all entries from h to t
--         an index, as decimal digits, for each millisecond in which something was admitted:
--                'instant units'. Instants ascend. Only the latest entry can have 0 units: refunded,
--                it still says how far time had come.
--         The key's deadline is the first instant at which nothing counts any more. At most 4,097
--         entries of about 90 bytes.
-- Units   s, units, limit and cost are whole units, 0 to 2^53 - 1; instants and lengths are
--         milliseconds.
-- Reply   none of its own: the driver says what it replies with.
--
-- What was admitted at t counts from t to t + length, both included. Where the clock stepped back, the
-- instant of the latest entry is the present one. Entries that no longer count are removed by the next
-- admission; a denial reads past them.
--
-- Redis calls: HMGET, PTTL, TIME, HSET and PEXPIREAT for the first admission; one HGET, an HMGET for
-- each run of entries that no longer count, and one HDEL more for every other. A denial walks to the
-- entry that it waits for: the runs grow from 8 entries to 512, so that is up to 14 HMGET. A refund
-- searches its entry by halving: up to 13 HGET.

local FIRST_RUN, LONGEST_RUN = 8, 512
local MOST_ENTRIES = 4097

local function entry(text)
  local at, units = string.match(text or '', '^(%d+) (%d+)$')
  at, units = whole(at), whole(units)
  if not at or not units then
    return nil
  end
  return at, units
end

local function entry_text(at, units)
  return digits(at) .. ' ' .. digits(units)
end

local function names_of(from, to)
  local names = {}
  for index = from, to do
    names[#names + 1] = digits(index)
  end
  return names
end

-- Visits the entries in order until `visit` returns true. Returns what is wrong.
local function walk(key, from, to, visit)
  local run = FIRST_RUN
  while from <= to do
    local last = math.min(to, from + run - 1)
    local texts = redis.pcall('HMGET', key, unpack(names_of(from, last)))
    if texts.err then
      return wrong_with(texts)
    end
    for index = from, last do
      local at, units = entry(texts[index - from + 1])
      if not at then
        return 'not the entries of a rolling window'
      end
      if visit(index, at, units) then
        return nil
      end
    end
    from, run = last + 1, math.min(run * 2, LONGEST_RUN)
  end
  return nil
end

local function entry_at(key, index)
  local text = redis.pcall('HGET', key, digits(index))
  if type(text) == 'table' then
    return nil, nil, wrong_with(text)
  end
  local at, units = entry(text)
  return at, units, not at and 'not the entries of a rolling window' or nil
end

-- h, t and s, checked.
local function read_frame(key)
  local frame = redis.pcall('HMGET', key, 'h', 't', 's')
  if frame.err then
    return nil, wrong_with(frame)
  end
  local left_ms, wrong = left_of(key)
  if not left_ms then
    return nil, wrong
  end
  local head, tail, sum = whole(frame[1]), whole(frame[2]), whole(frame[3])
  if not head or not tail or not sum or head < 1 or tail < head or tail - head >= MOST_ENTRIES then
    return nil, 'not a rolling window'
  end
  return {head = head, tail = tail, sum = sum}, nil
end

-- `first` is the oldest entry that counts, `total` what counts from it on.
local function read(key, ask)
  local rolling, wrong = read_frame(key)
  if not rolling then
    return nil, wrong
  end
  rolling.last_at, rolling.last_units, wrong = entry_at(key, rolling.tail)
  if wrong then
    return nil, wrong
  end
  rolling.instant = math.max(now(), rolling.last_at)
  rolling.first, rolling.total = rolling.tail + 1, rolling.sum
  wrong = walk(key, rolling.head, rolling.tail, function(index, at, units)
    if at + ask.length >= rolling.instant then
      rolling.first = index
      return true
    end
    rolling.total = rolling.total - units
  end)
  if not wrong and rolling.total < 0 then
    wrong = 'not the sum of its entries'
  end
  return not wrong and rolling or nil, wrong
end

local function room(total, ask)
  return math.max(0, ask.limit - total)
end

local function judge(rolling, ask, key)
  local total = rolling and rolling.total or 0
  local remaining = room(total, ask)
  if ask.cost > ask.limit then
    return false, remaining, NEVER
  end
  if ask.cost <= remaining then
    return true
  end
  local allowed, left, wait = ask.limit - ask.cost, total, nil
  local wrong = walk(key, rolling.first, rolling.tail, function(_, at, units)
    left = left - units
    if left <= allowed then
      wait = at + ask.length + 1 - now()
      return true
    end
  end)
  if not wait and not wrong then
    wrong = 'not the sum of its entries'
  end
  return false, remaining, wait, wrong
end

local function remove(key, from, to)
  while from <= to do
    local last = math.min(to, from + LONGEST_RUN - 1)
    write('HDEL', key, unpack(names_of(from, last)))
    from = last + 1
  end
end

local function charge(key, rolling, ask)
  rolling = rolling or {head = 1, first = 1, tail = 0, total = 0, instant = now()}
  local at, index, units = rolling.instant, rolling.tail + 1, ask.cost
  if rolling.last_at == at then
    index, units = rolling.tail, rolling.last_units + ask.cost
  elseif rolling.last_units == 0 then
    index = rolling.tail
  end
  local first, total = math.min(rolling.first, index), rolling.total + ask.cost
  write('HSET', key, 'h', digits(first), 't', digits(index), 's', digits(total),
    digits(index), entry_text(at, units))
  remove(key, rolling.head, first - 1)
  local over_at = at + ask.length + 1
  write('PEXPIREAT', key, digits(over_at))
  return total, room(total, ask), over_at - now(), digits(at), 0
end

local function view(rolling, ask)
  if rolling.first > rolling.tail then
    return nil
  end
  local over_in = rolling.last_at + ask.length + 1 - now()
  return rolling.total, room(rolling.total, ask), over_in
end

-- The identity of a charge is its instant. The entry is looked for by halving.
local function credit(key, rolling, ask)
  local from, to = rolling.first, rolling.tail
  while from <= to do
    local middle = math.floor((from + to) / 2)
    local at, units, wrong = entry_at(key, middle)
    if wrong then
      return nil, nil, wrong
    end
    if at == ask.instant then
      rolling.found, rolling.found_units = middle, units
      return units > 0 and CREDITED or LATE, math.min(ask.cost, units)
    end
    if at < ask.instant then
      from = middle + 1
    else
      to = middle - 1
    end
  end
  return LATE, 0
end

-- Moves the entries from `from` to `to` by one place.
local function move(key, from, to, by)
  local moved = {}
  walk(key, from, to, function(index, at, units)
    moved[#moved + 1] = digits(index + by)
    moved[#moved + 1] = entry_text(at, units)
  end)
  for start = 1, #moved, 2 * LONGEST_RUN do
    write('HSET', key, unpack(moved, start, math.min(#moved, start + 2 * LONGEST_RUN - 1)))
  end
end

-- An entry without units is taken out, so that no more are kept than there can be units; the shorter
-- side closes up.
local function give_back(key, rolling, ask, units)
  local index, left = rolling.found, rolling.found_units - units
  local sum = digits(rolling.sum - units)
  if left > 0 or index == rolling.tail then
    write('HSET', key, 's', sum, digits(index), entry_text(ask.instant, left))
  elseif index - rolling.head < rolling.tail - index then
    write('HSET', key, 's', sum, 'h', digits(rolling.head + 1))
    move(key, rolling.head, index - 1, 1)
    write('HDEL', key, digits(rolling.head))
  else
    write('HSET', key, 's', sum, 't', digits(rolling.tail - 1))
    move(key, index + 1, rolling.tail, -1)
    write('HDEL', key, digits(rolling.tail))
  end
end

return {
  read = read, judge = judge, charge = charge, view = view,
  credit = credit, give_back = give_back,
}
