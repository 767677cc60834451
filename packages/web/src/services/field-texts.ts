import { type ReadonlySignal, type Signal, signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

/** Texts that a browser keeps; the oldest is removed when there is one more. */
const MAX_TEXTS = 50;

type Texts = ReadonlyMap<string, string>;

/** Texts being written inside of messages, by field. They survive the row, which leaves the screen, and the page. */
export class FieldTexts {
  private readonly written: Signal<Texts>;

  constructor(
    /** Name in the storage of the browser. */
    private readonly storageKey: string,
  ) {
    this.written = signal(this.stored());
  }

  get texts(): ReadonlySignal<Texts> {
    return this.written;
  }

  /** Null ends the text. */
  set(field: string, text: string | null): void {
    this.written.value = changed(this.written.peek(), field, text);
    // Other windows keep texts there, too.
    const kept = [...changed(this.stored(), field, text)].slice(-MAX_TEXTS);
    store(this.storageKey, kept.length === 0 ? null : JSON.stringify(kept));
  }

  /** Removes all from this browser, on logging out. */
  clear(): void {
    store(this.storageKey, null);
  }

  private stored(): Texts {
    try {
      const entries: unknown = JSON.parse(readStored(this.storageKey) ?? '[]');
      return new Map(Array.isArray(entries) ? entries.filter(isEntry) : []);
    } catch {
      return new Map();
    }
  }
}

const isEntry = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');

/** The text that was changed last comes last. */
function changed(texts: Texts, field: string, text: string | null): Texts {
  const others = [...texts].filter(([name]) => name !== field);
  return new Map(text === null ? others : [...others, [field, text]]);
}
