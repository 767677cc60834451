import type { RefObject } from 'react';

/** Returns the value of a reference that is set while its component is mounted. */
export function mounted<T>({ current }: RefObject<T | null>): T {
  if (current === null) throw new Error('The component is not mounted');
  return current;
}
