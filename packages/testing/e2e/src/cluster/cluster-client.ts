import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Person, Reply } from './cluster.js';

/** Timeout after which a client repeats a poll at the next node, since the node may be frozen. */
const POLL_MS = 3000;
const PAUSE_MS = 50;
/** Number of streamed events that are acknowledged together. */
const ACKNOWLEDGED = 100;
/** Number of responses shown by a failed assertion. */
const REMEMBERED = 40;

export const unreadIn = ({ pms, streams, huddles }: Reply['body']): number[] =>
  [...pms, ...streams, ...huddles].flatMap(({ unread_message_ids }) => unread_message_ids);

/** Returns the contents of all messages of a person by id. Retries requests without a response. */
export async function history(cluster: Cluster, person: Person): Promise<ReadonlyMap<number, string>> {
  const contents = new Map<number, string>();
  for (;;) {
    const params = { include_anchor: false, num_before: 0, num_after: 1000, apply_markdown: false };
    const anchor = [...contents.keys()].at(-1) ?? 0;
    const reply = await cluster.request(person, 'GET', '/messages', { ...params, anchor }).catch(() => null);
    if (reply === null || reply.status === 503) {
      await sleep(PAUSE_MS);
      continue;
    }
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    for (const { id, content } of reply.body.messages) contents.set(id, content);
    if (reply.body.found_newest) return contents;
  }
}

/** Follows one event queue across all nodes and records its events. */
export class ClusterClient {
  /** Raw contents by message id, in order of arrival. */
  readonly contents = new Map<number, string>();
  readonly unread = new Set<number>();
  /** Number of polls without a usable response. */
  failedPolls = 0;
  /** Number of registrations after a failover with lost events. */
  registrations = 0;
  /** False from the end of a queue until the next one is registered and all stored messages are loaded. */
  hasQueue = true;
  private queueId = '';
  private lastEventId = -1;
  /** Number of lossy failovers when the queue was registered. */
  private losses = 0;
  private isOver = false;
  /** Latest responses and streams, for failed assertions. */
  private readonly received: string[] = [];

  /** @param streams true to receive events by streams instead of polls */
  constructor(
    private readonly cluster: Cluster,
    readonly person: Person,
    private readonly streams: boolean,
  ) {}

  /** Registers and loads stored messages. Returns false without a usable response. */
  async register(): Promise<boolean> {
    const { losses } = this.cluster;
    const params = { event_types: ['message', 'update_message', 'update_message_flags'], apply_markdown: false };
    const reply = await this.cluster.request(this.person, 'POST', '/register', params).catch(() => null);
    if (reply?.status !== 200) return false;
    const { queue_id, last_event_id, max_message_id, unread_msgs } = reply.body;
    const stored = await history(this.cluster, this.person);
    this.contents.clear();
    for (const [id, content] of stored) if (id <= max_message_id) this.contents.set(id, content);
    this.unread.clear();
    for (const id of unreadIn(unread_msgs)) this.unread.add(id);
    this.queueId = queue_id;
    this.lastEventId = last_event_id;
    this.losses = losses;
    this.remember(`registered at ${reply.url}: ${queue_id}, after ${last_event_id}, up to message ${max_message_id}`);
    return true;
  }

  /** Polls or streams until `stop`. @throws Error if the queue ended or an event is repeated */
  async follow(): Promise<void> {
    while (!this.isOver) {
      if (this.streams && this.hasQueue) {
        await this.stream();
        await sleep(PAUSE_MS);
        continue;
      }
      const reply = await this.poll();
      if (reply === null) await sleep(PAUSE_MS);
      else for (const event of reply.body.events) this.apply(event);
    }
  }

  stop(): void {
    this.isOver = true;
  }

  /** Describes the queue, and each node's response to the next poll and to a registration. */
  async describeNodes(): Promise<readonly string[]> {
    const place = { queue_id: this.queueId, last_event_id: this.lastEventId, dont_block: true };
    const describe = async (method: string, path: string, params: Readonly<Record<string, unknown>>) => {
      const startedAt = Date.now();
      const reply = await this.cluster.request(this.person, method, path, params).catch(String);
      return `${method} ${path}: ${JSON.stringify(reply).slice(0, 200)} after ${Date.now() - startedAt} ms`;
    };
    const lines = [`has a queue: ${this.hasQueue}; failed polls: ${this.failedPolls}`];
    for (const _ of this.cluster.nodes) lines.push(await describe('GET', '/events', place));
    for (const _ of this.cluster.nodes) lines.push(await describe('POST', '/register', { event_types: ['message'] }));
    return lines;
  }

