-- Driver: decides one charge, and applies it if it is admitted.
--
-- KEYS    [1] the budget.
-- ARGV    [1] limit, [2] cost, [3] length, all as decimal digits.
-- Units   limit, cost and total in units of the policy; length and what is left in milliseconds.
-- Reply   {1, total with this charge, left until the window's last millisecond}: admitted, charged.
--         {0, total, left until the window's last millisecond, or -2 where none is open}: denied.
--         {-1, what is wrong, 0}: the stored state is not this script's own; nothing was charged.
--         An error: nothing was charged, because the only write is the last call, and failed.
-- Several charges will reply with three values for each, in order: room for up to 16.
--
-- The state is read even where the cost is above the limit, so that a damaged budget is reported
-- as one whatever is asked of it.

local total, left_ms, wrong = read(KEYS[1])
if wrong then
  if type(wrong) == 'table' then
    return wrong
  end
  return {-1, wrong, 0}
end
if not judge(total, tonumber(ARGV[1]), tonumber(ARGV[2])) then
  return {0, total or 0, left_ms or -2}
end
return {1, charge(KEYS[1], total, left_ms, ARGV[2], ARGV[3])}
