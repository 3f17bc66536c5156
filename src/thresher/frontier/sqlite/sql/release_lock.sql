-- Release a lock with a delay; parameters :name, :until.
UPDATE gate SET until = :until WHERE name = :name;
