-- Registration of a device's token, as the app encrypted it for the push service.

ALTER TABLE device ADD COLUMN public_key TEXT;
ALTER TABLE device ADD COLUMN registration TEXT;
