-- Return a value about a host, unless it has expired.
-- needs: call
-- KEYS: the shard's prefix
-- ARGV: time, settings, host, kind

local kept = redis.call('GET', prefix .. 'n' .. ARGV[3] .. ' ' .. ARGV[4])
return kept and struct.unpack('>d', kept) > now and string.sub(kept, 9) or nil
