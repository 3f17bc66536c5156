-- Acquire a lock if it is free; returns a row if it was. Parameters :name, :until, :now.
INSERT INTO gate (name, until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE until <= :now
RETURNING 1;
