-- What has been used of each day's quotas.
CREATE TABLE quota (
  day     TEXT    NOT NULL,                    -- the local date in the limit's zone: 2026-11-29
  name    TEXT    NOT NULL,                    -- the limit's name: api/key
  subject TEXT    NOT NULL,                    -- the caller's 128-bit digest in hex; empty for a global limit
  used    INTEGER NOT NULL CHECK (used >= 0),  -- tokens counted, prepaid ones included
  PRIMARY KEY (day, name, subject)
) WITHOUT ROWID;                               -- one row written per upsert, not two
