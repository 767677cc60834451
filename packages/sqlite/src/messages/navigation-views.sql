-- Navigation views of users.

CREATE TABLE navigation_view (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  fragment TEXT NOT NULL,
  is_pinned INTEGER NOT NULL,
  name TEXT
) STRICT;
CREATE UNIQUE INDEX navigation_view_by_fragment ON navigation_view (user_id, fragment);
