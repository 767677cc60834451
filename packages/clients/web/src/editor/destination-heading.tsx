import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type ChannelGroup, type Destination, type Narrow, RESOLVED_PREFIX } from '@parley/chat';
import { InlineContent } from '../content/message-body.js';
import { Check, ChevronRight, Globe, Hash, Lock, User, Users } from '../icons/icons.js';
import { useAddressOf, useChat, useField, useNames } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './destination-heading.module.css';

interface Props {
  readonly destination: Destination;
  /** Message at which the link opens the conversation; null for its first unread message. */
  readonly messageId?: number | null;
  /** Topic as HTML with highlighted words. */
  readonly match?: string | undefined;
}

/** Conversation name with a link to it. */
export function DestinationHeading({ destination, messageId = null, match }: Props) {
  const href = useAddressOf(destination, messageId);
  return (
    <div className={styles.heading}>
      <a href={href}>
        <DestinationName destination={destination} match={match} />
      </a>
    </div>
  );
}

export function DestinationName({ destination, match }: Omit<Props, 'messageId'>) {
  return destination.kind === 'channel' ? (
    <TopicName channelId={destination.channelId} topic={destination.topic} match={match} />
  ) : (
    <PeopleNames userIds={destination.userIds} />
  );
}

const ICONS = { public: Hash, private: Lock, 'web-public': Globe };

export function ChannelIcon({ channelId, size = 15 }: { readonly channelId: number; readonly size?: number }) {
  const channel = useReading(useChat().sidebar.channel(channelId));
  const { i18n } = useLingui();
  const Icon = ICONS[channel?.privacy ?? 'public'];
  const label = {
    public: i18n._('public channel'),
    private: i18n._('private channel'),
    'web-public': i18n._('web-public channel'),
  };
  // Light channel colors are too pale on a light background.
  const color = channel?.color ? `color-mix(in srgb, ${channel.color} 70%, var(--parley-text))` : 'currentColor';
  return <Icon size={size} color={color} aria-label={label[channel?.privacy ?? 'public']} />;
}

/** Heading of a channel group. */
export function groupTitle(i18n: I18n, { key, name }: Pick<ChannelGroup, 'key' | 'name'>): string {
  if (key === 'pinned') return i18n._('Pinned channels');
  if (key === 'other') return i18n._('Other channels');
  return key === 'all' ? i18n._('Channels') : name;
}

export function ChannelName({ channelId }: { readonly channelId: number }) {
  const chat = useChat();
  const channel = useReading(chat.sidebar.channel(channelId));
  const isReady = useReading(chat.isReady);
  const { i18n } = useLingui();
  return (
    <span className={styles.name}>
      <ChannelIcon channelId={channelId} />
      <strong className={styles.topic} dir="auto">
        {channel?.name ?? (isReady ? i18n._('Unknown channel') : '')}
      </strong>
    </span>
  );
}

interface TopicNameProps {
  readonly channelId: number;
  readonly topic: string;
  readonly match: string | undefined;
}

function TopicName({ channelId, topic, match }: TopicNameProps) {
  const chat = useChat();
  const channel = useReading(chat.sidebar.channel(channelId));
  const isReady = useReading(chat.isReady);
  const { title, isResolved } = useTopicTitle(topic);
  const { i18n } = useLingui();
  return (
    <span className={styles.name}>
      <ChannelIcon channelId={channelId} />
      <strong dir="auto">{channel?.name ?? (isReady ? i18n._('Unknown channel') : '')}</strong>
      <ChevronRight size={14} aria-hidden />
      {isResolved && <Check size={14} aria-label={i18n._('resolved')} />}
      <bdi className={styles.topic}>{match?.includes('<span') ? <InlineContent html={match} /> : title}</bdi>
    </span>
  );
}

/** Display name of a topic. */
export function useTopicTitle(topic: string): { readonly title: string; readonly isResolved: boolean } {
  const emptyName = useField('realm_empty_topic_display_name') ?? '';
  const isResolved = topic.startsWith(RESOLVED_PREFIX);
  const title = isResolved ? topic.slice(RESOLVED_PREFIX.length) : topic;
  return { title: title === '' ? emptyName : title, isResolved };
}

function PeopleNames({ userIds }: { readonly userIds: readonly number[] }) {
  const { i18n } = useLingui();
  const names = useNames(userIds);
  const Icon = userIds.length > 1 ? Users : User;
  return (
    <span className={styles.name}>
      <Icon size={15} aria-hidden />
      <strong className={styles.topic} dir="auto">
        {userIds.length === 0
          ? i18n._('Messages with yourself')
          : new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(names)}
      </strong>
    </span>
  );
}

/** Channel of a narrow that shows all its messages; null for other narrows. */
export function onlyChannel(narrow: Narrow): number | null {
  const [first, ...others] = narrow;
  if (!first || others.length > 0 || first.operator !== 'channel' || first.negated) return null;
  return typeof first.operand === 'number' ? first.operand : null;
}

/** True for search words; other terms are filters. */
export const isWord = ({ operator, negated }: Narrow[number]): boolean => operator === 'search' && !negated;
