import { permissionTitle } from '@parley/domain';

/** Settings whose name on the wire is not simply ours in snake case: there channels are streams. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  automaticallyUnmuteTopicsInMutedChannelsPolicy: 'automatically_unmute_topics_in_muted_streams_policy',
  demoteInactiveChannels: 'demote_inactive_streams',
  enableChannelAudibleNotifications: 'enable_stream_audible_notifications',
  enableChannelDesktopNotifications: 'enable_stream_desktop_notifications',
  enableChannelEmailNotifications: 'enable_stream_email_notifications',
  enableChannelPushNotifications: 'enable_stream_push_notifications',
  sendChannelTypingNotifications: 'send_stream_typing_notifications',
  webChannelUnreadsCountDisplayPolicy: 'web_stream_unreads_count_display_policy',
  moveMessagesBetweenChannelsLimitSeconds: 'move_messages_between_streams_limit_seconds',
  moveMessagesWithinChannelLimitSeconds: 'move_messages_within_stream_limit_seconds',
  newChannelAnnouncementsChannelId: 'new_stream_announcements_stream_id',
  signupAnnouncementsChannelId: 'signup_announcements_stream_id',
  updateAnnouncementsChannelId: 'zulip_update_announcements_stream_id',
  organizationType: 'org_type',
};

/** `enterSends` → `enter_sends`. */
export function settingName(name: string): string {
  return EXCEPTIONS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `canSubscribe` → `can_subscribe_group`. */
export const permissionName = permissionTitle;

/** The values of a registry under their names on the wire. */
export function presentSettings(values: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) result[prefix + settingName(name)] = value;
  return result;
}
