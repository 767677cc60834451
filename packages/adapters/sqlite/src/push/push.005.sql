-- Messages on people's phones, and indexes of the people whom messages notify without a mention.

CREATE TABLE pushed_message (
  user_id INTEGER NOT NULL REFERENCES user (id),
  message_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pushed_message_by_message ON pushed_message (message_id, user_id);
CREATE INDEX pushed_message_by_realm ON pushed_message (realm_id);

CREATE INDEX subscription_notifying ON subscription (channel_id, user_id)
  WHERE is_active = 1 AND (push_notifications = 1 OR email_notifications = 1);
CREATE INDEX user_notified_of_channels ON user (realm_id, id)
  WHERE CASE WHEN json_valid(settings) THEN
    coalesce(settings ->> '$.enableChannelPushNotifications', 0) OR coalesce(settings ->> '$.enableChannelEmailNotifications', 0)
  END = 1 AND bot_kind IS NULL;
CREATE INDEX topic_policy_following ON topic_policy (channel_id, topic_key, user_id) WHERE visibility = 'followed';
