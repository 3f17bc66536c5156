-- Acquire a lock.
-- needs: call
-- KEYS: the shard's prefix
-- ARGV: time, settings, name of the lock, seconds until it expires unless it is released
-- Returns 0 when it was free, else the seconds to wait.

local key, seconds = prefix .. 'y' .. ARGV[3], tonumber(ARGV[4])
local wait = math.max(0, tonumber(redis.call('GET', key) or 0) - now)
if wait == 0 then
    redis.call('SET', key, exact(now + seconds), 'PX', math.ceil(1000 * seconds) + 3600000)
end
return exact(wait)
