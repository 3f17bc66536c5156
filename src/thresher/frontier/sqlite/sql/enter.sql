-- Acquire a lock (a gate) if it is free; returns a row if it was. Parameters :gate, :until, :now.
INSERT INTO gate (name, until) VALUES (:gate, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE until <= :now
RETURNING 1;
