-- Log-ins in progress at other services, and the accounts there.

CREATE TABLE log_in_flow (
  fingerprint TEXT PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  method TEXT NOT NULL,
  -- Fingerprint of the cookie of the browser that must complete it; null for any browser.
  browser TEXT,
  -- JSON.
  purpose TEXT NOT NULL,
  user_id INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX log_in_flow_by_realm ON log_in_flow (realm_id);
CREATE INDEX log_in_flow_by_expiry ON log_in_flow (expires_at);

CREATE TABLE linked_account (
  realm_id INTEGER NOT NULL,
  method TEXT NOT NULL,
  -- Id of the account at the service.
  subject TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (realm_id, method, subject)
) STRICT;
CREATE UNIQUE INDEX linked_account_by_user ON linked_account (realm_id, user_id, method);
