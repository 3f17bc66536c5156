-- Remove hot URLs that a registered run has.
-- needs: call record tiers host queue seen
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the migrator, then for each host: name, floor (or empty: as it is), number of URLs,
--       and for each URL: rest, hash, record
-- Returns how many were removed: those whose records are still the same; -1 when the migrator was replaced.

if is_fenced(ARGV[3]) then
    return -1
end

-- Put all URLs of a host into its first chunk.
local function join(host)
    flush(host)
    for chunk = 1, host.chunks - 1 do
        local flat = redis.call('HGETALL', chunk_key(host, chunk))
        if #flat > 0 then
            redis.call('HSET', host_key(host.name), unpack(flat))
            redis.call('DEL', chunk_key(host, chunk))
        end
    end
    redis.call('DEL', index_key(host))
    host.chunks, host.index = 1, nil
    look_again(host, 0)
end

local function keep_tries(host, rest, record)
    local tries = has(string.byte(record, 5), HISTORY) and read_record(record).tries or 0
    if tries > 0 then
        redis.call('HSET', prefix .. 'A', url_key(seen_of(host, rest)), tries)
    end
end

local function spill(host, at, number)
    local gone, chunks = 0, {}
    for place = at, at + 3 * number - 1, 3 do
        local rest, chunk, record = ARGV[place], chunk_of(host, tonumber(ARGV[place + 1])), ARGV[place + 2]
        if redis.call('HGET', chunk_key(host, chunk), rest) == record then
            redis.call('HDEL', chunk_key(host, chunk), rest)
            gone, chunks[chunk] = gone + 1, true
            raise_best_cold(host, rank_of(record))
            keep_tries(host, rest, record)
        end
    end
    for chunk in pairs(chunks) do
        look_again(host, chunk)
    end
    host.waiting, host.cold = host.waiting - gone, host.cold + gone
    count('cold', gone)
    if host.chunks > 1 and host.waiting > 0 and host.waiting <= chunk_size / 2 then
        join(host)
    end
    return gone
end

local at, gone = 4, 0
while ARGV[at] do
    local host, floor, number = known_host(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    if host then
        gone = gone + spill(host, at + 3, number)
        host.floor = floor or host.floor
        host.over_quota = false
        if redis.call('SREM', prefix .. 'w' .. partition_of(host), host.name) == 1 then
            local partition = partition_of(host)
            if tonumber(redis.call('ZINCRBY', prefix .. 'W', -1, partition)) <= 0 then
                redis.call('ZREM', prefix .. 'W', partition)
            end
        end
    end
    at = at + 3 + 3 * number
end
tidy()
write_sums()
return gone
