-- Set the runs of a partition: one was added, or all were merged.
-- needs: call record tiers
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the mover, partition, its runs as 12 bytes each, name of the new run (or empty), its
--       Bloom filter, then field and value of each new score that the runs have now
-- The runs that are no longer listed are noted in `O` with the time, to be deleted later.
-- Returns 1; -1 when the mover was replaced.

if is_fenced(ARGV[3]) then
    return -1
end
local partition, listed = ARGV[4], {}
for at = 1, #ARGV[5], 12 do
    listed[string.sub(ARGV[5], at, at + 7)] = true
end
if ARGV[6] ~= '' then
    redis.call('SET', prefix .. 'B' .. ARGV[6], ARGV[7])
end
local before = redis.call('HGET', prefix .. 'R', partition) or ''
for at = 1, #before, 12 do
    local name = string.sub(before, at, at + 7)
    if not listed[name] then
        redis.call('DEL', prefix .. 'B' .. name)
        redis.call('HSET', prefix .. 'O', name, exact(now))
    end
end
if ARGV[5] == '' then
    redis.call('HDEL', prefix .. 'R', partition)
else
    redis.call('HSET', prefix .. 'R', partition, ARGV[5])
end
for at = 8, #ARGV, 2 do
    if redis.call('HGET', prefix .. 'o' .. partition, ARGV[at]) == ARGV[at + 1] then
        redis.call('HDEL', prefix .. 'o' .. partition, ARGV[at])
    end
end
return 1
