import type { Answer, Client, Params } from 'zulip-js';

/** Event queue with its read position. */
export class QueueReader {
  private lastEventId: number;

  constructor(
    private readonly client: Client,
    readonly id: string,
    /** Register response. */
    readonly snapshot: Answer,
  ) {
    this.lastEventId = snapshot.last_event_id;
  }

  static async open(client: Client, params: Params): Promise<QueueReader> {
    const answer = await client.queues.register(params);
    if (answer.result !== 'success') throw new Error(`Register was refused: ${JSON.stringify(answer)}`);
    return new QueueReader(client, answer.queue_id, answer);
  }

  /** Returns the whole response of one poll, which waits for events. Its events count as read. */
  async poll(params: Params = {}): Promise<Answer> {
    const answer = await this.client.events.retrieve({
      queue_id: this.id,
      last_event_id: this.lastEventId,
      ...params,
    });
    if (answer.result !== 'success') throw new Error(`The poll was refused: ${JSON.stringify(answer)}`);
    this.lastEventId = answer.events.at(-1)?.id ?? this.lastEventId;
    return answer;
  }

  /** Polls until at least this many events have arrived and returns all of them. */
  async next(count: number): Promise<Answer[]> {
    const events: Answer[] = [];
    while (events.length < count) events.push(...(await this.poll()).events);
    return events;
  }

  /** Returns the currently pending events. */
  async drain(): Promise<Answer[]> {
    return (await this.poll({ dont_block: 'true' })).events;
  }
}