  /** Lists what differs from the stored state, and the latest responses. */
  describeDifference(stored: ReadonlyMap<number, string>, unread: readonly number[]): string {
    const ids = [...new Set([...this.contents.keys(), ...stored.keys()])];
    const stateOf = (contents: ReadonlyMap<number, string>, unreadOnes: ReadonlySet<number>, id: number) =>
      `${contents.get(id)}${unreadOnes.has(id) ? ', unread' : ''}`;
    const unreadIds = new Set(unread);
    const known = (id: number) => stateOf(this.contents, this.unread, id);
    const right = (id: number) => stateOf(stored, unreadIds, id);
    return [
      `${this.person.email} does not know what is stored`,
      ...ids.filter((id) => known(id) !== right(id)).map((id) => `${id}: knows ${known(id)}; stored is ${right(id)}`),
      ...this.received,
    ].join('\n');
  }

  /** Applies events of one stream until it ends or is silent for as long as a poll may take. */
  private async stream(): Promise<void> {
    const place = { queue_id: this.queueId, last_event_id: this.lastEventId };
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), POLL_MS);
    let unacknowledged = 0;
    let isOpen = false;
    try {
      const response = await this.cluster.open(this.person, 'GET', '/events/stream', place, silence.signal);
      if (response.status !== 200) {
        await this.handleRefusal({ status: response.status, url: response.url, body: await response.json() });
        return;
      }
      let rest = '';
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        isOpen = true;
        clearTimeout(timer);
        if (this.isOver) return;
        timer = setTimeout(() => silence.abort(), POLL_MS);
        const frames = (rest + piece).split('\n\n');
        rest = frames.pop()!;
        for (const frame of frames) {
          if (!frame.startsWith('id: ')) continue;
          this.remember(`${response.url}: ${frame.slice(0, 80)}`);
          this.apply(JSON.parse(frame.slice(frame.indexOf('data: ') + 'data: '.length)));
          unacknowledged++;
        }
        if (unacknowledged >= ACKNOWLEDGED) {
          unacknowledged = 0;
          this.acknowledge();
        }
      }
    } catch (error) {
      // The connection was lost; other errors are those of events.
      if (error instanceof assert.AssertionError) throw error;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    if (!isOpen) this.failedPolls++;
  }

  /** Sends an acknowledgement to another node. */
  private acknowledge(): void {
    const place = { queue_id: this.queueId, last_event_id: this.lastEventId };
    this.cluster.request(this.person, 'POST', '/events/acknowledge', place, POLL_MS).catch(() => {});
  }

  private async poll(): Promise<Reply | null> {
    const place = { queue_id: this.queueId, last_event_id: this.lastEventId };
    const reply = await this.cluster.request(this.person, 'GET', '/events', place, POLL_MS).catch(() => null);
    if (reply?.status === 200) {
      const events: readonly Reply['body'][] = reply.body.events;
      this.remember(`${reply.url}: ${events.map(({ id, type }) => `${id} ${type}`).join(', ')}`);
      return reply;
    }
    await this.handleRefusal(reply);
    return null;
  }

  private describeUnknown({ id, message_id }: Reply['body']): string {
    const problem = `${this.person.email} got event ${id} about the unknown message ${message_id}`;
    return [problem, `knows ${[...this.contents.keys()].slice(-20)}`, ...this.received].join('\n');
  }

  private remember(line: string): void {
    this.received.push(`${new Date().toISOString()} ${line}`);
    if (this.received.length > REMEMBERED) this.received.shift();
  }

  private async handleRefusal(reply: Reply | null): Promise<void> {
    this.failedPolls++;
    if (reply?.body.code === 'BAD_EVENT_QUEUE_ID' && this.cluster.losses > this.losses) {
      this.hasQueue = false;
      this.hasQueue = await this.register();
      if (this.hasQueue) this.registrations++;
      return;
    }
    if (reply !== null) assert.equal(reply.status, 503, `${this.person.email}: ${JSON.stringify(reply.body)}`);
  }

  private apply(event: Reply['body']): void {
    assert.ok(event.id > this.lastEventId, `${this.person.email} got event ${event.id} after ${this.lastEventId}`);
    this.lastEventId = event.id;
    if (event.type === 'message') {
      const { id, content } = event.message;
      const last = [...this.contents.keys()].at(-1) ?? 0;
      assert.ok(id > last, `${this.person.email} got message ${id} after ${last}`);
      this.contents.set(id, content);
      if (!event.flags.includes('read')) this.unread.add(id);
    } else if (event.type === 'update_message') {
      if (!this.contents.has(event.message_id)) assert.fail(this.describeUnknown(event));
      this.contents.set(event.message_id, event.content);
    } else if (event.type === 'update_message_flags' && event.flag === 'read') {
      for (const id of event.messages) {
        if (event.op === 'add') this.unread.delete(id);
        else this.unread.add(id);
      }
    }
  }
}
