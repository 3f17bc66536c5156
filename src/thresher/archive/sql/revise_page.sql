-- Parameters: fingerprint, and what is now thought of the page. Only the last row of a URL counts, so only it changes.
UPDATE page
SET relevance = :relevance, relevant = :relevant, probability = :probability, parts = :parts
WHERE id = (SELECT max(id) FROM page WHERE fingerprint = :fingerprint AND page = 1);
