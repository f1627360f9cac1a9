-- Driver: looks at one budget and changes nothing.
--
-- KEYS    [1] the budget.
-- ARGV    none.
-- Reply   {1, total, milliseconds until the window's last one}: a window is open.
--         {0, 0, -2}: none is open.
--         {-1, what is wrong, 0}: the stored state is not one that the acquire script writes.

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
