-- The beginning of every script. KEYS[1]: the prefix of the shard's keys, with its hash tag. ARGV[1]: the time in
-- seconds, empty for the store's own clock. ARGV[2]: the settings of the frontier, see `Settings` in scripts.py.

local prefix = KEYS[1]

-- A number with all its digits: tostring keeps only 14.
local function exact(number)
    return string.format('%.17g', number)
end

-- The store's clock may be set at any time, and no wait may get shorter by that. So our time continues from where it
-- was when the clock steps back, and when it jumps ahead while a lease is open: then calls come several times a second,
-- so a longer gap means that the clock was set, or that the store or all workers were stopped.
local LEAP_SECONDS = 1

local silence = 0  -- seconds since the last call, as far as the clock can be trusted

local function time_of_store()
    local time = redis.call('TIME')
    local clock = tonumber(time[1]) + tonumber(time[2]) / 1000000
    local kept = redis.call('HMGET', prefix .. 'x', 'last', 'ahead')
    local last, ahead = tonumber(kept[1] or 0), tonumber(kept[2] or 0)
    local passed = clock - ahead - last
    if last > 0 and (passed < 0 or passed > LEAP_SECONDS and redis.call('EXISTS', prefix .. 'l') == 1) then
        ahead = clock - last
        redis.call('HSET', prefix .. 'x', 'ahead', exact(ahead))
    end
    redis.call('HSET', prefix .. 'x', 'last', exact(clock - ahead))
    silence = last > 0 and clock - ahead - last or 0
    return clock - ahead
end

local now = tonumber(ARGV[1]) or time_of_store()
local leases_per_host, waiting_per_host, first_delay, max_tries, max_unbegun, merge, chunk_size, seen_keys,
    most_at_once, hot_urls, least_hot, partitions = struct.unpack('>I4I4dI4I4c1I4I4I4dI4I4', ARGV[2])

-- Changes of counters, written once at the end of the call.
local sums = {}

local function count(name, by)
    sums[name] = (sums[name] or 0) + by
end

local function write_sums()
    for name, by in pairs(sums) do
        if by ~= 0 then
            redis.call('HINCRBY', prefix .. 'x', name, by)
        end
    end
end

local function sum(name)
    return tonumber(redis.call('HGET', prefix .. 'x', name) or 0) + (sums[name] or 0)
end
