-- Correct what is known of hosts with cold URLs, after the runs of their partition were merged.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the migrator, then for each host: name, the best_cold that it must still have as 12
--       bytes, the new best_cold (or empty: nothing is cold any more), number of its cold URLs that were evicted, floor (or empty)
-- Returns 1; -1 when the migrator was replaced.

if is_fenced(ARGV[3]) then
    return -1
end
for at = 4, #ARGV, 5 do
    local host = known_host(ARGV[at])
    if host and ARGV[at + 1] == struct.pack('>dI4', host.best_cold, host.best_cold_age) then
        set_cold(host, ARGV[at + 2] == '' and 0 or math.max(0, host.cold - tonumber(ARGV[at + 3])))
        host.best_cold, host.best_cold_age, host.floor = NOTHING, YOUNGEST, tonumber(ARGV[at + 4]) or NOTHING
        if ARGV[at + 2] ~= '' then
            host.best_cold, host.best_cold_age = struct.unpack('>dI4', ARGV[at + 2])
        end
    end
end
tidy()
write_sums()
return 1
