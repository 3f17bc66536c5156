-- The waiting URLs of a host: a hash from the URL's rest to its record, small enough to stay a compact listpack.
--
-- A host with more than `chunk_size` URLs has several such hashes, its chunks, added one at a time (linear hashing).
-- Then `i<host>` has for each chunk the rank of its best URL, exact, and a lower bound of the ranks of its URLs: the
-- rank of its worst URL when the chunk was last read, or of a worse one added since.

local function chunk_key(host, chunk)
    return chunk == 0 and host_key(host.name) or host_key(host.name) .. ' ' .. chunk
end

-- The hash of a URL, and its member in the sets of seen.lua.
local function seen_of(host, rest)
    local digest = redis.sha1hex(host.name .. rest)
    return tonumber(string.sub(digest, 1, 8), 16), tonumber(string.sub(digest, 9, 21), 16)
end

-- The greatest power of two that does not exceed the number of chunks.
local function doubled(chunks)
    local power = 1
    while 2 * power <= chunks do
        power = 2 * power
    end
    return power
end

local function chunk_of(host, hash)
    if host.chunks == 1 then
        return 0
    end
    local half = doubled(host.chunks)
    local chunk = hash % (2 * half)
    return chunk < host.chunks and chunk or chunk - half
end

-- Index of chunks

local function index_key(host)
    return prefix .. 'i' .. host.name
end

local function read_index(host)
    if not host.index then
        host.index = {}
        local flat = redis.call('HGETALL', index_key(host))
        for n = 1, #flat, 2 do
            local entry = {}
            entry.best, entry.best_age, entry.worst, entry.worst_age = struct.unpack('>dI4dI4', flat[n + 1])
            host.index[tonumber(flat[n])] = entry
        end
    end
    return host.index
end

local function write_index(host, chunk)
    local entry = host.index[chunk]
    redis.call('HSET', index_key(host), chunk, struct.pack('>dI4dI4', entry.best, entry.best_age, entry.worst, entry.worst_age))
end

-- Compute the host's best from those of its chunks.
local function find_best(host)
    host.best, host.best_age = NOTHING, YOUNGEST
    for chunk, entry in pairs(read_index(host)) do
        if is_before(entry.best, entry.best_age, host.best, host.best_age) then
            host.best, host.best_age, host.best_chunk = entry.best, entry.best_age, chunk
        end
    end
end

-- A record was added, or its rank rose: update the bests.
local function note_rank(host, chunk, score, age)
    if host.chunks > 1 then
        local index = read_index(host)
        local entry = index[chunk]
        local changed = not entry
        entry = entry or { best = NOTHING, best_age = YOUNGEST, worst = math.huge, worst_age = 0 }
        index[chunk] = entry
        if is_before(score, age, entry.best, entry.best_age) then
            entry.best, entry.best_age, changed = score, age, true
        end
        if is_before(entry.worst, entry.worst_age, score, age) then
            entry.worst, entry.worst_age, changed = score, age, true
        end
        if changed then
            write_index(host, chunk)
        end
    end
    if is_before(score, age, host.best, host.best_age) then
        host.best, host.best_age = score, age
    end
end

-- Search a chunk for its best URL, the rank of the next, and that of the worst.
local function look_through(host, chunk)
    flush(host)
    local flat = redis.call('HGETALL', chunk_key(host, chunk))
    local best, best_age, second, second_age, best_at = NOTHING, YOUNGEST, NOTHING, YOUNGEST, 0
    local worst, worst_age = math.huge, 0
    for n = 2, #flat, 2 do
        if flat[n - 1] ~= '' then
            local score, age = rank_of(flat[n])
            if score > best or score == best and age < best_age then
                second, second_age = best, best_age
                best, best_age, best_at = score, age, n
            elseif score > second or score == second and age < second_age then
                second, second_age = score, age
            end
            if score < worst or score == worst and age > worst_age then
                worst, worst_age = score, age
            end
        end
    end
    return {
        best = best, best_age = best_age, best_rest = flat[best_at - 1], best_record = flat[best_at],
        second = second, second_age = second_age, worst = worst, worst_age = worst_age,
    }
end

