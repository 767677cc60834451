// A shop that charges a cent for each message in a channel, tested under crashes of its process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { ParleyEvent } from 'parley';
import { type SimulatedApp, simulate } from 'parley/simulation';

type Sent = ParleyEvent<'message.sent'>;

function openShop() {
  const shop = new Sqlite(':memory:');
  shop.exec('CREATE TABLE charge (message INTEGER NOT NULL); CREATE TABLE position (seq INTEGER NOT NULL)');
  shop.exec('INSERT INTO position VALUES (0)');
  return shop;
}

/** Wrong: if the process ends between the charge and the end of the handler, the event is delivered and charged again. */
function chargeEachEvent(shop: Sqlite.Database) {
  const charge = shop.prepare('INSERT INTO charge (message) VALUES (?)');
  return (events: readonly Sent[]) => {
    for (const { message } of events) if (message.channel) charge.run(message.id);
  };
}

/** Right: one transaction stores the charges and the position, and events up to the position are skipped. */
function chargeOnce(shop: Sqlite.Database) {
  const charge = shop.prepare('INSERT INTO charge (message) VALUES (?)');
  const lastSeq = shop.prepare<[], number>('SELECT seq FROM position').pluck();
  const setSeq = shop.prepare('UPDATE position SET seq = ?');
  return shop.transaction((events: readonly Sent[]) => {
    for (const { seq, message } of events) {
      if (seq <= lastSeq.get()!) continue;
      if (message.channel) charge.run(message.id);
      setSeq.run(seq);
    }
  });
}

/** Creates a shop for each run. Its database survives the simulated crashes. */
const shopWith = (consumerOf: (shop: Sqlite.Database) => (events: readonly Sent[]) => void) => (): SimulatedApp => {
  const shop = openShop();
  const charged = shop.prepare<[], number>('SELECT message FROM charge ORDER BY message').pluck();
  return {
    // Runs in the new process after each crash.
    async start(parley) {
      await parley.consume('charges', consumerOf(shop), { types: ['message.sent'] });
    },
    check({ messages, isOver }) {
      const ids = charged.all();
      const twice = ids.find((id, index) => id === ids[index - 1]);
      if (twice !== undefined) throw new Error(`Message ${twice} was charged twice`);
      const free = messages.find(({ id, channel }) => channel && !ids.includes(id));
      if (isOver && free) throw new Error(`Message ${free.id} was not charged`);
    },
  };
};

const day = { seed: 1, days: 1, people: 3 };

test('finds the double charge', async () => {
  // Shrinking would reduce the run to the necessary steps: one message, and a crash while another one is sent.
  const { violation } = await simulate({ app: shopWith(chargeEachEvent), ...day, shrinks: false });
  assert.match(violation!.message, /Message \d+ was charged twice/);
});

test('charges each message once', async () => {
  const { violation, crashes } = await simulate({ app: shopWith(chargeOnce), ...day });
  assert.equal(violation, null);
  assert.ok(crashes > 0);
});
