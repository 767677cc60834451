-- Pictures made from uploaded images. Their bytes are in the blob store under the key `blob`.

CREATE TABLE picture (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- Subject of the picture.
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  format TEXT NOT NULL,
  PRIMARY KEY (realm_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX picture_by_blob ON picture (blob);
