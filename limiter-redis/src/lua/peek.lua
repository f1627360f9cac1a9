-- Driver: looks at one budget and changes nothing.
--
-- KEYS    [1] the budget.
-- ARGV    none.
-- Units   total in units of the policy; what is left in milliseconds.
-- Reply   {1, total, left until the window's last millisecond}: a window is open.
--         {0, 0, -2}: none is open.
--         {-1, what is wrong, 0}: the stored state is not one that the acquire script writes.
--         An error: the server refused a read.

local total, left_ms, wrong = read(KEYS[1])
if wrong then
  if type(wrong) == 'table' then
    return wrong
  end
  return {-1, wrong, 0}
end
if total then
  return {1, total, left_ms}
end
return {0, 0, -2}
