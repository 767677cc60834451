import type { Event, Message } from '@parley/client';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState, Topic } from '../kernel/state.js';

/** Delay for batching new topics and changes of one channel. */
const COLLECT_MS = 200;

/** Topics of the channels opened so far, plus recent topics of all channels once requested. */
export class Topics {
  /** Topics of messages seen, which wait for the end of a delay or of a request for the channel's list. */
  private readonly found = new Map<number, Map<string, Topic>>();
  /** Channels with deleted or moved messages: only the server knows which topics remain. */
  private readonly outdated = new Set<number>();
  /** Number of running requests for the list of each channel. */
  private readonly loading = new Map<number, number>();
  private hasRecent = false;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {}

  async load(channelId: number): Promise<void> {
    this.loading.set(channelId, (this.loading.get(channelId) ?? 0) + 1);
    try {
      const { topics } = await this.gateway.get('/users/me/{stream_id}/topics', {
        stream_id: channelId,
        allow_empty_topic_name: true,
      });
      const byName = new Map<string, Topic>();
      for (const { name, max_id: maxId } of topics) byName.set(name.toLowerCase(), { channelId, name, maxId });
      this.state.topics.set(channelId, byName);
    } finally {
      const left = this.loading.get(channelId)! - 1;
      if (left > 0) this.loading.set(channelId, left);
      else this.loading.delete(channelId);
      if (!this.isKnown(channelId) && !this.hasRecent) this.found.delete(channelId);
      this.flush();
    }
  }

  /** Adds the topics of the newest messages, and from now on those of new messages in all channels. */
  async addRecent(newest: Promise<{ readonly messages: readonly Message[] }>): Promise<void> {
    this.hasRecent = true;
    for (const message of (await newest).messages) if (message.stream_id !== undefined) this.add(message);
    this.flush();
  }

  received(event: Event): void {
    if (event.type === 'message' && event.message.stream_id !== undefined) this.add(event.message);
    if (event.type === 'delete_message' && event.message_type === 'stream') {
      const { stream_id: channelId, message_ids: ids } = event;
      const key = event.topic.toLowerCase();
      const { maxId = 0 } = this.found.get(channelId)?.get(key) ?? this.state.topics.peek(channelId)?.get(key) ?? {};
      if (this.loading.has(channelId) || ids.includes(maxId)) this.outdate(channelId);
    }
    if (event.type === 'update_message' && !event.rendering_only && event.propagate_mode !== undefined) {
      for (const id of [event.stream_id, event.new_stream_id]) if (id !== undefined) this.outdate(id);
    }
  }

  stop(): void {
    this.cancel?.();
  }

  private add({ id, stream_id, subject }: { id: number; stream_id?: number; subject: string }): void {
    const channelId = stream_id!;
    if (!this.isKnown(channelId) && !this.hasRecent) return;
    const found = this.found.get(channelId) ?? new Map<string, Topic>();
    const key = subject.toLowerCase();
    found.set(key, merged({ channelId, name: subject, maxId: id }, found.get(key)));
    this.found.set(channelId, found);
    this.schedule();
  }

  /** True if the topics of the channel were loaded or are being loaded. */
  private isKnown(channelId: number): boolean {
    return this.state.topics.peek(channelId) !== undefined || this.loading.has(channelId);
  }

  /** Refetches the topics of a channel if they were loaded. */
  outdate(channelId: number): void {
    if (!this.isKnown(channelId)) return;
    this.outdated.add(channelId);
    this.schedule();
  }

  private schedule(): void {
    this.cancel ??= this.clock.after(COLLECT_MS, () => this.flush());
  }

  /** Applies collected changes. Channels with a running request wait, because its response may be older. */
  private flush(): void {
    this.cancel?.();
    this.cancel = null;
    for (const [channelId, found] of this.found) {
      if (this.loading.has(channelId)) continue;
      const topics = new Map(this.state.topics.peek(channelId));
      for (const [key, topic] of found) topics.set(key, merged(topic, topics.get(key)));
      this.state.topics.set(channelId, topics);
      this.found.delete(channelId);
    }
    for (const channelId of this.outdated) {
      if (this.loading.has(channelId)) continue;
      this.outdated.delete(channelId);
      // A list that fails to load is fetched when it is opened again.
      this.load(channelId).catch(() => {});
    }
  }
}

/** Keeps the known spelling, which is the oldest, and the latest message. */
const merged = (topic: Topic, known: Topic | undefined): Topic =>
  known ? { ...known, maxId: Math.max(topic.maxId, known.maxId) } : topic;
