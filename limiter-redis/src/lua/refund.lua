-- Driver: gives back what was charged once, and releases leases.
--
-- KEYS    [1] the budget. [2] the record of the request that charged it, where it had an id.
-- ARGV    [1] stored form, [2] limit, [3] burst, [4] length, [5] units to give back, [6] units charged,
--         [7] identity of what was charged: 32 hexadecimal digits, or the digits of an instant,
--         [8] serial, [9] digest of the charge, or empty without a record. Numbers as decimal digits.
-- Units   units of the policy, milliseconds.
-- Reply   {1, units}: given back. {2, 0}: too late. {3, 0}: given back before. {4, 0}: the window has
--         seen as many refunds as it can remember.
--         {-1, 1 for the budget or 0 for the record, what is wrong}: nothing was given back.
--         NOTWRITTEN, HALFWRITTEN: a write failed, and it was the first, or was not. Any other error:
--         a read failed, and nothing was given back.
--
-- A repeat hands out the same receipts again, so some of them can come twice. A window knows which of
-- its charges were given back, and a lease is gone; a rolling window and a bucket do not know, so there
-- the record decides, and without it a refund is late. The record is marked before anything is given
-- back: the other way round, an error in the middle would let a repeat be admitted for nothing.

local ask = {
  form = ARGV[1], limit = tonumber(ARGV[2]), burst = tonumber(ARGV[3]), length = tonumber(ARGV[4]),
  cost = tonumber(ARGV[5]), charged = tonumber(ARGV[6]), identity = ARGV[7], serial = tonumber(ARGV[8]),
  digest = ARGV[9], instant = whole(ARGV[7]),
}

local function outcome_of(wrong, number)
  return type(wrong) == 'table' and wrong or {-1, number, wrong}
end

local record, mark
if ask.digest ~= '' then
  local wrong
  record, wrong = read_record(KEYS[2])
  if wrong then
    return outcome_of(wrong, 0)
  end
  mark = record and mark_of(record, ask)
  if mark and record[mark] ~= '0' then
    return {REPEATED, 0}
  end
  if not mark and (ask.form == 'rolling' or ask.form == 'token-bucket') then
    return {LATE, 0}
  end
end

local of = rule(ask.form)
local state, wrong = of.read(KEYS[1], ask)
if wrong then
  return outcome_of(wrong, 1)
end
if not state then
  return {LATE, 0}
end
local outcome, units
outcome, units, wrong = of.credit(KEYS[1], state, ask)
if wrong then
  return outcome_of(wrong, 1)
end
if outcome ~= CREDITED then
  return {outcome, 0}
end
return apply(function()
  if mark then
    record[mark] = '1'
    write('SET', KEYS[2], table.concat(record, ' '), 'KEEPTTL')
  end
  return {CREDITED, of.give_back(KEYS[1], state, ask, units) or units}
end)
