-- Leases: `L` has each by its fence, `l` their end times. The end in `L` has a minus sign when the request is sent.

-- A store that was restarted may have lost its last second or two, and with it leases whose fetches continue. Their
-- hosts are unknown; so nothing is leased until the longest lease that was requested before would have expired.
local function is_paused(seconds, is_new)
    local kept = redis.call('HMGET', prefix .. 'x', 'longest', 'pause')
    local longest, pause = tonumber(kept[1] or 0), tonumber(kept[2] or 0)
    if is_new and longest > silence then
        pause = math.max(pause, now - silence + longest)
        redis.call('HSET', prefix .. 'x', 'pause', exact(pause))
    end
    if seconds > longest then
        redis.call('HSET', prefix .. 'x', 'longest', exact(seconds))
    end
    return pause > now
end

local function grant(host, seconds, worker)
    local rest, record = take_best(host)
    local number = string.format('%.0f', redis.call('HINCRBY', prefix .. 'x', 'fence', 1))
    local hash, member = seen_of(host, rest)
    redis.call('SADD', seen_key(hash), exact(member))
    redis.call('HSET', prefix .. 'L', number,
        struct.pack('>dI1c0I2c0I2c0', now + seconds, #worker, worker, #host.name, host.name, #rest, rest) .. record)
    redis.call('ZADD', prefix .. 'l', exact(now + seconds), number)
    host.leased = host.leased + 1
    count('leased', 1)
    note_asked(host)
    return number
end

local function read_lease(number)
    local kept = redis.call('HGET', prefix .. 'L', number)
    if not kept then
        return nil
    end
    local lease, at = { number = number }, nil
    lease.ends, lease.worker, lease.host, lease.rest, at = struct.unpack('>dI1c0I2c0I2c0', kept)
    lease.begun, lease.ends = lease.ends < 0, math.abs(lease.ends)
    lease.record = string.sub(kept, at)
    return lease
end

-- Return the lease with this number if it is still held. The end must match too: a store that crashed and lost its last
-- second may assign a number again.
local function held(number, ends)
    local lease = read_lease(number)
    return lease and lease.ends > now and lease.ends == ends and lease or nil
end

-- A lease as it is returned.
local function shown(number)
    local lease = read_lease(number)
    local host = host_of(lease.host)
    return { lease.host, lease.rest, lease.record, number, exact(lease.ends), host.pages, host.relevant }
end

-- Return the leases that the same request was granted before, when the response was lost.
local function granted_before(worker, request)
    local numbers = {}
    local kept = redis.call('HGET', prefix .. 'g', worker)
    if kept and string.sub(kept, 1, 8) == request then
        for number in string.gmatch(string.sub(kept, 9), '%d+') do
            local lease = read_lease(number)
            if lease and lease.ends > now and lease.worker == worker then
                numbers[#numbers + 1] = number
            end
        end
    end
    return numbers
end

local function end_lease(lease)
    redis.call('HDEL', prefix .. 'L', lease.number)
    redis.call('ZREM', prefix .. 'l', lease.number)
    local host = host_of(lease.host)
    host.leased = host.leased - 1
    count('leased', -1)
    return host
end

local function wait_again(host, lease, record)
    local hash, member = seen_of(host, lease.rest)
    redis.call('SREM', seen_key(hash), exact(member))
    put_back(host, lease.rest, record)
    afresh[#afresh + 1] = host.name
end

-- The newest settled URLs are kept with their records; of older ones only whether they are done or failed.
local SETTLED_KEPT = 10000

-- `F` counts failed URLs by host and the beginning of the reason, encoded as in reasons/reason.py; when it is full, new pairs are counted together in
-- the field ' '.
local FAILURES_KEPT, REASON_BYTES = 10000, 120

local function count_failure(host, reason)
    local field = host.name .. ' ' .. string.sub(reason, 1, REASON_BYTES)
    local key = prefix .. 'F'
    if redis.call('HLEN', key) >= FAILURES_KEPT and redis.call('HEXISTS', key, field) == 0 then
        field = ' '
    end
    redis.call('HINCRBY', key, field, 1)
end

local function settle(host, lease, url, state)
    local hash, member = seen_of(host, lease.rest)
    count(state, 1)
    if state == 'failed' then
        host.failed = host.failed + 1
        count_failure(host, url.reason)
        redis.call('SADD', failed_key(hash), exact(member))
    end
    local name = identity(hash, member)
    redis.call('HSET', prefix .. 't', name, write_record(url))
    if redis.call('RPUSH', prefix .. 'T', name) > SETTLED_KEPT then
        redis.call('HDEL', prefix .. 't', redis.call('LPOP', prefix .. 'T'))
    end
end

-- The tries of a record and, times this, its leases that expired before a request was reported.
local UNBEGUN = 8

-- Count a try of a URL, or such a lease (`step`); after too many it has failed.
local function count_try(host, lease, url, last_reason, step)
    url.tries = url.tries + (step or 1)
    if url.tries % UNBEGUN < max_tries and url.tries < UNBEGUN * max_unbegun then
        wait_again(host, lease, write_record(url))
    else
        url.reason = last_reason
        settle(host, lease, url, 'failed')
    end
end

-- End expired leases; return whether all of them were ended.
local function reap()
    local numbers = redis.call('ZRANGEBYSCORE', prefix .. 'l', '-inf', exact(now), 'LIMIT', 0, most_at_once)
    for _, number in ipairs(numbers) do
        local lease = read_lease(number)
        local host = end_lease(lease)
        host.next_time = free_time(host, lease.ends)
        local url = read_record(lease.record)
        if lease.begun then
            count_try(host, lease, url, 'worker-lost\t' .. url.tries % UNBEGUN + 1)
        else
            local times = math.floor(url.tries / UNBEGUN) + 1
            count_try(host, lease, url, 'lease-expired\t' .. times, UNBEGUN)
        end
    end
    return #numbers < most_at_once
end
