-- Add URLs.
-- needs: call record tiers host queue seen insert_links
-- KEYS: the shard's prefix
-- ARGV: time, settings, number of links, number of hosts, then the links as in insert_links.lua
-- Returns how many were new, and the hosts whose cached links are invalid (`afresh`).

insert_links(5, tonumber(ARGV[4]), ages(tonumber(ARGV[3])))
tidy()
write_sums()
return { sums.new or 0, afresh }
