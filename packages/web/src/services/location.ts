import { type Address, narrowKey, parseAddress } from '@parley/chat';
import { reportDone, reportFailure } from './failures.js';

export interface Place {
  readonly hash: string;
  /** Equal for addresses that show the same conversation. */
  readonly key: string;
  /** Null for an address without a meaning. */
  readonly address: Address | null;
  /** Channel whose messages are shown. */
  readonly channelId: number | null;
  /** Changes when the user goes to the place again that is shown. */
  readonly visit: number;
}

/** Message at the upper edge of a list that was left, or at its end. */
export interface ReadingPlace {
  readonly id: number;
  /** Distance of the message from the top of the application; null at the end. */
  readonly top: number | null;
}

/** Place that is shown, and the way to another one. */
export interface Navigation {
  current(): Place;
  /** Returns a function that ends the subscription. */
  subscribe(onChange: () => void): () => void;
  /** Goes to a place from which the back button of the browser returns. */
  navigate(hash: string): void;
  /** Goes to the place that the host names; an address that the user came with has precedence. */
  start(hash: string): void;
  /** Goes to a place that takes the place of the present one in the history. */
  replace(hash: string): void;
  /** Remembers where the present place is read, for a return by the back button or a reload. */
  keep(reading: ReadingPlace): void;
  /** Null where the reader has not been. */
  kept(): ReadingPlace | null;
}

/** Place in the address of the page. */
export class PageNavigation implements Navigation {
  private last = placeOf('');

  private readonly changes = new EventTarget();

  constructor(
    /** Place of an address without one. */
    private home: () => string,
    /** True beside other parts of the address, which belong to the page. */
    private readonly isShared = false,
  ) {
    // Browsers tell nothing when a link leads to the address that is shown.
    addEventListener('click', ({ target, defaultPrevented, ctrlKey, metaKey, shiftKey }) => {
      const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
      if (!link || defaultPrevented || ctrlKey || metaKey || shiftKey) return;
      if (link.hash === location.hash) this.visitAgain();
    });
  }

  current(): Place {
    const isOther = location.hash === '' || (this.isShared && parseAddress(location.hash) === null);
    const hash = isOther ? this.home() : location.hash;
    if (this.last.hash !== hash) this.last = placeOf(hash);
    return this.last;
  }

  subscribe(onChange: () => void): () => void {
    addEventListener('hashchange', onChange);
    this.changes.addEventListener('change', onChange);
    return () => {
      removeEventListener('hashchange', onChange);
      this.changes.removeEventListener('change', onChange);
    };
  }

  start(hash: string): void {
    this.home = () => hash;
    this.changed();
  }

  navigate(hash: string): void {
    if (hash === location.hash) this.visitAgain();
    else {
      location.hash = hash;
      this.changed();
    }
  }

  replace(hash: string): void {
    location.replace(hash);
    this.changed();
  }

  /** Tells at once what the browser tells later, so that nothing is drawn in between. */
  private changed(): void {
    this.changes.dispatchEvent(new Event('change'));
  }

  private visitAgain(): void {
    history.replaceState({ ...history.state, parleyReading: null }, '');
    this.last = { ...this.current(), visit: this.last.visit + 1 };
    this.changed();
  }

  keep(reading: ReadingPlace): void {
    try {
      history.replaceState({ ...history.state, parleyReading: reading }, '');
    } catch {
      // Browsers limit the number of calls; the place that was kept before stays.
    }
  }

  kept(): ReadingPlace | null {
    return history.state?.parleyReading ?? null;
  }
}

/** Place of an element in another product's page, whose address it leaves alone. */
export class OwnNavigation implements Navigation {
  private place: Place;
  private readonly changes = new EventTarget();

  constructor(hash: string) {
    this.place = placeOf(hash);
  }

  current(): Place {
    return this.place;
  }

  subscribe(onChange: () => void): () => void {
    this.changes.addEventListener('change', onChange);
    return () => this.changes.removeEventListener('change', onChange);
  }

  navigate(hash: string): void {
    this.place = placeOf(hash);
    this.changes.dispatchEvent(new Event('change'));
  }

  start(hash: string): void {
    this.navigate(hash);
  }

  replace(hash: string): void {
    this.navigate(hash);
  }

  keep(): void {}

  kept(): null {
    return null;
  }
}

function placeOf(hash: string): Place {
  const address = parseAddress(hash);
  return { hash, key: keyOf(hash, address), address, channelId: channelOf(address), visit: 0 };
}

/** Key of a place. */
export const keyOf = (hash: string, address = parseAddress(hash)): string =>
  address?.view === 'narrow' ? narrowKey(address.narrow) : hash;

function channelOf(address: Address | null): number | null {
  if (address?.view !== 'narrow') return null;
  const term = address.narrow.find(({ operator, negated }) => operator === 'channel' && !negated);
  return typeof term?.operand === 'number' ? term.operand : null;
}

/** Puts the full address of a place in the clipboard, and confirms it with a text. */
export function copyLink(baseUrl: string, hash: string, done: string): void {
  navigator.clipboard.writeText(baseUrl + hash).then(() => reportDone(done), reportFailure);
}
