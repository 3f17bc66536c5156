-- Say when a gate opens; parameters :gate, :until.
UPDATE gate SET until = :until WHERE name = :gate;
