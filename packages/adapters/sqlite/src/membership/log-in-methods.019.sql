-- Pictures of accounts that became avatars: address or digest, and version of the avatar.

ALTER TABLE linked_account ADD COLUMN picture_source TEXT;
ALTER TABLE linked_account ADD COLUMN picture_version INTEGER;
