-- Driver: lets leases end a full length from now, unless they end later.
--
-- KEYS    [1] the budget.
-- ARGV    [1] stored form, [2] length, [3] permits of the lease, [4] its identity.
-- Units   permits, milliseconds.
-- Reply   {1, time until the lease is over}: extended. {0}: it had ended or was released.
--         {-1, 1, what is wrong}: the stored state is not as it is written; nothing was changed.
--         NOTWRITTEN, HALFWRITTEN: a write failed, and it was the first, or was not. Any other error:
--         a read failed, and nothing was changed.

local ask = {length = tonumber(ARGV[2]), charged = tonumber(ARGV[3]), identity = ARGV[4]}
local of = rule(ARGV[1])
local state, wrong = of.read(KEYS[1], ask)
if wrong then
  return type(wrong) == 'table' and wrong or {-1, 1, wrong}
end
if not state then
  return {0}
end
return apply(function()
  local over_in
  over_in, wrong = of.renew(KEYS[1], state, ask)
  if wrong then
    return type(wrong) == 'table' and wrong or {-1, 1, wrong}
  end
  return over_in and {1, over_in} or {0}
end)
