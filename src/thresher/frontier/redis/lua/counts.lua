-- Statistics of the frontier.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings
-- Returns whether the call must be repeated, as in lease.lua, and each name of `Counts` with its number.

local all_awake = wake()
tidy()
local numbers = {}
for _, name in ipairs({ 'waiting', 'leased', 'done', 'failed', 'dropped', 'pages', 'relevant', 'hosts' }) do
    numbers[#numbers + 1] = { name, sum(name) }
end
for name, places in pairs({ ready = 'r', delayed = 'd', parked = 'p' }) do
    numbers[#numbers + 1] = { name, redis.call('ZCARD', prefix .. places) }
end
local pause = tonumber(redis.call('HGET', prefix .. 'x', 'pause') or 0)
numbers[#numbers + 1] = { 'pause_seconds', math.ceil(math.max(0, pause - now)) }
return { all_awake and 0 or 1, numbers }
