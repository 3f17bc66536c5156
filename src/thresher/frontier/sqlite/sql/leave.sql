-- Release a lock (a gate) with a delay; parameters :gate, :until.
UPDATE gate SET until = :until WHERE name = :gate;
