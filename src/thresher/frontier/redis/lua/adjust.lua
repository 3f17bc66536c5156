-- Change the number of relevant pages of hosts, after pages were judged again.
-- needs: call record tiers host queue
-- KEYS: the shard's prefix
-- ARGV: time, settings, then for each host: name, change

for at = 3, #ARGV, 2 do
    local host = known_host(ARGV[at])
    if host then
        local relevant = math.max(0, math.min(host.pages, host.relevant + tonumber(ARGV[at + 1])))
        count('relevant', relevant - host.relevant)
        host.relevant = relevant
    end
end
tidy()
write_sums()
