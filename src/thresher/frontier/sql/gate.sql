-- When a gate opens; parameter :gate.
SELECT until FROM gate WHERE name = :gate;
