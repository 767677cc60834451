import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import type { ScheduledMessage } from '@parley/client';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { DestinationName } from '../editor/destination-heading.js';
import { useScheduling } from '../editor/schedule-dialog.js';
import styles from '../editor/scheduling.module.css';
import { timeText } from '../editor/times.js';
import { UnsentContent } from '../editor/upload-list.js';
import { Clock, Pencil } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { IconButton } from '../kit/icon-button.js';
import { mounted } from '../kit/mounted.js';
import { useAddressOf, useComputed, useField, useServices } from '../services/context.js';
import { reportFailure, useRefusals } from '../services/failures.js';
import { retrying } from '../services/loading.js';
import { DeleteButton } from './delete-button.js';
import draftStyles from './drafts.module.css';
import pageStyles from './inbox.module.css';

/** Messages that are scheduled or failed to send, soonest first. */
export function ScheduledPage() {
  const { i18n } = useLingui();
  const messages = useField('scheduled_messages') ?? [];
  if (messages.length === 0) {
    return (
      <Empty
        icon={Clock}
        text={i18n._('You have no scheduled messages.')}
        hint={i18n._('Messages scheduled for later appear here.')}
        link={{ href: '#recent', text: i18n._('Recent conversations') }}
      />
    );
  }
  return (
    <div className={pageStyles.page}>
      <ScheduledList />
    </div>
  );
}

/** Scheduled messages without their page. */
export function ScheduledList() {
  const { i18n } = useLingui();
  const messages = useField('scheduled_messages') ?? [];
  const reasons = useReasons(messages);
  return (
    <ul aria-label={i18n._('Scheduled messages')}>
      {messages.map((message) => (
        <Scheduled
          key={message.scheduled_message_id}
          message={message}
          reason={reasons.get(message.scheduled_delivery_timestamp) ?? null}
        />
      ))}
    </ul>
  );
}

/** Failure reasons by scheduled time. */
function useReasons(messages: readonly ScheduledMessage[]): ReadonlyMap<number, string> {
  const scheduling = useScheduling();
  const [reasons, setReasons] = useState<ReadonlyMap<number, string>>(new Map());
  const failed = messages
    .filter((message) => message.failed)
    .map((message) => message.scheduled_delivery_timestamp)
    .join();
  useEffect(() => {
    if (failed === '') return;
    let isOver = false;
    scheduling
      .reasonsFor(failed.split(',').map(Number))
      .then((found) => isOver || setReasons(found))
      .catch(reportFailure);
    return () => {
      isOver = true;
    };
  }, [scheduling, failed]);
  return reasons;
}

function Place({ to }: { readonly to: Destination }) {
  return (
    <a className={draftStyles.place} href={useAddressOf(to)}>
      <DestinationName destination={to} />
    </a>
  );
}

const ScheduledEditor = lazy(() => retrying(() => import('../editor/scheduled-editor.js')));

interface RowProps {
  readonly message: ScheduledMessage;
  readonly reason: string | null;
}

function Scheduled({ message, reason }: RowProps) {
  const { i18n } = useLingui();
  const scheduling = useScheduling();
  const { fieldTexts } = useServices();
  const { scheduled_message_id: id, content } = message;
  const field = `scheduled ${id}`;
  const isOpen = useComputed(() => fieldTexts.isOpen(field), [fieldTexts, field]);
  const isEditing = isOpen !== null;
  const text = <Text message={message} reason={reason} />;
  const row = useRef<HTMLLIElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    if (isEditing) return () => fieldTexts.close(field);
    if (hadFocus.current) mounted(row).querySelector('button')!.focus();
    hadFocus.current = false;
  }, [fieldTexts, field, isEditing]);
  return (
    <li className={draftStyles.draft} ref={row}>
      <div className={draftStyles.content}>
        <Place to={scheduling.destinationOf(message)} />
        {isEditing ? (
          <Suspense fallback={text}>
            <ScheduledEditor
              message={message}
              field={field}
              takesFocus={isOpen}
              onEnd={(isFocused) => {
                hadFocus.current = isFocused;
              }}
            />
          </Suspense>
        ) : (
          text
        )}
      </div>
      {!isEditing && (
        <>
          <IconButton icon={Pencil} label={i18n._('Edit')} onClick={() => fieldTexts.begin(field, content)} />
          <DeleteButton
            question={i18n._('Delete this scheduled message?')}
            consequence={i18n._('It will not be sent, and its text is lost.')}
            onDelete={() => scheduling.remove(id)}
          />
        </>
      )}
    </li>
  );
}

function Text({ message: { content, failed, scheduled_delivery_timestamp: at }, reason }: RowProps) {
  const { i18n } = useLingui();
  const refusalText = useRefusals(reason !== null);
  return (
    <>
      <UnsentContent className={draftStyles.text} content={content} />
      {failed && (
        <p className={styles.failed}>
          {reason === null
            ? i18n._('Not sent.')
            : i18n._('Not sent: {reason}', { reason: refusalText?.(reason) ?? reason })}
        </p>
      )}
      <time className={draftStyles.time} dateTime={new Date(at * 1000).toISOString()}>
        {timeText(i18n, at)}
      </time>
    </>
  );
}
