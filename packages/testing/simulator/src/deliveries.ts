import { Violation } from './violation.js';

/** Kind of change of a message that clients receive as an event. */
export type Change = 'message' | 'update' | 'delete' | 'reaction';

/** Events about one change that a client must and may receive. */
export interface Expected {
  readonly change: Change;
  readonly messageId: number;
  readonly least: number;
  readonly most: number;
  /** Order among all changes. */
  readonly order: number;
}

// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Ids of messages by the type of the event that names them. */
const IDS: Readonly<Record<string, readonly [Change, (event: Wire) => readonly number[]]>> = {
  message: ['message', ({ message }) => [message.id]],
  update_message: ['update', ({ message_ids }) => message_ids],
  // Old clients get an event for each message.
  delete_message: ['delete', ({ message_id, message_ids = [message_id] }) => message_ids],
  reaction: ['reaction', ({ message_id }) => [message_id]],
};

const idsOf = (channels: readonly Wire[]): readonly number[] => channels.map(({ stream_id }) => stream_id);

/** Events that one client has received, against those that it must receive. */
export class Deliveries {
  private expected: Expected[] = [];
  private readonly received = new Map<string, number>();
  /** Ids of the channels that the client knows. */
  private readonly channels: Set<number>;

  /**
   * @param registered response from which the client began
   * @param isUnsure true if the audience of waiting events is open, as of changes during the registration
   */
  constructor(
    private readonly client: string,
    { subscriptions, unsubscribed, never_subscribed }: Wire,
    private isUnsure: boolean,
  ) {
    this.channels = new Set(idsOf([...subscriptions, ...unsubscribed, ...never_subscribed]));
  }

  expect(expected: Expected): void {
    this.expected.push(expected);
  }

  get areDue(): boolean {
    return this.expected.some(({ least }) => least > 0);
  }

  /** Forgets changes that a restored backup does not have. */
  forgetAfter(order: number): void {
    this.expected = this.expected.filter((each) => each.order <= order);
  }

  /** @throws Violation if the event is about a channel that the client does not know (channels §6.3) */
  receive(event: Wire): void {
    if (event.type === 'stream' || event.type === 'subscription') this.followChannels(event);
    const [change, idsOf] = IDS[event.type] ?? [];
    if (!change || event.rendering_only) return;
    for (const id of idsOf!(event)) {
      const key = `${change} ${id}`;
      this.received.set(key, (this.received.get(key) ?? 0) + 1);
    }
  }

  private followChannels(event: Wire): void {
    const { type, op, stream_id, streams = [], subscriptions = [] } = event;
    const named = event.stream_ids ?? (stream_id === undefined ? idsOf([...streams, ...subscriptions]) : [stream_id]);
    for (const id of named) {
      if (type === 'stream' && op === 'create') this.channels.add(id);
      else if (!this.channels.has(id))
        throw new Violation('clients know what events name', `${this.client}: ${JSON.stringify(event)}`);
      if (type === 'stream' && op === 'delete') this.channels.delete(id);
    }
  }

  /**
   * Checks and forgets everything so far. The client must have received all waiting events. `isModelled` is true for
   * messages of people, `isDeleted` for those that no event shows any more.
   */
  check(isModelled: (id: number) => boolean, isDeleted: (id: number) => boolean): void {
    if (this.isUnsure) {
      this.isUnsure = false;
      this.expected = [];
      this.received.clear();
      return;
    }
    const limits = new Map<string, { least: number; most: number }>();
    for (const { change, messageId, least, most } of this.expected.splice(0)) {
      const key = `${change} ${messageId}`;
      const limit = limits.get(key) ?? { least: 0, most: 0 };
      limits.set(key, limit);
      // Events with the text of a deleted message leave the log.
      const isText = change === 'message' || change === 'update';
      if (!isText || !isDeleted(messageId)) limit.least += least;
      limit.most += most;
    }
    for (const key of this.received.keys()) if (!limits.has(key)) limits.set(key, { least: 0, most: 0 });
    for (const [key, { least, most }] of limits) {
      const count = this.received.get(key) ?? 0;
      if ((count >= least && count <= most) || !isModelled(Number(key.split(' ')[1]))) continue;
      const expected = least === most ? least : `${least} to ${most}`;
      throw new Violation(
        'events reach their audience',
        `${this.client} got "${key}" ${count} times, expected ${expected}`,
      );
    }
    this.received.clear();
  }
}
