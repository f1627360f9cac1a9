-- Driver: decides one to sixteen charges of any rules, and applies all of them if all are admitted.
--
-- KEYS    one per charge: its budget. Then the record of the request, where it has an id.
-- ARGV    [1] nonce, 32 hexadecimal digits, or empty where no charge needs one
--         [2] digest of the request, 32 hexadecimal digits, or empty where it has no id
--         [3] life of the record
--         then six for each charge: stored form, limit, burst, length, cost, digest of the charge (or
--         empty). The burst is the largest cost that can be admitted. Numbers as decimal digits.
-- Units   limit, burst, cost, total, remaining in units of the policy; all times in milliseconds.
-- Reply   {1, then five for each charge: total, remaining, time until the budget is as if never used,
--         identity of what was charged, serial}: admitted, charged.
--         {2, the same}: admitted before under this id; nothing was charged now.
--         {0, then three for each charge that was denied: its number, remaining, wait, or -1 where no
--         wait will do}: denied.
--         {-1, then two for each budget that is not as written: the number of the charge, or 0 for the
--         record; what is wrong}: nothing was charged.
--         {-2, why}: it cannot be served as it was asked; nothing was charged.
--         NOTWRITTEN, HALFWRITTEN: a write failed, and it was the first, or was not. Any other error:
--         a read failed, and nothing was charged.
--
-- Everything is read and judged before the first write. The record is written last: should it be
-- missing, a repeat charges again, which is waste; a record without its charges would admit a repeat
-- that nobody paid for.

local HEAD, PER_CHARGE = 3, 6
local nonce, digest = ARGV[1], ARGV[2]
local count = (#ARGV - HEAD) / PER_CHARGE

if digest ~= '' then
  local record, wrong = read_record(KEYS[count + 1])
  if wrong then
    return type(wrong) == 'table' and wrong or {-1, 0, wrong}
  end
  if record then
    return repeated(record, digest)
  end
end

local asks, states, damaged = {}, {}, {-1}
local refusals = {0}

-- Notes what is wrong with a budget; returns the reply, where the whole call ends by it.
local function report(number, wrong)
  if type(wrong) == 'table' then
    return wrong.invalid and {-2, wrong.invalid} or wrong
  end
  damaged[#damaged + 1] = number
  damaged[#damaged + 1] = wrong
  return nil
end

for number = 1, count do
  local at = HEAD + (number - 1) * PER_CHARGE
  local ask = {
    form = ARGV[at + 1], limit = tonumber(ARGV[at + 2]), burst = tonumber(ARGV[at + 3]),
    length = tonumber(ARGV[at + 4]), length_text = ARGV[at + 4],
    cost = tonumber(ARGV[at + 5]), cost_text = ARGV[at + 5], digest = ARGV[at + 6], nonce = nonce,
  }
  local key, of = KEYS[number], rule(ask.form)
  local state, wrong = of.read(key, ask)
  local admitted, remaining, wait
  if not wrong then
    admitted, remaining, wait, wrong = of.judge(state, ask, key)
  end
  if wrong then
    local reply = report(number, wrong)
    if reply then
      return reply
    end
  elseif not admitted then
    refusals[#refusals + 1] = number
    refusals[#refusals + 1] = remaining
    refusals[#refusals + 1] = wait
  end
  asks[number], states[number] = ask, state or false
end

if #damaged > 1 then
  return damaged
end
if #refusals > 1 then
  return refusals
end

-- What a charge did, into the reply; and as texts into the record, where there is one.
local function note(reply, record, digest_of_charge, total, remaining, over_in, identity, serial)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = total, remaining, over_in
  reply[at + 4], reply[at + 5] = identity, serial
  if record then
    at = #record
    record[at + 1], record[at + 2], record[at + 3] = digits(total), digits(remaining), digits(over_in)
    record[at + 4], record[at + 5] = identity, digits(serial)
    record[at + 6], record[at + 7] = digest_of_charge, '0'
  end
end

return apply(function()
  local reply, record = {1}, digest ~= '' and {digest}
  for number = 1, count do
    local ask, key = asks[number], KEYS[number]
    note(reply, record, ask.digest, rule(ask.form).charge(key, states[number] or nil, ask))
  end
  if record then
    write('SET', KEYS[count + 1], table.concat(record, ' '), 'PX', ARGV[3])
  end
  return reply
end)
