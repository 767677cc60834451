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
  it('sends a message once, and marks repetitions of the call', async () => {
    const first = await ann().send(order('Paid', { externalId: 'o7' }));
    expect(first).toEqual({ id: expect.any(Number), isRepeated: false });
    expect(await ann().send(order('Paid', { externalId: 'o7' }))).toEqual({ id: first.id, isRepeated: true });
    const other = await ann().send(order('Sent', { externalId: 'O7' }));
    expect([other.id === first.id, other.isRepeated]).toEqual([false, false]);
    expect(await contents()).toEqual(['Paid', 'Sent']);
  });

  it('refuses the id to a message with another text, topic, destination or sender', async () => {
    await ann().send(order('Paid', { externalId: 'o7' }));
    const taken = { code: 'EXTERNAL_ID_TAKEN', message: "Another message has the external id 'o7'." };
    for (const other of [
      () => ann().send(order('Sent', { externalId: 'o7' })),
      () => ann().send(order('Paid', { externalId: 'o7', topic: '#8' })),
      () => ann().send({ to: 'bob', content: 'Paid', externalId: 'o7' }),
      () => bob().send(order('Paid', { externalId: 'o7' })),
    ]) {
      await expect(other()).rejects.toMatchObject(taken);
    }
    expect(await contents()).toEqual(['Paid']);
  });

  it('recognizes a repetition after the message was edited and moved, and its sender was erased', async () => {
    const { id } = await parley.users.upsert({ realm: 'shop', externalId: 'cleo', name: 'Cleo' });
    const self = { realm: 'shop', userId: id };
    await parley.as({ realm: 'shop', externalId: 'ann' }).channels.subscribe('orders', { users: ['cleo'] });
    const call = order('Paid', { externalId: 'o7' });
    const sent = await parley.as(self).messages.send(call);
    await parley.as(self).messages.edit(sent.id, { content: 'Paid twice' });
    await ann().edit(sent.id, { topic: '#8' });
    expect(await parley.as(self).messages.send(call)).toEqual({ id: sent.id, isRepeated: true });
    await parley.users.erase(self);
    expect(await parley.as(self).messages.send(call)).toEqual({ id: sent.id, isRepeated: true });
  });

  it('recognizes a repetition if a hook changes each message', async () => {
    let count = 0;
    const off = parley.before('message.send', ({ content }) => ({ content: `${content} ${++count}` }));
    const { id } = await ann().send(order('Paid', { externalId: 'o7' }));
    expect(await ann().send(order('Paid', { externalId: 'o7' }))).toEqual({ id, isRepeated: true });
    off();
  });

  it('sends nothing again after the message was deleted', async () => {
    const { id } = await ann().send(order('Paid', { externalId: 'o7' }));
    await ann().delete(id);
    expect(await ann().send(order('Paid', { externalId: 'o7' }))).toEqual({ id, isRepeated: true });
    expect(await contents()).toEqual([]);
  });

  it('sends one message for concurrent calls', async () => {
    const sent = await Promise.all(Array.from({ length: 5 }, () => ann().send(order('Paid', { externalId: 'o7' }))));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(sent.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
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
