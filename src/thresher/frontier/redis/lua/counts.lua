-- Statistics of the frontier.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings
-- Returns whether the call must be repeated, as in lease.lua, and the numbers in the order of `Counts`.

local all_awake = wake()
tidy()
local numbers = {}
for n, name in ipairs({ 'waiting', 'leased', 'done', 'failed', 'dropped', 'pages', 'relevant', 'hosts' }) do
    numbers[n] = sum(name)
end
for n, places in ipairs({ 'r', 'd', 'p' }) do
    numbers[8 + n] = redis.call('ZCARD', prefix .. places)
end
return { all_awake and 0 or 1, numbers }
