import { signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

const KEY = 'parley-initials';

/** True if this browser shows initials of people instead of generated patterns. */
export const showsInitials = signal(readStored(KEY) !== null);

export function setShowsInitials(isOn: boolean): void {
  showsInitials.value = isOn;
  store(KEY, isOn ? '1' : null);
}
