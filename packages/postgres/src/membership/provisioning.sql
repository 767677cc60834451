-- Directories that manage people and groups.

CREATE TABLE provisioning_token (
  realm_id bigint NOT NULL REFERENCES realm (id),
  name text COLLATE "C" NOT NULL,
  -- SHA-256 of the token.
  fingerprint text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  PRIMARY KEY (realm_id, name)
);

-- People whom a directory has deleted.
CREATE TABLE removed_user (
  realm_id bigint NOT NULL,
  user_id bigint NOT NULL REFERENCES "user" (id),
  PRIMARY KEY (realm_id, user_id)
);

-- Groups that a directory made.
CREATE TABLE provisioned_group (
  realm_id bigint NOT NULL,
  group_id bigint NOT NULL REFERENCES user_group (id),
  -- Id in the directory.
  external_id text COLLATE "C",
  is_removed smallint NOT NULL,
  PRIMARY KEY (realm_id, group_id)
);
