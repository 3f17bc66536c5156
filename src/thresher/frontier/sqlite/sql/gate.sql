-- When a lock (a gate) becomes free; parameter :gate.
SELECT until FROM gate WHERE name = :gate;
