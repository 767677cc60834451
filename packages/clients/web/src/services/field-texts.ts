import { type ReadonlySignal, type Signal, signal } from '@preact/signals-core';
import { parseStored, readStored, StoredRecords, store } from './storage.js';

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
  private readonly records: StoredRecords;
  private readonly written: Signal<Texts>;
  /** Fields shown in this window. */
  private readonly open: Signal<ReadonlySet<string>> = signal(new Set());

  constructor(
    /** Storage key in the browser. */
    storageKey: string,
  ) {
    this.records = new StoredRecords(storageKey);
    const former = readStored(storageKey);
    if (former !== null) {
      for (const [field, text] of textsOfFormerVersion(former))
        if (this.records.get(field) === null) this.records.set(field, JSON.stringify([text, null, 0]));
      store(storageKey, null);
    }
    this.written = signal(this.stored());
  }

  get texts(): ReadonlySignal<Texts> {
    return this.written;
  }

  /** Applies changes from other windows. Returns an unsubscribe function. */
  followWindows(): () => void {
    return this.records.follow(() => this.show(this.stored()));
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
    this.records.set(field, entry && JSON.stringify([entry.text, entry.base, Date.now()]));
    const texts = this.stored();
    for (const evicted of [...texts.keys()].slice(0, -MAX_TEXTS)) {
      this.records.set(evicted, null);
      texts.delete(evicted);
    }
    this.show(texts);
  }

  /** Removes everything from this browser on logout. */
  clear(): void {
    this.records.clear();
  }

  /** Stored texts, the one changed last at the end. */
  private stored(): Map<string, FieldText> {
    const rows = [...this.records.read()].flatMap(([field, record]) => {
      const [text, base, changedAt] = parsedList(record);
      const isWhole = typeof text === 'string' && (typeof base === 'string' || base === null);
      return isWhole ? [{ field, changedAt: Number(changedAt), entry: { text, base } }] : [];
    });
    rows.sort((a, b) => a.changedAt - b.changedAt);
    return new Map(rows.map(({ field, entry }) => [field, entry]));
  }

  private show(texts: Texts): void {
    this.written.value = texts;
    this.open.value = new Set([...this.open.peek()].filter((field) => texts.has(field)));
  }
}

function parsedList(text: string): readonly unknown[] {
  const list = parseStored(text);
  return Array.isArray(list) ? list : [];
}

/** Version 0.2 stored all texts in one item and no bases. */
const textsOfFormerVersion = (stored: string): readonly (readonly [string, string])[] =>
  parsedList(stored).filter(
    (row): row is [string, string] => Array.isArray(row) && typeof row[0] === 'string' && typeof row[1] === 'string',
  );
