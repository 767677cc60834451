import { useLingui } from '@lingui/react';
import { type Destination, Scheduling } from '@parley/chat';
import type { ScheduledMessage } from '@parley/client';
import { useMemo, useRef, useState } from 'react';
import { DestinationName } from '../conversation/destination-heading.js';
import { FormDialog } from '../kit/dialog.js';
import { useServices } from '../services/context.js';
import { linkTo } from '../services/uploads.js';
import { joinContent, listedFiles, nextMessage, splitContent } from './attached-files.js';
import { insertLinks } from './message-field.js';
import styles from './scheduling.module.css';
import { firstTime, requireFuture, TimeField } from './time-field.js';
import { UploadList } from './upload-list.js';

interface Props {
  readonly destination: Destination;
  readonly text: string;
  /** Called with the time in Unix seconds when the server has stored the first message of a content. */
  onScheduled(at: number, content: string, rest: string): void;
}

export function useScheduling(): Scheduling {
  const { chat, client } = useServices();
  return useMemo(() => new Scheduling(chat.state, client), [chat, client]);
}

/** Chooses when to send a message. */
export function SendLaterDialog({ destination, text, onScheduled }: Props) {
  const { i18n } = useLingui();
  const scheduling = useScheduling();
  const [at, setAt] = useState<number | null>(firstTime);
  // The next attempt after a failure continues with the rest.
  const [unscheduled, setUnscheduled] = useState(text);
  return (
    <FormDialog
      title={i18n._('Send later')}
      action={i18n._('Schedule')}
      isDisabled={at === null}
      onSubmit={async () => {
        requireFuture(at!);
        for (let content = unscheduled; content !== ''; ) {
          const [message, rest] = nextMessage(content);
          await scheduling.schedule(destination, message, at!);
          setUnscheduled(rest);
          onScheduled(at!, content, rest);
          content = rest;
        }
      }}
    >
      <p>
        <DestinationName destination={destination} />
      </p>
      <TimeField legend={i18n._('Time')} onChange={setAt} />
    </FormDialog>
  );
}

/** Edits text and time of a scheduled message. */
export function ScheduledMessageDialog({ message }: { readonly message: ScheduledMessage }) {
  const { i18n } = useLingui();
  const scheduling = useScheduling();
  const field = useRef<HTMLTextAreaElement>(null);
  const destination = scheduling.destinationOf(message);
  const [original] = useState(() => splitContent(message.content));
  const [parts, setParts] = useState(original);
  const joined = joinContent(parts);
  // Other clients join texts and files differently.
  const content = joined === joinContent(original) ? message.content : joined;
  const [at, setAt] = useState<number | null>(message.failed ? firstTime : message.scheduled_delivery_timestamp);
  return (
    <FormDialog
      title={i18n._('Edit scheduled message')}
      action={i18n._('Save')}
      isDisabled={at === null || content.trim() === ''}
      isKept={content !== message.content}
      onSubmit={async () => {
        requireFuture(at!);
        const [first, rest] = content === message.content ? [content, ''] : nextMessage(content);
        if (rest !== '') {
          await scheduling.schedule(destination, rest, at!);
          // A repeated attempt only changes the message.
          setParts(splitContent(first));
        }
        await scheduling.change(message, first, at!);
      }}
    >
      <p>
        <DestinationName destination={destination} />
      </p>
      <textarea
        className={styles.text}
        aria-label={i18n._('Message')}
        rows={5}
        ref={field}
        value={parts.text}
        onChange={({ target }) => setParts({ ...parts, text: target.value })}
      />
      <div className={styles.files}>
        <UploadList
          destination={`scheduled ${message.scheduled_message_id}`}
          files={listedFiles(parts)}
          onRemove={({ url }) => setParts({ ...parts, files: parts.files.filter((file) => file.url !== url) })}
          onInsert={({ name, url }) => insertLinks(field.current!, linkTo(name, url))}
          onEmpty={() => field.current!.focus()}
        />
      </div>
      <TimeField
        legend={i18n._('Time')}
        {...(!message.failed && { initial: message.scheduled_delivery_timestamp })}
        onChange={setAt}
      />
    </FormDialog>
  );
}
