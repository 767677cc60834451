-- Log-ins in progress at other services, and the accounts there.

CREATE TABLE log_in_flow (
  fingerprint text COLLATE "C" PRIMARY KEY,
  realm_id bigint NOT NULL REFERENCES realm (id),
  method text COLLATE "C" NOT NULL,
  -- Fingerprint of the cookie of the browser that must complete it; null for any browser.
  browser text COLLATE "C",
  -- JSON.
  purpose text COLLATE "C" NOT NULL,
  user_id bigint,
  expires_at bigint NOT NULL
);
CREATE INDEX log_in_flow_by_realm ON log_in_flow (realm_id);
CREATE INDEX log_in_flow_by_expiry ON log_in_flow (expires_at);

CREATE TABLE linked_account (
  realm_id bigint NOT NULL,
  method text COLLATE "C" NOT NULL,
  -- Id of the account at the service.
  subject text COLLATE "C" NOT NULL,
  user_id bigint NOT NULL REFERENCES "user" (id),
  linked_at bigint NOT NULL,
  PRIMARY KEY (realm_id, method, subject)
);
CREATE UNIQUE INDEX linked_account_by_user ON linked_account (realm_id, user_id, method);
