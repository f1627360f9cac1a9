-- Driver: looks at one budget of any rule and changes nothing.
--
-- KEYS    [1] the budget.
-- ARGV    [1] stored form, [2] limit, [3] burst, [4] length; numbers as decimal digits.
-- Units   total and remaining in units of the policy; times in milliseconds.
-- Reply   {1, total, remaining, time until the budget is as if never used}
--         {0}: it is as if never used.
--         {-1, 1, what is wrong}: the stored state is not as it is written.
--         An error: the server refused a read.

local ask = {limit = tonumber(ARGV[2]), burst = tonumber(ARGV[3]), length = tonumber(ARGV[4])}
local of = rule(ARGV[1])
local state, wrong = of.read(KEYS[1], ask)
if wrong then
  return type(wrong) == 'table' and wrong or {-1, 1, wrong}
end
if not state then
  return {0}
end
local total, remaining, over_in = of.view(state, ask)
return total and {1, total, remaining, over_in} or {0}
