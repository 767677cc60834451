import type { MessageEvent, UserSettings } from '@parley/client';
import type { Destination } from '../kernel/narrow.js';
import { type ChatState, policyOf } from '../kernel/state.js';
import { destinationOfMessage, isMutedTopic } from './unread.js';

/** New message that the user's notification settings announce. */
export interface Arrival {
  readonly messageId: number;
  readonly destination: Destination;
  readonly senderId: number;
  readonly senderName: string;
  readonly avatarUrl: string | null;
  /** HTML; null if the settings hide the text of direct messages in notifications. */
  readonly html: string | null;
  /** True to show a notification. */
  readonly isShown: boolean;
  /** True to play a sound. */
  readonly isHeard: boolean;
}

const MENTIONS = ['mentioned', 'has_alert_word'];

/** Applies the notification settings to a new message; null if it needs no announcement (users §6). */
export function arrivalOf(state: ChatState, { message, flags }: MessageEvent): Arrival | null {
  const settings = state.fields.peek('user_settings');
  if (!settings || message.sender_id === state.selfId || flags.includes('read')) return null;
  const destination = destinationOfMessage(state, message);
  const isDirect = destination.kind === 'direct';
  const { isShown, isHeard } = isDirect
    ? { isShown: settings.enable_desktop_notifications, isHeard: settings.enable_sounds }
    : inChannel(state, settings, destination, flags);
  if (!isShown && !isHeard) return null;
  return {
    messageId: message.id,
    destination,
    senderId: message.sender_id,
    senderName: state.people.peek(message.sender_id)?.user.full_name ?? message.sender_full_name,
    avatarUrl: message.avatar_url,
    html: isDirect && !settings.pm_content_in_desktop_notifications ? null : message.content,
    isShown,
    isHeard,
  };
}

function inChannel(
  state: ChatState,
  settings: UserSettings,
  { channelId, topic }: Extract<Destination, { kind: 'channel' }>,
  flags: readonly string[],
): Pick<Arrival, 'isShown' | 'isHeard'> {
  const own = state.channels.peek(channelId)?.own;
  const isMuted = isMutedTopic(state, channelId, topic);
  const isFollowed = policyOf(state, channelId, topic) === 'followed';
  const wildcards = own?.wildcard_mentions_notify ?? settings.wildcard_mentions_notify;
  const isForAll =
    flags.some((flag) => flag.endsWith('_wildcard_mentioned')) &&
    ((wildcards && !isMuted) || (isFollowed && settings.enable_followed_topic_wildcard_mentions_notify));
  // Direct mentions notify people in muted topics as well.
  const isMention = isForAll || flags.some((flag) => MENTIONS.includes(flag));
  const shown = own?.desktop_notifications ?? settings.enable_stream_desktop_notifications;
  const heard = own?.audible_notifications ?? settings.enable_stream_audible_notifications;
  return {
    isShown:
      (isMention && settings.enable_desktop_notifications) ||
      (isFollowed && settings.enable_followed_topic_desktop_notifications) ||
      (shown && !isMuted),
    isHeard:
      (isMention && settings.enable_sounds) ||
      (isFollowed && settings.enable_followed_topic_audible_notifications) ||
      (heard && !isMuted),
  };
}
