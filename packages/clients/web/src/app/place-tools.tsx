import { useLingui } from '@lingui/react';
import { type Destination, destinationOf, type Narrow, RESOLVED_PREFIX } from '@parley/chat';
import { topicMuting } from '../channels/topic-muting.js';
import { textOf } from '../content/tree.js';
import { onlyChannel } from '../editor/destination-heading.js';
import { BellOff, BellRing, CircleCheck, Users } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import styles from './place-tools.module.css';

/** Description of the open channel, its number of people, and switches of the open topic or channel. */
export function PlaceTools({ narrow }: { readonly narrow: Narrow }) {
  const destination = destinationOf(narrow);
  const topic = destination?.kind === 'channel' ? destination : null;
  const channelId = topic?.channelId ?? onlyChannel(narrow);
  if (channelId === null) return null;
  return (
    <>
      <About channelId={channelId} />
      <span className={styles.switches}>
        {topic ? <TopicSwitches place={topic} /> : <ChannelSwitch channelId={channelId} />}
      </span>
    </>
  );
}

function About({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const channel = useReading(chat.sidebar.channel(channelId));
  const count = useComputed(
    () =>
      chat.state.subscribers.get(channelId)?.length ??
      chat.state.channels.get(channelId)?.channel.subscriber_count ??
      0,
    [chat, channelId],
  );
  if (!channel) return null;
  const label = i18n._('{count, plural, one {# person} other {# people}}', { count });
  const path = ['channels', String(channelId), channel.name, 'subscribers'];
  const description = textOf(channel.description);
  return (
    <>
      <span className={styles.description} title={description}>
        {description}
      </span>
      <a className={styles.people} href={chat.formatAddress({ view: 'other', path })} aria-label={label} title={label}>
        <Users size={15} aria-hidden /> {i18n.number(count)}
      </a>
    </>
  );
}

function TopicSwitches({ place }: { readonly place: Extract<Destination, { kind: 'channel' }> }) {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const { channelId, topic } = place;
  const policy = useComputed(() => chat.sidebar.policyOf(channelId, topic), [chat, channelId, topic]);
  const muting = useComputed(() => topicMuting(chat, place), [chat, place]);
  const canResolve = useComputed(() => chat.rights.canResolve(channelId, topic), [chat, channelId, topic]);
  const isResolved = topic.startsWith(RESOLVED_PREFIX);
  const set = (next: typeof policy) => void chat.commands.setTopicPolicy(place, next).catch(reportFailure);
  return (
    <>
      <IconButton
        icon={BellRing}
        label={i18n._('Follow topic')}
        isPressed={policy === 'followed'}
        onClick={() => set(policy === 'followed' ? 'none' : 'followed')}
      />
      <IconButton
        icon={BellOff}
        label={i18n._('Mute topic')}
        isPressed={muting.isMuted}
        onClick={() => set(muting.next)}
      />
      {canResolve && (
        <IconButton
          icon={CircleCheck}
          label={i18n._('Mark topic as resolved')}
          isPressed={isResolved}
          onClick={() => chat.commands.resolve(place, !isResolved).catch(reportFailure)}
        />
      )}
    </>
  );
}

function ChannelSwitch({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const channel = useReading(chat.sidebar.channel(channelId));
  if (!channel?.isSubscribed) return null;
  const toggle = () => chat.commands.setChannelProperty(channelId, 'is_muted', !channel.isMuted).catch(reportFailure);
  return <IconButton icon={BellOff} label={i18n._('Mute channel')} isPressed={channel.isMuted} onClick={toggle} />;
}
