import type { Event, UpdateMessageEvent } from '@parley/client';
import { batch } from '@preact/signals-core';
import { covers, destinationKey, type Narrow, narrowKey } from '../kernel/narrow.js';
import type { Gateway, Reach } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { hasJoined } from './match.js';
import { type ListHooks, MessageList } from './message-list.js';
import { MessagePages } from './message-pages.js';
import { moveOfTopic } from './messages.js';
import { destinationOfMessage } from './unread.js';

/** Closed lists to keep. */
const MAX_LISTS = 50;

/** Message lists by narrow, extended by events and fetched pages. */
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

  /** Opens a list at a message, or at the first unread message. */
  open(narrow: Narrow, near: number | null): MessageList {
    const key = narrowKey(narrow);
    const existing = this.lists.get(key);
    const list = existing ?? new MessageList(this.state, this.pages, narrow, this.hooks);
    // Moves the list to the end, as most recently opened.
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

  /**
   * Called after the rule of the event. `queueId` is set for events of the last run, which some cached lists already
   * include.
   */
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
          list.edited(event.message_ids);
        }
        return;
      case 'update_message_flags':
        for (const list of lists) list.changed(event.messages);
        return;
      case 'stream':
        if (event.op === 'create') this.reload((id) => event.streams.some(({ stream_id }) => stream_id === id));
        return;
      case 'subscription':
        if (event.op !== 'add') return;
        this.reload((channelId) => event.subscriptions.some(({ stream_id }) => stream_id === channelId));
    }
  }

  /** Adds own messages fetched by one list to the other lists, before their events arrive. */
  addOwn(ids: readonly number[]): void {
    for (const id of ids) for (const list of this.lists.values()) list.received(id);
  }

  /** Reloads lists of channels that did not receive events before. */
  reload(isOutdated: (channelId: number) => boolean): void {
    for (const [key, list] of this.lists) {
      if (list.destination?.kind !== 'channel' || !isOutdated(list.destination.channelId)) continue;
      if (list.isOpen) void list.reload();
      else this.lists.delete(key);
    }
  }

  /**
   * Refetches what the user changed in an unsubscribed channel, because the server sends no events there. Returns the
   * channels with changed lists.
   */
  async fetchChanged(messageId: number, reach: Reach): Promise<readonly number[]> {
    const before = this.state.messages.peek(messageId);
    if (before && hasJoined(this.state, before.stream_id)) return [];
    // A message that cannot be fetched appears when its conversation is reopened.
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

  /** Drops all closed lists and refetches the open ones, which stay visible until then. */
  restart(): void {
    this.pages.outdate();
    for (const [key, list] of this.lists) {
      if (list.isOpen) void list.reload();
      else this.lists.delete(key);
    }
    this.sweep();
  }

  /** Retries failed page fetches. */
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

  /** Fetches unknown messages that were moved into an open list. */
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
    // Messages that cannot be fetched appear when the lists are reopened.
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
