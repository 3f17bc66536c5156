-- Lease the best URLs of ready hosts, best first.
-- needs: call record tiers host queue seen leases
-- KEYS: the shard's prefix
-- ARGV: time, settings, limit, seconds, worker, maximum number of pages of the crawl (or empty), 8 bytes that identify
--       this request, whether hosts whose best URL is cold are passed over (1, or empty: stop at the first), and `new`
--       when the store did not have this script: it is new, or was restarted
-- Returns whether the call must be repeated, because more leases have expired and more hosts woke than one call
-- handles; the leases: host, rest, record, fence, end, pages and relevant pages of the host; the hosts whose cached
-- links are invalid (`afresh`); the hosts that were met whose best URL is cold; and what there is to move between the
-- tiers: the number of hosts to load, of hot URLs, of hosts over their quota in the partition with most, and of hosts.

local limit, seconds, worker, pages, request = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), ARGV[7]
local paused = is_paused(seconds, ARGV[9] == 'new')
local all_ended = reap()
local all_awake = wake()
tidy()
local numbers, to_load = granted_before(worker, request), {}
if #numbers == 0 and not paused and all_ended and all_awake then
    if pages then
        limit = math.min(limit, pages - sum('pages') - sum('leased'))
    end
    while #numbers < limit do
        local best = redis.call('ZREVRANGE', prefix .. 'r', #to_load, #to_load)[1]
        local host = best and host_of(string.sub(best, 5))
        if not host then
            break
        elseif must_load(host) then
            to_load[#to_load + 1] = host.name
            if ARGV[8] ~= '1' or #to_load >= most_at_once then
                break
            end
        else
            numbers[#numbers + 1] = grant(host, seconds, worker)
            tidy()
        end
    end
    if #numbers > 0 then
        redis.call('HSET', prefix .. 'g', worker, request .. table.concat(numbers, ' '))
    end
end
tidy()
write_sums()
local leases = {}
for n, number in ipairs(numbers) do
    leases[n] = shown(number)
end
sums = {}
local work = { 0, 0, 0, 0 }
if hot_urls > 0 then
    local fullest = redis.call('ZREVRANGE', prefix .. 'W', 0, 0, 'WITHSCORES')
    local hot = sum('waiting') - sum('cold')
    work = { redis.call('SCARD', prefix .. 'N'), hot, tonumber(fullest[2] or 0), sum('hosts') }
end
return { all_ended and all_awake and 0 or 1, leases, afresh, to_load, work }
