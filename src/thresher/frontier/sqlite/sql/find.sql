-- One URL; parameters :host and :fingerprint.
SELECT url.url, host.key, state, score, hops, depth_left, parent, tries % 8, coalesce(reason_kind, ''),
    coalesce(reason, '')
FROM host CROSS JOIN url ON url.host = host.id
WHERE host.key = :host AND fingerprint = :fingerprint;
