import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const NAME = 'Vault';
const UNKNOWN_ID = 987654;

describe('inaccessible channel', () => {
  let hiddenId: number;

  const { server, people } = organizationPerTest();
  beforeEach(async () => {
    // Gives the channel an id that appears nowhere else in responses.
    const others = Array.from({ length: 36 }, (_, index) => ({ name: `other ${index}` }));
    await server.post('/users/me/subscriptions', people.desdemona, { subscriptions: others });
    const privacy = { invite_only: true, history_public_to_subscribers: true };
    hiddenId = await server.createChannel(NAME, [people.desdemona], privacy);
    await server.sendMessage(people.desdemona, NAME, { content: 'hush' });
  });

  type Operation = (id: number, name: string) => readonly [method: string, path: string, params?: object];
  const send = { type: 'channel', topic: 'plans', content: 'hello' };

  /** Contract decision 20: each response must equal the response for an unknown channel in the caller's spelling. */
  it.each<[string, Operation]>([
    ['sending by id', (id) => ['POST', '/messages', { ...send, to: id }]],
    ['sending by id in a list', (id) => ['POST', '/messages', { ...send, to: [id] }]],
    ['looking up', (_id, stream) => ['GET', '/get_stream_id', { stream }]],
    ['listing topics', (id) => ['GET', `/users/me/${id}/topics`]],
    ['marking as read', (id) => ['POST', '/mark_stream_as_read', { stream_id: id }]],
    ['marking a topic as read', (id) => ['POST', '/mark_topic_as_read', { stream_id: id, topic_name: 'plans' }]],
    ['unsubscribing', (_id, name) => ['DELETE', '/users/me/subscriptions', { subscriptions: [name] }]],
    [
      'unsubscribing another user',
      (_id, name) => [
        'DELETE',
        '/users/me/subscriptions',
        { subscriptions: [name], principals: [people.desdemona.id] },
      ],
    ],
    ['rendering a link', (_id, name) => ['POST', '/messages/render', { content: `#**${name}** #**${name}>plans**` }]],
    [
      'registering with a narrow',
      (_id, name) => ['POST', '/register', { narrow: [['channel', name]], fetch_event_types: ['message'] }],
    ],
  ])('responds to %s as for an unknown channel', async (_, operation) => {
    const responseTo = async (as: TestUser, id: number, name: string) => {
      const [method, path, params] = operation(id, name);
      const { status, body } = await server.request(method, path, { as, params: params as Record<string, unknown> });
      const { queue_id: _queue, ...fields } = body;
      const text = JSON.stringify({ status, ...fields })
        .replace(new RegExp(`\\b${id}\\b`, 'g'), 'ID')
        .replaceAll(name, 'NAME');
      expect(text).not.toMatch(new RegExp(NAME, name === NAME ? '' : 'i'));
      return text;
    };
    for (const as of [people.hamlet, people.polonius, people.shiva]) {
      for (const typed of [NAME, 'vAULT']) {
        expect(await responseTo(as, hiddenId, typed)).toBe(await responseTo(as, UNKNOWN_ID, 'Nowhere'));
      }
    }
  });

  it('omits links to the hidden channel in names and descriptions', async () => {
    const links = `#**${NAME}** #**${NAME}>plans**`;
    const { body } = await server.post('/channels/create', people.hamlet, {
      name: `${NAME}>plans`,
      description: links,
      subscribers: [people.hamlet.id],
    });
    const { streams } = (await server.get('/streams', people.hamlet)).body;
    const { messages } = (
      await server.get('/messages', people.hamlet, { anchor: 'newest', num_before: 9, num_after: 0 })
    ).body;
    const described = streams.find(({ stream_id }: { stream_id: number }) => stream_id === body.id);
    for (const html of [described.rendered_description, messages.at(-1).content]) {
      expect(html).toContain(`#<strong>${NAME}</strong>`);
      expect(html).not.toContain(`/channel/${hiddenId}-`);
      expect(html).not.toContain(`data-stream-id="${hiddenId}"`);
    }
  });

  it('allows a narrow that checks only existence and returns nothing (messages §7.2, §5.4)', async () => {
    for (const operand of [hiddenId, 'VAULT']) {
      const { body } = await server.get('/messages', people.hamlet, {
        anchor: 'newest',
        num_before: 9,
        num_after: 0,
        narrow: [{ operator: 'channel', operand }],
      });
      expect(body).toMatchObject({ result: 'success', messages: [], found_oldest: true, found_newest: true });
      expect(JSON.stringify(body)).not.toContain(NAME);
    }
  });

  it("rejects a name in the caller's spelling", async () => {
    const sent = await server.post('/messages', people.hamlet, { ...send, to: 'vAULT' });
    expect(sent.body).toMatchObject({ code: 'BAD_REQUEST', msg: "Not authorized to send to channel 'vAULT'" });
    const subscribed = await server.post('/users/me/subscriptions', people.hamlet, {
      subscriptions: [{ name: ' vAULT ' }],
      authorization_errors_fatal: false,
    });
    expect(subscribed.body).toMatchObject({ result: 'success', subscribed: {}, unauthorized: ['vAULT'] });
  });
});
