-- A token bucket that believes its caller's clock.
--
-- KEYS    [1] the bucket: a hash of `tokens` left and `at`, when they were counted.
-- ARGV    [1] capacity, [2] milliseconds in which it fills, [3] cost, [4] the caller's time in ms.
-- Reply   1 admitted, 0 denied.

local capacity, fill_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local cost, now = tonumber(ARGV[3]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(state[1] or capacity), tonumber(state[2] or now)
tokens = math.min(capacity, tokens + math.floor(math.max(0, now - at) * capacity / fill_ms))
local admitted = cost <= tokens
if admitted then
  tokens = tokens - cost
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.0f', tokens), 'at', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return admitted and 1 or 0
