import { useLingui } from '@lingui/react';
import { destinationKey, destinationOf, type Narrow } from '@parley/chat';
import { type Ref, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { onlyChannel } from '../editor/destination-heading.js';
import { useChat, useComputed, useFieldText, useServices } from '../services/context.js';
import { newTopicOf } from '../services/drafts.js';
import { reportFailure } from '../services/failures.js';
import { useManagement } from '../services/use-management.js';
import { Composer, type ComposerHandle } from './composer.js';
import styles from './conversation-page.module.css';
import { TopicField } from './topic-field.js';
import { TypingLine } from './typing-line.js';
import { Writable } from './writable.js';

interface WritingProps {
  readonly narrow: Narrow;
  readonly composer: Ref<ComposerHandle>;
}

/** Input field for the place of a narrow; for visitors a log-in link. */
export function Writing(props: WritingProps) {
  const { isVisitor } = useChat();
  const { baseUrl } = useServices();
  const { i18n } = useLingui();
  if (!isVisitor) return <Fields {...props} />;
  const next = encodeURIComponent(location.pathname + location.hash);
  return (
    <p className={styles.logIn}>
      <a href={`${baseUrl}login/?next=${next}`}>{i18n._('Log in')}</a> {i18n._('You are reading as a visitor.')}
    </p>
  );
}

function Fields({ narrow, composer }: WritingProps) {
  const { state } = useChat();
  const destination = useMemo(() => destinationOf(narrow), [narrow]);
  const channelId = onlyChannel(narrow);
  const readsIn = destination?.kind === 'channel' ? destination.channelId : channelId;
  const isUnsubscribed = useComputed(() => {
    const { membership = 'subscribed', channel } = (readsIn !== null && state.channels.get(readsIn)) || {};
    return membership !== 'subscribed' && channel?.is_archived === false;
  }, [state, readsIn]);
  const notice = isUnsubscribed && <NotSubscribed channelId={readsIn!} />;
  if (destination) {
    return (
      <>
        <TypingLine destination={destination} />
        {notice}
        <Writable destination={destination} key={destinationKey(destination)}>
          <Composer destination={destination} ref={composer} />
        </Writable>
      </>
    );
  }
  return channelId === null ? null : (
    <>
      {notice}
      <Writable channelId={channelId}>
        <NewTopic channelId={channelId} composer={composer} key={channelId} />
      </Writable>
    </>
  );
}

/** Explains that new messages arrive with a delay, and offers to subscribe. */
function NotSubscribed({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const management = useManagement();
  const rights = useComputed(() => management.rights.channel(channelId), [management, channelId]);
  return (
    <p className={styles.notSubscribed}>
      {i18n._('You are not subscribed. New messages appear within a minute.')}
      {rights.subscribe && (
        <button type="button" onClick={() => void management.subscribe(channelId).catch(reportFailure)}>
          {i18n._('Subscribe')}
        </button>
      )}
    </p>
  );
}

interface NewTopicProps {
  readonly channelId: number;
  readonly composer: Ref<ComposerHandle>;
}

/** Field for a channel message that needs a topic first. */
function NewTopic({ channelId, composer }: NewTopicProps) {
  // Stored separately from the text, which the draft stores under its topic.
  const [kept, keep] = useFieldText(`topic ${channelId}`);
  const [topic, setTopic] = useState(kept ?? '');
  const { drafts } = useServices();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (drafts.takesFocus(newTopicOf(channelId))) field.current?.focus();
  }, [drafts, channelId]);
  const choose = (next: string) => {
    setTopic(next);
    keep(next || null);
  };
  return (
    <Composer
      destination={{ kind: 'channel', channelId, topic: topic.trim() }}
      filesOf={{ kind: 'channel', channelId, topic: '' }}
      topicField={<TopicField ref={field} channelId={channelId} topic={topic} onTopic={choose} />}
      onText={(text) => keep((text && topic) || null)}
      ref={composer}
    />
  );
}
