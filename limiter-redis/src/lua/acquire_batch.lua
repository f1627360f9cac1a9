-- Driver: decides many charges, each for itself, in the order in which they came.
--
-- KEYS    the budgets, each once; those that are asked the same stand together.
-- ARGV    for each such group: number of keys, length, number of runs; then for each run: limit, cost,
--         times. A run is as many equal charges in a row. All as decimal digits. Most budgets are asked
--         the same, and every argument is work for the server.
-- Units   limit, cost and total in units of the policy; length and what is left in milliseconds.
-- Reply   three values for each run of each key, in order:
--         admitted, total, left until the window's last millisecond, or -2 where none is open: so
--         many of the run were charged, its first ones, and total is what is charged after them. The
--         others were denied.
--         -1, what is wrong, 0: the stored state is not this script's own; nothing was charged.
--         -2, why, 0: the server refused to read or to write this budget; nothing was charged to it.
--
-- All counters come with one MGET. Beside it a budget needs PTTL and INCRBY, or PTTL for a denial.
-- MGET says nil of another type too, so where it does the budget is read by itself: GET and SET, or GET
-- for a denial. Each budget is written at most once. Where the server refuses one, the others are
-- decided all the same. No error leaves this script after a write.

local reply, filled = {}, 0

-- Charges with one command; what is wrong where the server refuses it.
local function write(key, stored, sum_text, length_ms)
  local written
  if stored then
    written = redis.pcall('INCRBY', key, sum_text)
  else
    written = redis.pcall('SET', key, sum_text, 'PX', length_ms)
  end
  return type(written) == 'table' and written.err
end

-- Decides `runs` on one budget. Returns a verdict and its reason where there is no decision on them.
local function decide(key, counter, length_ms, runs)
  local stored, left_ms, wrong
  if counter then
    stored, left_ms, wrong = read_stored(key, counter)
  else
    stored, left_ms, wrong = read(key)
  end
  if wrong then
    if type(wrong) == 'table' then
      return -2, wrong.err
    end
    return -1, wrong
  end
  local total, before = stored or 0, filled
  for at = 1, #runs do
    local run = runs[at]
    local limit, cost, times = run.limit, run.cost, run.times
    local admitted = 0
    -- As `judge` says it.
    while admitted < times and cost <= limit - total do
      total, admitted = total + cost, admitted + 1
    end
    reply[filled + 1], reply[filled + 2] = admitted, total
    reply[filled + 3] = left_ms or (total > 0 and length_ms) or -2
    filled = filled + 3
  end
  local sum = total - (stored or 0)
  if sum == 0 then
    return nil
  end
  local first = runs[1]
  local sum_text = sum == first.cost and first.cost_text or string.format('%.0f', sum)
  local refused = write(key, stored, sum_text, length_ms)
  if refused then
    -- The runs are told something else, in the same places.
    filled = before
    return -2, refused
  end
end

-- A user who may not run MGET reads one by one.
local counters = redis.pcall('MGET', unpack(KEYS))
if counters.err then
  counters = {}
end

local place, at = 0, 1
while place < #KEYS do
  local keys, length_ms = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local runs = {}
  at = at + 3
  for number = 1, tonumber(ARGV[at - 1]) do
    runs[number] = {
      limit = tonumber(ARGV[at]),
      cost = tonumber(ARGV[at + 1]),
      cost_text = ARGV[at + 1],
      times = tonumber(ARGV[at + 2]),
    }
    at = at + 3
  end
  for of_group = place + 1, place + keys do
    local verdict, reason = decide(KEYS[of_group], counters[of_group], length_ms, runs)
    if verdict then
      for _ = 1, #runs do
        reply[filled + 1], reply[filled + 2], reply[filled + 3] = verdict, reason, 0
        filled = filled + 3
      end
    end
  end
  place = place + keys
end
return reply
