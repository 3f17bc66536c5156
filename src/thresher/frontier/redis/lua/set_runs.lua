-- Set the runs of a partition: one was added, several were merged, or damaged ones are left out.
-- needs: call record tiers
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the migrator, partition, its runs as 12 bytes each, name of the new run (or empty), its
--       Bloom filter, number of damaged runs, for each its name and number of URLs, then field and value of each new
--       score that the runs have now
-- The runs that are no longer listed are noted in `O` with the time, to be deleted later; damaged ones in `D`.
-- Returns 1; -1 when the migrator was replaced.

if is_fenced(ARGV[3]) then
    return -1
end
local partition, listed = ARGV[4], {}
for at = 1, #ARGV[5], 12 do
    listed[string.sub(ARGV[5], at, at + 7)] = true
end
local damaged, scores_at = {}, 9 + 2 * tonumber(ARGV[8])
for at = 9, scores_at - 1, 2 do
    damaged[ARGV[at]] = ARGV[at + 1]
end
if ARGV[6] ~= '' then
    redis.call('SET', prefix .. 'B' .. ARGV[6], ARGV[7])
end
local before = redis.call('HGET', prefix .. 'R', partition) or ''
for at = 1, #before, 12 do
    local name = string.sub(before, at, at + 7)
    if not listed[name] then
        redis.call('DEL', prefix .. 'B' .. name)
        if damaged[name] then
            redis.call('HSET', prefix .. 'D', name, damaged[name])
        else
            redis.call('HSET', prefix .. 'O', name, exact(now))
        end
    end
end
if ARGV[5] == '' then
    redis.call('HDEL', prefix .. 'R', partition)
else
    redis.call('HSET', prefix .. 'R', partition, ARGV[5])
end
for at = scores_at, #ARGV, 2 do
    if redis.call('HGET', prefix .. 'o' .. partition, ARGV[at]) == ARGV[at + 1] then
        redis.call('HDEL', prefix .. 'o' .. partition, ARGV[at])
    end
end
return 1
