-- Lease the best URLs of ready hosts, best first.
-- needs: call record host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, limit, seconds, worker, maximum number of pages of the crawl (or empty), 8 bytes that identify
--       this request, and `new` when the store did not have this script: it is new, or was restarted
-- Returns whether the call must be repeated, because more leases have expired and more hosts woke than one call
-- handles; the leases: host, rest, record, fence, end, pages and relevant pages of the host; and the hosts whose cached
-- links are invalid (`afresh`).

local limit, seconds, worker, pages, request = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), ARGV[7]
local paused = is_paused(seconds, ARGV[8] == 'new')
local all_ended = reap()
local all_awake = wake()
tidy()
local numbers = granted_before(worker, request)
if #numbers == 0 and not paused and all_ended and all_awake then
    if pages then
        limit = math.min(limit, pages - sum('pages') - sum('leased'))
    end
    while #numbers < limit do
        local best = redis.call('ZREVRANGE', prefix .. 'r', 0, 0)[1]
        if not best then
            break
        end
        numbers[#numbers + 1] = grant(host_of(string.sub(best, 5)), seconds, worker)
        tidy()
    end
    if #numbers > 0 then
        redis.call('HSET', prefix .. 'g', worker, request .. table.concat(numbers, ' '))
    end
end
write_sums()
local leases = {}
for n, number in ipairs(numbers) do
    leases[n] = shown(number)
end
return { all_ended and all_awake and 0 or 1, leases, afresh }
