-- What was made of images that people uploaded. The bytes are elsewhere, under the name `blob`.

CREATE TABLE picture (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- What it shows.
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  format TEXT NOT NULL,
  PRIMARY KEY (realm_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX picture_by_blob ON picture (blob);
