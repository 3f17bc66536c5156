-- A note, unless its time is over; parameters :host, :kind, :now.
SELECT value FROM note WHERE host = :host AND kind = :kind AND until > :now;
