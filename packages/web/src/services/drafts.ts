import { type Destination, destinationKey } from '@parley/chat';
import { readStored, store } from './storage.js';

/** Texts that are kept; the oldest is removed when there is one more. */
const MAX_DRAFTS = 200;

type Texts = Readonly<Record<string, string>>;

/** Unsent texts in this browser, one for each conversation of a user. */
export class Drafts {
  private texts: Texts;
  private readonly storageKey: string;
  /** True after `clear`: the page is about to be left. */
  private isOver = false;
  /** False while storage is full or forbidden: drafts then last as long as the page. */
  private isStored = true;

  constructor(baseUrl: string, userId: number) {
    this.storageKey = `parley-drafts:${baseUrl}:${userId}`;
    this.texts = parsed(readStored(this.storageKey));
  }

  textFor(destination: Destination): string {
    return this.texts[destinationKey(destination)] ?? '';
  }

  save(destination: Destination, text: string): void {
    const key = destinationKey(destination);
    if (this.isOver || this.textFor(destination) === text) return;
    // Other tabs save drafts of other conversations.
    const { [key]: _, ...others } = this.isStored ? parsed(readStored(this.storageKey)) : this.texts;
    const entries = Object.entries(others).slice(-(MAX_DRAFTS - 1));
    this.texts = Object.fromEntries(text === '' ? entries : [...entries, [key, text]]);
    this.isStored = store(this.storageKey, JSON.stringify(this.texts));
  }

  /** Removes all, on logging out. */
  clear(): void {
    this.isOver = true;
    this.texts = {};
    store(this.storageKey, null);
  }
}

function parsed(text: string | null): Texts {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Texts) : {};
  } catch {
    return {};
  }
}
