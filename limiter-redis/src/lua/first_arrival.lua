-- The first-arrival window on one budget: a plain integer with a deadline, and nothing else.
--
-- KEYS    one per budget: the counter.
-- ARGV    none of its own: limit, cost and length come from the driver.
-- Stored  units charged in the open window, as decimal digits; the key's deadline is the window's
--         last millisecond, set by the first admission and moved by nothing else.
-- Units   limit, cost and total are whole units, 0 to 2^53 - 1, which a Lua number holds exactly;
--         length and deadline are milliseconds. Cost and length are passed on as the strings they
--         came in as: a Lua number of more than 14 digits would not survive becoming text.
-- Reply   none of its own: the driver says what it replies with.
--
-- Redis calls: GET and SET for the first arrival; GET, PTTL and INCRBY for every other admission;
-- GET and PTTL for a denial, or GET alone where no window is open. The one write is the last call.

-- The open window whose counter is `stored`: its total and the milliseconds until its last one. A
-- third value says what is wrong: a string for state that this script did not write, the error reply
-- itself for a read that the server refused.
local function read_stored(key, stored)
  -- tonumber would also take '0x10', '1e3', ' 5 ' and 'nan', which INCRBY refuses. Sixteen digits
  -- hold every allowed count, and every larger one of them still compares as larger.
  if #stored > 16 or not string.find(stored, '^[1-9][0-9]*$') and stored ~= '0' then
    return nil, nil, 'not a count'
  end
  local total = tonumber(stored)
  if total > 9007199254740991 then
    return nil, nil, 'a count above 2^53 - 1'
  end
  local left_ms = redis.pcall('PTTL', key)
  if type(left_ms) == 'table' then
    return nil, nil, left_ms
  end
  if left_ms < 0 then
    return nil, nil, 'no deadline'
  end
  return total, left_ms, nil
end

-- The same, or nothing where none is open.
local function read(key)
  local stored = redis.pcall('GET', key)
  if not stored then
    return nil, nil, nil
  end
  if type(stored) == 'table' then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return nil, nil, 'not a string'
    end
    return nil, nil, stored
  end
  return read_stored(key, stored)
end

-- Whether the window, where one is open, has room for the cost. Subtracting cannot overflow; a
-- total above a lowered limit leaves less than nothing, and every cost is at least 1.
local function judge(total, limit, cost)
  return cost <= limit - (total or 0)
end

-- Charges, and returns the new total and the milliseconds until the window's last one. `cost` and
-- `length_ms` are strings. A first arrival creates the counter with its deadline in one command.
local function charge(key, total, left_ms, cost, length_ms)
  if total then
    return redis.call('INCRBY', key, cost), left_ms
  end
  redis.call('SET', key, cost, 'PX', length_ms)
  return tonumber(cost), tonumber(length_ms)
end
