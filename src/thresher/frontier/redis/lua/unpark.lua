-- Allow requests to a parked host again.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings, host

local host = known_host(ARGV[3])
if host then
    host.parked, host.park_end = '', 0
    tidy()
end
