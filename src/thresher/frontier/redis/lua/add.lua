-- Let URLs in.
-- needs: call record host queue seen let_in
-- KEYS: the shard's prefix
-- ARGV: time, settings, links in all, hosts, then the links as in let_in.lua
-- Answers how many were new, and the hosts whose links are news again.

let_in(5, tonumber(ARGV[4]), ages(tonumber(ARGV[3])))
tidy()
write_sums()
return { sums.new or 0, afresh }
