import { useLingui } from '@lingui/react';
import { type Ref, useId, useState } from 'react';
import { useChat, useField } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import { Composer, type ComposerHandle } from './composer.js';
import styles from './conversation-page.module.css';

interface Props {
  readonly channelId: number;
  readonly composer: Ref<ComposerHandle>;
}

/** Field for a message to a channel, whose topic is asked for first. */
export function NewTopic({ channelId, composer }: Props) {
  const chat = useChat();
  const { i18n } = useLingui();
  const [topic, setTopic] = useState('');
  const list = useId();
  const topics = useReading(chat.sidebar.topics(channelId));
  const topicLength = useField('max_topic_length');
  const requiresTopic = useField('realm_mandatory_topics');
  return (
    <>
      <label className={styles.topic}>
        {i18n._('Topic')}
        <input
          value={topic}
          maxLength={topicLength}
          required={requiresTopic}
          list={list}
          autoComplete="off"
          onChange={(event) => setTopic(event.target.value)}
        />
        <datalist id={list}>
          {topics.slice(0, 20).map(({ name }) => (
            <option key={name.toLowerCase()} value={name} />
          ))}
        </datalist>
      </label>
      <Composer
        destination={{ kind: 'channel', channelId, topic: topic.trim() }}
        filesOf={{ kind: 'channel', channelId, topic: '' }}
        ref={composer}
      />
    </>
  );
}
