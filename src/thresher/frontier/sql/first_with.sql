-- The URL that brought a content first; parameter :content.
SELECT fingerprint FROM content WHERE hash = :content;
