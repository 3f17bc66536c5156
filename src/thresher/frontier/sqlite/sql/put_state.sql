-- Store a value of the shared state; parameters :host, :kind, :value, :until.
INSERT INTO note (host, kind, value, until) VALUES (:host, :kind, :value, :until)
ON CONFLICT (host, kind) DO UPDATE SET value = excluded.value, until = excluded.until;
