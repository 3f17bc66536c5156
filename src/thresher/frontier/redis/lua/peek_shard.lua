-- Poll what a shard could lease.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, maximum number of scores
-- Returns pages, open leases, the scores of its best ready hosts, and the hosts whose cached links are invalid
-- (`afresh`).

reap()
wake()
tidy()
write_sums()
local ready = redis.call('ZREVRANGE', prefix .. 'r', 0, tonumber(ARGV[3]) - 1, 'WITHSCORES')
local scores = {}
for n = 2, #ready, 2 do
    scores[n / 2] = ready[n]
end
sums = {}
return { sum('pages'), sum('leased'), scores, afresh }
