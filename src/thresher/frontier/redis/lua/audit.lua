-- Compare the counts of hosts with their waiting URLs and leases, and correct them.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, whether to correct them (1 or 0), then for each host: name, its member of `r` (or empty)
-- Returns the sums of the counts of waiting and of leased URLs, and for each wrong count: host, kind, count, what is there.

local repair, waiting, leased, wrong, leases = ARGV[3] == '1', 0, 0, {}, {}
for _, lease in ipairs(redis.call('HVALS', prefix .. 'L')) do
    local _, _, name = struct.unpack('>dI1c0I2c0', lease)
    leases[name] = (leases[name] or 0) + 1
end

-- Whether a host with waiting URLs is where `lease` looks for it.
local function is_listed(host)
    if host.stage == READY then
        return redis.call('ZSCORE', prefix .. 'r', turn(host.name, host.was_age))
    elseif host.stage == DELAYED or host.stage == PARKED then
        return redis.call('ZSCORE', prefix .. (host.stage == DELAYED and 'd' or 'p'), host.name)
    end
    return host.stage == HELD or host.waiting == 0
end

-- The record of a host is gone: return a new one, with the chunks that there are.
local function rebuilt(name)
    local host = host_of(name)
    count('hosts', -1)  -- it was counted when it was added
    for _, chunk in ipairs(redis.call('HKEYS', index_key(host))) do
        host.chunks = math.max(host.chunks, chunk + 1)
    end
    return host
end

local function correct(host, member, there, open)
    redis.call('ZREM', prefix .. 'r', member)
    redis.call('ZREM', prefix .. 'd', host.name)
    redis.call('ZREM', prefix .. 'p', host.name)
    host.was_stage = EMPTY
    count('waiting', there - host.waiting)
    count('leased', open - host.leased)
    host.waiting, host.leased = there, open
    for chunk = 0, host.chunks - 1 do
        look_again(host, chunk)
    end
end

for at = 4, #ARGV, 2 do
    local name, errors = ARGV[at], {}
    local known = known_host(name)
    local host = known or rebuilt(name)
    local there, open = known and -1 or 0, leases[name] or 0  -- the record is an entry too
    for chunk = 0, host.chunks - 1 do
        there = there + redis.call('HLEN', chunk_key(host, chunk))
    end
    waiting, leased = waiting + host.waiting + host.cold, leased + host.leased
    if not known then
        errors[1] = { name, 'hosts', 1, 0 }
    elseif not is_listed(host) then
        errors[1] = { name, 'leasable', host.waiting, 0 }
    end
    if host.waiting ~= there then
        errors[#errors + 1] = { name, 'waiting', host.waiting, there }
    end
    if host.leased ~= open then
        errors[#errors + 1] = { name, 'leased', host.leased, open }
    end
    for _, error in ipairs(errors) do
        wrong[#wrong + 1] = error
    end
    if repair and #errors > 0 then
        correct(host, ARGV[at + 1], there, open)
    end
end
if repair then
    tidy()
    write_sums()
end
return { waiting, leased, wrong }
