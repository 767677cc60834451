import { notificationFeature } from '@parley/storage';

export const NOTIFICATION_FEATURE = notificationFeature(
  `(u.settings LIKE '%"enableChannelPushNotifications":true%' OR u.settings LIKE '%"enableChannelEmailNotifications":true%')`,
);
