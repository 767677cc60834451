import { type Event, type Message, ParleyError } from '@parley/client';
import { batch } from '@preact/signals-core';
import { type Destination, destinationKey, destinationOf, linkedIn, type Narrow } from '../kernel/narrow.js';
import type { Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { apiNarrow, hasJoined } from './match.js';
import { destinationOfMessage } from './unread.js';

export type Failure = { readonly code: string; readonly message: string };

export const failureOf = (error: unknown): Failure =>
  error instanceof ParleyError
    ? { code: error.code, message: error.message }
    : { code: 'UNEXPECTED', message: error instanceof Error ? error.message : String(error) };

/** Search hit with highlighted words. */
interface FoundMessage extends Message {
  readonly match_content?: string;
  readonly match_subject?: string;
}

export interface FoundPage {
  readonly messages: readonly FoundMessage[];
  readonly search_incomplete?: boolean;
  readonly search_proposal?: string;
}

/** Form of fetched messages, as in events. */
const FORM = { client_gravatar: false, allow_empty_topic_name: true, include_application_data: true };

/** Maximum message ids per call. Proxies accept addresses of up to 8 KiB, and an id with its comma has up to 13 characters. */
const MAX_IDS = 500;

/** Page of a narrow without messages. */
const NOTHING = {
  anchor: undefined,
  found_oldest: true,
  found_newest: true,
  messages: [] as readonly Message[],
  ids: [] as readonly number[],
};

/** Fetches pages of messages into the state without overwriting newer versions from events. */
export class MessagePages {
  /** Ids changed by events during a fetch, so that outdated versions in the page are ignored. */
  private touched = new Set<number>();
  private fetches = 0;
  /** Messages that may have changed without an event; the next page that contains them replaces them. */
  private stale = new Set<number>();

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
  ) {}

  /** Called before the rule of an event. */
  touch(event: Event): void {
    if (this.fetches === 0) return;
    for (const id of idsIn(event)) this.touched.add(id);
  }

  /** Marks all messages as outdated after missed events; the next pages replace them. */
  outdate(): void {
    this.stale = new Set(this.state.messages.all().keys());
  }

  /** Fetches a message again, because its data of the application changed; the next page does if that fails. */
  renew(id: number): void {
    if (this.state.messages.peek(id) === undefined) return;
    this.stale.add(id);
    this.fetchByIds([id]).catch(() => {});
  }

  /** Called after all other messages were removed from the state. */
  swept(left: ReadonlySet<number>): void {
    for (const id of this.stale) if (!left.has(id)) this.stale.delete(id);
  }

  /** Fetches messages and stores those that are newer than in the state. */
  async fetch(narrow: Narrow, anchor: number | string, before: number, after: number, includeAnchor = true) {
    if (this.isRefused(narrow)) return NOTHING;
    return this.fetching(async () => {
      const answer = await this.gateway.get('/messages', {
        narrow: apiNarrow(narrow, this.state.selfId),
        anchor,
        include_anchor: includeAnchor,
        num_before: before,
        num_after: after,
        ...FORM,
      });
      const gone = await this.store(answer.messages);
      const messages = answer.messages.filter(({ id }) => !gone.has(id));
      return { ...answer, messages, ids: messages.map(({ id }) => id) };
    });
  }

  /** Collects the ids changed by events until the end of a fetch. */
  private async fetching<T>(run: () => Promise<T>): Promise<T> {
    this.fetches++;
    try {
      return await run();
    } finally {
      if (--this.fetches === 0) this.touched = new Set();
    }
  }

  /** True if the server would refuse the narrow, since a channel does not exist for the user. */
  private isRefused(narrow: Narrow): boolean {
    const channels = this.state.channels.all();
    // Only the server knows the channels until the state is loaded.
    if (channels.size === 0) return false;
    return narrow.some(
      ({ operator, operand }) => operator === 'channel' && typeof operand === 'number' && !channels.has(operand),
    );
  }

  /** Adds cached messages, which the next page may replace. */
  seed(messages: readonly Message[]): void {
    batch(() => {
      for (const message of messages) {
        if (this.state.messages.peek(message.id) !== undefined) continue;
        this.state.messages.set(message.id, message);
        this.stale.add(message.id);
      }
    });
  }

  /** Marks cached messages as current after their events were applied. */
  confirm(ids: readonly number[]): void {
    for (const id of ids) this.stale.delete(id);
  }

  /** Returns the current conversation of the linked message; null if it was found or is unreadable. */
  async findElsewhere(narrow: Narrow, target: number | string, found: readonly number[]): Promise<Destination | null> {
    const here = destinationOf(narrow);
    const id = linkedIn(narrow) ?? (typeof target === 'number' && !found.includes(target) ? target : null);
    if (id === null || here?.kind !== 'channel') return null;
    if (this.state.messages.peek(id) === undefined) await this.fetchByIds([id]);
    const message = this.state.messages.peek(id);
    const destination = message ? destinationOfMessage(this.state, message) : here;
    return destinationKey(destination) === destinationKey(here) ? null : destination;
  }

  fetchByIds(ids: readonly number[]): Promise<ReadonlySet<number>> {
    return this.fetching(async () => {
      const gone = new Set<number>();
      for (let at = 0; at < ids.length; at += MAX_IDS) {
        const { messages } = await this.gateway.get('/messages', {
          message_ids: ids.slice(at, at + MAX_IDS),
          ...FORM,
        });
        for (const id of await this.store(messages)) gone.add(id);
      }
      return gone;
    });
  }

  /** Returns ids deleted during the fetch. */
  private async store(messages: readonly Message[]): Promise<ReadonlySet<number>> {
    const { state } = this;
    const isWanted = ({ id, stream_id }: Message) =>
      state.messages.peek(id) === undefined || this.stale.has(id) || !hasJoined(state, stream_id);
    const outdated = messages.filter((message) => this.touched.has(message.id) && isWanted(message));
    batch(() => {
      for (const message of messages) {
        if (!isWanted(message) || outdated.includes(message)) continue;
        const localId = state.messages.peek(message.id)?.localId;
        state.messages.set(message.id, { ...message, ...(localId !== undefined && { localId }) });
        // The user may subscribe before the next page.
        if (hasJoined(state, message.stream_id)) this.stale.delete(message.id);
        else this.stale.add(message.id);
      }
    });
    if (outdated.length === 0) return new Set();
    const ids = outdated.map(({ id }) => id);
    for (const id of ids) this.touched.delete(id);
    const gone = await this.fetchByIds(ids);
    return new Set(ids.filter((id) => gone.has(id) || state.messages.peek(id) === undefined));
  }
}

function idsIn(event: Event): readonly number[] {
  switch (event.type) {
    case 'delete_message':
    case 'update_message':
      return event.message_ids;
    case 'update_message_flags':
      return event.messages;
    case 'reaction':
    case 'submessage':
      return [event.message_id];
    case 'application_data':
      return event.object_type === 'message' ? [event.object_id] : [];
    default:
      return [];
  }
}
