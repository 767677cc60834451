import type { Chat, Destination, TopicPolicy } from '@parley/chat';

/** State of a topic's switch for muting, and the policy that the switch sets. Topics of a muted channel begin muted. */
export function topicMuting(
  { sidebar }: Pick<Chat, 'sidebar'>,
  { channelId, topic }: Extract<Destination, { kind: 'channel' }>,
): { readonly isMuted: boolean; readonly next: TopicPolicy } {
  const policy = sidebar.policyOf(channelId, topic);
  const isInMuted = sidebar.channel(channelId).value?.isMuted === true;
  const isMuted = policy === 'muted' || (isInMuted && policy === 'none');
  const [on, off] = isInMuted ? (['none', 'unmuted'] as const) : (['muted', 'none'] as const);
  return { isMuted, next: isMuted ? off : on };
}
