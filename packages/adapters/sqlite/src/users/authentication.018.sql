-- Where and how sessions began and API keys were issued.

ALTER TABLE session ADD COLUMN ip TEXT;
ALTER TABLE session ADD COLUMN method TEXT;
ALTER TABLE session ADD COLUMN service_session TEXT;
ALTER TABLE api_key ADD COLUMN issued_at INTEGER;
ALTER TABLE api_key ADD COLUMN issued_ip TEXT;
ALTER TABLE api_key ADD COLUMN issued_to TEXT;
