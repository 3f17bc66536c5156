-- Set new scores of waiting URLs.
-- needs: call record tiers host queue seen
-- KEYS: the shard's prefix
-- ARGV: time, settings, how far two equal scores may differ, then for each URL: host, rest, hash, score,
--       the score that it must still have (or empty), member
-- Returns how many still waited. The new score of a cold URL is kept until its run is read.

local same, waited, outdated = tonumber(ARGV[3]), 0, {}

-- Update the bests; a chunk whose best URL is no longer known is searched later.
local function move_rank(host, chunk, before, url)
    local best = host.chunks > 1 and read_index(host)[chunk] or host
    if url.score < before and best.best == before and best.best_age == url.age then
        outdated[host] = outdated[host] or {}
        outdated[host][chunk] = true
    end
    note_rank(host, chunk, url.score, url.age)
end

for at = 4, #ARGV, 6 do
    local host, rest = known_host(ARGV[at]), ARGV[at + 1]
    local chunk = host and chunk_of(host, tonumber(ARGV[at + 2]))
    local record = host and redis.call('HGET', chunk_key(host, chunk), rest)
    if record then
        local url, score, was = read_record(record), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
        waited = waited + 1
        if score ~= url.score and (not was or math.abs(url.score - was) < same) then
            local before = url.score
            url.score = score
            redis.call('HSET', chunk_key(host, chunk), rest, write_record(url))
            move_rank(host, chunk, before, url)
        end
    elseif host and is_cold(host, tonumber(ARGV[at + 2]), ARGV[at + 5]) and not is_seen(tonumber(ARGV[at + 2]), ARGV[at + 5]) then
        waited = waited + 1
        note_score(host, tonumber(ARGV[at + 2]), ARGV[at + 5], ARGV[at + 3], ARGV[at + 4])
    end
end
for host, chunks in pairs(outdated) do
    for chunk in pairs(chunks) do
        look_again(host, chunk)
    end
end
tidy()
write_sums()
return waited
