-- Throw away the notes whose time is over; parameter :now.
DELETE FROM note WHERE until <= :now;
