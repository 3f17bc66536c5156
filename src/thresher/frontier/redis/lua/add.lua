-- Add URLs.
-- needs: call record tiers host queue seen let_in
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of links, number of hosts, then the links as in let_in.lua
-- Returns how many were new, and the hosts whose cached links are invalid (`afresh`).

let_in(5, tonumber(ARGV[4]), ages(tonumber(ARGV[3])))
tidy()
write_sums()
return { sums.new or 0, afresh }
