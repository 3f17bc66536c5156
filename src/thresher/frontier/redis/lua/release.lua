-- Return leases unused.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, delay in seconds, then for each lease its fence and its end
-- Returns the hosts whose cached links are invalid (`afresh`).

local delay = tonumber(ARGV[3])
for n = 4, #ARGV, 2 do
    local lease = held(ARGV[n], tonumber(ARGV[n + 1]))
    if lease then
        local host = end_lease(lease)
        wait_again(host, lease, lease.record)
        if delay > 0 then
            leave_alone(host, delay)
        end
    end
end
tidy()
write_sums()
return afresh
