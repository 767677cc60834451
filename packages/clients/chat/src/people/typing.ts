import type { TypingEvent } from '@parley/client';
import { type Destination, destinationKey } from '../kernel/narrow.js';
import type { Clock, Gateway } from '../kernel/ports.js';
import { isSame, Memo, type Reading } from '../kernel/reactive.js';
import type { ChatState } from '../kernel/state.js';
import { directWith, inTopic } from '../messages/unread.js';
import { isMutedPerson } from './person-rows.js';

/** Above this number of subscribers, channels show no typing indicators (users §9.1). */
const MAX_SUBSCRIBERS = 100;
const EXPIRY_MS = 45_000;
const STARTED_WAIT_MS = 30_000;
const STOPPED_WAIT_MS = 12_000;

/** People who are typing, and reports of the user's typing. */
export class Typing {
  private readonly lists = new Memo(
    (key: string) => [...(this.state.typing.get(key)?.keys() ?? [])].filter((id) => !isMutedPerson(this.state, id)),
    isSame,
  );
  private own: { readonly to: Destination; readonly startedAt: number } | null = null;
  private cancelStop: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {}

  /** Ids of other unmuted people who are typing, in the order in which they started. */
  typists(destination: Destination): Reading<readonly number[]> {
    return this.lists.at(destinationKey(destination));
  }

  received(event: TypingEvent): void {
    const { user_id: senderId } = event.sender;
    if (senderId === this.state.selfId) return;
    const key = destinationKey(this.destinationOf(event));
    if (event.op === 'stop') {
      this.forget(key, senderId);
      return;
    }
    const now = this.clock.now();
    this.put(key, new Map(this.state.typing.peek(key)).set(senderId, now));
    const expiry = this.state.fields.peek('server_typing_started_expiry_period_milliseconds') ?? EXPIRY_MS;
    this.clock.after(expiry, () => {
      if (this.state.typing.peek(key)?.get(senderId) === now) this.forget(key, senderId);
    });
  }

  /** Ends the typing indicator of a sender. */
  sent(destination: Destination, senderId: number): void {
    this.forget(destinationKey(destination), senderId);
  }

  /** Called on every change of the draft. */
  typed(to: Destination, text: string): void {
    if (this.own && destinationKey(this.own.to) !== destinationKey(to)) this.stopped();
    if (text.trim() === '') this.stopped();
    else if (this.mayReport(to)) this.goesOn(to);
  }

  private goesOn(to: Destination): void {
    const now = this.clock.now();
    const wait = this.state.fields.peek('server_typing_started_wait_period_milliseconds') ?? STARTED_WAIT_MS;
    if (!this.own || now - this.own.startedAt >= wait) {
      this.own = { to, startedAt: now };
      this.report(to, 'start');
    }
    this.cancelStop?.();
    const pause = this.state.fields.peek('server_typing_stopped_wait_period_milliseconds') ?? STOPPED_WAIT_MS;
    this.cancelStop = this.clock.after(pause, () => this.stopped());
  }

  /** Called when the draft was sent or left. */
  stopped(): void {
    this.cancelStop?.();
    this.cancelStop = null;
    if (this.own) this.report(this.own.to, 'stop');
    this.own = null;
  }

  private mayReport(to: Destination): boolean {
    const settings = this.state.fields.peek('user_settings');
    if (to.kind === 'direct') return to.userIds.length > 0 && settings?.send_private_typing_notifications === true;
    const count = this.state.channels.peek(to.channelId)?.channel.subscriber_count ?? 0;
    return count <= MAX_SUBSCRIBERS && settings?.send_stream_typing_notifications === true;
  }

  private report(to: Destination, op: 'start' | 'stop'): void {
    const place =
      to.kind === 'direct'
        ? { type: 'direct' as const, to: to.userIds }
        : { type: 'stream' as const, stream_id: to.channelId, topic: to.topic };
    // A lost report only affects the typing indicator.
    this.gateway.post('/typing', { op, ...place }).catch(() => {});
  }

  private destinationOf(event: TypingEvent): Destination {
    if (event.message_type === 'stream') return inTopic(event.stream_id, event.topic);
    const ids = event.recipients.map(({ user_id }) => user_id);
    return directWith(ids, this.state.selfId);
  }

  private forget(key: string, userId: number): void {
    const known = this.state.typing.peek(key);
    if (!known?.has(userId)) return;
    const left = new Map(known);
    left.delete(userId);
    this.put(key, left);
  }

  private put(key: string, typists: ReadonlyMap<number, number>): void {
    if (typists.size > 0) this.state.typing.set(key, typists);
    else this.state.typing.delete(key);
  }
}
