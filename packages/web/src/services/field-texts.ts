import { type ReadonlySignal, type Signal, signal } from '@preact/signals-core';
import { readStored, store } from './storage.js';

/** Maximum number of stored texts; a further one evicts the oldest. */
const MAX_TEXTS = 50;

interface FieldText {
  readonly text: string;
  /** Original text of the field; null if unknown. */
  readonly base: string | null;
}

type Texts = ReadonlyMap<string, FieldText>;

/** Unsaved texts of fields inside messages. They survive scrolling the row out of view and closing the page. */
export class FieldTexts {
  private readonly written: Signal<Texts>;
  /** Fields shown in this window. */
  private readonly open: Signal<ReadonlySet<string>> = signal(new Set());

  constructor(
    /** Storage key in the browser. */
    private readonly storageKey: string,
  ) {
    this.written = signal(parsed(readStored(storageKey)));
  }

  get texts(): ReadonlySignal<Texts> {
    return this.written;
  }

  /** Applies changes from other windows. Returns an unsubscribe function. */
  followWindows(): () => void {
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (key === this.storageKey) this.show(parsed(newValue));
    };
    addEventListener('storage', onStorage);
    return () => removeEventListener('storage', onStorage);
  }

  /** True if this window shows the field, false if its text is only stored, null if there is no text. */
  isOpen(field: string): boolean | null {
    return this.written.value.has(field) ? this.open.value.has(field) : null;
  }

  /** Shows a field with the stored text, or else with the given one. */
  begin(field: string, text: string): void {
    this.resume(field);
    if (!this.written.peek().has(field)) this.put(field, { text, base: text });
  }

  /** Shows a field with the stored text. */
  resume(field: string): void {
    const { open } = this;
    if (!open.peek().has(field)) open.value = new Set(open.peek()).add(field);
  }

  /** Hides a field; a changed text stays stored. */
  close(field: string): void {
    const others = new Set(this.open.peek());
    others.delete(field);
    this.open.value = others;
    const kept = this.written.peek().get(field);
    if (kept?.text === kept?.base) this.set(field, null);
  }

  /** Null discards the text. */
  set(field: string, text: string | null): void {
    this.put(field, text === null ? null : { text, base: this.written.peek().get(field)?.base ?? null });
  }

  private put(field: string, entry: FieldText | null): void {
    this.show(changed(this.written.peek(), field, entry));
    // Other windows store texts there, too.
    const kept = [...changed(parsed(readStored(this.storageKey)), field, entry)].slice(-MAX_TEXTS);
    const rows = kept.map(([name, { text, base }]) => [name, text, base]);
    store(this.storageKey, rows.length === 0 ? null : JSON.stringify(rows));
  }

  /** Removes everything from this browser on logout. */
  clear(): void {
    store(this.storageKey, null);
  }

  private show(texts: Texts): void {
    this.written.value = texts;
    this.open.value = new Set([...this.open.peek()].filter((field) => texts.has(field)));
  }
}

function parsed(stored: string | null): Texts {
  try {
    const entries: unknown = JSON.parse(stored ?? '[]');
    const rows = Array.isArray(entries) ? entries.filter(isRow) : [];
    return new Map(rows.map(([field, text, base = null]) => [field, { text, base }]));
  } catch {
    return new Map();
  }
}

/** Version 0.2 stored no base. */
const isRow = (value: unknown): value is [string, string, (string | null)?] =>
  Array.isArray(value) &&
  typeof value[0] === 'string' &&
  typeof value[1] === 'string' &&
  (value[2] == null || typeof value[2] === 'string');

/** Moves the changed text to the end. */
function changed(texts: Texts, field: string, entry: FieldText | null): Texts {
  const others = [...texts].filter(([name]) => name !== field);
  return new Map(entry === null ? others : [...others, [field, entry]]);
}
