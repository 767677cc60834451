import { useLingui } from '@lingui/react';
import type { Arrival, Chat } from '@parley/chat';
import { useEffect, useState } from 'react';
import { useField, useServices } from '../services/context.js';
import { isSupported, notifyOf } from '../services/notifications.js';
import { readStored, store } from '../services/storage.js';
import styles from './app.module.css';

const KEY = 'parley-no-notifications';

/** Notifies while the page is open, and asks once whether the browser may show notifications. */
export function NotificationsLine() {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const isWanted = useField('user_settings')?.enable_desktop_notifications === true;
  const [isAsking, setAsking] = useState(
    () => isSupported() && Notification.permission === 'default' && readStored(KEY) === null,
  );
  useEffect(
    () => notifyOf(chat, navigation, { newMessage: i18n._('New message'), place: (arrival) => titleOf(chat, arrival) }),
    [chat, navigation, i18n],
  );
  if (!isAsking || !isWanted) return null;
  return (
    <section className={styles.question} aria-label={i18n._('Notifications')}>
      <span>{i18n._('Show notifications of new messages on this computer?')}</span>
      <button type="button" onClick={() => void Notification.requestPermission().then(() => setAsking(false))}>
        {i18n._('Enable notifications')}
      </button>
      <button
        type="button"
        onClick={() => {
          store(KEY, '1');
          setAsking(false);
        }}
      >
        {i18n._('No')}
      </button>
    </section>
  );
}

/** Sender, and for channels the place. */
function titleOf(chat: Chat, { senderName, destination }: Arrival): string {
  if (destination.kind === 'direct') {
    const others = destination.userIds.map((id) => chat.people.person(id).peek().name);
    return others.length > 1 ? `${senderName} (${others.join(', ')})` : senderName;
  }
  return `${senderName} (#${chat.sidebar.channel(destination.channelId).peek()?.name} > ${destination.topic})`;
}
