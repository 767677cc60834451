import { useLingui } from '@lingui/react';
import { rankOf } from '@parley/chat';
import { type KeyboardEvent, type RefObject, useState } from 'react';
import completion from '../editor/completion.module.css';
import styles from '../editor/composer.module.css';
import { ChannelName } from '../editor/destination-heading.js';
import { ChevronRight } from '../icons/icons.js';
import { useListbox } from '../kit/listbox.js';
import { mounted } from '../kit/mounted.js';
import { useChat, useField } from '../services/context.js';
import { useReading } from '../services/use-reading.js';

interface Props {
  readonly ref: RefObject<HTMLInputElement | null>;
  readonly channelId: number;
  readonly topic: string;
  onTopic(topic: string): void;
}

interface Option {
  readonly name: string;
  readonly isNew: boolean;
}

const MAX_OPTIONS = 8;

/** Field of a new message's topic, with suggestions from the channel. */
export function TopicField({ ref, channelId, topic, onTopic }: Props) {
  const chat = useChat();
  const { i18n } = useLingui();
  const topics = useReading(chat.sidebar.topics(channelId));
  const maxLength = useField('max_topic_length');
  const isRequired = useField('realm_mandatory_topics');
  const [isOpen, setOpen] = useState(false);
  const options = isOpen ? optionsFor(topic.trim(), topics) : [];
  const { fieldProps, list, ...listbox } = useListbox<Option>({
    label: i18n._('Suggestions'),
    query: topic,
    options,
    className: `${completion.list} ${styles.topics}`,
    keyOf: ({ name }) => name.toLowerCase(),
    draw: ({ name, isNew }) => (
      <>
        <span className={completion.label}>
          <bdi>{name}</bdi>
        </span>
        <span className={completion.detail}>{isNew && i18n._('New topic')}</span>
      </>
    ),
    onPick: ({ name }) => {
      onTopic(name);
      setOpen(false);
      writeBelow(mounted(ref));
    },
  });
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (listbox.onKeyDown(event)) return;
    if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (event.key === 'ArrowDown') setOpen(true);
    else if (event.key === 'Enter') writeBelow(event.currentTarget);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <span className={styles.channel}>
        <ChannelName channelId={channelId} />
      </span>
      <ChevronRight size={14} aria-hidden />
      <input
        ref={ref}
        className={styles.topic}
        data-new-topic
        aria-label={i18n._('Topic')}
        placeholder={i18n._('Topic')}
        value={topic}
        maxLength={maxLength}
        required={isRequired}
        role="combobox"
        aria-expanded={options.length > 0}
        autoComplete="off"
        {...fieldProps}
        onFocus={() => {
          // Topics can be typed without suggestions.
          chat.loadTopics(channelId).catch(() => {});
        }}
        onChange={({ target }) => {
          onTopic(target.value);
          setOpen(target.value.trim() !== '');
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      {list}
    </>
  );
}

/** The typed name comes first, so that Enter keeps it. */
function optionsFor(typed: string, topics: readonly { readonly name: string }[]): readonly Option[] {
  const found = topics
    .flatMap(({ name }) => {
      const rank = name === '' ? null : rankOf(typed, name);
      return rank === null ? [] : [{ name, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ name }) => ({ name, isNew: false }));
  const isKnown = typed === '' || found.some(({ name }) => name.toLowerCase() === typed.toLowerCase());
  return [...(isKnown ? [] : [{ name: typed, isNew: true }]), ...found].slice(0, MAX_OPTIONS);
}

const writeBelow = (field: HTMLElement) => field.closest('form')!.querySelector('textarea')!.focus();
