-- Hosts with cold URLs: their worse waiting URLs are not in the store but in runs, objects of a cold storage
-- (`frontier/tiered/`). The record of such a host has four more fields:
--
--     cold       number of its cold URLs; an estimate after one of them was found again
--     best_cold  rank of the best of them, score and best_cold_age: no cold URL ranks before it
--     floor      score below which a cold URL that is found again keeps its score
--
-- A host is `to_load` while its best URL may be cold, and `over_quota` while more URLs are hot than its allowance. Both are
-- listed once: in `N`, and in `w<partition>` with the number of these hosts in `W`.
-- `R` has the runs of each partition: for each 8 bytes of name and 4 of size of its Bloom filter, `B<name>`.
-- `D` has the runs that were damaged, each with the number of URLs that were lost with it; 0 after these were queued again.
-- `o<partition>` has new scores of cold URLs until they are read: by the key of the URL, the score, the score that it must
-- still have (or nothing) and the first age that is not affected, several separated by `;`.
-- `A` has the tries of those cold URLs that were tried before, by the same key, until they are hot again.

local NOTHING = -math.huge
local COLD_FORMAT = '>I4dI4d'
local OVER_QUOTA, TO_LOAD, HAS_COLD = 32, 64, 128
local PROBES = 6  -- of a Bloom filter, as in runs.py

local function has_cold(host)
    return host.best_cold > NOTHING
end

-- The rank of a host's best URL, hot or cold.
local function top(host)
    if is_before(host.best_cold, host.best_cold_age, host.best, host.best_age) then
        return host.best_cold, host.best_cold_age
    end
    return host.best, host.best_age
end

-- Whether the best URL may be cold, so that none may be leased before it is loaded. One of the same rank as the best hot
-- URL is that of its older copy.
local function must_load(host)
    return is_before(host.best_cold, host.best_cold_age, host.best, host.best_age)
end

local function raise_best_cold(host, score, age)
    if is_before(score, age, host.best_cold, host.best_cold_age) then
        host.best_cold, host.best_cold_age = score, age
    end
end

-- Raise best_cold a little. A migrator that read the scores before then finds another one, and reads them again: otherwise
-- it could set one below a new score, and that URL would be taken for one that was loaded.
local function nudge_best_cold(host)
    if host.best_cold_age > 0 then
        host.best_cold_age = host.best_cold_age - 1
    else
        host.best_cold = host.best_cold + math.max(math.abs(host.best_cold) * 2 ^ -52, 5e-324)
        host.best_cold_age = YOUNGEST
    end
end

local allowed

-- Maximum number of hot URLs of one host.
local function allowance()
    if not allowed then
        local known = tonumber(redis.call('HGET', prefix .. 'x', 'hosts') or 0) + (sums.hosts or 0)
        allowed = math.max(least_hot, math.floor(hot_urls / math.max(1, known)))
    end
    return allowed
end

local function partition_of(host)
    host.partition = host.partition or tonumber(string.sub(redis.sha1hex(host.name), 1, 8), 16) % partitions
    return host.partition
end

local function list_tiers(host)
    if hot_urls == 0 then
        return
    end
    if not host.over_quota and host.waiting > least_hot and host.waiting > allowance() then
        local partition = partition_of(host)
        host.over_quota = true
        redis.call('SADD', prefix .. 'w' .. partition, host.name)
        redis.call('ZINCRBY', prefix .. 'W', 1, partition)
    end
    if not host.to_load and has_cold(host) and (host.cold == 0 or must_load(host)) then
        host.to_load = true
        redis.call('SADD', prefix .. 'N', host.name)
    end
end

local runs_of_partition = {}

local function runs_of(host)
    local partition = partition_of(host)
    local runs = runs_of_partition[partition]
    if not runs then
        runs = {}
        local kept = redis.call('HGET', prefix .. 'R', partition) or ''
        for at = 1, #kept, 12 do
            local name, bits = struct.unpack('>c8I4', kept, at)
            runs[#runs + 1] = { key = prefix .. 'B' .. name, bits = bits }
        end
        runs_of_partition[partition] = runs
    end
    return runs
end

-- Whether a URL is cold, by the Bloom filters of its partition: never wrong when it says no. `member`: in digits.
local function is_cold(host, hash, member)
    if hot_urls == 0 or not has_cold(host) then
        return false
    end
    member = tonumber(member) % 4294967296
    for _, run in ipairs(runs_of(host)) do
        local hit, at = true, member
        for _ = 1, PROBES do
            if redis.call('GETBIT', run.key, at % run.bits) == 0 then
                hit = false
                break
            end
            at = at + hash
        end
        if hit then
            return true
        end
    end
    return false
end

-- A link was found that is not hot. A cold URL that is found again is hot from now on; its cold copy is merged into it, or
-- ignored, when that is read.
local function note_found(host, is_known)
    if not is_known then
        count('new', 1)
    elseif host.cold > 0 then
        host.cold = host.cold - 1
        count('waiting', -1)
        count('cold', -1)
    end
end

local function url_key(hash, member)
    return struct.pack('>I4I4', hash, tonumber(member) % 4294967296)
end

-- A cold URL was found again: return its new record with the tries of the cold one. So a page that kills its worker is
-- not tried more often because links lead to it.
local function with_tries(record, hash, member)
    local key = url_key(hash, member)
    local tries = redis.call('HGET', prefix .. 'A', key)
    if not tries then
        return record
    end
    redis.call('HDEL', prefix .. 'A', key)
    local url = read_record(record)
    url.tries = tonumber(tries)
    return write_record(url)
end

local next_age

-- Keep the new score of a cold URL until it is read, and raise best_cold if need be: then the URL is loaded next. A new score
-- with a condition is applied after the earlier ones. None is applied to copies that are found later.
local function note_score(host, hash, member, score, was)
    local key = url_key(hash, member)
    local field = prefix .. 'o' .. partition_of(host)
    next_age = next_age or redis.call('HGET', prefix .. 'x', 'age') or 0
    local earlier = was ~= '' and redis.call('HGET', field, key)
    redis.call('HSET', field, key, (earlier and earlier .. ';' or '') .. score .. ' ' .. was .. ' ' .. next_age)
    if is_before(tonumber(score), 0, host.best_cold, host.best_cold_age) then
        host.best_cold, host.best_cold_age = tonumber(score), 0
    else
        nudge_best_cold(host)
    end
end

local function set_cold(host, number)
    count('waiting', number - host.cold)
    count('cold', number - host.cold)
    host.cold = number
end

-- Only one process at a time moves URLs between the tiers. A later one has a greater number, and scripts refuse the
-- earlier one, which may have been stopped for longer than its lock.
local function is_fenced(number)
    return tonumber(redis.call('HGET', prefix .. 'x', 'mover') or 0) ~= tonumber(number)
end
