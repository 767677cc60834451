import { createTestParley, type TestParley, until } from './testing/index.js';

let parley: TestParley;
const DAY = 86_400;
const ann = () => parley.as({ realm: 'shop', externalId: 'ann' }).messages;
const bob = () => parley.as({ realm: 'shop', externalId: 'bob' }).messages;
/** Returns a time some days before now. */
const ago = (days: number) => new Date((parley.clock.now() - days * DAY) * 1000);

beforeEach(async () => {
  parley = await createTestParley();
  await parley.populate({ realm: 'shop', users: { ann: 'owner', bob: 'member' }, channels: ['orders'] });
});
afterEach(() => parley.close());

const order = (content: string, more: object = {}) => ({ channel: 'orders', topic: '#7', content, ...more });
const contents = async () =>
  (await ann().list({ channel: 'orders', topic: '#7' }).toArray()).map(({ content }) => content);

describe('messages.send with an external id', () => {
  it('sends a message once and returns its id again, even with another text or sender', async () => {
    const { id } = await ann().send(order('Paid', { externalId: 'o7' }));
    expect(await ann().send(order('Paid', { externalId: 'o7' }))).toEqual({ id });
    expect(await bob().send(order('Not paid', { externalId: 'o7' }))).toEqual({ id });
    expect((await ann().send(order('Sent', { externalId: 'O7' }))).id).not.toBe(id);
    expect(await contents()).toEqual(['Paid', 'Sent']);
  });

  it('sends nothing again after the message was deleted', async () => {
    const { id } = await ann().send(order('Paid', { externalId: 'o7' }));
    await ann().delete(id);
    expect(await ann().send(order('Paid', { externalId: 'o7' }))).toEqual({ id });
    expect(await contents()).toEqual([]);
  });

  it('sends one message for concurrent calls', async () => {
    const sent = await Promise.all(Array.from({ length: 5 }, () => ann().send(order('Paid', { externalId: 'o7' }))));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(await contents()).toEqual(['Paid']);
  });

  it('sends nothing again from a consumer, even after the channel was archived', async () => {
    await ann().send(order('Paid', { externalId: 'o7' }));
    await parley.as({ realm: 'shop', externalId: 'ann' }).channels.archive('orders');
    const consumer = await parley.consume('again', async (_events, tx) => {
      await tx.send({ realm: 'shop', externalId: 'ann' }, order('Paid', { externalId: 'o7' }));
      await tx.send({ realm: 'shop', externalId: 'ann' }, { to: 'bob', content: 'Done', externalId: 'done' });
    });
    await ann().send({ to: 'bob', content: 'An event' });
    const direct = () => ann().list({ with: 'bob' }).toArray();
    await until(async () => (await direct()).length === 2);
    await consumer.stop();
    expect((await direct()).map(({ content }) => content)).toEqual(['An event', 'Done']);
  });

  it('rejects blank and long ids', async () => {
    for (const externalId of ['', ' ', 'x'.repeat(201), 7]) {
      const sent = ann().send(order('Paid', { externalId }));
      await expect(sent).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^externalId/),
      });
    }
  });
});

describe('messages.send with a time', () => {
  it('keeps the time and arrives read, after all other messages', async () => {
    const live = await ann().send(order('Live'));
    const { id } = await ann().send(order('Years ago, @**bob**', { sentAt: ago(400) }));
    expect(id).toBeGreaterThan(live.id);
    const [, older] = await bob().list({ channel: 'orders', topic: '#7' }).toArray();
    expect(older).toMatchObject({ sentAt: ago(400), isRead: true, content: 'Years ago, @**bob**' });
    const { unread } = parley.as({ realm: 'shop', externalId: 'bob' });
    const before = await unread.count();
    const direct = await ann().send({ to: 'bob', content: 'old', sentAt: ago(3) });
    expect(await bob().get(direct.id)).toMatchObject({ isRead: true });
    expect(await unread.count()).toEqual(before);
  });

  it('rejects times in the future and other values', async () => {
    const wrong = [ago(-1), new Date(Number.NaN), new Date(-1000), 1_700_000_000, '2020-01-01'];
    for (const sentAt of wrong) {
      const sent = ann().send(order('x', { sentAt }));
      await expect(sent).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/^sentAt/) });
    }
    expect(await contents()).toEqual([]);
  });
});
