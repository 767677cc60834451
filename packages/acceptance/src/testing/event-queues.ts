import { fieldsOf, type Wire } from './expectations.js';
import type { TestServer, TestUser } from './test-server.js';

/** An event queue of somebody's, as their client has it. */
export interface TestQueue {
  readonly owner: TestUser;
  readonly id: string;
  /** What the client knew to begin with. */
  readonly registered: Readonly<Record<string, Wire>>;
}

/** `params`: of register, beside what modern clients say of themselves. */
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

/** All that has happened since the queue was opened, without the events' ids. */
export async function eventsAfter(server: TestServer, { owner, id }: TestQueue): Promise<Wire[]> {
  const query = { queue_id: id, last_event_id: -1, dont_block: true };
  const { events } = fieldsOf(await server.get('/events', owner, query)) as Record<string, Wire>;
  return events.map(({ id: _, ...event }: Wire) => event);
}
