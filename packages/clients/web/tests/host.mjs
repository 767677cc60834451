// A shop that embeds the chat: its log-in, the router at /chat, and pages with the element.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { createParley } from 'parley';

const folder = mkdtempSync(join(tmpdir(), 'parley-host-'));
const app = express();
const server = createServer(app).listen(Number(process.argv[2] ?? 0), '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://localhost:${server.address().port}`;

const nameOf = (request) => /(?:^|; )customer=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
const ticketOf = (request) => /(?:^|; )visitor=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
const visitorOf = async (request) => {
  const token = ticketOf(request);
  return token === undefined ? null : parley.visitors.find({ realm: 'shop', token });
};
const parley = await createParley({
  database: `sqlite:${join(folder, 'chat.db')}`,
  url: `${url}/chat`,
  webPush: 'mailto:ops@example.com',
  webhookNetworks: 'loopback',
  // Other processes may delay its event loop.
  shedsLoad: false,
  authenticate: async (request) => {
    const externalId = nameOf(request);
    return externalId === undefined ? visitorOf(request) : { realm: 'shop', externalId };
  },
  logInUrl: `${url}/log-in?return_to={next}`,
});
await parley.realms.ensure({ name: 'shop', title: 'The Shop' });
for (const name of ['ann', 'ben']) {
  const role = name === 'ben' ? 'owner' : 'member';
  const data = { desk: `desk of ${name}` };
  await parley.users.upsert({
    realm: 'shop',
    externalId: name,
    name: name[0].toUpperCase() + name.slice(1),
    role,
    data,
  });
}
const ben = parley.as({ realm: 'shop', externalId: 'ben' });
await ben.channels.ensure({ name: 'orders', subscribers: ['ann'], data: { carrier: 'Post' } });
const shipped = { orderId: 7, total: '12.50 €', state: 'shipped' };
await ben.messages.send({
  channel: 'orders',
  topic: 'Order 7',
  content: 'Your order is **on its way**.',
  data: shipped,
});
await ben.messages.send({ channel: 'orders', topic: 'Order 8', content: 'Another order: $$x^2$$' });
// The pages of the examples have one private channel per order.
const orders = process.env.BUILT
  ? { 'Order 7': 'Your order is **on its way**.', 'Order 8': 'Another order: $$x^2$$' }
  : {};
for (const [channel, content] of Object.entries(orders)) {
  const data = channel === 'Order 7' ? { data: shipped } : {};
  await ben.channels.ensure({ name: channel, isPrivate: true, subscribers: ['ann'], ...data });
  await ben.messages.send({ channel, topic: 'Support', content, ...data });
}

/** Channels of visitors who became customers. */
const visits = new Map();
app.use('/chat', parley.router);
// Strict, like some product pages: the element needs no inline scripts or styles.
app.use((_, response, next) => {
  response.set('Content-Security-Policy', "default-src 'self'; img-src 'self' data: https:; base-uri 'none'");
  next();
});
// Finds or starts the visitor. Customers chat in the channel that they got when they logged in.
app.post('/visit', async (request, response) => {
  const customer = nameOf(request);
  if (customer !== undefined) return response.json({ channel: visits.get(customer), topic: 'Question' });
  let visitor = await visitorOf(request);
  if (!visitor) {
    const { user, token, expiresAt } = await parley.visitors.start({ realm: 'shop', address: request.ip });
    response.cookie('visitor', token, { httpOnly: true, sameSite: 'lax', expires: expiresAt });
    visitor = { realm: 'shop', userId: user.id };
  }
  const channel = `Visitor ${visitor.userId}`;
  await ben.channels.ensure({ name: channel, isPrivate: true, subscribers: [visitor.userId] });
  return response.json({ channel, topic: 'Question' });
});
app.get('/token', async ({ query: { customer } }, response) => {
  const user = { realm: 'shop', externalId: customer };
  const conversations = [{ channel: 'orders', topic: 'Order 7' }];
  const { token, id } = await parley.tokens.create({ user, conversations, expiresIn: 600 });
  response.json({ token, id });
});
app.get('/revoke', async ({ query: { customer, id } }, response) => {
  await parley.tokens.revoke({ realm: 'shop', externalId: customer }, Number(id));
  response.json({});
});
app.get('/log-in/:name', async (request, response) => {
  const {
    params: { name },
    query,
  } = request;
  const visitor = await visitorOf(request);
  if (visitor) {
    visits.set(name, `Visitor ${visitor.userId}`);
    const customer = { realm: 'shop', externalId: name, name: name[0].toUpperCase() + name.slice(1) };
    await parley.visitors.become({ ...customer, token: ticketOf(request) });
    response.clearCookie('visitor');
  }
  response.cookie('customer', name, { httpOnly: true, sameSite: 'lax' }).redirect(query.return_to ?? '/');
});
app.get('/log-in', ({ query }, response) => {
  response.send(`<h1>Log in to the shop</h1><a href="/log-in/ann?${new URLSearchParams(query)}">I am Ann</a>`);
});
if (process.env.BUILT) app.use('/built', express.static(process.env.BUILT));
app.get('/favicon.ico', (_, response) => void response.status(204).end());
app.get('/page.css', (_, response) => {
  response
    .type('css')
    .send(
      'body { font: 20px serif; color: purple } * { letter-spacing: 1px } a { color: red } .short { height: 300px }',
    );
});
app.get('/', (request, response) => {
  response.send(`<!doctype html><html lang="en"><title>The Shop</title><link rel="stylesheet" href="page.css">
<script type="module" src="/chat/web/element.js"></script>
<main><h1>Order 7</h1>
${request.query.elements}</main>`);
});

console.log(`The shop is at ${url}`);
process.once('SIGTERM', async () => {
  server.closeAllConnections();
  await parley.close();
  rmSync(folder, { recursive: true });
  process.exit(0);
});
