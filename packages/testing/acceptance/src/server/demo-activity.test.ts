import { createDemo, DEMO_PEOPLE, DemoActivity, listDemoAccess, passwordOf } from '@parley/server/testing';
import { openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
const people = new Map<string, TestUser>();
beforeEach(async () => {
  server = await TestServer.startEmpty();
  await createDemo(server.parley.ports, { forVisitors: true });
  for (const { email, apiKey } of await listDemoAccess(server.parley.ports)) {
    const user = { email, apiKey, password: passwordOf({ email }) } as TestUser;
    const { user_id: id } = fieldsOf(await server.get('/users/me', user)) as Record<string, Wire>;
    people.set(email, { ...user, id });
  }
});
afterEach(() => server.close());

const hamlet = () => people.get('hamlet@zulip.com')!;
const newest = async (count: number) =>
  (
    fieldsOf(await server.get('/messages', hamlet(), { anchor: 'newest', num_before: count, num_after: 0 })) as Record<
      string,
      Wire
    >
  ).messages as Wire[];

it.each(DEMO_PEOPLE)('a new demo has unread conversations for $email', async ({ email }) => {
  const { unread_msgs: unread } = fieldsOf(
    await server.post('/register', people.get(email)!, { fetch_event_types: ['message', 'update_message_flags'] }),
  ) as Record<string, Wire>;
  expect(unread.mentions.length).toBeGreaterThan(0);
  expect(unread.streams.length).toBeGreaterThan(1);
  expect(unread.pms.length + unread.huddles.length).toBeGreaterThan(0);
  expect(unread.count).toBeLessThan(20);
});

it('a demo for visitors has another name and an icon', async () => {
  const { realm_name, realm_icon } = fieldsOf(await server.get('/server_settings', null)) as Record<string, Wire>;
  expect(realm_name).toBe('The Globe');
  const icon = await fetch(realm_icon);
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
});

describe('activity of the demo', () => {
  /** Client of Hamlet. */
  async function openClient() {
    const capabilities = { notification_settings_null: true, stream_typing_notifications: true };
    const { id: queue_id } = await openQueue(server, hamlet(), { client_capabilities: capabilities });
    let last_event_id = -1;
    const take = async (response: ReturnType<TestServer['get']>): Promise<Wire[]> => {
      const { events } = fieldsOf(await response) as Record<string, Wire>;
      last_event_id = events.at(-1)?.id ?? last_event_id;
      return events;
    };
    const get = (params: object) => server.get('/events', hamlet(), { queue_id, last_event_id, ...params });
    return {
      /** Waits for the events that `work` causes. */
      async during(work: () => Promise<unknown>): Promise<Wire[]> {
        const response = get({});
        const isWaiting = () => server.parley.part('hub').liveQueues.some(({ isWaitedFor }) => isWaitedFor);
        while (!isWaiting()) await new Promise((done) => setImmediate(done));
        await work();
        return take(response);
      },
      drain: () => take(get({ dont_block: true })),
    };
  }

  it('types and then writes while a client waits for events', async () => {
    const client = await openClient();
    const activity = new DemoActivity(server.parley, true);
    const typing = { type: 'typing', message_type: 'stream', topic: 'picnic' };
    expect(await client.during(() => activity.step())).toMatchObject([{ ...typing, op: 'start' }]);
    const [stopped, sent] = [await client.during(() => activity.step()), await newest(1)];
    expect(stopped[0]).toMatchObject({ ...typing, op: 'stop' });
    expect(sent).toMatchObject([{ sender_full_name: expect.stringContaining('Cordelia'), subject: 'picnic' }]);
  });

  it('is silent while nobody waits for events', async () => {
    const activity = new DemoActivity(server.parley, true);
    const before = await newest(1);
    for (let step = 0; step < 10; step++) await activity.step();
    expect(await newest(1)).toEqual(before);
  });

  it('sends each line once, and only types after a restart', async () => {
    const client = await openClient();
    const play = async (activity: DemoActivity, rounds: number) => {
      const [before] = await newest(1);
      for (let round = 0; round < rounds; round++) {
        await client.during(() => activity.step());
        await activity.step();
        await client.drain();
      }
      return (await newest(50)).filter(({ id }) => id > before.id).length;
    };
    const activity = new DemoActivity(server.parley, true);
    expect(await play(activity, 12)).toBe(12);
    expect(await play(activity, 3)).toBe(0);
    expect(await play(new DemoActivity(server.parley, false), 3)).toBe(0);
  });

  it('leaves the user with the waiting client alone, and skips deactivated users and archived channels', async () => {
    const desdemona = people.get('desdemona@zulip.com')!;
    fieldsOf(await server.delete(`/users/${people.get('cordelia@zulip.com')!.id}`, desdemona));
    const { stream_id } = fieldsOf(await server.get('/get_stream_id', desdemona, { stream: 'Verona' })) as Record<
      string,
      Wire
    >;
    fieldsOf(await server.delete(`/streams/${stream_id}`, desdemona));
    const client = await openClient();
    const activity = new DemoActivity(server.parley, true);
    const events = await client.during(async () => {
      for (let step = 0; step < 3; step++) await activity.step();
    });
    expect(events).toMatchObject([
      { type: 'typing', op: 'start', topic: 'picnic', sender: { user_id: people.get('ZOE@zulip.com')!.id } },
    ]);
  });
});
