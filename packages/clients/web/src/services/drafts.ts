import { type Destination, destinationKey, type Reading } from '@parley/chat';
import type { Draft } from '@parley/client';
import { computed, type Signal, signal } from '@preact/signals-core';
import { isDestination, parseStored, readStored, StoredRecords, store } from './storage.js';

/** Maximum number of stored texts; a further one evicts the oldest. */
const MAX_DRAFTS = 200;

interface Written {
  readonly to: Destination;
  readonly text: string;
  /** Unix seconds. */
  readonly editedAt: number;
}

interface Saved {
  readonly id: number;
  /** `stampOf` of the server's version. */
  readonly saved: string;
}

/** Unsent text in this browser. */
export interface DraftEntry extends Written, Omit<Saved, 'id'> {
  /** Id on the server; null until the draft is saved there. */
  readonly id: number | null;
}

/** All draft data in the browser's storage. */
export interface DraftBook {
  /** Keyed by draft instead of destination, since two windows may write two texts for one conversation. */
  readonly entries: Readonly<Record<string, DraftEntry>>;
  /** Ids of drafts pending removal from the server. */
  readonly removed: readonly number[];
}

export interface DraftRow {
  readonly key: string;
  /** Null if an app saved a draft without a recipient. */
  readonly to: Destination | null;
  readonly text: string;
  readonly editedAt: number;
}

interface Options {
  /** Storage key in the browser. */
  readonly storageKey: string;
  readonly selfId: number;
  /** Drafts on the server, observed inside computations; empty without synchronization. */
  readonly onServer: () => readonly Draft[];
}

/** Field name for a new topic of a channel; other fields use the keys of their conversations. */
export const newTopicOf = (channelId: number): string => `new topic in ${channelId}`;

/**
 * Unsent texts of a user: those of this browser, shared by its windows, and those that exist only on the server.
 *
 * A text and its state on the server are separate records, so that a window that writes and one that saves at the same
 * moment keep both. A state without a text is a draft to be removed from the server.
 */
export class Drafts {
  readonly selfId: number;
  readonly book: Signal<DraftBook>;
  /** All drafts, last edited first. */
  readonly all: Reading<readonly DraftRow[]>;
  private readonly records: StoredRecords;
  private readonly onServer: () => readonly Draft[];
  /** True after `clear`: the page is about to close. */
  private isOver = false;
  private count = 0;
  /** Part of the keys created by this window. */
  private readonly mark = `.${Math.random()}.`;
  /** Functions that save field contents. */
  private readonly fields = new Set<() => void>();
  /** Name of the field to focus when it next appears. */
  private awaited: string | null = null;

  constructor({ storageKey, selfId, onServer }: Options) {
    this.records = new StoredRecords(storageKey);
    this.selfId = selfId;
    this.onServer = onServer;
    const former = readStored(storageKey);
    if (former !== null) {
      const before = this.stored();
      this.write(before, { ...before, entries: { ...ofFormerVersion(former), ...before.entries } });
      store(storageKey, null);
    }
    this.book = signal(this.stored());
    this.all = computed(() => this.rows());
  }

  /** Applies changes from other windows, and saves when the page closes. Returns an unsubscribe function. */
  followWindows(): () => void {
    const endFollowing = this.records.follow(() => {
      if (!this.isOver) this.book.value = this.stored();
    });
    const onLeave = () => this.saveFields();
    addEventListener('pagehide', onLeave);
    return () => {
      endFollowing();
      removeEventListener('pagehide', onLeave);
    };
  }

  /** Registers a field to be saved when the user leaves. Returns a function that saves and unregisters it. */
  withField(save: () => void): () => void {
    this.fields.add(save);
    return () => {
      this.fields.delete(save);
      save();
    };
  }

  /** Saves text typed since the last pause. */
  saveFields(): void {
    for (const save of this.fields) save();
  }

  /** Opens the last edited draft of a conversation, or a new one. */
  open(destination: Destination): OpenDraft {
    return new OpenDraft(this, destination);
  }

  /** Adds a text to the drafts of a conversation. */
  add(to: Destination, text: string): void {
    if (text.trim() !== '') this.put(this.newKey(), { to, text, editedAt: now(), id: null, saved: '' });
  }

  /** Adds a text to a conversation that is about to be shown and focuses its field. */
  begin(to: Destination, text: string): void {
    this.add(to, text);
    this.awaited = destinationKey(to);
  }

  /** Focuses the field for a new topic of a channel when it appears. */
  beginTopic(channelId: number): void {
    this.awaited = newTopicOf(channelId);
  }

  /** Returns true once after `begin` or `beginTopic`. */
  takesFocus(field: string): boolean {
    if (this.awaited !== field) return false;
    this.awaited = null;
    return true;
  }

  newKey(): string {
    return `${Date.now()}${this.mark}${++this.count}`;
  }

