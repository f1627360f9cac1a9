-- The aligned window on one budget: a plain integer with a deadline, and nothing else.
--
-- KEYS    one per budget: the counter.
-- ARGV    none of its own: limit, cost and length come from the driver.
-- Stored  units charged in the open window, as decimal digits; the key's deadline is the first
--         millisecond of the next window. So a time-to-live of 0 means that the window is over. (Its
--         own last millisecond would not do: Valkey does not keep a key whose deadline is now, and
--         what is charged in a window's last millisecond would not count.)
-- Units   as in first_arrival.lua, which stands in front of this one and reads the counter.
-- Reply   none of its own: the driver says what it replies with.
--
-- Redis calls: GET, TIME and SET for the first admission of a window; GET, PTTL and INCRBY for every
-- other; GET and PTTL for a denial. The one write is the last call.

local read_counter = read

local function read(key)
  local total, left_ms, wrong = read_counter(key)
  if not total or left_ms == 0 then
    return nil, wrong
  end
  return {total = total, left_ms = left_ms}, nil
end

local function room(total, limit)
  return math.max(0, limit - total)
end

local function judge(window, ask)
  local remaining = room(window and window.total or 0, ask.limit)
  if ask.cost > ask.limit then
    return false, remaining, NEVER
  end
  if ask.cost <= remaining then
    return true
  end
  return false, remaining, window.left_ms
end

local function charge(key, window, ask)
  if window then
    local total = write('INCRBY', key, ask.cost_text)
    return total, room(total, ask.limit), window.left_ms, '0', total
  end
  local left_ms = ask.length - now() % ask.length
  write('SET', key, ask.cost_text, 'PXAT', digits(now() + left_ms))
  return ask.cost, room(ask.cost, ask.limit), left_ms, '0', ask.cost
end

local function view(window, ask)
  return window.total, room(window.total, ask.limit), window.left_ms
end

return {read = read, judge = judge, charge = charge, view = view}
