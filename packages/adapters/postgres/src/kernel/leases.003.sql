-- expand: servers that use the database; the end of an upgrade waits until those of the former release are gone.
CREATE TABLE server_node (
  id text COLLATE "C" PRIMARY KEY,
  -- Machine and process.
  name text COLLATE "C" NOT NULL,
  release text COLLATE "C" NOT NULL,
  seen_at timestamptz NOT NULL
);
