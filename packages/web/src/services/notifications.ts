import { type Arrival, type Chat, destinationKey, narrowOf } from '@parley/chat';
import { textOf } from '../content/tree.js';
import type { Navigation } from './location.js';

const MAX_TEXT = 200;

/** Texts of notifications, in the user's language. */
export interface NotificationTexts {
  readonly newMessage: string;
  place(arrival: Arrival): string;
}

/** Shows notifications and plays sounds for messages that the user does not see already. */
export function notifyOf(chat: Chat, navigation: Navigation, texts: NotificationTexts): () => void {
  return chat.onArrival((arrival) => {
    if (document.hasFocus() && navigation.current().key === destinationKey(arrival.destination)) return;
    if (arrival.isShown && isSupported() && Notification.permission === 'granted')
      show(chat, navigation, arrival, texts);
    if (arrival.isHeard) playSound(chat);
  });
}

export const isSupported = (): boolean => 'Notification' in globalThis;

function show(chat: Chat, navigation: Navigation, arrival: Arrival, texts: NotificationTexts): void {
  const { destination, messageId, avatarUrl, html } = arrival;
  const notification = new Notification(texts.place(arrival), {
    body: html === null ? texts.newMessage : textOf(html).slice(0, MAX_TEXT),
    // Tabs of the same person show one notification together.
    tag: String(messageId),
    silent: true,
    ...(avatarUrl !== null && { icon: avatarUrl }),
  });
  notification.onclick = () => {
    window.focus();
    navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: messageId }));
    notification.close();
  };
}

/** Notes of a sound, in hertz; sounds of the settings differ by their key. */
const NOTES = [1, 1.5];
const BASE_HZ = 440;
const NOTE_SECONDS = 0.14;

/** Plays the sound that the user chose. Browsers are silent until the page was used. */
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
