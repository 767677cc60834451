import { ParleyError } from '@parley/client';
import { batch, effect, type Signal, signal } from '@preact/signals-core';
import { covers, type Destination, type Narrow } from '../kernel/narrow.js';
import type { Clock, Gateway, OutboxStorage } from '../kernel/ports.js';
import { Table } from '../kernel/reactive.js';
import type { OutgoingMessage } from '../kernel/view-models.js';
import { failureOf } from './message-pages.js';

export const MAX_WAITING = 100;

/** Chat in which sent messages appear. */
interface OutboxChat {
  selfId(): number;
  hasMessage(id: number): boolean;
  /** Called when the server has accepted a message. */
  onSent(message: OutgoingMessage & { readonly id: number }): void;
}

/** Sends messages sequentially, each at most once. */
export class Outbox {
  /** Messages by key, in sending order. */
  readonly messages = new Table<string, OutgoingMessage>();
  /** Ids of own messages by key; observed, because a message may be fetched before the event with its key. */
  readonly sentIds = new Table<string, number>();
  private readonly queueId: Signal<string | null> = signal(null);
  private isSending = false;
  private cancelRetry: (() => void) | null = null;
  private endSaving: (() => void) | null = null;
  /** Tabs share a queue, so their keys must differ. */
  private count = Math.floor(Math.random() * 1e9);

  constructor(
    private readonly gateway: Gateway,
    private readonly clock: Clock,
    private readonly storage: OutboxStorage | null,
    private readonly chat: OutboxChat,
  ) {}

  /** Takes over messages of an earlier run and starts saving those of this run. */
  restore(): void {
    const { storage } = this;
    if (!storage) return;
    this.endSaving = effect(() => storage.save(this.messages.values()));
    storage.takeOver((messages) => {
      batch(() => {
        for (const message of messages) {
          if (message.id === null && !this.sentIds.has(message.key))
            this.messages.set(message.key, this.resumed(message));
        }
      });
      void this.sendWaiting();
    });
  }

  /** The server recognizes retries for a day; an older attempt may have succeeded. */
  private resumed(message: OutgoingMessage): OutgoingMessage {
    if (message.delivery === 'failed') return message;
    const isOld = this.clock.now() / 1000 - message.createdAt > REMEMBERED_SECONDS;
    if (message.queueId === null || !isOld) return { ...message, delivery: 'waiting' };
    const failure = { code: 'MAY_BE_SENT', message: 'This message may have been sent already' };
    return { ...message, delivery: 'failed', failure };
  }

  /** Called after each registration; sends waiting messages. */
  online(queueId: string): void {
    this.queueId.value = queueId;
    void this.sendWaiting();
  }

  /** Pauses sending until the next `online`. */
  stop(): void {
    this.queueId.value = null;
    this.cancelRetry?.();
  }

  /** Leaves the messages to other chats. */
  close(): void {
    this.stop();
    this.endSaving?.();
    this.storage?.release();
  }

  /** Queues a message. Returns its key. @throws RangeError if the queue is full */
  add(destination: Destination, content: string): string {
    if (this.messages.all().size >= MAX_WAITING) {
      throw Object.assign(new RangeError(`At most ${MAX_WAITING} messages can wait`), { code: 'TOO_MANY_WAITING' });
    }
    const now = this.clock.now();
    const key = `${now}.${++this.count}`;
    const createdAt = Math.floor(now / 1000);
    this.messages.set(key, {
      key,
      queueId: null,
      destination,
      content,
      createdAt,
      delivery: 'waiting',
      failure: null,
      id: null,
    });
    void this.sendWaiting();
    return key;
  }

  /** Returns the keys of messages that belong to a narrow. */
  keysIn(narrow: Narrow): readonly string[] {
    return this.messages
      .values()
      .filter(({ destination }) => covers(narrow, destination))
      .map(({ key }) => key);
  }

  /** Retries a failed message. */
  retry(key: string): void {
    this.messages.change(key, (message) => ({ ...message, delivery: 'waiting', failure: null }));
    void this.sendWaiting();
  }

  discard(key: string): void {
    const message = this.messages.peek(key);
    if (message && message.delivery !== 'sending') this.messages.delete(key);
  }

  /** Removes a message that arrived as an event. */
  arrived(key: string, id: number): void {
    this.sentIds.set(key, id);
    this.messages.delete(key);
  }

  /** Forgets the keys of messages that the chat no longer has. */
  sweep(): void {
    batch(() => {
      for (const [key, id] of [...this.sentIds.all()]) if (!this.chat.hasMessage(id)) this.sentIds.delete(key);
    });
  }

  /**
   * Removes messages that were already fetched, and returns their ids. Their events are late or were received by an
   * earlier run.
   */
  reconcile(): readonly number[] {
    const fetched = [...this.messages.all().values()].filter(({ id }) => id !== null && this.chat.hasMessage(id));
    for (const { key } of fetched) this.messages.delete(key);
    return fetched.map(({ id }) => id!);
  }

  private async sendWaiting(): Promise<void> {
    if (this.isSending || this.queueId.peek() === null) return;
    this.isSending = true;
    try {
      for (;;) {
        const next = [...this.messages.all().values()].find(({ delivery }) => delivery === 'waiting');
        if (!next || !(await this.send(next))) return;
      }
    } finally {
      this.isSending = false;
    }
  }

  /** Returns false if the server is unreachable, so that later messages wait too. */
  private async send(message: OutgoingMessage): Promise<boolean> {
    const { key, destination, content } = message;
    const queueId = message.queueId ?? this.queueId.peek();
    this.messages.set(key, { ...message, queueId, delivery: 'sending' });
    try {
      const { id } = await this.gateway.post('/messages', {
        ...(destination.kind === 'channel'
          ? { type: 'channel', to: destination.channelId, topic: destination.topic }
          : { type: 'direct', to: destination.userIds.length === 0 ? [this.chat.selfId()] : destination.userIds }),
        content,
        ...(queueId !== null && { queue_id: queueId, local_id: key }),
        read_by_sender: true,
      });
      // A message of an earlier run or queue may have been fetched already.
      if (this.chat.hasMessage(id)) this.messages.delete(key);
      else this.messages.change(key, (current) => ({ ...current, id }));
      this.chat.onSent({ ...message, id });
      return true;
    } catch (error) {
      // After a logout, the message waits for the next log-in.
      const isTemporary = error instanceof ParleyError && (error.isTemporary || error.endsLogIn);
      this.messages.change(key, (current) => ({
        ...current,
        delivery: isTemporary ? 'waiting' : 'failed',
        failure: isTemporary ? null : failureOf(error),
      }));
      if (isTemporary && this.queueId.peek() !== null) {
        this.cancelRetry = this.clock.after(RETRY_MS, () => void this.sendWaiting());
      }
      return !isTemporary;
    }
  }
}

const RETRY_MS = 3000;
/** Below the server's limit of one day for recognizing retries (messages §3). */
const REMEMBERED_SECONDS = 20 * 60 * 60;
