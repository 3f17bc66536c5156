-- Forget that URLs were settled, so that they can be added again.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, then for each URL: host, rest, hash, member
-- Returns how many were settled.
--
-- Only the reason of a done URL shows whether it was a page: pages have none, or one of those listed below, the last one
-- as versions up to 0.2.0 wrote it. The reasons
-- of the newest settled URLs are kept; older ones are assumed to have been pages.

local PAGE = { [''] = true, truncated = true, rendered = true, ['through a browser'] = true }

local function is_leased(host, rest)
    for _, number in ipairs(host.leased > 0 and redis.call('HKEYS', prefix .. 'L') or {}) do
        local lease = read_lease(number)
        if lease.host == host.name and lease.rest == rest then
            return true
        end
    end
    return false
end

local function reopen(host, rest, hash, member)
    if not host or redis.call('SISMEMBER', seen_key(hash), member) == 0 or is_leased(host, rest) then
        return 0
    end
    local name = hash .. ' ' .. member
    local record = redis.call('HGET', prefix .. 't', name)
    local failed = redis.call('SREM', failed_key(hash), member)
    redis.call('SREM', seen_key(hash), member)
    redis.call('HDEL', prefix .. 't', name)
    count(failed == 1 and 'failed' or 'done', -1)
    host.failed = host.failed - failed
    if failed == 0 and host.pages > 0 and (not record or PAGE[string.match(read_record(record).reason or '', '^[^\t]*')]) then
        local relevant = math.min(host.relevant, host.pages - 1)
        count('pages', -1)
        count('relevant', relevant - host.relevant)
        host.pages, host.relevant = host.pages - 1, relevant
        note_asked(host)
    end
    return 1
end

local reopened = 0
for at = 3, #ARGV, 4 do
    reopened = reopened + reopen(known_host(ARGV[at]), ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3])
end
tidy()
write_sums()
return reopened
