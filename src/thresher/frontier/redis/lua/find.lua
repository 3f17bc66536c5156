-- Return a URL with its state.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, host, rest, hash, member
-- Returns its state and its record; no record when it was settled long ago. Nothing when it is unknown.

local host, rest, hash, member = known_host(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6]
if not host then
    return nil
end
local record = redis.call('HGET', chunk_key(host, chunk_of(host, hash)), rest)
if record then
    return { 'waiting', record }
elseif redis.call('SISMEMBER', seen_key(hash), member) == 0 then
    return nil
end
if host.leased > 0 then
    for _, number in ipairs(redis.call('HKEYS', prefix .. 'L')) do
        local lease = read_lease(number)
        if lease.host == host.name and lease.rest == rest then
            return { 'leased', lease.record }
        end
    end
end
local state = redis.call('SISMEMBER', failed_key(hash), member) == 1 and 'failed' or 'done'
return { state, redis.call('HGET', prefix .. 't', identity(hash, member)) or nil }
