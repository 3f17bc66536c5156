-- Parameters: the fields of archive.pages.PageRecord, text, markup and links packed, parts as JSON.
INSERT INTO page (
    fingerprint, url, status, outcome, reason_kind, reason, page, score, parent, depth, title, language, relevance, relevant,
    reward, parts, text_hash, duplicate_of, fetched_at, elapsed_seconds, bytes, etag, last_modified,
    text, main, markup, links, terms, topics, blocked, opt_outs, signals
) VALUES (
    :fingerprint, :url, :status, :outcome, :reason_kind, :reason, :page, :score, :parent, :depth, :title, :language, :relevance,
    :relevant, :reward, :parts, :text_hash, :duplicate_of, :fetched_at, :elapsed_seconds, :bytes, :etag,
    :last_modified, :text, :main, :markup, :links, :terms, :topics, :blocked, :opt_outs, :signals
);
