-- Record cold URLs that a merge of runs is about to evict, unless they are hot, leased or settled by now.
-- needs: call record tiers host queue seen
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the migrator, then for each URL: host, rest, hash, member
-- Returns 1; -1 when the migrator was replaced.

if is_fenced(ARGV[3]) then
    return -1
end
for at = 4, #ARGV, 4 do
    local host, rest, hash, member = known_host(ARGV[at]), ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
    local is_hot = host and redis.call('HEXISTS', chunk_key(host, chunk_of(host, hash)), rest) == 1
    if host and not is_hot and not is_seen(hash, member) then
        note_evicted(host, hash, member)
    end
end
write_sums()
return 1
