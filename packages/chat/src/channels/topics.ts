import type { Event } from '@parley/client';
import type { Clock, Gateway } from '../kernel/ports.js';
import type { ChatState, Topic } from '../kernel/state.js';
import { apiNarrow } from '../messages/match.js';

/** Delay for batching new topics and changes of one channel. */
const COLLECT_MS = 200;
/** Number of newest messages from which recent topics are taken. */
const RECENT_MESSAGES = 500;

/** Topics of the channels opened so far, plus recent topics of all channels once requested. */
export class Topics {
  private readonly found = new Map<number, Map<string, Topic>>();
  /** Channels with deleted or moved messages: only the server knows which topics remain. */
  private readonly outdated = new Set<number>();
  private hasRecent = false;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly state: ChatState,
    private readonly gateway: Gateway,
    private readonly clock: Clock,
  ) {}

  async load(channelId: number): Promise<void> {
    const { topics } = await this.gateway.get('/users/me/{stream_id}/topics', {
      stream_id: channelId,
      allow_empty_topic_name: true,
    });
    const byName = new Map<string, Topic>();
    for (const { name, max_id: maxId } of topics) byName.set(name.toLowerCase(), { channelId, name, maxId });
    this.state.topics.set(channelId, byName);
  }

  async loadRecent(): Promise<void> {
    this.hasRecent = true;
    const { messages } = await this.gateway.get('/messages', {
      narrow: apiNarrow([], this.state.selfId),
      anchor: 'newest',
      num_before: RECENT_MESSAGES,
      num_after: 0,
      apply_markdown: false,
      allow_empty_topic_name: true,
    });
    for (const message of messages) if (message.stream_id !== undefined) this.add(message);
    this.state.sentAt.reset(messages.map(({ id, timestamp }) => [id, timestamp]));
    this.flush();
  }

  received(event: Event): void {
    if (event.type === 'message' && event.message.stream_id !== undefined) this.add(event.message);
    if (event.type === 'delete_message' && event.message_type === 'stream') {
      const { maxId = 0 } = this.state.topics.peek(event.stream_id)?.get(event.topic.toLowerCase()) ?? {};
      if (event.message_ids.includes(maxId)) this.outdate(event.stream_id);
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
    const topics = this.state.topics.peek(channelId);
    if (!topics && !this.hasRecent) return;
    const found = this.found.get(channelId) ?? new Map<string, Topic>();
    const key = subject.toLowerCase();
    const known = found.get(key) ?? topics?.get(key);
    // Shows the oldest spelling.
    found.set(key, { channelId, name: known?.name ?? subject, maxId: Math.max(id, known?.maxId ?? 0) });
    this.found.set(channelId, found);
    this.schedule();
  }

  /** Refetches the topics of a channel if they were loaded. */
  outdate(channelId: number): void {
    if (!this.state.topics.peek(channelId)) return;
    this.outdated.add(channelId);
    this.schedule();
  }

  private schedule(): void {
    this.cancel ??= this.clock.after(COLLECT_MS, () => this.flush());
  }

  private flush(): void {
    this.cancel?.();
    this.cancel = null;
    for (const [channelId, found] of this.found)
      this.state.topics.set(channelId, new Map([...(this.state.topics.peek(channelId) ?? []), ...found]));
    this.found.clear();
    // A list that fails to load is fetched when it is opened again.
    for (const channelId of this.outdated) this.load(channelId).catch(() => {});
    this.outdated.clear();
  }
}
