-- Ids of the host application beside the other columns of users, since they are part of what others see.

ALTER TABLE user ADD COLUMN external_id TEXT;
UPDATE user SET version = version + 1, external_id = (SELECT external_id FROM external_id known WHERE known.user_id = user.id)
WHERE id IN (SELECT user_id FROM external_id);
CREATE UNIQUE INDEX user_by_external_id ON user (realm_id, external_id) WHERE external_id IS NOT NULL;
DROP TABLE external_id;
