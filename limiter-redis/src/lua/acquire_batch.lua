-- Driver: decides many charges, each for itself, in the order in which they came.
--
-- KEYS    the budgets, each once.
-- ARGV    for each key: length, number of runs; then for each of its runs: limit, cost, times. A run
--         is as many equal charges in a row. All as decimal digits.
-- Units   limit, cost and total in units of the policy; length and what is left in milliseconds.
-- Reply   three values for each run, in order:
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

local function tell(admitted, total, left_ms)
  reply[filled + 1], reply[filled + 2], reply[filled + 3] = admitted, total, left_ms
  filled = filled + 3
end

-- Budgets of one policy say the same numbers, and reading one costs more than looking it up.
local numbers = {}
local function number_of(text)
  local number = numbers[text]
  if not number then
    number = tonumber(text)
    numbers[text] = number
  end
  return number
end

-- How many of `times` equal charges there is room for, and the total after them.
local function judge_run(total, limit, cost, times)
  local admitted = 0
  while admitted < times and judge(total, limit, cost) do
    total, admitted = (total or 0) + cost, admitted + 1
  end
  return admitted, total
end

-- Decides the runs from `first` to `last` of one budget. Returns a verdict and its reason where
-- there is no decision on them.
local function decide(key, counter, length_ms, first, last)
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
  local total, before = stored, filled
  for run = first, last, 3 do
    local limit, cost, times = number_of(ARGV[run]), number_of(ARGV[run + 1]), number_of(ARGV[run + 2])
    local admitted
    admitted, total = judge_run(total, limit, cost, times)
    tell(admitted, total or 0, left_ms or (total and number_of(length_ms)) or -2)
  end
  local sum = (total or 0) - (stored or 0)
  if sum == 0 then
    return nil
  end
  local first_cost = ARGV[first + 1]
  local sum_text = sum == number_of(first_cost) and first_cost or string.format('%.0f', sum)
  local written, why = pcall(charge, key, stored, left_ms, sum_text, length_ms)
  if written then
    return nil
  end
  -- The runs are told something else, in the same places.
  filled = before
  return -2, type(why) == 'table' and why.err or tostring(why)
end

-- A user who may not run MGET reads one by one.
local counters = redis.pcall('MGET', unpack(KEYS))
if counters.err then
  counters = {}
end

local at = 1
for place = 1, #KEYS do
  local first = at + 2
  local last = first + 3 * number_of(ARGV[at + 1]) - 1
  local verdict, reason = decide(KEYS[place], counters[place], ARGV[at], first, last)
  if verdict then
    for _ = first, last, 3 do
      tell(verdict, reason, 0)
    end
  end
  at = last + 1
end
return reply
