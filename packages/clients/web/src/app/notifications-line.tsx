import { useLingui } from '@lingui/react';
import type { Arrival, Chat } from '@parley/chat';
import { useEffect, useState } from 'react';
import { notifyOf } from '../push/notifications.js';
import { useWebPush } from '../push/use-web-push.js';
import { useField, useServices } from '../services/context.js';
import { readStored, store } from '../services/storage.js';
import styles from './app.module.css';

const KEY = 'parley-no-notifications';

/** Shows notifications while the page is open, and asks once for the browser's permission. */
export function NotificationsLine() {
  const { i18n } = useLingui();
  const { baseUrl, chat, navigation } = useServices();
  const settings = useField('user_settings');
  const { push, state, permission, turnOn } = useWebPush();
  const [isDeclined, setDeclined] = useState(() => readStored(KEY) !== null);
  useEffect(
    () =>
      notifyOf(
        { baseUrl, chat, navigation },
        { newMessage: i18n._('New message'), place: (arrival) => titleOf(chat, arrival) },
        push,
      ),
    [baseUrl, chat, navigation, i18n, push],
  );
  const isFirst = permission === 'default' && !isDeclined && settings?.enable_desktop_notifications === true;
  const isForPush =
    permission === 'granted' &&
    !isDeclined &&
    state === 'unasked' &&
    settings?.enable_offline_push_notifications === true;
  if (!isFirst && !isForPush) return null;
  const decline = () => {
    if (isFirst) store(KEY, '1');
    setDeclined(true);
    void push?.turnOff();
  };
  return (
    <section className={styles.question} aria-label={i18n._('Notifications')}>
      <span>
        {isFirst
          ? i18n._('Show notifications of new messages on this device?')
          : i18n._('Also show notifications while no page of the chat is open?')}
      </span>
      <button type="button" onClick={() => void turnOn()}>
        {i18n._('Enable notifications')}
      </button>
      <button type="button" onClick={decline}>
        {i18n._('No')}
      </button>
    </section>
  );
}

/** Sender, with the place for channels. */
function titleOf(chat: Chat, { senderName, destination }: Arrival): string {
  if (destination.kind === 'direct') {
    const others = destination.userIds.map((id) => chat.people.person(id).peek().name);
    return others.length > 1 ? `${senderName} (${others.join(', ')})` : senderName;
  }
  return `${senderName} (#${chat.sidebar.channel(destination.channelId).peek()?.name} > ${destination.topic})`;
}
