import { type Arrival, type Chat, narrowOf } from '@parley/chat';
import { signal } from '@preact/signals-core';
import { firstWords } from '../content/first-words.js';
import { parseContent } from '../content/tree.js';
import type { Services } from '../services/context.js';
import { DesktopNotification, electronBridge } from '../services/electron-bridge.js';
import type { Navigation } from '../services/location.js';
import type { NotificationData } from './service-worker.js';
import type { WebPush } from './web-push.js';

/** Notification texts in the user's language. */
export interface NotificationTexts {
  readonly newMessage: string;
  place(arrival: Arrival): string;
}

/** Delay for batching changes of unread messages. */
const READ_MS = 300;

/**
 * Browser lock shared with the service worker. If another call reads the notification list concurrently, Chromium omits
 * a notification being shown, and nothing would close it.
 */
const LOCK = 'parley-notifications';

/** Shows notifications and plays sounds for messages out of sight, and closes them when read. */
export function notifyOf(
  { baseUrl, chat, navigation }: Pick<Services, 'baseUrl' | 'chat' | 'navigation'>,
  texts: NotificationTexts,
  push: WebPush | null,
): () => void {
  const open = new Map<number, Pick<Notification, 'close'>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ends = [
    watchPlace(chat, navigation),
    chat.onArrival((arrival) => {
      if (arrival.isShown && permission.peek() === 'granted') void show(arrival);
      if (arrival.isHeard) playSound(chat);
    }),
    chat.onUnreadChange(() => closeReadSoon()),
    () => clearTimeout(timer),
  ];

  async function show({ destination, messageId, avatarUrl, html, ...arrival }: Arrival): Promise<void> {
    const hash = chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: messageId });
    const data: NotificationData = { userId: chat.state.selfId, messageId, hash };
    const title = texts.place({ destination, messageId, avatarUrl, html, ...arrival });
    const options: NotificationOptions = {
      body: html === null ? texts.newMessage : firstWords(parseContent(html, baseUrl)),
      // Merges the notifications of the page and the server.
      tag: `message-${messageId}`,
      silent: true,
      data,
      ...(avatarUrl !== null && { icon: avatarUrl }),
    };
    const registration = await push?.registration();
    if (registration?.active) {
      await navigator.locks.request(LOCK, { mode: 'shared' }, () => registration.showNotification(title, options));
      return;
    }
    const showInApp = electronBridge?.new_notification;
    const notification = showInApp
      ? // When the user replies, the app identifies the message by the tag.
        new DesktopNotification(showInApp, title, { ...options, tag: String(messageId) })
      : new Notification(title, options);
    open.set(messageId, notification);
    notification.onclose = () => open.delete(messageId);
    notification.onclick = () => {
      window.focus();
      navigation.navigate(hash);
      notification.close();
    };
  }

  function closeReadSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void closeRead();
    }, READ_MS);
  }

  async function closeRead(): Promise<void> {
    for (const [messageId, notification] of open) if (chat.isRead(messageId)) notification.close();
    const registration = await push?.registration();
    if (!registration) return;
    const shown = await navigator.locks.request(LOCK, { ifAvailable: true }, (lock) =>
      lock ? registration.getNotifications() : null,
    );
    // A notification with a slow image must not delay others.
    if (shown === null) return closeReadSoon();
    for (const notification of shown) {
      const { messageId } = notification.data as NotificationData;
      if (messageId !== null && chat.isRead(messageId)) notification.close();
    }
  }

  return () => {
    for (const end of ends) end();
  };
}

/** Reports the conversation in view to the chat. */
function watchPlace(chat: Chat, navigation: Navigation): () => void {
  const leave = () => chat.watch(null);
  const report = () => chat.watch(document.hasFocus() ? navigation.current().to : null);
  report();
  const unsubscribe = navigation.subscribe(report);
  const listeners = [
    ['focus', report],
    ['blur', report],
    ['pagehide', leave],
  ] as const;
  for (const [type, listener] of listeners) addEventListener(type, listener);
  return () => {
    unsubscribe();
    for (const [type, listener] of listeners) removeEventListener(type, listener);
    leave();
  };
}

/** Permission granted by the browser; null if it does not support notifications. */
export const permission = signal('Notification' in globalThis ? Notification.permission : null);

/** Prompts the user, so it must be called from a gesture handler. */
export async function requestPermission(): Promise<boolean> {
  permission.value = await Notification.requestPermission();
  return permission.value === 'granted';
}

/** Sound frequencies relative to the key; sounds in the settings differ by key. */
const NOTES = [1, 1.5];
const BASE_HZ = 440;
const NOTE_SECONDS = 0.14;

/** Plays the sound chosen by the user. Browsers stay silent until the page is used. */
export function playSound(chat: Chat): void {
  const settings = chat.state.fields.peek('user_settings');
  const name = settings?.notification_sound ?? 'none';
  if (name === 'none') return;
  const index = Math.max(0, settings?.available_notification_sounds.indexOf(name) ?? 0);
  const audio = new AudioContext();
  for (const [at, ratio] of NOTES.entries()) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    const start = audio.currentTime + at * NOTE_SECONDS;
    tone.frequency.value = BASE_HZ * ratio * 2 ** (index / 6);
    volume.gain.setValueAtTime(0.15, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 3 * NOTE_SECONDS);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 3 * NOTE_SECONDS);
  }
  setTimeout(() => void audio.close(), 2000);
}
