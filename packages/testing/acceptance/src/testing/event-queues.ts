import { fieldsOf, type Wire } from './expectations.js';
import type { TestServer, TestUser } from './test-server.js';

/** Event queue of a client. */
export interface TestQueue {
  readonly owner: TestUser;
  readonly id: string;
  /** Register response. */
  readonly registered: Readonly<Record<string, Wire>>;
}

/** `params`: register parameters in addition to those of modern clients. */
export async function openQueue(server: TestServer, owner: TestUser, params: object = {}): Promise<TestQueue> {
  const registered = fieldsOf(
    await server.post('/register', owner, {
      fetch_event_types: ['realm'],
      client_capabilities: { notification_settings_null: true, empty_topic_name: true, archived_channels: true },
      ...params,
    }),
  ) as Record<string, Wire>;
  return { owner, id: registered.queue_id, registered };
}

/** All events since the queue was opened, without their ids. */
export async function eventsAfter(server: TestServer, { owner, id }: TestQueue): Promise<Wire[]> {
  const query = { queue_id: id, last_event_id: -1, dont_block: true };
  const { events } = fieldsOf(await server.get('/events', owner, query)) as Record<string, Wire>;
  return events.map(({ id: _, ...event }: Wire) => event);
}
