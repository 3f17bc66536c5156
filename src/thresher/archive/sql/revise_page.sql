-- Parameters: fingerprint, and what is now thought of the page. Only the last row of a URL counts, so only it changes.
-- A page whose text was not kept is not called relevant later: whatever is relevant can be read.
UPDATE page
SET relevance = :relevance, relevant = :relevant AND (relevant OR text IS NOT NULL), probability = :probability,
    parts = :parts
WHERE id = (SELECT max(id) FROM page WHERE fingerprint = :fingerprint AND page = 1);
