import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Core chat flow over HTTP: users send messages and receive each other's messages immediately. */
describe('chat between two users', () => {
  let hamlet: TestUser;
  let cordelia: TestUser;
  const { server } = serverPerTest();
  beforeEach(async () => {
    ({ hamlet, cordelia } = server.people);
    const channels = JSON.stringify([{ name: 'Denmark' }]);
    const reply = await server.post('/users/me/subscriptions', hamlet, {
      subscriptions: channels,
      principals: [hamlet.id, cordelia.id],
    });
    expect(reply.status).toBe(200);
  });

  const register = async (as: TestUser) => {
    const { status, body } = await server.post('/register', as, { event_types: ['message'], apply_markdown: true });
    expect(status).toBe(200);
    return body.queue_id as string;
  };
  const say = (as: TestUser, content: string) =>
    server.post('/messages', as, { type: 'stream', to: 'Denmark', topic: 'castle', content });
  const poll = (as: TestUser, queue_id: string, last_event_id = -1) =>
    server.get('/events', as, { queue_id, last_event_id });

  it('delivers messages of a channel to both users in the same order', async () => {
    const [ofHamlet, ofCordelia] = [await register(hamlet), await register(cordelia)];
    const ids = [
      (await say(hamlet, 'to be')).body.id,
      (await say(cordelia, 'or not to be')).body.id,
      (await say(hamlet, 'that is the question')).body.id,
    ];
    for (const [who, queue] of [
      [hamlet, ofHamlet],
      [cordelia, ofCordelia],
    ] as const) {
      const { body } = await poll(who, queue);
      expect(body.events.map((event: { message: { id: number } }) => event.message.id)).toEqual(ids);
      expect(body.events[0].message).toMatchObject({
        sender_id: hamlet.id,
        display_recipient: 'Denmark',
        subject: 'castle',
        content: '<p>to be</p>',
      });
      // Acknowledged events are not sent again.
      const rest = await server.get('/events', who, {
        queue_id: queue,
        last_event_id: body.events.at(-1).id,
        dont_block: true,
      });
      expect(rest.body.events).toEqual([]);
    }
    const { body } = await server.get('/messages', cordelia, { anchor: 'newest', num_before: 10, num_after: 0 });
    expect(body.messages.slice(-3).map(({ id }: { id: number }) => id)).toEqual(ids);
  });

  it('holds a poll until an event arrives', async () => {
    const queue = await register(cordelia);
    const waiting = poll(cordelia, queue);
    await say(hamlet, 'who is there?');
    expect((await waiting).body.events).toMatchObject([
      { type: 'message', message: { content: '<p>who is there?</p>' } },
    ]);
  });

  it('delivers a direct message only to its participants', async () => {
    const queue = await register(server.people.iago);
    const sent = await server.post('/messages', hamlet, { type: 'direct', to: [cordelia.id], content: 'psst' });
    expect(sent.status).toBe(200);
    const { body } = await server.get('/events', server.people.iago, {
      queue_id: queue,
      last_event_id: -1,
      dont_block: true,
    });
    expect(body.events).toEqual([]);
    expect((await server.get(`/messages/${sent.body.id}`, cordelia)).body.message.content).toBe('<p>psst</p>');
    expect((await server.get(`/messages/${sent.body.id}`, server.people.iago)).status).toBe(400);
  });

  it('responds to pending polls when the server closes', async () => {
    const queue = await register(cordelia);
    const waiting = poll(cordelia, queue);
    // A response on another connection proves that the poll is already pending.
    await server.get('/users/me', hamlet);
    await server.close();
    expect(await waiting).toMatchObject({ status: 200, body: { result: 'success', events: [] } });
  });

  it('hides another organization even from a caller who knows its ids', async () => {
    const realmId = await server.addRealm('lear');
    const fool = await server.addUser({ email: 'fool@lear.com', fullName: 'The Fool', realmId });
    const { body } = await say(hamlet, 'something is rotten');
    const reply = await server.request('GET', `/messages/${body.id}`, { as: fool, realm: 'lear' });
    expect(reply).toMatchObject({ status: 400, body: { msg: 'Invalid message(s)' } });
    const other = await server.request('GET', `/users/${hamlet.id}`, { as: fool, realm: 'lear' });
    expect(other).toMatchObject({ status: 400, body: { msg: 'No such user' } });
  });
});
