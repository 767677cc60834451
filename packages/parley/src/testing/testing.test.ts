import { createParley } from '@parley/server';
import { createTestParley, type TestParley, until } from './index.js';

let parley: TestParley;
beforeEach(async () => {
  parley = await createTestParley();
});
afterEach(() => parley.close());

describe('createTestParley', () => {
  it('runs a complete engine in memory', async () => {
    const { as, realm, channels } = await parley.populate({
      users: { ann: 'owner', bob: 'member' },
      channels: ['orders'],
    });
    const { id } = await as('bob').messages.send({ channel: 'orders', topic: '#7', content: 'Paid' });
    expect(await as('ann').messages.get(id)).toMatchObject({ realm, sender: { externalId: 'bob' }, isRead: false });
    expect(channels.get('orders')).toMatchObject({ name: 'orders', subscribers: 2 });
  });

  it('keeps its clock fixed until advanced', async () => {
    const { as } = await parley.populate({ realm: 'shop', users: { ann: 'owner' }, channels: ['orders'] });
    const send = () => as('ann').messages.send({ channel: 'orders', content: 'x' });
    const sent = [await send()];
    parley.clock.advance(90);
    sent.push(await send());
    const [first, second] = await Promise.all(sent.map(({ id }) => as('ann').messages.get(id)));
    expect(second!.sentAt.getTime() - first!.sentAt.getTime()).toBe(90_000);
    expect(second!.sentAt.getTime()).toBe(parley.clock.now() * 1000);
  });

  it('collects emails instead of sending them', async () => {
    await parley.populate({ users: { ann: 'owner', bob: 'member' } });
    await parley.users.upsert({ realm: 'test', externalId: 'bob', name: 'bob', email: 'bob@example.org' });
    const { DeactivateUser } = await import('@parley/domain/membership');
    const bob = await parley.users.find({ realm: 'test', externalId: 'bob' });
    const caller = await parley.as({ realm: 'test', externalId: 'ann' }).caller();
    await parley.useCase(DeactivateUser).execute(caller, { userId: bob!.id as never, comment: 'Bye' });
    expect(await until(() => parley.letters[0])).toMatchObject({ to: bob!.email });
  });
});

it('until resolves to the first truthy result and rejects without one', async () => {
  const results = [0, null, '', 'found'];
  expect(await until(() => results.shift())).toBe('found');
  await expect(until(async () => false, { timeoutMs: 20 })).rejects.toThrow('Nothing was found within 20 ms');
});

describe('custom storage', () => {
  const storage = { uow: null as never, close: async () => {} };

  it.each([
    [{ storage, database: 'sqlite:x.db' }, 'Pass either database or storage, not both.'],
    [{ storage }, 'A custom storage requires secret.'],
    [{ storage, secret: 'long enough' }, 'A custom storage requires files.'],
    [{ storage, secret: 'long enough', files: 'folder:x' }, 'A custom storage requires mailer or smtpUrl.'],
    [{}, 'database must be of the form sqlite:PATH or postgres://USER@HOST/NAME, not undefined.'],
  ])('requires additional options: %j', async (config, message) => {
    await expect(createParley({ url: 'http://localhost', ...config } as never)).rejects.toThrow(message);
  });
});
