import type { Chat } from '@parley/chat';
import { type Draft, type ParleyClient, ParleyError } from '@parley/client';
import { effect } from '@preact/signals-core';
import { type DraftBook, type DraftEntry, type Drafts, destinationOfDraft, stampOf } from './drafts.js';

/** Delay before a changed text is saved on the server. */
const SAVE_AFTER_MS = 2000;
const RETRY_MS = 30_000;

type SavedDraft = Omit<Draft, 'id' | 'to'> & { readonly to: readonly number[] };

/** Client functions used by drafts. */
export type DraftGateway = Pick<ParleyClient, 'get' | 'post' | 'patch' | 'delete'>;

/** Synchronizes the drafts of this browser with the server, if the user's settings allow it. */
export class DraftSync {
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** Texts rejected by the server, which are not sent again. */
  private readonly refused = new Set<string>();
  private readonly ends: (() => void)[] = [];
  private isRunning = false;
  private isOver = false;

  constructor(
    private readonly drafts: Drafts,
    private readonly chat: Chat,
    private readonly gateway: DraftGateway,
    /** Runs a task exclusively among the browser's windows. */
    private readonly alone: (task: () => Promise<void>) => Promise<void>,
  ) {}

  start(): void {
    this.ends.push(
      effect(() => {
        this.drafts.book.value;
        if (this.hasWork()) this.schedule(SAVE_AFTER_MS);
      }),
      effect(() => {
        const known = this.chat.field('drafts');
        const isEnabled = this.chat.field('user_settings')?.enable_drafts_synchronization;
        if (isEnabled === false || (known && this.isNews(known))) this.schedule(0);
      }),
    );
  }

  stop(): void {
    this.isOver = true;
    for (const end of this.ends) end();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Saves unsaved changes. */
  async flush(): Promise<void> {
    if (this.hasWork()) await this.run();
  }

  private get isEnabled(): boolean {
    return this.chat.state.fields.peek('user_settings')?.enable_drafts_synchronization === true;
  }

  private schedule(delayMs: number): void {
    if (this.isOver) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      // The event of an own change may precede its response.
      if (!this.isEnabled || this.hasWork() || this.isNews(this.chat.state.fields.peek('drafts') ?? []))
        void this.run();
    }, delayMs);
  }

  private async run(): Promise<void> {
    if (this.isRunning) return this.schedule(SAVE_AFTER_MS);
    this.isRunning = true;
    try {
      await this.alone(() => (this.isEnabled ? this.synchronize() : this.forgetServer()));
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      if (error.isTemporary) this.schedule(RETRY_MS);
    } finally {
      this.isRunning = false;
    }
  }

  private async synchronize(): Promise<void> {
    const { drafts: present } = await this.gateway.get('/drafts');
    this.drafts.change((book) => reconcile(book, present, this.drafts.selfId));
    for (const id of this.drafts.book.peek().removed) {
      await this.ifAccepted(() => this.gateway.delete('/drafts/{draft_id}', { draft_id: id }));
      this.drafts.change(({ entries, removed }) => ({ entries, removed: removed.filter((each) => each !== id) }));
    }
    for (const [key, entry] of Object.entries(this.drafts.book.peek().entries)) {
      if (this.isToSave(entry)) await this.save(key, entry);
    }
  }

  private async save(key: string, { to, text, editedAt, id }: DraftEntry): Promise<void> {
    const content = text;
    const draft: SavedDraft =
      to.kind === 'channel'
        ? { type: 'stream', to: [to.channelId], topic: to.topic, content, timestamp: editedAt }
        : {
            type: 'private',
            to: to.userIds.length === 0 ? [this.drafts.selfId] : to.userIds,
            topic: '',
            content,
            timestamp: editedAt,
          };
    const saved = stampOf(to, text);
    const savedId = await this.ifAccepted(async () => {
      if (id === null) return (await this.gateway.post('/drafts', { drafts: [draft] })).ids[0]!;
      return this.replace(id, draft);
    });
    if (savedId === null) this.refused.add(saved);
    else
      this.drafts.change(({ entries, removed }) => {
        const current = entries[key];
        // The draft was sent or deleted during the call.
        if (!current) return { entries, removed: [...removed, savedId] };
        return { entries: { ...entries, [key]: { ...current, id: savedId, saved } }, removed };
      });
  }

  /** Returns the id of the changed draft, or of a new one if it was removed on the server. */
  private async replace(id: number, draft: SavedDraft): Promise<number> {
    try {
      await this.gateway.patch('/drafts/{draft_id}', { draft_id: id, draft });
      return id;
    } catch (error) {
      if (!(error instanceof ParleyError) || error.status !== 404) throw error;
      return (await this.gateway.post('/drafts', { drafts: [draft] })).ids[0]!;
    }
  }

  /** Returns null for an error that retrying does not fix. */
  private async ifAccepted<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ParleyError && !error.isTemporary) return null;
      throw error;
    }
  }

  /** The server deleted its drafts when the setting was turned off; this browser keeps its own. */
  private async forgetServer(): Promise<void> {
    this.drafts.change((book) => {
      const entries = Object.entries(book.entries);
      if (book.removed.length === 0 && entries.every(([, { id }]) => id === null)) return book;
      return {
        entries: Object.fromEntries(entries.map(([key, entry]) => [key, { ...entry, id: null, saved: '' }])),
        removed: [],
      };
    });
  }

  private hasWork(): boolean {
    if (!this.isEnabled) return false;
    const { entries, removed } = this.drafts.book.peek();
    return removed.length > 0 || Object.values(entries).some((entry) => this.isToSave(entry));
  }

  private isToSave({ to, text, saved }: DraftEntry): boolean {
    const stamp = stampOf(to, text);
    const max = this.chat.state.fields.peek('max_message_length') ?? 10_000;
    return stamp !== saved && !this.refused.has(stamp) && [...text].length <= max;
  }

  /** True if the server's drafts differ from those that this browser saved. */
  private isNews(present: readonly Draft[]): boolean {
    const stamps = new Map(present.map((draft) => [draft.id, stampOfDraft(draft, this.drafts.selfId)]));
    return Object.values(this.drafts.book.peek().entries).some(
      ({ id, saved }) => id !== null && stamps.get(id) !== saved,
    );
  }
}

