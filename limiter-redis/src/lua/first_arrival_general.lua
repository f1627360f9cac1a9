-- The first-arrival window as one rule among others: first_arrival.lua stands in front, and this
-- gives its functions the form that common.lua describes.
--
-- KEYS, ARGV, stored, units: as there.
-- Reply   none of its own. A window is over one millisecond after its last one.

local function room(total, limit)
  return math.max(0, limit - total)
end

return {
  read = function(key)
    local total, left_ms, wrong = read(key)
    return total and {total = total, left_ms = left_ms}, wrong
  end,

  judge = function(window, ask)
    local total = window and window.total or 0
    if ask.cost > ask.limit then
      return false, room(total, ask.limit), NEVER
    end
    if judge(total, ask.limit, ask.cost) then
      return true
    end
    return false, room(total, ask.limit), window.left_ms + 1
  end,

  charge = function(key, window, ask)
    window = window or {}
    local total, left_ms = charge(key, window.total, window.left_ms, ask.cost_text, ask.length_text)
    written = true
    return total, room(total, ask.limit), left_ms + 1, '0', total
  end,

  view = function(window, ask)
    return window.total, room(window.total, ask.limit), window.left_ms + 1
  end,
}
