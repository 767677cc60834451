import type { Event, Message, QueuePosition } from '@parley/client';
import { batch, type Signal, signal } from '@preact/signals-core';
import { type Destination, destinationKey, destinationOf, type Narrow, narrowKey } from '../kernel/narrow.js';
import type { CachedMessages } from '../kernel/ports.js';
import { derived, isSame, type Reading, Table } from '../kernel/reactive.js';
import type { ChatState } from '../kernel/state.js';
import type { ConversationView, ListEnd, SearchMatch } from '../kernel/view-models.js';
import { comesAsEvents, matches } from './match.js';
import { type Failure, type FoundPage, failureOf, type MessagePages } from './message-pages.js';
import { type TopicMove, withFlag } from './messages.js';
import { EMPTY_SPAN, nearest, type Span, spanAt, withMessage, withoutMessages, withPage } from './spans.js';
import { oldestUnread } from './unread.js';

const PAGE = 60;
/** Maximum messages to refetch before and after the shown ones after missed events. */
const MAX_RELOADED = 200;
/** Number of messages per list to keep in the cache. */
const MAX_KEPT = 100;
/** Anchor after all messages (messages §5). */
const END = 10_000_000_000_000_000;

/** Chat functions used by lists. */
export interface ListHooks {
  seen(narrow: Narrow, ids: readonly number[]): void;
  markUnreadFrom(narrow: Narrow, messageId: number): Promise<void>;
  /** Keys of unsent messages that belong to a narrow. */
  outgoing(narrow: Narrow): readonly string[];
  /** Messages as last shown. */
  cached(key: string): Promise<CachedMessages | null>;
  /** True until the state is loaded. */
  isStarting(): boolean;
  /** Resolves to true once all events since a position are applied, or to false if some are missing. */
  caughtUp(from: QueuePosition): Promise<boolean>;
  /** Called when messages were fetched into a list. */
  fetched(): void;
  /** Called when messages could not be fetched or a channel has none. */
  missed(): void;
  /** Called when the list changed and should be cached. */
  changed(list: MessageList): void;
}

/** Message id, or position in the list. */
type Target = number | 'first_unread' | 'newest';

/** `again`: refetches the shown messages after missed events. */
type Part = 'older' | 'newer' | 'first' | 'again';

