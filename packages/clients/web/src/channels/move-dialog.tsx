import { useLingui } from '@lingui/react';
import type { Destination, Move } from '@parley/chat';
import { useId, useState } from 'react';
import { FormDialog } from '../kit/dialog.js';
import styles from '../kit/overlays.module.css';
import { useChat, useComputed, useField } from '../services/context.js';
import { useReading } from '../services/use-reading.js';

type Place = Extract<Destination, { kind: 'channel' }>;

interface Props {
  readonly place: Place;
  /** Message to move, alone or with others; null for the whole topic. */
  readonly messageId: number | null;
}

/** Moves messages to another channel or topic. */
export function MoveDialog({ place, messageId }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const [channelId, setChannelId] = useState(place.channelId);
  const [topic, setTopic] = useState(place.topic);
  const [scope, setScope] = useState<Move['scope']>(messageId === null ? 'change_all' : 'change_later');
  const [notifiesOld, setNotifiesOld] = useState(false);
  const [notifiesNew, setNotifiesNew] = useState(true);
  const rights = messageId === null ? chat.rights.canMoveIn(place.channelId) : chat.rights.canMove(messageId);
  const isChanged = channelId !== place.channelId || topic.trim() !== place.topic;
  const submit = async () => {
    const id = messageId ?? (await chat.commands.newestIn(place));
    if (id === null) return;
    await chat.commands.move(id, {
      scope,
      notifiesOld,
      notifiesNew,
      ...(channelId !== place.channelId && { channelId }),
      ...(topic.trim() !== place.topic && { topic: topic.trim() }),
    });
  };
  const scopes: readonly (readonly [Move['scope'], string])[] = [
    ['change_one', i18n._('Only this message')],
    ['change_later', i18n._('This message and all after it in the topic')],
    ['change_all', i18n._('All messages of the topic')],
  ];
  return (
    <FormDialog
      title={messageId === null ? i18n._('Move topic') : i18n._('Move messages')}
      action={i18n._('Move')}
      isDisabled={!isChanged}
      onSubmit={submit}
    >
      <ChannelField place={place} channelId={channelId} isDisabled={!rights.channel} onChange={setChannelId} />
      <TopicField channelId={channelId} topic={topic} isDisabled={!rights.topic} onChange={setTopic} />
      {messageId !== null && (
        <fieldset className={styles.options}>
          <legend>{i18n._('Messages to move')}</legend>
          {scopes.map(([value, label]) => (
            <label key={value} className={styles.option}>
              <input type="radio" name="scope" checked={scope === value} onChange={() => setScope(value)} />
              {label}
            </label>
          ))}
        </fieldset>
      )}
      <fieldset className={styles.options}>
        <legend>{i18n._('Automatic notices')}</legend>
        <label className={styles.option}>
          <input type="checkbox" checked={notifiesOld} onChange={(event) => setNotifiesOld(event.target.checked)} />
          {i18n._('In the old topic')}
        </label>
        <label className={styles.option}>
          <input type="checkbox" checked={notifiesNew} onChange={(event) => setNotifiesNew(event.target.checked)} />
          {i18n._('In the new topic')}
        </label>
      </fieldset>
    </FormDialog>
  );
}

interface ChannelFieldProps {
  readonly place: Place;
  readonly channelId: number;
  readonly isDisabled: boolean;
  onChange(channelId: number): void;
}

function ChannelField({ place, channelId, isDisabled, onChange }: ChannelFieldProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const channels = useComputed(
    () =>
      chat.sidebar.channelIds.value
        .filter((id) => id === place.channelId || chat.rights.canPost(id) === null)
        .map((id) => ({ id, name: chat.sidebar.channel(id).value?.name ?? '' })),
    [chat, place],
  );
  return (
    <label className={styles.field}>
      {i18n._('Channel')}
      <select
        value={channelId}
        disabled={isDisabled}
        onChange={(event) => {
          const id = Number(event.target.value);
          onChange(id);
          // A failure leaves the list empty; a name can still be typed.
          chat.loadTopics(id).catch(() => {});
        }}
      >
        {channels.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TopicFieldProps {
  readonly channelId: number;
  readonly topic: string;
  readonly isDisabled: boolean;
  onChange(topic: string): void;
}

function TopicField({ channelId, topic, isDisabled, onChange }: TopicFieldProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const topicList = useId();
  const topics = useReading(chat.sidebar.topics(channelId));
  const maxLength = useField('max_topic_length');
  return (
    <label className={styles.field}>
      {i18n._('Topic')}
      <input
        value={topic}
        disabled={isDisabled}
        maxLength={maxLength}
        list={topicList}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={topicList}>
        {topics.slice(0, 20).map(({ name }) => (
          <option key={name.toLowerCase()} value={name} />
        ))}
      </datalist>
    </label>
  );
}
