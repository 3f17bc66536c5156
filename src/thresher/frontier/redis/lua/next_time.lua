-- When `lease` may return something.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings
-- Returns the seconds until then; nothing when time alone makes no URL available.

wake()
tidy()
local first = redis.call('ZCARD', prefix .. 'r') > 0 and now or math.huge
for _, asleep in ipairs({ 'd', 'p' }) do
    local soonest = redis.call('ZRANGE', prefix .. asleep, 0, 0, 'WITHSCORES')[2]
    first = math.min(first, tonumber(soonest) or math.huge)
end
-- A lease that expires makes its host ready again; those that end later than `first` need not be checked.
local at, number = 0, nil
repeat
    local ending = redis.call('ZRANGE', prefix .. 'l', at, at, 'WITHSCORES')
    number = ending[1]
    if number and tonumber(ending[2]) < first then
        local host = known_host(read_lease(number).host)
        if host.park_end < math.huge then
            first = math.min(first, free_time(host, tonumber(ending[2])))
        end
    end
    at = at + 1
until not number or tonumber(ending[2]) >= first
first = math.max(first, tonumber(redis.call('HGET', prefix .. 'x', 'pause') or 0))
return first < math.huge and exact(math.max(0, first - now)) or nil
