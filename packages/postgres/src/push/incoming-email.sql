-- Addresses for replies to emails about missed messages, and addresses that no email reaches.

CREATE TABLE reply_address (
  -- The address contains it in masked form.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id bigint NOT NULL,
  user_id bigint NOT NULL REFERENCES "user" (id),
  conversation text COLLATE "C" NOT NULL,
  message_id bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE UNIQUE INDEX reply_address_of_user ON reply_address (user_id, conversation);
CREATE INDEX reply_address_by_expiry ON reply_address (expires_at);
CREATE INDEX reply_address_by_realm ON reply_address (realm_id);

-- Belongs to no organization: a mail server refused the address.
CREATE TABLE bounced_address (
  email_key text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL,
  bounced_at bigint NOT NULL,
  reason text COLLATE "C" NOT NULL
);
CREATE INDEX bounced_address_by_time ON bounced_address (bounced_at);
