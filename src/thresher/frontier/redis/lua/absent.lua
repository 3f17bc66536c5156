-- Why a URL that is unknown is not there.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings, host, hash, member
-- Returns `evicted`, `filtered` when the filters of cold URLs take it for one of them, or nothing.

local host, hash, member = known_host(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
if redis.call('SISMEMBER', evicted_key(hash), member) == 1 then
    return 'evicted'
end
return host and is_cold(host, hash, member) and 'filtered' or nil
