-- URLs that must not be added again: those that are leased or settled, as 65 bits of a hash. 13 bits or more of it
-- select the set `s<number>`, the other 52 are the member: a double holds them, and the set stays an intset.

local function seen_key(hash)
    return prefix .. 's' .. hash % seen_keys
end

local function is_seen(hash, member)
    return redis.call('SISMEMBER', seen_key(hash), member) == 1
end

local function failed_key(hash)
    return prefix .. 'f' .. hash % seen_keys
end

local function identity(hash, member)
    return hash .. ' ' .. exact(member)
end
