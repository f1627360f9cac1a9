-- What is remembered of an admission under a request id: a string with a deadline of its own.
--
-- KEYS    the record.
-- ARGV    none of its own: digests and the life come from the driver.
-- Stored  the digest of the request, and for each charge: total, remaining, milliseconds until it is as
--         if never used, identity, serial, digest of the charge, and 1 where it was given back, else 0.
--         All with one space between them; digests in 32 hexadecimal digits, numbers in decimal ones.
-- Units   as those of the rules.
-- Reply   none of its own: the driver says what it replies with.

local PARTS = 7

-- The parts of the record, the digest of the request first; nil where there is none.
local function read_record(key)
  local text = redis.pcall('GET', key)
  if not text then
    return nil, nil
  end
  if type(text) == 'table' then
    return nil, wrong_with(text)
  end
  local parts = {}
  for part in string.gmatch(text, '[^ ]+') do
    parts[#parts + 1] = part
  end
  if #parts % PARTS ~= 1 or table.concat(parts, ' ') ~= text or #parts[1] ~= 32 then
    return nil, 'not a record'
  end
  for place = 2, #parts, PARTS do
    for number = place, place + 4 do
      if number ~= place + 3 and not whole(parts[number]) then
        return nil, 'not a record'
      end
    end
  end
  local left_ms, wrong = left_of(key)
  return left_ms and parts or nil, wrong
end

-- The reply to a repeat: the first admission, or why it is not given again.
local function repeated(parts, digest)
  if parts[1] ~= digest then
    return {-2, 'the request id was used for other budgets or costs: allowed is a new id'}
  end
  local reply = {2}
  for place = 2, #parts, PARTS do
    if parts[place + PARTS - 1] ~= '0' then
      return {-2, 'the admission under this request id was refunded: allowed is a new id'}
    end
    for number = place, place + 4 do
      reply[#reply + 1] = number == place + 3 and parts[number] or tonumber(parts[number])
    end
  end
  return reply
end

-- Where the record speaks of a charge: the place of its mark, nil where it does not.
local function mark_of(parts, ask)
  for place = 2, #parts, PARTS do
    local same = parts[place + 3] == ask.identity and tonumber(parts[place + 4]) == ask.serial
    if same and parts[place + 5] == ask.digest then
      return place + PARTS - 1
    end
  end
  return nil
end

