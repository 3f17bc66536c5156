-- Hosts: the record and the stage of each. A host's hash holds its record under the empty name, beside its waiting URLs
-- (see queue.lua).
--
-- Every host that a call touches is read once, changed in memory, and written by `tidy` at the end: into one of `r`
-- (ready, by its best URL), `d` (delayed, by its next time), `p` (parked, by the end of that), or into none while it is
-- held or has no waiting URLs.

local EMPTY, READY, HELD, DELAYED, PARKED = 0, 1, 2, 3, 4
local FORMAT = '>BI2I4I2dI4dddI4I4I4'

local touched, hosts = {}, {}
local afresh = {}  -- hosts whose links workers must not skip any more: one was evicted, or waits again

local function host_key(name)
    return prefix .. 'q' .. name
end

local function touch(host)
    hosts[host.name] = host
    touched[#touched + 1] = host
    return host
end

-- Return a known host, or nil. `kept`: its record, when that was read already.
local function known_host(name, kept)
    if hosts[name] then
        return hosts[name]
    end
    kept = kept or redis.call('HGET', host_key(name), '')
    if not kept then
        return nil
    end
    local stage, chunks, waiting, leased, best, best_age, next_time, delay, park_end, pages, relevant, failed, at =
        struct.unpack(FORMAT, kept)
    local cold, best_cold, best_cold_age, floor = 0, NOTHING, YOUNGEST, NOTHING
    if stage >= HAS_COLD then
        cold, best_cold, best_cold_age, floor, at = struct.unpack(COLD_FORMAT, kept, at)
    end
    local host = touch({
        name = name, kept = kept, stage = stage % OVER_QUOTA, chunks = chunks, waiting = waiting, leased = leased,
        best = best, best_age = best_age, next_time = next_time, delay = delay, park_end = park_end, pages = pages,
        relevant = relevant, failed = failed, parked = string.sub(kept, at),
        cold = cold, best_cold = best_cold, best_cold_age = best_cold_age, floor = floor,
        over_quota = has(stage, OVER_QUOTA), to_load = has(stage, TO_LOAD),
        was_stage = stage % OVER_QUOTA, writes = {},
    })
    host.was_best, host.was_age = top(host)
    return host
end

local function host_of(name, kept)
    local host = known_host(name, kept)
    if not host then
        count('hosts', 1)
        host = touch({
            name = name, kept = '', stage = EMPTY, chunks = 1, waiting = 0, leased = 0, best = NOTHING,
            best_age = YOUNGEST, next_time = 0, delay = -1, park_end = 0, pages = 0,
            relevant = 0, failed = 0, parked = '',
            cold = 0, best_cold = NOTHING, best_cold_age = YOUNGEST, floor = NOTHING,
            over_quota = false, to_load = false,
            was_stage = EMPTY, was_best = NOTHING, was_age = YOUNGEST, writes = {},
        })
    end
    return host
end

-- Hosts that were requested or parked, by their pages; the others are in `r`, because nothing ever happened to them.
local function note_asked(host)
    redis.call('ZADD', prefix .. 'a', -host.pages, host.name)
end

local function leave_alone(host, seconds)
    host.delay = seconds
    host.next_time = math.max(host.next_time, now + seconds)
end

-- When a host may be requested again if a lease that ends at `ends` expires.
local function free_time(host, ends)
    return math.max(host.next_time, ends + (host.delay < 0 and first_delay or host.delay))
end

-- Ready hosts with equal scores are ordered by their members: the oldest URL must have the greatest.
local function turn(name, age)
    return struct.pack('>I4', YOUNGEST - age) .. name
end

local function stage_of(host)
    if host.waiting == 0 and not has_cold(host) then
        return EMPTY
    elseif host.park_end > now then
        return PARKED
    elseif host.leased >= leases_per_host then
        return HELD
    end
    return host.next_time > now and DELAYED or READY
end

local function place(host)
    host.stage = stage_of(host)
    local moved = host.stage ~= host.was_stage
    local best, best_age = top(host)
    local turned = best ~= host.was_best or best_age ~= host.was_age
    if host.was_stage == READY and (moved or turned) then
        redis.call('ZREM', prefix .. 'r', turn(host.name, host.was_age))
    elseif host.was_stage == DELAYED and moved then
        redis.call('ZREM', prefix .. 'd', host.name)
    elseif host.was_stage == PARKED and moved then
        redis.call('ZREM', prefix .. 'p', host.name)
    end
    if host.stage == READY and (moved or turned) then
        redis.call('ZADD', prefix .. 'r', best, turn(host.name, best_age))
    elseif host.stage == DELAYED then
        redis.call('ZADD', prefix .. 'd', host.next_time, host.name)
    elseif host.stage == PARKED then
        redis.call('ZADD', prefix .. 'p', host.park_end, host.name)
    end
    host.was_stage, host.was_best, host.was_age = host.stage, best, best_age
end

-- URLs of a host's first chunk are written together with the host's record: at the end, or before they are read.
local function flush(host)
    local writes = host.writes
    if #writes > 0 then
        for n = 1, #writes, 2000 do
            redis.call('HSET', host_key(host.name), unpack(writes, n, math.min(n + 1999, #writes)))
        end
        host.writes = {}
    end
end

local function write_host(host)
    local stage = host.stage + (host.over_quota and OVER_QUOTA or 0) + (host.to_load and TO_LOAD or 0)
    local cold = ''
    if has_cold(host) then
        stage = stage + HAS_COLD
        cold = struct.pack(COLD_FORMAT, host.cold, host.best_cold, host.best_cold_age, host.floor)
    end
    local keep = struct.pack(FORMAT, stage, host.chunks, host.waiting, host.leased, host.best, host.best_age,
        host.next_time, host.delay, host.park_end, host.pages, host.relevant, host.failed) .. cold .. host.parked
    if keep ~= host.kept then
        local writes = host.writes
        writes[#writes + 1] = ''
        writes[#writes + 1] = keep
        host.kept = keep
    end
    flush(host)
end

-- Update the stages of hosts whose wake time has passed; return whether all of them were updated.
local function wake()
    local all = true
    for _, asleep in ipairs({ 'd', 'p' }) do
        local names = redis.call('ZRANGEBYSCORE', prefix .. asleep, '-inf', exact(now), 'LIMIT', 0, most_at_once)
        all = all and #names < most_at_once
        for _, name in ipairs(names) do
            host_of(name)
        end
    end
    return all
end
