// A shop page with the chat about an order: one element and its script, on Express. `express.ts` has a log-in.
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
app.use('/chat', parley.router); // before compression() and body parsers
app.get('/', (_, response) => {
  response.send(`<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>Order 7 - The Shop</title>
<style>
  body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #22302b; background: #f4f1ea; }
  header { padding: 14px 28px; font-weight: 700; color: #fff; background: #0a5c43; }
  main { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 28px; max-width: 1040px;
    margin: 28px auto; padding: 0 16px; }
  h1 { margin: 0 0 8px; font-size: 26px; }
  table { width: 100%; border-collapse: collapse; }
  td { padding: 10px 0; border-bottom: 1px solid #ddd6c8; }
  td:last-child { text-align: right; }
  parley-chat { --parley-accent: #0a5c43; height: 480px; border: 1px solid #ddd6c8; border-radius: 10px; overflow: hidden; }
</style>
<header>The Shop</header>
<main>
  <section>
    <h1>Order 7</h1>
    <p>On its way. Expected on Thursday.</p>
    <table>
      <tr><td>Coffee, whole beans, 1 kg</td><td>€ 18.00</td></tr>
      <tr><td>Hand grinder</td><td>€ 64.00</td></tr>
      <tr><td><b>Total</b></td><td><b>€ 82.00</b></td></tr>
    </table>
  </section>
  <parley-chat channel="Order 7" topic="Support"></parley-chat>
</main>
<script type="module" src="/chat/web/element.js"></script>
</html>`);
});

const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}`));

process.once('SIGTERM', async () => {
  server.close();
  await parley.close();
});
