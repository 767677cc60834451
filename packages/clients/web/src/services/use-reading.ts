import type { Reading } from '@parley/chat';
import { useCallback, useSyncExternalStore } from 'react';

/** Value of a reading; re-renders on every change. */
export function useReading<T>(reading: Reading<T>): T {
  const subscribe = useCallback((onChange: () => void) => reading.subscribe(onChange), [reading]);
  return useSyncExternalStore(subscribe, () => reading.peek());
}
