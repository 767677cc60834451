import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

describe('daily channel quota', () => {
  const { server } = serverPerSuite({ hasRateLimits: true });

  const subscribe = (as: TestUser, ...names: readonly string[]) =>
    server.post('/users/me/subscriptions', as, { subscriptions: names.map((name) => ({ name })) });

  it('limits the channels created per day by any operation', async () => {
    const { hamlet, iago } = server.people;
    const most = Array.from({ length: 999 }, (_, index) => `channel ${index}`);
    expect(fieldsOf(await subscribe(hamlet, ...most)).subscribed![hamlet.id]).toHaveLength(999);
    server.clock.advance(60);
    fieldsOf(await subscribe(hamlet, 'channel 998', 'the last'));
    server.clock.advance(60);
    const text = 'API usage exceeded rate limit; see https://zulip.com/api/http-headers#rate-limiting-response-headers';
    const expected = { status: 429, code: 'RATE_LIMIT_HIT', 'retry-after': 86_280 };
    const refused = await subscribe(hamlet, 'one more');
    expectRefusal(refused, text, expected);
    expect(refused.headers['retry-after']).toBe('86280');
    expectRefusal(await server.post('/channels/create', hamlet, { name: 'one more', subscribers: [] }), text, expected);
    expect((await server.get('/get_stream_id', iago, { stream: 'one more' })).status).toBe(400);

    fieldsOf(await subscribe(hamlet, 'the last'));
    fieldsOf(await subscribe(iago, 'one more'));
    server.clock.advance(86_280);
    fieldsOf(await subscribe(hamlet, 'a new day'));
  });
});
