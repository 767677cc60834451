import { type Destination, destinationKey } from '@parley/chat';

/** Texts that are kept; the oldest is removed when there is one more. */
const MAX_DRAFTS = 200;

type Texts = Readonly<Record<string, string>>;

/** Unsent texts in this browser, one for each conversation of a user. */
export class Drafts {
  private texts: Texts;
  private readonly storageKey: string;
  /** True after `clear`: the page is about to be left. */
  private isOver = false;

  constructor(baseUrl: string, userId: number) {
    this.storageKey = `parley-drafts:${baseUrl}:${userId}`;
    this.texts = this.read();
  }

  textFor(destination: Destination): string {
    return this.texts[destinationKey(destination)] ?? '';
  }

  save(destination: Destination, text: string): void {
    const key = destinationKey(destination);
    if (this.isOver || this.textFor(destination) === text) return;
    // Other tabs save drafts of other conversations.
    const { [key]: _, ...others } = this.read();
    const entries = Object.entries(others).slice(-(MAX_DRAFTS - 1));
    this.texts = Object.fromEntries(text === '' ? entries : [...entries, [key, text]]);
    // Storage may be full or forbidden; the draft then lasts as long as the page.
    try {
      localStorage.setItem(this.storageKey, JSON.stringify(this.texts));
    } catch {}
  }

  /** Removes all, on logging out. */
  clear(): void {
    this.isOver = true;
    this.texts = {};
    try {
      localStorage.removeItem(this.storageKey);
    } catch {}
  }

  private read(): Texts {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(this.storageKey) ?? '{}');
      return typeof value === 'object' && value !== null ? (value as Texts) : {};
    } catch {
      return this.texts ?? {};
    }
  }
}
