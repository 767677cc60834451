import type { Migration } from './migration.js';

/** Values of settings that are words were the numbers of the API; and who changed what themselves is kept from here on. */
export const settingWords: Migration = {
  name: '0004-setting-words',
  sql: `
ALTER TABLE user ADD COLUMN edited_settings TEXT NOT NULL DEFAULT '[]';
CREATE TEMP TABLE setting_word (setting TEXT NOT NULL, old ANY NOT NULL, new TEXT NOT NULL) STRICT;
INSERT INTO setting_word (setting, old, new) VALUES
  ('automaticallyFollowTopicsPolicy', 1, 'participating'),
  ('automaticallyFollowTopicsPolicy', 2, 'sending'),
  ('automaticallyFollowTopicsPolicy', 3, 'starting'),
  ('automaticallyFollowTopicsPolicy', 4, 'never'),
  ('automaticallyUnmuteTopicsInMutedChannelsPolicy', 1, 'participating'),
  ('automaticallyUnmuteTopicsInMutedChannelsPolicy', 2, 'sending'),
  ('automaticallyUnmuteTopicsInMutedChannelsPolicy', 3, 'starting'),
  ('automaticallyUnmuteTopicsInMutedChannelsPolicy', 4, 'never'),
  ('colorScheme', 1, 'automatic'),
  ('colorScheme', 2, 'dark'),
  ('colorScheme', 3, 'light'),
  ('demoteInactiveChannels', 1, 'automatic'),
  ('demoteInactiveChannels', 2, 'always'),
  ('demoteInactiveChannels', 3, 'never'),
  ('desktopIconCountDisplay', 1, 'allUnreads'),
  ('desktopIconCountDisplay', 2, 'directMentionsAndFollowed'),
  ('desktopIconCountDisplay', 3, 'directAndMentions'),
  ('desktopIconCountDisplay', 4, 'none'),
  ('emailAddressVisibility', 1, 'everyone'),
  ('emailAddressVisibility', 2, 'members'),
  ('emailAddressVisibility', 3, 'administrators'),
  ('emailAddressVisibility', 4, 'nobody'),
  ('emailAddressVisibility', 5, 'moderators'),
  ('realmNameInEmailNotificationsPolicy', 1, 'automatic'),
  ('realmNameInEmailNotificationsPolicy', 2, 'always'),
  ('realmNameInEmailNotificationsPolicy', 3, 'never'),
  ('userListStyle', 1, 'compact'),
  ('userListStyle', 2, 'withStatus'),
  ('userListStyle', 3, 'withAvatar'),
  ('webChannelDefaultView', 1, 'topTopic'),
  ('webChannelDefaultView', 2, 'channelFeed'),
  ('webChannelDefaultView', 3, 'topicList'),
  ('webChannelDefaultView', 4, 'topUnreadTopic'),
  ('webMarkReadOnScrollPolicy', 1, 'always'),
  ('webMarkReadOnScrollPolicy', 2, 'conversationViews'),
  ('webMarkReadOnScrollPolicy', 3, 'never'),
  ('webChannelUnreadsCountDisplayPolicy', 1, 'all'),
  ('webChannelUnreadsCountDisplayPolicy', 2, 'unmuted'),
  ('webChannelUnreadsCountDisplayPolicy', 3, 'none'),
  ('webHomeView', 'all_messages', 'allMessages'),
  ('resolvedTopicNoticeAutoReadPolicy', 'except_followed', 'exceptFollowed'),
  ('webAnimateImagePreviews', 'on_hover', 'onHover'),
  ('defaultAvatarSource', 'G', 'gravatar'),
  ('defaultAvatarSource', 'J', 'generated'),
  ('videoChatProvider', 0, 'none'),
  ('videoChatProvider', 1, 'jitsi'),
  ('gifRatingPolicy', 0, 'disabled'),
  ('gifRatingPolicy', 1, 'y'),
  ('gifRatingPolicy', 2, 'g'),
  ('gifRatingPolicy', 3, 'pg'),
  ('gifRatingPolicy', 4, 'pg-13'),
  ('gifRatingPolicy', 5, 'r'),
  ('organizationType', 0, 'unspecified'),
  ('organizationType', 10, 'business'),
  ('organizationType', 20, 'openSource'),
  ('organizationType', 30, 'educationNonprofit'),
  ('organizationType', 35, 'education'),
  ('organizationType', 40, 'research'),
  ('organizationType', 50, 'event'),
  ('organizationType', 60, 'nonprofit'),
  ('organizationType', 70, 'government'),
  ('organizationType', 80, 'politicalGroup'),
  ('organizationType', 90, 'community'),
  ('organizationType', 100, 'personal'),
  ('organizationType', 1000, 'other');
UPDATE user SET version = version + 1, settings = (
  SELECT json_group_object(stored.key, CASE
    WHEN word.new IS NOT NULL THEN word.new
    WHEN stored.type IN ('true', 'false', 'null') THEN json(stored.type)
    ELSE stored.value END)
  FROM json_each(user.settings) stored
  LEFT JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'))
WHERE EXISTS (
  SELECT 1 FROM json_each(user.settings) stored
  JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'));
UPDATE realm SET version = version + 1, user_defaults = (
  SELECT json_group_object(stored.key, CASE
    WHEN word.new IS NOT NULL THEN word.new
    WHEN stored.type IN ('true', 'false', 'null') THEN json(stored.type)
    ELSE stored.value END)
  FROM json_each(realm.user_defaults) stored
  LEFT JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'))
WHERE EXISTS (
  SELECT 1 FROM json_each(realm.user_defaults) stored
  JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'));
UPDATE realm SET version = version + 1, settings = (
  SELECT json_group_object(stored.key, CASE
    WHEN word.new IS NOT NULL THEN word.new
    WHEN stored.type IN ('true', 'false', 'null') THEN json(stored.type)
    ELSE stored.value END)
  FROM json_each(realm.settings) stored
  LEFT JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'))
WHERE EXISTS (
  SELECT 1 FROM json_each(realm.settings) stored
  JOIN setting_word word ON word.setting = stored.key AND word.old = stored.value AND stored.type IN ('integer', 'text'));
DROP TABLE setting_word;
`,
};
