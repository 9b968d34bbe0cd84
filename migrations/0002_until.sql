-- The last date of the period that a row counts, in the limit's zone: the date itself where the
-- period is a day. RETENTION counts from it. Null in a row that an earlier version has counted under
-- a limit's printed name, until the limit's counter takes it over.
ALTER TABLE quota ADD COLUMN until TEXT;