-- Write the ranks of a chunk's best and worst; the host's own best is not updated yet.
local function note_ends(host, chunk, best, best_age, worst, worst_age)
    if host.chunks == 1 then
        host.best, host.best_age = best, best_age
    elseif best == NOTHING then
        read_index(host)[chunk] = nil
        redis.call('HDEL', index_key(host), chunk)
    else
        read_index(host)[chunk] = { best = best, best_age = best_age, worst = worst, worst_age = worst_age }
        write_index(host, chunk)
    end
end

local function note_chunk(host, chunk, best, best_age, worst, worst_age)
    note_ends(host, chunk, best, best_age, worst, worst_age)
    if host.chunks > 1 then
        find_best(host)
    end
end

local function look_again(host, chunk)
    local seen = look_through(host, chunk)
    note_chunk(host, chunk, seen.best, seen.best_age, seen.worst, seen.worst_age)
end

-- Operations

-- Add a chunk: about half of an older one moves there.
local function split(host)
    local half = doubled(host.chunks)
    local from, to = host.chunks - half, host.chunks
    if host.chunks == 1 then
        host.index = {}
    else
        read_index(host)
    end
    flush(host)
    local flat = redis.call('HGETALL', chunk_key(host, from))
    local moved, gone = {}, {}
    for n = 1, #flat, 2 do
        local rest = flat[n]
        if rest ~= '' and seen_of(host, rest) % (2 * half) == to then
            gone[#gone + 1] = rest
            moved[#moved + 1] = rest
            moved[#moved + 1] = flat[n + 1]
        end
    end
    host.chunks = host.chunks + 1
    for n = 1, #gone, 1000 do
        redis.call('HDEL', chunk_key(host, from), unpack(gone, n, math.min(n + 999, #gone)))
        redis.call('HSET', chunk_key(host, to), unpack(moved, 2 * n - 1, math.min(2 * n + 1998, #moved)))
    end
    look_again(host, from)
    if #gone > 0 then
        look_again(host, to)
    end
end

local function put_back(host, rest, record)
    local chunk = chunk_of(host, host.chunks > 1 and seen_of(host, rest) or 0)
    redis.call('HSET', chunk_key(host, chunk), rest, record)
    host.waiting = host.waiting + 1
    count('waiting', 1)
    note_rank(host, chunk, rank_of(record))
end

local function best_chunk(host)
    if host.chunks == 1 then
        return 0
    end
    find_best(host)
    return host.best_chunk
end

local function take_best(host)
    local chunk = best_chunk(host)
    local seen = look_through(host, chunk)
    redis.call('HDEL', chunk_key(host, chunk), seen.best_rest)
    host.waiting = host.waiting - 1
    count('waiting', -1)
    note_chunk(host, chunk, seen.second, seen.second_age, seen.worst, seen.worst_age)
    return seen.best_rest, seen.best_record
end

-- The worst of the lower bounds of a host of several chunks.
local function worst_bound(host)
    local worst
    for _, entry in pairs(read_index(host)) do
        if not worst or is_before(worst.worst, worst.worst_age, entry.worst, entry.worst_age) then
            worst = entry
        end
    end
    return worst
end

-- Chunks with their lower bounds, the worst bound first.
local function by_bounds(host)
    if host.chunks == 1 then
        return { { chunk = 0, worst = NOTHING, worst_age = YOUNGEST } }
    end
    local bounds = {}
    for chunk, entry in pairs(read_index(host)) do
        bounds[#bounds + 1] = { chunk = chunk, worst = entry.worst, worst_age = entry.worst_age }
    end
    table.sort(bounds, function(one, other)
        return is_before(other.worst, other.worst_age, one.worst, one.worst_age)
    end)
    return bounds
end

-- Add a URL to the worst, of which at most `most` are kept: a heap with the best of them on top.
local function keep_worst(heap, url, most)
    local at = #heap + 1
    if at > most then  -- it replaces the one on top, and sinks
        at = 1
        while 2 * at <= most do
            local below = 2 * at
            if below < most and is_before(heap[below + 1].score, heap[below + 1].age, heap[below].score, heap[below].age) then
                below = below + 1
            end
            if is_before(url.score, url.age, heap[below].score, heap[below].age) then
                break
            end
            heap[at], at = heap[below], below
        end
    else  -- it is added at the bottom, and rises
        while at > 1 do
            local above = math.floor(at / 2)
            if is_before(heap[above].score, heap[above].age, url.score, url.age) then
                break
            end
            heap[at], at = heap[above], above
        end
    end
    heap[at] = url
end

-- Evicted URLs: `e<number>` has those that were not added again, as seen.lua has seen ones. `dropped` counts all evictions,
-- `recorded` those that were recorded: earlier versions did not.

local function evicted_key(hash)
    return prefix .. 'e' .. hash % seen_keys
end

-- `member`: in digits.
local function note_evicted(host, hash, member)
    redis.call('SADD', evicted_key(hash), member)
    count('dropped', 1)
    count('recorded', 1)
    afresh[#afresh + 1] = host.name
end

local ever_evicted

-- A URL waits that may have been evicted before.
local function forget_eviction(hash, member)
    ever_evicted = ever_evicted or sum('recorded')
    if ever_evicted > 0 then
        redis.call('SREM', evicted_key(hash), member)
    end
end

-- Delete the URLs of a chunk that rank behind the cut, and the cut itself.
local function cut_chunk(host, seen, cut)
    local gone, best, best_age, worst, worst_age = {}, NOTHING, YOUNGEST, math.huge, 0
    for n, rest in ipairs(seen.rests) do
        local score, age = seen.scores[n], seen.ages[n]
        if not is_before(score, age, cut.score, cut.age) then
            local hash, member = seen_of(host, rest)
            gone[#gone + 1] = rest
            note_evicted(host, hash, exact(member))
        else
            if is_before(score, age, best, best_age) then
                best, best_age = score, age
            end
            if is_before(worst, worst_age, score, age) then
                worst, worst_age = score, age
            end
        end
    end
    if #gone > 0 then
        redis.call('HDEL', chunk_key(host, seen.chunk), unpack(gone))
    end
    note_ends(host, seen.chunk, best, best_age, worst, worst_age)
    host.waiting = host.waiting - #gone
    count('waiting', -#gone)
end

-- Maximum number of chunks that are searched for a host's worst URLs, so that it never takes long.
local MAX_EXAMINED = 8

-- Evict this many of a host's worst URLs. Each chunk is searched at most once, and none whose bound is too good. Of a
-- host with very many chunks, only those with the worst bounds are searched.
local function push_out(host, surplus)
    flush(host)
    local worst, looked_at = {}, {}
    for _, bound in ipairs(by_bounds(host)) do
        local is_full = #worst == surplus
        if is_full and is_before(bound.worst, bound.worst_age, worst[1].score, worst[1].age) then
            break
        elseif is_full and #looked_at >= MAX_EXAMINED then
            break
        end
        local seen = { chunk = bound.chunk, rests = {}, scores = {}, ages = {} }
        looked_at[#looked_at + 1] = seen
        local flat = redis.call('HGETALL', chunk_key(host, bound.chunk))
        for n = 2, #flat, 2 do
            if flat[n - 1] ~= '' then
                local at, score, age = #seen.rests + 1, rank_of(flat[n])
                seen.rests[at], seen.scores[at], seen.ages[at] = flat[n - 1], score, age
                if #worst < surplus or is_before(worst[1].score, worst[1].age, score, age) then
                    keep_worst(worst, { score = score, age = age }, surplus)
                end
            end
        end
    end
    for _, seen in ipairs(looked_at) do
        cut_chunk(host, seen, worst[1])
    end
    if host.chunks > 1 then
        find_best(host)
    end
end

-- The end of every change: evict URLs of full hosts, keep chunks small, and write each touched host.
local function tidy()
    for _, host in ipairs(touched) do
        if host.waiting > waiting_per_host then
            push_out(host, host.waiting - waiting_per_host)
        end
        while host.waiting > host.chunks * chunk_size do
            split(host)
        end
        if host.waiting == 0 and host.chunks > 1 then
            redis.call('DEL', index_key(host))
            host.chunks, host.index, host.best, host.best_age = 1, nil, NOTHING, YOUNGEST
        end
        list_tiers(host)
        place(host)
        write_host(host)
    end
    touched, hosts = {}, {}
end
