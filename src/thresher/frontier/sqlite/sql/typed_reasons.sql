-- Convert the reasons of a file of version 3 or earlier, which were texts.
ALTER TABLE host ADD COLUMN parked_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE url ADD COLUMN reason_kind TEXT;
UPDATE host SET parked_kind = legacy_kind(parked), parked = legacy_detail(parked) WHERE parked <> '';
UPDATE url SET reason_kind = legacy_kind(reason), reason = nullif(legacy_detail(reason), '') WHERE reason IS NOT NULL;
DROP INDEX IF EXISTS url_failed;