  /** True for a draft created by another window of this browser. */
  isOfOtherWindow(key: string): boolean {
    return this.book.peek().entries[key] !== undefined && !key.includes(this.mark);
  }

  /** Latest version of the draft in this browser, even before its event arrives. */
  find(key: string): DraftEntry | null {
    const { entries, removed } = this.isOver ? EMPTY : this.stored();
    if (entries[key]) return entries[key];
    const draft = this.onServer().find(({ id }) => serverKey(id) === key);
    const to = draft && destinationOfDraft(draft, this.selfId);
    if (!to || removed.includes(draft.id)) return null;
    return { to, text: draft.content, editedAt: draft.timestamp, id: draft.id, saved: stampOf(to, draft.content) };
  }

  put(key: string, entry: DraftEntry): void {
    this.change(({ entries: { [key]: _, ...others }, removed }) => {
      const newest = Object.entries(others).sort(([, a], [, b]) => b.editedAt - a.editedAt);
      return { entries: { ...Object.fromEntries(newest.slice(0, MAX_DRAFTS - 1)), [key]: entry }, removed };
    });
  }

  remove(key: string): void {
    const id = this.find(key)?.id ?? idOfServerKey(key);
    this.change(({ entries: { [key]: _, ...entries }, removed }) => ({
      entries,
      removed: id === null || removed.includes(id) ? removed : [...removed, id],
    }));
  }

  /** Changes the data shared by all windows of the browser. */
  change(change: (book: DraftBook) => DraftBook): void {
    if (this.isOver) return;
    const before = this.stored();
    const after = change(before);
    // Stored first, since subscribers read the storage.
    if (after !== before) this.write(before, after);
    this.book.value = after;
  }

  /** Removes everything from this browser on logout. */
  clear(): void {
    this.isOver = true;
    this.book.value = EMPTY;
    this.records.clear();
  }

  private stored(): DraftBook {
    const records = this.records.read();
    const entries: Record<string, DraftEntry> = {};
    for (const [name, record] of records) {
      const [, key] = /^text (.*)$/s.exec(name) ?? [];
      if (key === undefined) continue;
      const written = parsedWritten(record);
      if (written) entries[key] = { ...written, ...(parsedSaved(records.get(`saved ${key}`)) ?? UNSAVED) };
    }
    return { entries, removed: [...new Set(removals(records).values())] };
  }

  private write(before: DraftBook, { entries, removed }: DraftBook): void {
    const { records } = this;
    for (const id of removed)
      if (!before.removed.includes(id)) records.set(`saved ${id}`, JSON.stringify({ id, saved: '' }));
    for (const [key, { to, text, editedAt, id, saved }] of Object.entries(entries)) {
      records.set(`text ${key}`, JSON.stringify({ to, text, editedAt }));
      records.set(`saved ${key}`, id === null ? null : JSON.stringify({ id, saved }));
    }
    for (const key of Object.keys(before.entries).filter((each) => !entries[each])) {
      records.set(`saved ${key}`, null);
      records.set(`text ${key}`, null);
    }
    for (const [name, id] of removals(records.read())) if (!removed.includes(id)) records.set(name, null);
  }

  private rows(): readonly DraftRow[] {
    const { entries, removed } = this.book.value;
    const known = new Set<number | null>(removed);
    const rows: DraftRow[] = Object.entries(entries).map(([key, { to, text, editedAt, id }]) => {
      known.add(id);
      return { key, to, text, editedAt };
    });
    for (const draft of this.onServer()) {
      if (known.has(draft.id)) continue;
      const to = destinationOfDraft(draft, this.selfId);
      rows.push({ key: serverKey(draft.id), to, text: draft.content, editedAt: draft.timestamp });
    }
    return rows.sort((a, b) => b.editedAt - a.editedAt);
  }
}

/**
 * Draft in a field. Concurrent changes in the field and in another window never replace each other: both become
 * separate drafts.
 */
export class OpenDraft {
  private key: string | null;
  /** Stored text when the field last matched it. */
  private base: string;
  /** Draft keys at the last check. */
  private known: ReadonlySet<string>;
  private readonly place: Signal<{ readonly to: Destination; readonly key: string | null }>;
  /** Other drafts of the conversation. */
  readonly others: Reading<readonly DraftRow[]>;

  constructor(
    private readonly drafts: Drafts,
    destination: Destination,
  ) {
    const name = destinationKey(destination);
    this.known = new Set(drafts.all.peek().map(({ key }) => key));
    const newest = drafts.all.peek().find(({ to }) => to !== null && destinationKey(to) === name);
    this.key = newest?.key ?? null;
    this.base = newest?.text ?? '';
    this.place = signal({ to: destination, key: this.key });
    this.others = computed(() => {
      const { to, key } = this.place.value;
      const here = destinationKey(to);
      return drafts.all.value.filter((row) => row.to !== null && row.key !== key && destinationKey(row.to) === here);
    });
  }

