-- Number that a unit raises when it changes data that servers cache: in the row of its organization, or in row 0 if it
-- names none. While both are the same, cached versions are current.
CREATE TABLE cache_stamp (
  realm_id bigint PRIMARY KEY,
  stamp bigint NOT NULL
);
