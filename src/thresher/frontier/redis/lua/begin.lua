-- Record that the requests of leases are sent: the ends of begun leases are stored with a minus sign.
-- needs: call
-- KEYS: the shard's prefix
-- ARGV: time, settings, then for each lease its fence and its end

for n = 3, #ARGV, 2 do
    local kept = redis.call('HGET', prefix .. 'L', ARGV[n])
    local ends = kept and struct.unpack('>d', kept)
    if ends and ends > now and ends == tonumber(ARGV[n + 1]) then
        redis.call('HSET', prefix .. 'L', ARGV[n], struct.pack('>d', -ends) .. string.sub(kept, 9))
    end
end
return 0
