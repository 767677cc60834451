import { notificationFeature } from '@parley/storage';

export const NOTIFICATION_FEATURE = notificationFeature(
  `CASE WHEN json_valid(u.settings) THEN
     coalesce(u.settings ->> '$.enableChannelPushNotifications', 0) OR coalesce(u.settings ->> '$.enableChannelEmailNotifications', 0)
   END = 1`,
);
