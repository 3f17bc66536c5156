-- Stop requests to a host for some time; an unknown host is created.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings, host, reason, seconds (empty: without end)

local host, seconds = host_of(ARGV[3]), tonumber(ARGV[5])
host.parked, host.park_end = ARGV[4], seconds and now + seconds or math.huge
note_asked(host)
tidy()
write_sums()
