import { type ReadonlySignal, type Signal, signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

/** Texts that a browser keeps; the oldest is removed when there is one more. */
const MAX_TEXTS = 50;

type Texts = ReadonlyMap<string, string>;

/** Texts being written inside of messages, by field. They survive the row, which leaves the screen, and the page. */
export class FieldTexts {
  private readonly written: Signal<Texts>;
  /** Fields that this window shows, each with the text that closing need not keep; null if every text is kept. */
  private readonly open: Signal<ReadonlyMap<string, string | null>> = signal(new Map());

  constructor(
    /** Name in the storage of the browser. */
    private readonly storageKey: string,
  ) {
    this.written = signal(parsed(readStored(storageKey)));
  }

  get texts(): ReadonlySignal<Texts> {
    return this.written;
  }

  /** Shows what other windows write. Returns the function that ends this. */
  followWindows(): () => void {
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (key === this.storageKey) this.show(parsed(newValue));
    };
    addEventListener('storage', onStorage);
    return () => removeEventListener('storage', onStorage);
  }

  /** True if this window shows the field of a text, false if the text is only kept, null if there is none. */
  isOpen(field: string): boolean | null {
    return this.written.value.has(field) ? this.open.value.has(field) : null;
  }

  /** Shows a field with the kept text, or else with the given one. */
  begin(field: string, text: string): void {
    if (this.written.peek().has(field)) this.resume(field);
    else {
      this.open.value = new Map(this.open.peek()).set(field, text);
      this.set(field, text);
    }
  }

  /** Shows a field with the kept text. */
  resume(field: string): void {
    const { open } = this;
    if (!open.peek().has(field)) open.value = new Map(open.peek()).set(field, null);
  }

  /** Hides a field; its text is kept if it was changed. */
  close(field: string): void {
    const others = new Map(this.open.peek());
    const unchanged = others.get(field);
    others.delete(field);
    this.open.value = others;
    if (this.written.peek().get(field) === unchanged) this.set(field, null);
  }

  /** Null ends the text. */
  set(field: string, text: string | null): void {
    this.show(changed(this.written.peek(), field, text));
    // Other windows keep texts there, too.
    const kept = [...changed(parsed(readStored(this.storageKey)), field, text)].slice(-MAX_TEXTS);
    store(this.storageKey, kept.length === 0 ? null : JSON.stringify(kept));
  }

  /** Removes all from this browser, on logging out. */
  clear(): void {
    store(this.storageKey, null);
  }

  private show(texts: Texts): void {
    this.written.value = texts;
    this.open.value = new Map([...this.open.peek()].filter(([field]) => texts.has(field)));
  }
}

function parsed(stored: string | null): Texts {
  try {
    const entries: unknown = JSON.parse(stored ?? '[]');
    return new Map(Array.isArray(entries) ? entries.filter(isEntry) : []);
  } catch {
    return new Map();
  }
}

const isEntry = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');

/** The text that was changed last comes last. */
function changed(texts: Texts, field: string, text: string | null): Texts {
  const others = [...texts].filter(([name]) => name !== field);
  return new Map(text === null ? others : [...others, [field, text]]);
}
