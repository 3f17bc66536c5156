-- When a lock becomes free; parameter :name.
SELECT until FROM gate WHERE name = :name;
