// A shop page that shows the chat about an order with two lines of HTML, on Express. `express.ts` has a log-in.
import express from 'express';
import { createHttpServer, createParley } from 'parley';

const port = Number(process.env.PORT ?? 3000);

const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url: `http://localhost:${port}/chat`,
  // Your own log-in decides. Here everybody is Ann.
  authenticate: async () => ({ realm: 'shop', externalId: 'ann' }),
});
await parley.realms.ensure({ name: 'shop', title: 'The Shop', preset: 'customers' });
await parley.users.upsert({ realm: 'shop', externalId: 'ben', name: 'Ben', role: 'owner' });
await parley.users.upsert({ realm: 'shop', externalId: 'ann', name: 'Ann', role: 'guest' });
const ben = parley.as({ realm: 'shop', externalId: 'ben' });
// One private channel per order: other customers cannot read it.
await ben.channels.ensure({ name: 'Order 7', isPrivate: true, subscribers: ['ann'] });
await ben.messages.send({ channel: 'Order 7', topic: 'Support', content: 'Your order is **on its way**.' });

const app = express();
app.use('/chat', parley.router);
app.get('/', (_, response) => {
  response.send(`<!doctype html><html lang="en"><title>The Shop</title><h1>Order 7</h1>
<script type="module" src="/chat/web/element.js"></script>
<parley-chat channel="Order 7" topic="Support"></parley-chat>`);
});

const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}`));

process.once('SIGTERM', async () => {
  server.close();
  await parley.close();
});
