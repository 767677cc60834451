import {
  type Address,
  type Chat,
  type Destination,
  destinationOf,
  type Narrow,
  narrowKey,
  parseAddress,
} from '@parley/chat';
import { reportDone, reportFailure } from './failures.js';

export interface Place {
  readonly hash: string;
  /** Equal for addresses of the same conversation. */
  readonly key: string;
  /** Null for an invalid address. */
  readonly address: Address | null;
  /** Opened conversation. */
  readonly to: Destination | null;
  /** Channel of the shown messages. */
  readonly channelId: number | null;
  /** Changes when the user navigates to the current place again. */
  readonly visit: number;
}

/** Message at the upper edge of a list that was left, or its end. */
export interface ReadingPlace {
  readonly id: number;
  /** Distance of the message from the top of the application; null at the end. */
  readonly top: number | null;
}

/** Current place, and navigation to others. */
export interface Navigation {
  current(): Place;
  /** Returns an unsubscribe function. */
  subscribe(onChange: () => void): () => void;
  /** Navigates to a place; the back button returns from it. */
  navigate(hash: string): void;
  /** Navigates to the place selected by the host, unless the user came with an address. */
  start(hash: string): void;
  /** True at the place selected by the host. */
  isAtStart(): boolean;
  /** Navigates to a place and replaces the current history entry. */
  replace(hash: string): void;
  /** Saves the reading position of the current place for the back button or a reload. */
  keep(reading: ReadingPlace): void;
  /** Null if the place was not visited before. */
  kept(): ReadingPlace | null;
}

const HOMES = { inbox: '#inbox', recent: '#recent', all_messages: '#feed' };

/** Address of the view that the user chose to see first. */
export const homeOf = (chat: Chat): string =>
  chat.isVisitor ? HOMES.all_messages : HOMES[chat.state.fields.peek('user_settings')?.web_home_view ?? 'inbox'];

/** Place in the address of the page. */
export class PageNavigation implements Navigation {
  private last = placeOf('');
  private startKey: string | null = null;

  private readonly subscribers = new Set<() => void>();
  /** Ends the listeners of the page, which only subscribers need. */
  private listening: AbortController | null = null;

  constructor(
    /** Default place of an address without one. */
    private home: () => string,
    /** True if other parts of the address belong to the page. */
    private readonly isShared = false,
  ) {}

  current(): Place {
    const isOther = location.hash === '' || (this.isShared && parseAddress(location.hash) === null);
    const hash = isOther ? this.home() : location.hash;
    if (this.last.hash !== hash) this.last = placeOf(hash);
    return this.last;
  }

  subscribe(onChange: () => void): () => void {
    if (this.subscribers.size === 0) this.listen();
    this.subscribers.add(onChange);
    return () => {
      this.subscribers.delete(onChange);
      if (this.subscribers.size === 0) this.listening?.abort();
    };
  }

  private listen(): void {
    this.listening = new AbortController();
    const { signal } = this.listening;
    // One listener notifies all components at once. With separate ones, React would render after each of them.
    addEventListener('hashchange', () => this.changed(), { signal });
    // Browsers fire no event for a link to the current address.
    addEventListener(
      'click',
      ({ target, defaultPrevented, ctrlKey, metaKey, shiftKey }) => {
        const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
        if (!link || defaultPrevented || ctrlKey || metaKey || shiftKey) return;
        if (link.hash === location.hash) this.visitAgain();
      },
      { signal },
    );
  }

  start(hash: string): void {
    this.home = () => hash;
    this.startKey = keyOf(hash);
    this.changed();
  }

  isAtStart(): boolean {
    return this.current().key === this.startKey;
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

  /** Notifies before the browser does, so that nothing renders in between. */
  private changed(): void {
    for (const onChange of [...this.subscribers]) onChange();
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
      // Browsers limit the number of calls; the previously saved position stays.
    }
  }

  kept(): ReadingPlace | null {
    return history.state?.parleyReading ?? null;
  }
}

/** Place of an element in another product's page, which leaves the page's address unchanged. */
export class OwnNavigation implements Navigation {
  private place: Place;
  private startKey: string | null = null;
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
    this.startKey = keyOf(hash);
    this.navigate(hash);
  }

  isAtStart(): boolean {
    return this.place.key === this.startKey;
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
  const narrow = address?.view === 'narrow' ? address.narrow : [];
  const to = destinationOf(narrow);
  return { hash, key: keyOf(hash, address), address, to, channelId: channelOf(narrow), visit: 0 };
}

/** Key of a place. */
export const keyOf = (hash: string, address = parseAddress(hash)): string =>
  address?.view === 'narrow' ? narrowKey(address.narrow.filter(({ operator }) => operator !== 'with')) : hash;

function channelOf(narrow: Narrow): number | null {
  const term = narrow.find(({ operator, negated }) => operator === 'channel' && !negated);
  return typeof term?.operand === 'number' ? term.operand : null;
}

/** Copies the full address of a place and shows a confirmation. */
export function copyLink(baseUrl: string, hash: string, done: string): void {
  navigator.clipboard.writeText(baseUrl + hash).then(() => reportDone(done), reportFailure);
}