function stampOfDraft(draft: Draft, selfId: number): string | null {
  const to = destinationOfDraft(draft, selfId);
  return to && stampOf(to, draft.content);
}

/** Merges the server's drafts into those of the browser. A text that changed on both sides becomes two drafts. */
export function reconcile({ entries, removed }: DraftBook, present: readonly Draft[], selfId: number): DraftBook {
  const unclaimed = new Map(present.filter(({ id }) => !removed.includes(id)).map((draft) => [draft.id, draft]));
  const merged: [string, DraftEntry][] = [];
  for (const [key, entry] of Object.entries(entries)) {
    const { id, saved, text, to } = entry;
    const isUnchanged = stampOf(to, text) === saved;
    const draft = id === null ? findEqual(unclaimed, stampOf(to, text), selfId) : unclaimed.get(id);
    if (!draft) {
      // Sent or deleted elsewhere, unless this browser has further changes.
      if (id === null || !isUnchanged) merged.push([key, { ...entry, id: null, saved: '' }]);
      continue;
    }
    const theirs = destinationOfDraft(draft, selfId);
    const stamp = stampOfDraft(draft, selfId);
    if (!theirs || stamp === null || (id !== null && stamp !== saved && !isUnchanged && stamp !== stampOf(to, text))) {
      merged.push([key, { ...entry, id: null, saved: '' }]);
      continue;
    }
    unclaimed.delete(draft.id);
    const isTheirs = isUnchanged && stamp !== saved;
    merged.push([
      key,
      isTheirs
        ? { to: theirs, text: draft.content, editedAt: draft.timestamp, id: draft.id, saved: stamp }
        : { ...entry, id: draft.id, saved: stamp },
    ]);
  }
  return {
    entries: Object.fromEntries(merged),
    removed: removed.filter((id) => present.some((draft) => draft.id === id)),
  };
}

function findEqual(unclaimed: ReadonlyMap<number, Draft>, stamp: string, selfId: number): Draft | undefined {
  return [...unclaimed.values()].find((draft) => stampOfDraft(draft, selfId) === stamp);
}
