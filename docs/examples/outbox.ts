// A shop with its own database. Each order and its message are stored together, and each message is counted once,
// whenever the process is killed. Several of these processes may run at once.
import Sqlite from 'better-sqlite3';
import express from 'express';
import { createHttpServer, createParley, DomainError, type ParleyEvent } from 'parley';

const port = Number(process.env.PORT ?? 3000);
const parley = await createParley({ database: 'sqlite:data/chat.db', url: `http://localhost:${port}/chat` });
await parley.realms.ensure({ name: 'shop', title: 'The Shop', preset: 'customers' });
await parley.users.upsert({ realm: 'shop', externalId: 'sam', name: 'Sam', role: 'owner' });
const sam = parley.as({ realm: 'shop', externalId: 'sam' }, { client: 'shop' });
await sam.channels.ensure({ name: 'orders' });

const shop = new Sqlite('data/shop.db');
shop.pragma('journal_mode = WAL');
shop.exec(`
  CREATE TABLE IF NOT EXISTS customer_order (number INTEGER PRIMARY KEY, messages INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL, content TEXT NOT NULL, error TEXT);
  CREATE TABLE IF NOT EXISTS chat_position (realm TEXT PRIMARY KEY, seq INTEGER NOT NULL);
`);

// 1. One transaction of your database: the order, and the message to send.
const addOrder = shop.prepare('INSERT INTO customer_order (number) VALUES (?)');
const addMessage = shop.prepare('INSERT INTO outbox (number, content) VALUES (?, ?)');
const placeOrder = shop.transaction((number: number) => {
  addOrder.run(number);
  addMessage.run(number, `Order ${number} was placed.`);
});

// 2. Sends what the outbox holds. Because of the external id, a repetition after a crash sends nothing.
const next = shop.prepare<[], { id: number; number: number; content: string }>(
  'SELECT id, number, content FROM outbox WHERE error IS NULL ORDER BY id LIMIT 1',
);
const remove = shop.prepare('DELETE FROM outbox WHERE id = ?');
const setAside = shop.prepare('UPDATE outbox SET error = ? WHERE id = ?');

async function sendOutbox(): Promise<void> {
  for (let row = next.get(); row; row = next.get()) {
    const { id, number, content } = row;
    const externalId = `order-${number}-placed`;
    try {
      await sam.messages.send({ channel: 'orders', topic: `Order ${number}`, content, externalId });
      remove.run(id);
    } catch (error) {
      // A busy or unreachable chat is tried again; a refused message must not hold back the others.
      if (!(error instanceof DomainError) || error.status === 503) throw error;
      setAside.run(`${error.code}: ${error.message}`, id);
    }
  }
}

let sending: Promise<void> | null = null;
const relay = () => {
  sending ??= sendOutbox()
    .catch((error) => console.error('The outbox waits:', error))
    .finally(() => {
      sending = null;
    });
};
relay();
const timer = setInterval(relay, 1000);

// 3. One transaction of your database: what you derive from events, and their position.
const lastSeq = shop.prepare<[string], number>('SELECT seq FROM chat_position WHERE realm = ?').pluck();
const setSeq = shop.prepare(
  'INSERT INTO chat_position (realm, seq) VALUES (?, ?) ON CONFLICT (realm) DO UPDATE SET seq = excluded.seq',
);
const count = shop.prepare('UPDATE customer_order SET messages = messages + 1 WHERE number = ?');
const apply = shop.transaction((events: readonly ParleyEvent<'message.sent'>[]) => {
  for (const { realm, seq, message } of events) {
    // Delivered again after a crash, or to another process as well.
    if (seq <= (lastSeq.get(realm) ?? 0)) continue;
    count.run(Number(message.topic.replace('Order ', '')));
    setSeq.run(realm, seq);
  }
});
// Immediate: no other process may store the same events between the look-up and the change.
await parley.consume('orders', (events) => apply.immediate(events), { types: ['message.sent'], from: 'oldest' });

const app = express();
app.use('/chat', parley.router); // before compression() and body parsers
app.post('/orders/:number', (request, response) => {
  placeOrder(Number(request.params.number));
  relay();
  response.status(201).end();
});
const findOrder = shop.prepare('SELECT number, messages FROM customer_order WHERE number = ?');
app.get('/orders/:number', (request, response) => {
  response.json(findOrder.get(Number(request.params.number)) ?? null);
});
const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}/chat`));

process.once('SIGTERM', async () => {
  clearInterval(timer);
  server.close();
  await sending;
  await parley.close();
  shop.close();
});
