-- Settle leases, and add the links of their pages.
-- needs: call record tiers host queue seen leases insert_links
-- KEYS: the shard's prefix
-- ARGV: time, settings, then for each settlement: fence, end of the lease, outcome (done, failed or retry), reason,
--       delay in seconds, whether it is a page (1 or 0), whether that is relevant (1 or 0), why the host should be
--       parked (or empty), number of the hash of contents, hash of the content (or empty), fingerprint of the URL,
--       number of links, number of hosts, the links as in insert_links.lua
-- Returns for each settlement whether its lease was held (1 or 0), and the hosts whose cached links are invalid
-- (`afresh`).

local answer, at = {}, 3
while ARGV[at] do
    local lease = held(ARGV[at], tonumber(ARGV[at + 1]))
    local outcome, reason, delay = ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
    local page, relevant, park = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]), ARGV[at + 7]
    local contents, content, fingerprint = ARGV[at + 8], ARGV[at + 9], ARGV[at + 10]
    local links, groups = tonumber(ARGV[at + 11]), tonumber(ARGV[at + 12])
    at = at + 13
    answer[#answer + 1] = lease and 1 or 0
    if lease then
        local host, url = end_lease(lease), read_record(lease.record)
        url.reason = reason
        if outcome == 'retry' then
            count_try(host, lease, url, reason)
        else
            settle(host, lease, url, outcome)
        end
        host.pages, host.relevant = host.pages + page, host.relevant + page * relevant
        count('pages', page)
        count('relevant', page * relevant)
        note_asked(host)
        leave_alone(host, delay)
        if park ~= '' then
            host.parked, host.park_end = park, math.huge
        end
        if content ~= '' then
            redis.call('HSETNX', prefix .. 'c' .. contents, content, fingerprint)
        end
        at = insert_links(at, groups, ages(links))
    else
        for _ = 1, groups do
            at = at + 2 + 3 * tonumber(ARGV[at + 1])
        end
    end
end
tidy()
write_sums()
return { answer, afresh }
