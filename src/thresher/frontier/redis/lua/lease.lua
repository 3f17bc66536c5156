-- Hand out the best URLs of hosts that may be asked now, best first.
-- needs: call record host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, how many at most, seconds, worker, pages that the crawl may have (or empty), 8 bytes that are this
--       request's own, and `new` when the store did not know this script: it is new, or was started again
-- Answers whether it must be asked again, because more leases have ended and more hosts woke than one call sees to; the
-- leases: host, rest, record, fence, end, pages and relevant pages of the host; and the hosts whose links are news again.

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