  get text(): string {
    return this.base;
  }

  /**
   * Returns a text that another window or device wrote while the field was unchanged, or that another window started
   * while the field was empty and idle. Null if there is none.
   */
  takeChange(fieldText: string, isIdle: boolean): string | null {
    const { known } = this;
    this.known = new Set(this.drafts.all.peek().map(({ key }) => key));
    if (fieldText !== this.base) return null;
    const { to } = this.place.peek();
    if (this.key === null) {
      const begun = this.others.peek().find(({ key }) => !known.has(key) && this.drafts.isOfOtherWindow(key));
      return isIdle && begun ? this.use(begun) : null;
    }
    const draft = this.drafts.find(this.key);
    // Another window may have changed the topic.
    const text = draft && destinationKey(draft.to) === destinationKey(to) ? draft.text : '';
    if (text === this.base) return null;
    if (text === '') this.setKey(null);
    this.base = text;
    return text;
  }

  save(text: string): void {
    const { key, base } = this;
    if (text === base) return;
    const current = key === null ? null : this.drafts.find(key);
    const isOwn = key !== null && current?.text === base;
    this.base = text;
    if (text.trim() === '') {
      this.setKey(null);
      if (isOwn) this.drafts.remove(key);
    } else if (isOwn) {
      this.drafts.put(key, { ...current, text, editedAt: now() });
    } else if (current?.text !== text) {
      const other = this.drafts.newKey();
      this.setKey(other);
      this.drafts.put(other, { to: this.place.peek().to, text, editedAt: now(), id: null, saved: '' });
    }
  }

  /** Called when the destination of the field changed. */
  moveTo(to: Destination): void {
    const current = this.key === null ? null : this.drafts.find(this.key);
    this.place.value = { to, key: this.key };
    if (current && JSON.stringify(current.to) !== JSON.stringify(to)) this.drafts.put(this.key!, { ...current, to });
  }

  /** Continues another draft of the conversation. Returns its text. */
  use({ key, text }: DraftRow): string {
    this.setKey(key);
    this.base = text;
    return text;
  }

  private setKey(key: string | null): void {
    this.key = key;
    this.place.value = { ...this.place.peek(), key };
  }
}

const EMPTY: DraftBook = { entries: {}, removed: [] };

const UNSAVED = { id: null, saved: '' };

const now = (): number => Math.floor(Date.now() / 1000);

const serverKey = (id: number): string => `server:${id}`;

const idOfServerKey = (key: string): number | null => (key.startsWith('server:') ? Number(key.slice(7)) : null);

/** Identifies destination and text as stored by the server (users §17). */
export const stampOf = (to: Destination, text: string): string =>
  `${destinationKey(to)}\n${text.trimEnd().replace(/^\n+/, '')}`;

/** Null for drafts without a recipient. */
export function destinationOfDraft({ type, to, topic }: Draft, selfId: number): Destination | null {
  if (type === 'stream' && to.length === 1) return { kind: 'channel', channelId: to[0]!, topic };
  if (type !== 'private') return null;
  return { kind: 'direct', userIds: to.filter((id) => id !== selfId).sort((a, b) => a - b) };
}

function parsedWritten(record: string): Written | null {
  const value = parseStored(record) as Partial<Written> | null;
  if (typeof value?.text !== 'string' || !isDestination(value.to)) return null;
  return { to: value.to, text: value.text, editedAt: Number(value.editedAt) || 0 };
}

function parsedSaved(record: string | undefined): Saved | null {
  const value = parseStored(record ?? null) as Partial<Saved> | null;
  return typeof value?.id === 'number' ? { id: value.id, saved: String(value.saved) } : null;
}

/** Ids of the drafts to remove from the server, by names of their records. */
function removals(records: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  for (const [name, record] of records) {
    const [, key] = /^saved (.*)$/s.exec(name) ?? [];
    const saved = key === undefined || records.has(`text ${key}`) ? null : parsedSaved(record);
    if (saved) ids.set(name, saved.id);
  }
  return ids;
}

/** Drafts of version 0.2: texts by `destinationKey`. */
function ofFormerVersion(stored: string): DraftBook['entries'] {
  const entries: Record<string, DraftEntry> = {};
  for (const [key, text] of Object.entries(parseStored(stored) ?? {})) {
    const [, kind, ids = '', topic = ''] = /^(dm|channel):([\d,]*):?(.*)$/s.exec(key) ?? [];
    if (typeof text !== 'string' || kind === undefined) continue;
    const to: Destination =
      kind === 'dm'
        ? { kind: 'direct', userIds: ids.split(',').filter(Boolean).map(Number) }
        : { kind: 'channel', channelId: Number(ids), topic };
    entries[key] = { to, text, editedAt: 0, ...UNSAVED };
  }
  return entries;
}
