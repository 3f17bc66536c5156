-- A value of the shared state, unless it has expired; parameters :host, :kind, :now.
SELECT value FROM note WHERE host = :host AND kind = :kind AND until > :now;
