import { signal } from '@preact/signals-core';
import { readStored, store } from '../services/storage.js';

const KEY = 'parley-only-unread';

/** True if the sidebar of this browser shows only conversations with unread messages. */
export const onlyUnread = signal(readStored(KEY) !== null);

export function setOnlyUnread(isOn: boolean): void {
  onlyUnread.value = isOn;
  store(KEY, isOn ? '1' : null);
}
