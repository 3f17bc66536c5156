-- The record of a URL: common values take few bytes, rare ones are present only when their flag is set.
--
--     age       4 bytes   the order in which URLs were added, within a shard
--     flags     1 byte    its upper half holds hops up to 15 when depth_left is 0; else (flag 2) the bytes that each
--     takes score     4 bytes   8 when a float cannot hold it (flag 1)
--     hops, depth_left    1 or 4 bytes each (flag 2)
--     history             tries, redirects, times found, last reason (flag 4); 8 is added to the tries for each lease
--                         that expired before a request was reported
--     parent    8 bytes   (flag 8)
--     kind      1 byte    a RequestKind; versions up to 0.2.0 wrote none, and what follows is never below 32
--     strategy_data       the rest
--
-- `codec.py` writes and reads the same bytes.

local LONG_SCORE, STEPS, HISTORY, PARENT = 1, 2, 4, 8
local STEP_FORMATS = { '>BB', nil, nil, '>i4i4' }
local YOUNGEST, MIN_DATA_BYTE = 4294967295, 32

local function has(flags, flag)
    return flags % (2 * flag) >= flag
end

-- Only what sorting needs: score and age.
local function rank_of(record)
    local age, flags = struct.unpack('>I4B', record)
    return struct.unpack(has(flags, LONG_SCORE) and '>d' or '>f', record, 6), age
end

local function read_record(record)
    local url, at = { tries = 0, redirects = 0, found = 1, reason = '', parent = '' }, nil
    url.age, url.flags, at = struct.unpack('>I4B', record)
    url.score, at = struct.unpack(has(url.flags, LONG_SCORE) and '>d' or '>f', record, at)
    url.hops, url.depth_left = math.floor(url.flags / 16), 0
    if has(url.flags, STEPS) then
        url.hops, url.depth_left, at = struct.unpack(STEP_FORMATS[url.hops], record, at)
    end
    if has(url.flags, HISTORY) then
        url.tries, url.redirects, url.found, url.reason, at = struct.unpack('>BBI4I2c0', record, at)
    end
    if has(url.flags, PARENT) then
        url.parent, at = struct.unpack('>c8', record, at)
    end
    local kind = string.byte(record, at) or MIN_DATA_BYTE
    url.kind = -1
    if kind < MIN_DATA_BYTE then
        url.kind, at = kind, at + 1
    end
    url.strategy_data = string.sub(record, at)
    return url
end

local function write_record(url)
    local flags, score, steps, history = 0, struct.pack('>f', url.score), '', ''
    if struct.unpack('>f', score) ~= url.score then
        flags, score = LONG_SCORE, struct.pack('>d', url.score)
    end
    local least, most = math.min(url.hops, url.depth_left), math.max(url.hops, url.depth_left)
    if least == 0 and url.depth_left == 0 and most <= 15 then
        flags = flags + 16 * url.hops
    else
        local bytes = least >= 0 and most <= 255 and 1 or 4
        flags, steps = flags + STEPS + 16 * bytes, struct.pack(STEP_FORMATS[bytes], url.hops, url.depth_left)
    end
    if url.tries > 0 or url.redirects > 0 or url.found > 1 or url.reason ~= '' then
        flags = flags + HISTORY
        history = struct.pack('>BBI4I2c0', url.tries, url.redirects, url.found, #url.reason, url.reason)
    end
    if url.parent ~= '' then
        flags = flags + PARENT
    end
    local kind = url.kind >= 0 and string.char(url.kind) or ''
    return struct.pack('>I4B', url.age, flags) .. score .. steps .. history .. url.parent .. kind .. url.strategy_data
end

-- Whether one rank comes before another: the greater score; among equals the older.
local function is_before(score, age, other_score, other_age)
    return score > other_score or score == other_score and age < other_age
end
