-- expand: an index of the users who mute a sender.

CREATE INDEX muted_sender_by_sender ON muted_sender (sender_id, user_id) WHERE until_message_id IS NULL;
