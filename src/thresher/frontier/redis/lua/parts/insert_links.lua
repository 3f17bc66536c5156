-- Adds links. They are grouped by host: the host's name, the number of links, and for each link its rest, its member of
-- the seen sets, and a header of its index in the call (I2) and hash (I4) before the record without its age.

local HEAD = 6

-- Merge a link that was found again while it waits; nil when that changes nothing.
local function merged(before, found)
    local score, found_score = rank_of(before), rank_of(found)
    local flags, found_flags = string.byte(before, 5), string.byte(found, 5)
    if merge ~= 'a' and not has(flags, STEPS) and not has(found_flags, STEPS)
        and (found_score <= score or merge == 'f') and found_flags >= flags - flags % 16 then
        return nil  -- a page, as others are sent with steps, of no better score and no fewer hops: the most frequent case
    end
    local url, again = read_record(before), read_record(found)
    url.depth_left = math.max(url.depth_left, again.depth_left)
    url.hops = math.min(url.hops, again.hops)
    if again.kind > 0 then
        url.kind = math.max(url.kind, again.kind)
    end
    if merge ~= 'f' then
        if found_score > score then
            url.strategy_data, url.parent, url.redirects = again.strategy_data, again.parent, again.redirects
        end
        if merge == 'a' then
            url.score = (score * url.found + found_score) / (url.found + 1)
            url.found = url.found + 1
        else
            url.score = math.max(score, found_score)
        end
    end
    local after = write_record(url)
    return after ~= before and after or nil
end

-- A full host of several chunks need not add what it would evict at once: a link that occurs only once in this call and
-- ranks behind all waiting URLs. Return a function that checks this.
local function gate(host, links)
    if host.chunks == 1 or host.waiting < waiting_per_host then
        return function() return false end
    end
    local bound, times = worst_bound(host), {}
    for _, at in ipairs(links) do
        times[ARGV[at]] = (times[ARGV[at]] or 0) + 1
    end
    return function(rest, score, age)
        return times[rest] == 1 and is_before(bound.worst, bound.worst_age, score, age)
    end
end

-- Add links to a chunk. `links`: where each begins in ARGV; `kept`: the waiting records of the chunk by name.
local function let_into_chunk(host, chunk, links, kept, first_age, is_shut)
    local waiting, again = {}, false
    local writes = chunk == 0 and host.writes or {}
    for n, at in ipairs(links) do
        local rest, found, record = ARGV[at], ARGV[at + 2], nil
        local before = waiting[rest] or kept[n]
        if before then
            record = merged(before, string.sub(before, 1, 4) .. string.sub(found, HEAD + 1))
            if record then
                local score, age = rank_of(record)
                again = again or score < rank_of(before)
                note_rank(host, chunk, score, age)
            end
        else
            local place, hash = struct.unpack('>I2I4', found)
            if redis.call('SISMEMBER', seen_key(hash), ARGV[at + 1]) == 0 then
                record = struct.pack('>I4', math.min(first_age + place, YOUNGEST)) .. string.sub(found, HEAD + 1)
                local score, age = rank_of(record)
                local known = is_cold(host, hash, ARGV[at + 1])
                local stays = known and (merge == 'f' or score <= host.floor)
                if not stays then
                    note_found(host, known)
                end
                if stays then
                    record = nil
                elseif is_shut(rest, score, age) then
                    note_evicted(host, hash, ARGV[at + 1])
                    record = nil
                else
                    record = known and with_tries(record, hash, ARGV[at + 1]) or record
                    forget_eviction(hash, ARGV[at + 1])
                    host.waiting = host.waiting + 1
                    count('waiting', 1)
                    note_rank(host, chunk, score, age)
                end
            end
        end
        if record then
            waiting[rest] = record
            writes[#writes + 1] = rest
            writes[#writes + 1] = record
        end
    end
    if chunk > 0 and #writes > 0 then
        redis.call('HSET', chunk_key(host, chunk), unpack(writes))
    end
    if again then
        look_again(host, chunk)
    end
end

local function kept_in(key, links, more)
    local rests = { more }
    for _, at in ipairs(links) do
        rests[#rests + 1] = ARGV[at]
    end
    return redis.call('HMGET', key, unpack(rests))
end

-- Add links to a host of several chunks.
local function let_into_chunks(host, links, first_age)
    local chunks, is_shut = {}, gate(host, links)
    for _, at in ipairs(links) do
        local _, hash = struct.unpack('>I2I4', ARGV[at + 2])
        local chunk = chunk_of(host, hash)
        chunks[chunk] = chunks[chunk] or {}
        table.insert(chunks[chunk], at)
    end
    for chunk, there in pairs(chunks) do
        let_into_chunk(host, chunk, there, kept_in(chunk_key(host, chunk), there), first_age, is_shut)
    end
end

local function let_into_host(name, links, first_age)
    local host, kept = hosts[name], nil
    if host then
        flush(host)
        kept = host.chunks == 1 and kept_in(host_key(name), links)
    else  -- most hosts have one chunk: the host's record and its waiting URLs are read together
        kept = kept_in(host_key(name), links, '')
        host = host_of(name, table.remove(kept, 1))
    end
    if host.chunks == 1 then
        let_into_chunk(host, 0, links, kept, first_age, gate(host, links))
    else
        let_into_chunks(host, links, first_age)
    end
end

-- Add the links of `groups` hosts, starting at ARGV[at]; return the index after them.
local function insert_links(at, groups, first_age)
    for _ = 1, groups do
        local name, links = ARGV[at], {}
        for n = 1, tonumber(ARGV[at + 1]) do
            links[n] = at + 3 * n - 1
        end
        let_into_host(name, links, first_age)
        at = at + 2 + 3 * #links
    end
    return at
end

-- Reserve ages for this many links; return the first.
local function ages(links)
    return redis.call('HINCRBY', prefix .. 'x', 'age', links) - links
end
