-- Delete expired values of the shared state; parameter :now.
DELETE FROM note WHERE until <= :now;
