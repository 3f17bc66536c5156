-- The URL that was settled first with a content; parameter :content.
SELECT fingerprint FROM content WHERE hash = :content;
