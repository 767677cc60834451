import type { Answer, Client, Params } from 'zulip-js';

/** An event queue and how far it has been read. */
export class QueueReader {
  private lastEventId: number;

  constructor(
    private readonly client: Client,
    readonly id: string,
    /** What register answered beside the queue. */
    readonly snapshot: Answer,
  ) {
    this.lastEventId = snapshot.last_event_id;
  }

  static async open(client: Client, params: Params): Promise<QueueReader> {
    const answer = await client.queues.register(params);
    if (answer.result !== 'success') throw new Error(`Register was refused: ${JSON.stringify(answer)}`);
    return new QueueReader(client, answer.queue_id, answer);
  }

  /** The whole answer of one poll, which waits while there is nothing. Its events count as read. */
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

  /** Polls until so many events have come, and answers those: more is a mistake the caller sees. */
  async next(count: number): Promise<Answer[]> {
    const events: Answer[] = [];
    while (events.length < count) events.push(...(await this.poll()).events);
    return events;
  }

  /** What is there at this moment. */
  async drain(): Promise<Answer[]> {
    return (await this.poll({ dont_block: 'true' })).events;
  }
}
