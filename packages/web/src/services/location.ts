import { type Address, narrowKey, parseAddress } from '@parley/chat';
import { useSyncExternalStore } from 'react';

export interface Place {
  readonly hash: string;
  /** Equal for addresses that show the same conversation. */
  readonly key: string;
  /** Null for an address without a meaning. */
  readonly address: Address | null;
  /** Channel whose messages are shown. */
  readonly channelId: number | null;
}

let last: Place | null = null;

function current(): Place {
  const hash = location.hash === '' ? '#inbox' : location.hash;
  if (last?.hash !== hash) {
    const address = parseAddress(hash);
    last = { hash, key: keyOf(hash, address), address, channelId: channelOf(address) };
  }
  return last!;
}

const keyOf = (hash: string, address: Address | null): string =>
  address?.view === 'narrow' ? narrowKey(address.narrow) : hash;

/** True if an address shows the same conversation as the page. */
export function useIsCurrent(hash: string): boolean {
  return useAddress().key === keyOf(hash, parseAddress(hash));
}

function channelOf(address: Address | null): number | null {
  if (address?.view !== 'narrow') return null;
  const term = address.narrow.find(({ operator, negated }) => operator === 'channel' && !negated);
  return typeof term?.operand === 'number' ? term.operand : null;
}

function subscribe(onChange: () => void): () => void {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** Place that the address of the page names. */
export const useAddress = (): Place => useSyncExternalStore(subscribe, current);

/** Goes to a place; the browser's back button returns. */
export function navigate(hash: string): void {
  location.hash = hash;
}

/** Goes to a place that takes the place of the present one in the browser's history. */
export function replaceAddress(hash: string): void {
  location.replace(hash);
}

/** Key of the conversation that is shown; the address for other pages. */
export const placeKey = (): string => current().key;
