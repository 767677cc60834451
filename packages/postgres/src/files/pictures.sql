-- Pictures made from uploaded images. Their bytes are in the blob store under the key `blob`.

CREATE TABLE picture (
  realm_id bigint NOT NULL REFERENCES realm (id),
  -- Subject of the picture.
  name text COLLATE "C" NOT NULL,
  blob text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  format text COLLATE "C" NOT NULL,
  PRIMARY KEY (realm_id, name)
);
CREATE UNIQUE INDEX picture_by_blob ON picture (blob);
