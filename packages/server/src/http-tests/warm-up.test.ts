import type { Caller, RealmId, UserId } from '@parley/domain/shared';
import { TestServer } from '../testing/test-server.js';

describe('operations that are warmed up after a start', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await server.post('/channels/create', server.people.hamlet, { name: 'stage', subscribers: [] });
  });
  afterAll(() => server.close());

  const warmRoutes = () => server.parley.routes.filter(({ warmUp }) => warmUp !== undefined);
  const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
  const warmAllUp = async (caller: Caller) => {
    for (const { warmUp } of warmRoutes()) await warmUp!(caller, server.parley.useCase);
  };
  const state = () =>
    server.storage.uow.read(async ({ queues, events }) => ({
      queues: await queues.listOf(server.realmId, server.people.hamlet.id),
      owners: await queues.listOwnersInUse(10),
      lastSeq: await events.lastSeq(server.realmId),
    }));

  it('are those that answer long lists', () => {
    expect(warmRoutes().map(nameOf).sort()).toEqual(['GET /streams', 'GET /users', 'POST /register']);
  });

  it('change nothing', async () => {
    const before = await state();
    await warmAllUp({ realmId: server.realmId, userId: server.people.hamlet.id, clientName: 'internal' });
    expect(await state()).toEqual(before);
  });

  it.each<[string, () => Caller]>([
    ['nobody', () => ({ realmId: server.realmId, userId: 99_999 as UserId, clientName: 'internal' })],
    [
      'somebody of another organization',
      () => ({ realmId: 99 as RealmId, userId: server.people.hamlet.id, clientName: 'internal' }),
    ],
  ])('are not done as %s', async (_, caller) => {
    for (const { warmUp } of warmRoutes()) {
      await expect(warmUp!(caller(), server.parley.useCase)).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
    }
  });
});
