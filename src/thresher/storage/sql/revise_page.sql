-- Parameters: the row, and the new judgement of its page.
UPDATE page
SET relevance = :relevance, relevant = :relevant, reward = :reward, parts = :parts, topics = :topics
WHERE id = :id
