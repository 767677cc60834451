-- Follows the tables of storage/src/channels/channel-tables.ts.

-- Maintain the number of subscribers of a channel.
CREATE TRIGGER subscription_added AFTER INSERT ON subscription WHEN NEW.is_active = 1
BEGIN
  UPDATE channel SET subscriber_count = subscriber_count + (SELECT is_active FROM user WHERE id = NEW.user_id)
  WHERE id = NEW.channel_id;
END;
CREATE TRIGGER subscription_changed AFTER UPDATE OF is_active ON subscription WHEN NEW.is_active <> OLD.is_active
BEGIN
  UPDATE channel
  SET subscriber_count =
    subscriber_count + (NEW.is_active - OLD.is_active) * (SELECT is_active FROM user WHERE id = NEW.user_id)
  WHERE id = NEW.channel_id;
END;
CREATE TRIGGER subscriber_activation_changed AFTER UPDATE OF is_active ON user WHEN NEW.is_active <> OLD.is_active
BEGIN
  UPDATE channel SET subscriber_count = subscriber_count + (NEW.is_active - OLD.is_active)
  WHERE id IN (SELECT channel_id FROM subscription WHERE user_id = NEW.id AND is_active = 1);
END;
