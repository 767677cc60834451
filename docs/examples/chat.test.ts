// Tests the chat code of an application, in memory, without files or ports. Run it with `node --test`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Parley } from 'parley';
import { createTestParley, type TestParley } from 'parley/testing';

/** Application code under test. */
async function announcePayment(parley: Parley, order: number): Promise<void> {
  const shopkeeper = parley.as({ realm: 'shop', externalId: 'shopkeeper' });
  await shopkeeper.messages.send({ channel: 'orders', topic: `Order ${order}`, content: 'Paid' });
}

let parley: TestParley;
before(async () => {
  parley = await createTestParley();
  await parley.populate({ realm: 'shop', users: { shopkeeper: 'owner', ann: 'member' }, channels: ['orders'] });
});
after(() => parley.close());

test('customers read that an order is paid', async () => {
  await announcePayment(parley, 7);
  const chat = parley.as({ realm: 'shop', externalId: 'ann' });
  const messages = await chat.messages.list({ channel: 'orders', topic: 'Order 7' }).toArray();
  assert.deepEqual(
    messages.map(({ sender, content, isRead }) => ({ sender: sender.externalId, content, isRead })),
    [{ sender: 'shopkeeper', content: 'Paid', isRead: false }],
  );
});
