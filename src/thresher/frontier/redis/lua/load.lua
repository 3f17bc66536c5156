-- Make the best cold URLs of hosts hot again.
-- needs: call record tiers host queue seen insert_links
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of the migrator, then for each host: name, the best_cold that it must still have as 12
--       bytes of score and age, the new best_cold in the same form (or empty: nothing is cold any more), number of URLs
--       that stay cold, floor (or empty), number of URLs, and for each URL: rest, hash, member, 8 bytes of key, record
-- Returns how many URLs became hot; -1 when the migrator was replaced.

if is_fenced(ARGV[3]) then
    return -1
end

local function load_url(host, at)
    local rest, hash, member, record = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 4]
    local chunk = chunk_of(host, hash)
    local before = redis.call('HGET', chunk_key(host, chunk), rest)
    if before then
        local _, age = rank_of(before)
        local _, cold_age = rank_of(record)
        if age == cold_age then
            return 0  -- an older copy of the same record
        end
        local oldest = struct.pack('>I4', math.min(age, cold_age))
        record = merged(oldest .. string.sub(before, 5), oldest .. string.sub(record, 5))
            or oldest .. string.sub(before, 5)
        redis.call('HSET', chunk_key(host, chunk), rest, record)
        look_again(host, chunk)
        return 0
    elseif redis.call('SISMEMBER', seen_key(hash), member) == 1 then
        return 0
    end
    redis.call('HSET', chunk_key(host, chunk), rest, record)
    forget_eviction(hash, member)
    host.waiting = host.waiting + 1
    count('waiting', 1)
    note_rank(host, chunk, rank_of(record))
    return 1
end

local at, loaded = 4, 0
while ARGV[at] do
    local host, number = known_host(ARGV[at]), tonumber(ARGV[at + 5])
    if host and ARGV[at + 1] == struct.pack('>dI4', host.best_cold, host.best_cold_age) then
        local partition = partition_of(host)
        for place = at + 6, at + 5 + 5 * number, 5 do
            loaded = loaded + load_url(host, place)
            redis.call('HDEL', prefix .. 'o' .. partition, ARGV[place + 3])
            redis.call('HDEL', prefix .. 'A', ARGV[place + 3])
        end
        set_cold(host, tonumber(ARGV[at + 3]))
        host.best_cold, host.best_cold_age, host.floor = NOTHING, YOUNGEST, tonumber(ARGV[at + 4]) or NOTHING
        if ARGV[at + 2] ~= '' then
            host.best_cold, host.best_cold_age = struct.unpack('>dI4', ARGV[at + 2])
        end
        afresh[#afresh + 1] = host.name
    end
    if host then
        host.to_load = false
    end
    redis.call('SREM', prefix .. 'N', ARGV[at])
    at = at + 6 + 5 * number
end
tidy()
write_sums()
return loaded
