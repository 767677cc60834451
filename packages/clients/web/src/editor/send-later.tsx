import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { useState } from 'react';
import { Clock } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { openOverlay } from '../services/overlay.js';
import styles from './scheduling.module.css';
import { timeText } from './times.js';

interface Props {
  readonly destination: Destination;
  readonly text: string;
  readonly canSend: boolean;
  /** Called when the server has stored the first message of a content. */
  onScheduled(content: string, rest: string): void;
}

/** Button that schedules the text, and a link to the scheduled message until the text changes. */
export default function SendLater({ destination, text, canSend, onScheduled }: Props) {
  const { i18n } = useLingui();
  const [scheduledAt, setScheduledAt] = useState<number | null>(null);
  const open = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { SendLaterDialog } = await import('./schedule-dialog.js');
      const onStored = (at: number, content: string, rest: string) => {
        setScheduledAt(at);
        onScheduled(content, rest);
      };
      return <SendLaterDialog destination={destination} text={text} onScheduled={onStored} />;
    });
  return (
    <>
      <IconButton
        icon={Clock}
        label={i18n._('Send later')}
        opens="dialog"
        isDisabled={!canSend}
        onClick={({ currentTarget }) => open(currentTarget)}
      />
      <span className={styles.scheduled} role="status">
        {scheduledAt !== null && text === '' && (
          <a href="#scheduled">{i18n._('To be sent: {time}', { time: timeText(i18n, scheduledAt) })}</a>
        )}
      </span>
    </>
  );
}
