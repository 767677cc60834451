import { useLingui } from '@lingui/react';
import { type Destination, Scheduling } from '@parley/chat';
import { useMemo, useState } from 'react';
import { FormDialog } from '../kit/dialog.js';
import { useServices } from '../services/context.js';
import { nextMessage } from './attached-files.js';
import { DestinationName } from './destination-heading.js';
import { firstTime, requireFuture, TimeField } from './time-field.js';

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
