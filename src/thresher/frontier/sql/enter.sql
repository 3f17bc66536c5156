-- Go through a gate that is open, and shut it; answers a row when it was open. Parameters :gate, :until, :now.
INSERT INTO gate (name, until) VALUES (:gate, :until)
ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE until <= :now
RETURNING 1;
