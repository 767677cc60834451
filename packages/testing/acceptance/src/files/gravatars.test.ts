import { createHash } from 'node:crypto';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/**
 * Contract decision 21: a gravatar URL contains a hash of the email, so only users with access to the email may
 * receive it.
 */
describe('gravatar hash', () => {
  let hash: string;

  const { server, people } = organizationPerTest();
  beforeEach(async () => {
    const { user } = people.hamlet;
    hash = createHash('md5').update(user.email).digest('hex');
    await server.storage.uow.write(user.realmId, (tx) =>
      tx.users.update({
        ...user,
        avatar: { source: 'gravatar', version: 1 },
        settings: { ...user.settings, emailAddressVisibility: 'administrators' },
      }),
    );
    await server.post('/users/me/subscriptions', people.hamlet, {
      subscriptions: [{ name: 'lunch' }],
      principals: Object.values(people).map(({ id }) => id),
    });
  });

  it.each([
    ['desdemona', true],
    ['iago', true],
    ['shiva', false],
    ['cordelia', false],
    ['polonius', false],
  ] as const)('is available to users who can see the address: %s %s', async (who, sees) => {
    const as = people[who];
    const { hamlet } = people;
    const drawn = `${server.url}/user_avatars/${server.realmId}/${hamlet.id}.png?version=1`;
    const queue = async (params: object) =>
      (await server.post('/register', as, { event_types: ['message'], fetch_event_types: [], ...params })).body
        .queue_id;
    const queues = [await queue({ client_gravatar: true }), await queue({ client_gravatar: false })];
    const sent = await server.post('/messages', hamlet, { type: 'channel', to: 'lunch', topic: 'a', content: 'b' });
    const range = { anchor: 'newest', num_before: 1, num_after: 0 };

    for (const client_gravatar of [true, false]) {
      const responses = [
        await server.get('/users', as, { client_gravatar }),
        await server.get(`/users/${hamlet.id}`, as, { client_gravatar }),
        await server.get('/messages', as, { ...range, client_gravatar }),
        await server.get(`/messages/${sent.body.id}`, as),
        await server.post('/register', as, { fetch_event_types: ['realm_user'], client_gravatar }),
        await server.get('/events', as, { queue_id: queues[client_gravatar ? 0 : 1], last_event_id: -1 }),
      ];
      for (const { status, body } of responses) {
        const text = JSON.stringify(body);
        expect(status).toBe(200);
        expect(text).toContain(`:${hamlet.id}`);
        if (sees) expect(text).not.toContain(drawn);
        else {
          expect(text).toContain(drawn);
          expect(text).not.toContain(hash);
        }
        if (sees && !client_gravatar) expect(text).toContain(hash);
      }
    }
  });

  it('is revealed only to its owner if the address is hidden', async () => {
    const own = (as: TestUser) => server.get('/users/me', as);
    expect((await own(people.hamlet)).body.avatar_url).toContain(hash);
    const { body } = await server.post('/register', people.hamlet, {
      fetch_event_types: ['realm_user'],
      client_gravatar: false,
    });
    expect(body.avatar_url).toContain(hash);
    expect(body.avatar_url_medium).toContain(`${hash}?d=identicon&version=1&s=500`);
  });
});
