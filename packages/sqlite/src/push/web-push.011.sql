-- Browsers that receive notifications.

CREATE TABLE web_push_subscription (
  -- Ascends in the order of subscribing.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  -- Session that ends the subscription; null for an API key.
  session_id INTEGER,
  endpoint TEXT NOT NULL,
  public_key TEXT NOT NULL,
  auth_secret TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX web_push_of_user ON web_push_subscription (user_id, endpoint);
CREATE INDEX web_push_by_realm ON web_push_subscription (realm_id);
