import type { Event, UpdateMessageEvent } from '@parley/client';
import { batch } from '@preact/signals-core';
import { covers, destinationKey, type Narrow, narrowKey } from '../kernel/narrow.js';
import type { Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import type { Reach } from './commands.js';
import { hasJoined } from './match.js';
import { type ListHooks, MessageList } from './message-list.js';
import { MessagePages } from './message-pages.js';
import { moveOfTopic } from './messages.js';
import { destinationOfMessage } from './unread.js';

/** Lists kept after they were closed. */
const MAX_LISTS = 50;

/** Lists of messages by narrow, which events and fetched pages extend. */
export class MessageLists {
  readonly pages: MessagePages;
  private readonly lists = new Map<string, MessageList>();

  constructor(
    private readonly state: ChatState,
    gateway: Gateway,
    private readonly hooks: ListHooks,
  ) {
    this.pages = new MessagePages(state, gateway);
  }

  /** Opens a list at a message, or at the first unread one. */
  open(narrow: Narrow, near: number | null): MessageList {
    const key = narrowKey(narrow);
    const existing = this.lists.get(key);
    const list = existing ?? new MessageList(this.state, this.pages, narrow, this.hooks);
    // The most recently opened list is the last.
    this.lists.delete(key);
    this.lists.set(key, list);
    list.opened(near);
    this.evict();
    return list;
  }

  /** Called before the rule of the event. */
  before(event: Event): void {
    this.pages.touch(event);
  }

  /** Called after the rule of the event. `queueId`: queue of an event of the last run, which some lists include. */
  after(event: Event, queueId: string | null = null): void {
    const lists = [...this.lists.values()].filter((list) => !list.includes(event, queueId));
    switch (event.type) {
      case 'message':
        for (const list of lists) list.received(event.message.id);
        return;
      case 'delete_message':
        for (const list of lists) list.removed(new Set(event.message_ids));
        return;
      case 'update_message':
        void this.fetchMoved(event);
        for (const list of lists) {
          list.follow(moveOfTopic(event));
          list.changed(event.message_ids);
        }
        return;
      case 'update_message_flags':
        for (const list of lists) list.changed(event.messages);
        return;
      case 'subscription':
        if (event.op !== 'add') return;
        this.reload((channelId) => event.subscriptions.some(({ stream_id }) => stream_id === channelId));
    }
  }

  /** Adds own messages, which one list fetched, to the others before their events. */
  addOwn(ids: readonly number[]): void {
    for (const id of ids) for (const list of this.lists.values()) list.received(id);
  }

  /** Fetches lists of channels again, whose messages came without events before. */
  reload(isOutdated: (channelId: number) => boolean): void {
    for (const [key, list] of this.lists) {
      if (list.destination?.kind !== 'channel' || !isOutdated(list.destination.channelId)) continue;
      if (list.isOpen) void list.reload();
      else this.lists.delete(key);
    }
  }

  /**
   * Fetches what the user changed in a channel that they have not joined, since no event may tell of it. Returns the
   * channels whose lists changed.
   */
  async fetchChanged(messageId: number, reach: Reach): Promise<readonly number[]> {
    const before = this.state.messages.peek(messageId);
    if (before && hasJoined(this.state, before.stream_id)) return [];
    // A message that cannot be fetched is shown when its conversation is opened again.
    await this.pages.fetchByIds([messageId]).catch(() => {});
    const after = this.state.messages.peek(messageId);
    if (reach === 'message' || !after) return [];
    const to = destinationOfMessage(this.state, after);
    const from = before ? destinationOfMessage(this.state, before) : to;
    if (reach === 'topic' && destinationKey(from) !== destinationKey(to)) {
      for (const list of this.lists.values()) list.follow({ from, to });
    }
    const channelIds = [from, to].flatMap((each) => (each.kind === 'channel' ? each.channelId : []));
    this.reload((id) => channelIds.includes(id));
    return channelIds;
  }

  /** Forgets every list that is not open and fetches the open ones again, which stay as they are until then. */
  restart(): void {
    this.pages.outdate();
    for (const [key, list] of this.lists) {
      if (list.isOpen) void list.reload();
      else this.lists.delete(key);
    }
    this.sweep();
  }

  /** Fetches pages again that could not be fetched. */
  retry(): void {
    for (const list of this.lists.values()) if (list.isOpen) list.retry();
  }

  /** Removes messages that no list shows. */
  sweep(): void {
    const shown = new Set<number>();
    for (const list of this.lists.values()) for (const id of list.ids()) shown.add(id);
    batch(() => {
      for (const id of [...this.state.messages.all().keys()]) if (!shown.has(id)) this.state.messages.delete(id);
    });
    this.pages.swept(shown);
  }

  /** Fetches messages that were moved into an open list and that the client does not have. */
  private async fetchMoved(event: UpdateMessageEvent): Promise<void> {
    if (event.rendering_only || event.propagate_mode === undefined) return;
    const to = {
      kind: 'channel',
      channelId: event.new_stream_id ?? event.stream_id!,
      topic: event.subject ?? event.orig_subject ?? '',
    } as const;
    const isShown = [...this.lists.values()].some((list) => list.isOpen && covers(list.narrow, to));
    const unknown = event.message_ids.filter((id) => this.state.messages.peek(id) === undefined);
    if (!isShown || unknown.length === 0) return;
    // Messages that cannot be fetched are shown when the lists are opened again.
    await this.pages.fetchByIds(unknown).catch(() => {});
    for (const list of this.lists.values()) list.changed(unknown);
  }

  private evict(): void {
    for (const [key, list] of this.lists) {
      if (this.lists.size <= MAX_LISTS) return;
      if (!list.isOpen) this.lists.delete(key);
    }
  }
}
