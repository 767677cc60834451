// Two origins: a shop, and a chat shown in a frame on the shop's pages. The shop passes a token for its customer.
import { createServer } from 'node:http';
import { createHttpServer, createParley } from 'parley';

const shop = process.env.SHOP_URL ?? 'http://localhost:3000';
const chat = process.env.CHAT_URL ?? 'http://localhost:3001';
const portOf = (url: string): number => Number(new URL(url).port);

const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url: chat,
  frameAncestors: [shop],
});
await parley.realms.ensure({ name: 'shop', title: 'The Shop', preset: 'customers' });
await parley.users.upsert({ realm: 'shop', externalId: 'ben', name: 'Ben', email: 'ben@example.com', role: 'owner' });
await parley.users.upsert({ realm: 'shop', externalId: 'ann', name: 'Ann', email: 'ann@example.com', role: 'guest' });
const ben = parley.as({ realm: 'shop', externalId: 'ben' });
// One private channel per order: other customers cannot read it.
await ben.channels.ensure({ name: 'Order 7', isPrivate: true, subscribers: ['ann'] });
await ben.messages.send({ channel: 'Order 7', topic: 'Support', content: 'Your order is **on its way**.' });
const chatServer = createHttpServer(parley.mount()).listen(portOf(chat));

/** Token with which Ann's frame can only read and write about her order, for an hour. */
async function tokenForOrder(): Promise<string> {
  const { token } = await parley.tokens.create({
    user: { realm: 'shop', externalId: 'ann' },
    conversations: [{ channel: 'Order 7', topic: 'Support' }],
    actions: ['read', 'write', 'upload'],
    origin: chat,
    expiresIn: 3600,
  });
  return token;
}

const PAGE = `<!doctype html><html lang="en"><title>The Shop</title><main><h1>Order 7</h1>
<iframe id="chat" src="${chat}/frame?channel=Order+7&topic=Support" title="Chat" width="400" height="500"></iframe></main>
<script>
  const frame = document.getElementById('chat').contentWindow;
  addEventListener('message', async ({ source, origin, data }) => {
    if (source !== frame || origin !== '${chat}' || data.type !== 'parley-token') return;
    const response = await fetch('/chat-token', { method: 'POST' });
    frame.postMessage({ type: 'parley-token', token: response.ok ? await response.text() : null }, origin);
  });
</script>`;

const shopServer = createServer(async (request, response) => {
  // Your own log-in and CSRF protection go here. In this example, everybody is Ann.
  if (request.method === 'POST') response.end(await tokenForOrder());
  else response.setHeader('Content-Type', 'text/html').end(PAGE);
}).listen(portOf(shop), () => console.log(shop));

process.once('SIGTERM', async () => {
  shopServer.close();
  chatServer.close();
  await parley.close();
});