/** Messages of one narrow. */
export class MessageList implements ConversationView {
  readonly destination;
  readonly keys: Reading<readonly string[]>;
  readonly older: Reading<ListEnd>;
  readonly newer: Reading<ListEnd>;
  readonly anchor: Signal<number | null> = signal(null);
  readonly firstUnread: Signal<number | null> = signal(null);
  readonly movedTo: Signal<Destination | null> = signal(null);
  readonly elsewhere: Signal<Destination | null> = signal(null);
  readonly failure: Signal<Failure | null> = signal(null);
  readonly isIncomplete: Signal<boolean> = signal(false);
  readonly proposal: Signal<string | null> = signal(null);
  private readonly matches = new Table<number, SearchMatch>();
  /** True after "mark as unread from here", until the list is reopened. */
  private readsNothing = false;
  /** Last message that the user saw. */
  private lastSeen: number | undefined;
  private readonly spans: Signal<readonly Span[]> = signal([]);
  /** Message in the shown span; null for the newest span, undefined until the place of the opened list is known. */
  private readonly focus: Signal<number | null | undefined> = signal();
  /** Pending fetches; a part may occur several times. */
  private readonly loading: Signal<readonly Part[]> = signal([]);
  private readonly failed: Signal<ReadonlySet<Part>> = signal(new Set());
  /** Messages that arrived during a page fetch. */
  private arrived: number[] = [];
  /** True while the list shows cached messages. */
  private isProvisional = false;
  /** Position up to which cached messages are current. */
  private keptAt: QueuePosition | undefined;
  private openCount = 0;
  private loads = 0;
  /** Last opened target and the page fetch for it. */
  private opening: { readonly target: number | 'first_unread'; readonly isShown: Promise<void> } | null = null;
  /** Target with a pending or failed fetch. */
  private pending: Target | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly pages: MessagePages,
    readonly narrow: Narrow,
    private readonly hooks: ListHooks,
  ) {
    this.destination = destinationOf(narrow);
    this.keys = derived(() => [...this.shown().ids.map((id) => keyOf(state, id)), ...this.outgoing()], isSame);
    this.older = derived(() => this.end('older'), Object.is);
    this.newer = derived(() => this.end('newer'), Object.is);
  }

  get isOpen(): boolean {
    return this.openCount > 0;
  }

  ids(): readonly number[] {
    return this.spans.peek().flatMap(({ ids }) => ids);
  }

  /** True if the cached messages already include this event. */
  includes({ id }: Event, queueId: string | null): boolean {
    return this.keptAt !== undefined && this.keptAt.queueId === queueId && id <= this.keptAt.lastEventId;
  }

  opened(near: number | null): void {
    const target: number | 'first_unread' = near ?? 'first_unread';
    const wasOpen = this.isOpen;
    const isShared = wasOpen && this.opening?.target === target && this.older.peek() !== 'failed';
    this.openCount++;
    // An earlier opening of the same target already fetches this page.
    if (isShared) return;
    this.readsNothing = false;
    this.movedTo.value = null;
    this.elsewhere.value = null;
    this.firstUnread.value = null;
    // The previous place would be painted first. A view that shows it keeps it until a linked message is loaded.
    if (near === null || !wasOpen) this.focus.value = undefined;
    this.opening = { target, isShown: this.load(target) };
  }

  /** Retries failed fetches. */
  retry(): void {
    const { opening, pending } = this;
    if (pending !== null && opening && !this.loading.peek().includes('first')) {
      this.opening = { ...opening, isShown: this.load(pending) };
      return;
    }
    const [part] = this.failed.peek();
    if (part === 'again') void this.reload();
    if (part === 'older') void this.loadOlder();
    if (part === 'newer' || part === 'first') void this.loadNewer();
  }

  close(): void {
    this.openCount = Math.max(0, this.openCount - 1);
  }

  /** Replaces all messages by those around the reading position. */
  async reload(): Promise<void> {
    // Shows the first page before fetching it again.
    if (this.focus.peek() === undefined) {
      const { opening } = this;
      await opening?.isShown;
      // Another opening has already fetched its page.
      if (opening !== this.opening) return;
    }
    const load = ++this.loads;
    const { ids, isNewest } = this.shown();
    const goesToEnd = this.pending === 'newest';
    this.pending = null;
    const focus = this.focus.peek();
    const at = goesToEnd ? null : (ids.find((id) => id === this.lastSeen && id !== ids.at(-1)) ?? null);
    const anchor = at ?? (isNewest || goesToEnd ? 'newest' : (focus ?? ids[Math.floor(ids.length / 2)] ?? 'newest'));
    const count = Math.min(MAX_RELOADED, Math.max(PAGE, ids.length));
    await this.during('again', async () => {
      const answer = await this.pages.fetch(this.narrow, anchor, count, count);
      if (load !== this.loads) return;
      this.keepMatches(answer);
      batch(() => {
        this.spans.value = [];
        this.add(answer.ids, answer.found_oldest, answer.found_newest, null);
        const kept = (answer.found_newest ? null : at) ?? focus;
        this.focus.value = kept && spanAt(this.spans.peek(), kept) ? kept : null;
      });
    });
  }

  goTo(messageId: number | 'newest'): Promise<void> {
    return this.load(messageId);
  }

  stay(): void {
    if (this.pending === null) return;
    this.pending = null;
    this.loads++;
  }

  async loadOlder(): Promise<void> {
    await this.settled();
    const [first] = this.shown().ids;
    if (first === undefined || this.older.peek() === 'none') return;
    await this.extend('older', first);
  }

  async loadNewer(): Promise<void> {
    await this.settled();
    const last = this.shown().ids.at(-1);
    if (last === undefined || this.newer.peek() === 'none') return;
    await this.extend('newer', last);
  }

  /** Waits until cached messages are confirmed or replaced, so that no page extends them. */
  private async settled(): Promise<void> {
    if (this.isProvisional) await this.opening?.isShown;
  }

  keepNewest(count: number): void {
    const shown = this.shown();
    // Another view of the list may show older messages.
    if (this.openCount > 1 || !shown.isNewest || shown.ids.length <= count) return;
    const kept = { ...shown, ids: shown.ids.slice(-count), isOldest: false };
    batch(() => {
      this.spans.value = this.spans.peek().map((span) => (span === shown ? kept : span));
      this.focus.value = null;
    });
  }

  seen(messageIds: readonly number[]): void {
    this.lastSeen = messageIds.at(-1);
    if (!this.readsNothing) this.hooks.seen(this.narrow, messageIds);
  }

  async markUnreadFrom(messageId: number): Promise<void> {
    this.readsNothing = true;
    await this.hooks.markUnreadFrom(this.narrow, messageId);
    this.firstUnread.value = messageId;
  }

  match(messageId: number): SearchMatch | null {
    return this.matches.get(messageId) ?? null;
  }

  received(id: number): void {
    const message = this.state.messages.peek(id);
    if (!message) return;
    const isHere = matches(this.state, this.narrow, message);
    if (isHere === false) return;
    if (this.loading.peek().length > 0) this.arrived.push(id);
    else if (this.isOpen) this.retry();
    this.hooks.changed(this);
    if (isHere) this.spans.value = withMessage(this.spans.peek(), id);
    // Only the server can search, so the end is unknown again.
    else this.spans.value = this.spans.peek().map((span) => ({ ...span, isNewest: false }));
  }

  removed(ids: ReadonlySet<number>): void {
    const unread = this.firstUnread.peek();
    if (unread !== null && ids.has(unread)) {
      const { ids: known = [] } = spanAt(this.spans.peek(), unread) ?? {};
      this.firstUnread.value = known.find((id) => id > unread && !ids.has(id)) ?? null;
    }
    this.spans.value = withoutMessages(this.spans.peek(), ids);
  }

  /** Records the new place of the topic if all its messages were moved. */
  follow(move: TopicMove | null): void {
    if (move && this.destination && destinationKey(this.destination) === destinationKey(move.from)) {
      this.movedTo.value = move.to;
    }
  }

  /** Discards the highlights of the previous texts. */
  edited(ids: readonly number[]): void {
    for (const id of ids) this.matches.delete(id);
    this.changed(ids);
  }

  /** Adds or removes messages after their conversation or flags changed. */
  changed(ids: readonly number[]): void {
    if (this.narrow.some(({ operator }) => operator === 'search')) return;
    const out = new Set<number>();
    let spans = this.spans.peek();
    for (const id of ids) {
      const message = this.state.messages.peek(id);
      const isHere = message && matches(this.state, this.narrow, message);
      if (isHere === false) out.add(id);
      else if (isHere) spans = withMessage(spans, id);
    }
    this.spans.value = spans;
    this.removed(out);
  }

  /** Own unsent messages, placed after the newest message. An unloaded conversation shows only these. */
  private outgoing(): readonly string[] {
    const isAtEnd = this.newer.value === 'none' || this.shown().ids.length === 0;
    return isAtEnd ? this.hooks.outgoing(this.narrow) : [];
  }

  private shown(): Span {
    const spans = this.spans.value;
    const focus = this.focus.value;
    if (focus === undefined) return EMPTY_SPAN;
    if (focus === null) return spans.find(({ isNewest }) => isNewest) ?? spans.at(-1) ?? EMPTY_SPAN;
    return spanAt(spans, focus) ?? EMPTY_SPAN;
  }

  private end(side: 'older' | 'newer'): ListEnd {
    const loading = this.loading.value;
    const failed = this.failed.value;
    const span = this.shown();
    if (side === 'older' ? span.isOldest : span.isNewest) return 'none';
    if (loading.includes(side) || loading.includes('first')) return 'loading';
    if (failed.has(side) || failed.has('first')) return 'failed';
    return span.ids.length > 0 ? 'more' : 'unknown';
  }

  /** Shows the span around a message, fetching it if necessary. */
  private async load(target: Target): Promise<void> {
    const load = ++this.loads;
    this.pending = null;
    const spans = this.isProvisional ? [] : this.spans.peek();
    // A message missing from a known span was deleted or moved.
    if (typeof target === 'number' && spanAt(spans, target)?.ids.includes(target)) {
      this.show(target, this.unreadOnOpening([]));
      return;
    }
    if (target === 'newest' && spans.some(({ isNewest }) => isNewest)) {
      this.show(null);
      return;
    }
    this.pending = target;
    const isFinal = target === 'first_unread' && this.showKnown(target) && !this.isProvisional;
    await this.during('first', async () => {
      const cached = target === 'newest' ? false : this.showCached(load, target);
      // Events update cached messages with less traffic than a fetch.
      const isCurrent = this.hooks.isStarting() && (await cached);
      if (load !== this.loads) return;
      if (isCurrent) {
        this.pending = null;
        return;
      }
      const answer = await this.pages.fetch(this.narrow, target, PAGE / 2, PAGE / 2).catch((error: unknown) => {
        // Falls back to the newest known messages.
        if (load === this.loads && target === 'newest') this.show(null);
        throw error;
      });
      if (load !== this.loads) return;
      this.keepMatches(answer);
      const found = answer.anchor === undefined || answer.anchor >= END ? null : answer.anchor;
      const { ids } = answer;
      this.elsewhere.value = await this.pages.findElsewhere(this.narrow, target, ids);
      if (load === this.loads) this.pending = null;
      this.add(ids, answer.found_oldest, answer.found_newest, found);
      if (isFinal) return;
      if (target === 'first_unread') {
        const unread = found !== null && ids.includes(found) ? found : null;
        this.show(unread, unread);
      } else if (target === 'newest') this.show(null);
      else this.show(nearest(ids, target), this.unreadOnOpening(answer.messages));
    });
  }

  /**
   * Shows the target if the known messages include it; without unread messages the newest one. Returns false if other
   * messages are needed.
   */
  private showKnown(target: number | 'first_unread'): boolean {
    const ids = this.ids();
    const isUnread = target === 'first_unread';
    const first = isUnread ? oldestUnread(this.state, this.narrow, ids) : target;
    const isKnown =
      first === null
        ? !this.state.unread.isTruncated && this.spans.peek().some(({ isNewest }) => isNewest)
        : ids.includes(first);
    if (isKnown) this.show(first, isUnread ? first : null);
    return isKnown;
  }

  /** Returns the first unread message of a conversation that was opened at a different message. */
  private unreadOnOpening(messages: readonly Message[]): number | null {
    const known = this.firstUnread.peek();
    if (known !== null || !this.destination) return known;
    // The messages may have been loaded before the state.
    const unread = messages.find(({ flags }) => !flags.includes('read'));
    return oldestUnread(this.state, this.narrow) ?? unread?.id ?? null;
  }

  /** Shows cached messages. Returns true if events made them current, so that no fetch is needed. */
  private async showCached(load: number, target: number | 'first_unread'): Promise<boolean> {
    const cached = this.narrow.some(({ operator }) => operator === 'search')
      ? null
      : await this.hooks.cached(narrowKey(this.narrow));
    if (!cached || load !== this.loads || cached.messages.length === 0) return false;
    const isStarting = this.hooks.isStarting();
    if (this.spans.peek().length > 0 && !(isStarting && this.isProvisional)) return false;
    const ids = cached.messages.map(({ id }) => id);
    const isUnread = (id: number) => this.state.unread.destinations.has(id);
    const first = target === 'first_unread' ? (ids.find(isUnread) ?? null) : target;
    // A message may have arrived just before the reload and be newer than the cached ones.
    const isAtEnd = first === null || first > ids.at(-1)!;
    if (isAtEnd ? !cached.isNewest : !ids.includes(first)) return false;
    this.isProvisional = true;
    batch(() => {
      this.pages.seed(cached.messages);
      this.spans.value = [{ ids, isOldest: cached.isOldest, isNewest: cached.isNewest }];
      this.show(first, target === 'first_unread' ? first : null);
    });
    if (!isStarting || !cached.position) return false;
    this.keptAt = cached.position;
    return (await this.hooks.caughtUp(cached.position)) && load === this.loads && this.confirm(target);
  }

  /** Confirms cached messages after all events were applied. Returns false if other messages are needed. */
  private confirm(target: number | 'first_unread'): boolean {
    const { destinations } = this.state.unread;
    const ids = this.ids();
    if (!comesAsEvents(this.state, this.narrow) || ids.length === 0 || !this.showKnown(target)) return false;
    this.isProvisional = false;
    batch(() => {
      this.pages.confirm(ids);
      // Read marks of the last run may not have reached the server.
      for (const id of ids.filter((each) => destinations.has(each))) {
        this.state.messages.change(id, (message) => ({ ...message, flags: withFlag(message.flags, 'read', false) }));
      }
      this.hooks.fetched();
    });
    this.hooks.changed(this);
    return true;
  }

  /** Returns the messages to cache: those around the shown position. */
  toKeep(): CachedMessages | null {
    const { ids, isOldest, isNewest } = this.shown();
    const focus = this.focus.peek();
    const end = focus === null ? ids.length : Math.min(ids.length, ids.indexOf(focus!) + MAX_KEPT / 2);
    const kept = ids.slice(Math.max(0, end - MAX_KEPT), end);
    const messages = kept.flatMap((id) => this.state.messages.peek(id) ?? []);
    if (this.isProvisional || messages.length === 0) return null;
    // Local ids are only valid in this run.
    const plain = messages.map(({ localId: _, ...message }) => message);
    return {
      messages: plain,
      isOldest: isOldest && kept[0] === ids[0],
      isNewest: isNewest && end === ids.length,
    };
  }

  private show(focus: number | null, firstUnread = this.firstUnread.peek()): void {
    batch(() => {
      this.focus.value = focus;
      this.anchor.value = focus;
      this.firstUnread.value = firstUnread;
    });
  }

  private async extend(side: 'older' | 'newer', from: number): Promise<void> {
    if (this.loading.peek().includes(side)) return;
    await this.during(side, async () => {
      const [before, after] = side === 'older' ? [PAGE, 0] : [0, PAGE];
      const answer = await this.pages.fetch(this.narrow, from, before, after, false);
      this.keepMatches(answer);
      const { ids } = answer;
      this.add(ids, side === 'older' && answer.found_oldest, side === 'newer' && answer.found_newest, from);
    });
  }

  private keepMatches({
    messages,
    search_incomplete: isIncomplete = false,
    search_proposal: proposal,
  }: FoundPage): void {
    batch(() => {
      this.isIncomplete.value = isIncomplete;
      this.proposal.value = proposal ?? null;
      for (const { id, match_content: content, match_subject: subject } of messages) {
        if (content !== undefined && subject !== undefined) this.matches.set(id, { content, subject });
      }
    });
  }

  /** `from`: anchor message that the page includes in its range. */
  private add(ids: readonly number[], isOldest: boolean, isNewest: boolean, from: number | null): void {
    if (this.isProvisional) this.spans.value = [];
    this.isProvisional = false;
    const all = from === null ? ids : [...ids, from];
    const page = { ids, isOldest, isNewest, from: Math.min(...all), to: Math.max(...all) };
    let spans = withPage(this.spans.peek(), page);
    if (isNewest) for (const id of this.arrived) if (this.state.messages.peek(id)) spans = withMessage(spans, id);
    batch(() => {
      this.spans.value = spans;
      this.hooks.fetched();
    });
    this.hooks.changed(this);
  }

  private async during(part: Part, load: () => Promise<void>): Promise<void> {
    batch(() => {
      this.loading.value = [...this.loading.peek(), part];
      this.failed.value = new Set();
      this.failure.value = null;
    });
    try {
      await load();
    } catch (error) {
      // Shows the known messages instead.
      this.focus.value ??= null;
      this.failed.value = new Set([part]);
      this.failure.value = failureOf(error);
    } finally {
      const loading = this.loading.peek();
      this.loading.value = loading.toSpliced(loading.indexOf(part), 1);
      if (this.loading.peek().length === 0) this.arrived = [];
      const isEmpty = this.shown().ids.length === 0 && this.narrow.some(({ operator }) => operator === 'channel');
      if (isEmpty || this.failure.peek() !== null) this.hooks.missed();
    }
  }
}

/** Key of a message in lists: the local key if this client sent it. */
export const keyOf = (state: ChatState, id: number): string => state.messages.peek(id)?.localId ?? String(id);
