-- Users who mute a sender, whose messages reach them as read.

CREATE INDEX muted_sender_by_sender ON muted_sender (sender_id, user_id) WHERE until_message_id IS NULL;
