import type { EventQueue } from '@parley/domain/kernel';
import { expectRefusal } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';

describe('register request', () => {
  const { server } = serverPerSuite();

  const register = (params: object) =>
    server.post('/register', server.people.hamlet, { fetch_event_types: [], ...params });

  it('accepts queue parameters of up to 8 kB', async () => {
    const event_types = Array(99).fill('字'.repeat(9));
    const narrow = Array(99).fill(['topic', '字'.repeat(4)]);
    const { queue_id } = (await register({ event_types, narrow })).body;
    const queue = await server.storage.uow.read(server.realmId, ({ queues }) => queues.find(server.realmId, queue_id));
    const { filter, presentation } = queue as EventQueue;
    expect(presentation.eventTypes).toEqual(event_types);
    const bytes = Buffer.byteLength(JSON.stringify(filter) + JSON.stringify(presentation));
    expect(bytes).toBeGreaterThan(7000);
    expect(bytes).toBeLessThan(8192);
  });

  it('rejects larger queue parameters', async () => {
    const types = 'event_types is too long (limit: 3000 bytes)';
    expectRefusal(await register({ event_types: Array(100).fill('字'.repeat(10)) }), types);
    expectRefusal(await register({ narrow: [['topic', 'x'.repeat(2500)]] }), 'narrow is too long (limit: 2500 bytes)');
    expectRefusal(
      await server.get('/events', server.people.hamlet, {
        dont_block: true,
        event_types: Array(100).fill('x'.repeat(40)),
      }),
      types,
    );
  });
});
