import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Destination, type MessageRow, type SendWarning, warningsFor } from '@parley/chat';
import { Pencil, RotateCcw, Trash2 } from '../icons/icons.js';
import { useChat, useComputed } from '../services/context.js';
import { useRefusals } from '../services/failures.js';
import { reasonOf } from '../services/reasons.js';
import type { MessageCommands } from './message-menu.js';
import rows from './message-row.module.css';
import styles from './other-drafts.module.css';

interface Props {
  readonly destination: Destination;
  readonly text: string;
}

/** Warnings about a message draft. */
export function Warnings({ destination, text }: Props) {
  const chat = useChat();
  const { i18n } = useLingui();
  const lines = useComputed(() => {
    const nameOf = (id: number) => chat.people.person(id).value.name;
    return warningsFor(chat.state, destination, text).map((warning) => textOf(warning, nameOf, i18n));
  }, [chat, destination, text, i18n]);
  return (
    <div role="status">
      {lines.length > 0 && (
        <ul className={styles.others}>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function textOf(warning: SendWarning, nameOf: (id: number) => string, i18n: I18n): string {
  if (warning.kind === 'many') return i18n._('This will notify {count} people.', { count: warning.count });
  const count = warning.userIds.length;
  const people = new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(warning.userIds.map(nameOf));
  return warning.kind === 'guests'
    ? i18n._('{count, plural, one {{people} is a guest.} other {{people} are guests.}}', { count, people })
    : i18n._(
        '{count, plural, one {{people} is not subscribed to this channel and will not be notified.} other {{people} are not subscribed to this channel and will not be notified.}}',
        { count, people },
      );
}

interface NotSentProps {
  readonly message: MessageRow;
  readonly onEdit: MessageCommands['editFailed'];
}

/** Line below a rejected message with the available actions. */
export function NotSent({ message, onEdit }: NotSentProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { key, destination, failure } = message;
  const refusalText = useRefusals(failure !== null);
  const canEdit = useComputed(
    () => onEdit !== null && chat.rights.canSend(destination) === null,
    [chat, onEdit, destination],
  );
  return (
    <div className={rows.failure} role="alert">
      <span>{i18n._('Not sent: {reason}', { reason: reasonOf(failure!, i18n, refusalText) })}</span>
      <button type="button" onClick={() => chat.outbox.retry(key)}>
        <RotateCcw size={14} aria-hidden /> {i18n._('Try again')}
      </button>
      {canEdit && (
        <button type="button" onClick={() => onEdit!(message)}>
          <Pencil size={14} aria-hidden /> {i18n._('Edit')}
        </button>
      )}
      <button type="button" onClick={() => chat.outbox.discard(key)}>
        <Trash2 size={14} aria-hidden /> {i18n._('Delete')}
      </button>
    </div>
  );
}
