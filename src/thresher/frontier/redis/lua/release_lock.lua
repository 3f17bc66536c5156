-- Release a lock; it can be acquired again after a delay.
-- needs: call
-- KEYS: the shard's prefix
-- ARGV: time, settings, name of the lock, delay in seconds

local seconds = tonumber(ARGV[4])
redis.call('SET', prefix .. 'y' .. ARGV[3], exact(now + seconds), 'PX', math.ceil(1000 * seconds) + 3600000)
