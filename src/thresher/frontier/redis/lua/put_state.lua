-- Store a value about a host, with a TTL.
-- needs: call
-- KEYS: the shard's prefix
-- ARGV: time, settings, host, kind, value, seconds

local seconds = tonumber(ARGV[6])
local key = prefix .. 'n' .. ARGV[3] .. ' ' .. ARGV[4]
redis.call('SET', key, struct.pack('>d', now + seconds) .. ARGV[5], 'PX', math.ceil(math.max(seconds * 1000, 1)))
