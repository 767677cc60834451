import { useLingui } from '@lingui/react';
import type { Reminder } from '@parley/client';
import { MessageBody } from '../content/message-body.js';
import styles from '../editor/scheduling.module.css';
import { timeText } from '../editor/times.js';
import { Bell } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { useField, useServices } from '../services/context.js';
import { DeleteButton } from './delete-button.js';
import draftStyles from './drafts.module.css';
import pageStyles from './inbox.module.css';

/** Pending reminders, soonest first. */
export function RemindersPage() {
  const { i18n } = useLingui();
  const reminders = useField('reminders') ?? [];
  if (reminders.length === 0) {
    return (
      <Empty
        icon={Bell}
        text={i18n._('You have no reminders. The menu of a message has “Remind me about this…”.')}
        link={{ href: '#recent', text: i18n._('Recent conversations') }}
      />
    );
  }
  return (
    <div className={pageStyles.page}>
      <ReminderList />
    </div>
  );
}

/** Pending reminders without their page. */
export function ReminderList() {
  const { i18n } = useLingui();
  const reminders = useField('reminders') ?? [];
  return (
    <ul aria-label={i18n._('Reminders')}>
      {reminders.map((reminder) => (
        <ReminderRow key={reminder.reminder_id} reminder={reminder} />
      ))}
    </ul>
  );
}

function ReminderRow({ reminder }: { readonly reminder: Reminder }) {
  const { i18n } = useLingui();
  const { client } = useServices();
  const { reminder_id, rendered_content, scheduled_delivery_timestamp: at, failed } = reminder;
  return (
    <li className={draftStyles.draft}>
      <div className={draftStyles.content}>
        <div className={styles.reminder}>
          <MessageBody html={rendered_content} />
        </div>
        {failed && <p className={styles.failed}>{i18n._('This reminder could not be delivered.')}</p>}
        <time className={draftStyles.time} dateTime={new Date(at * 1000).toISOString()}>
          {timeText(i18n, at)}
        </time>
      </div>
      <DeleteButton
        question={i18n._('Delete this reminder?')}
        consequence={i18n._('You will not be reminded of this message.')}
        onDelete={() => client.delete('/reminders/{reminder_id}', { reminder_id })}
      />
    </li>
  );
}
