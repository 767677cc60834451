// A shop with its own login and a chat at /chat, on Express.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import express from 'express';
import { createHttpServer, createParley, errorHandler } from 'parley';

const port = Number(process.env.PORT ?? 3000);

// Your own users and sessions.
const passwords = new Map<string, string>();
const sessions = new Map<string, string>();

function customerOf(request: IncomingMessage): string | undefined {
  const session = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  return session && sessions.get(session);
}

const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url: `http://localhost:${port}/chat`,
  // Called for every request without an API key. null: unknown caller.
  authenticate: async (request) => {
    const customer = customerOf(request);
    return customer ? { realm: 'shop', externalId: customer } : null;
  },
});

// Idempotent, so it may run at every start. Customers are guests, who do not see each other.
await parley.realms.ensure({ name: 'shop', title: 'The Shop', preset: 'customers' });
await parley.users.upsert({ realm: 'shop', externalId: 'shopkeeper', name: 'Shopkeeper', role: 'owner' });
const shopkeeper = parley.as({ realm: 'shop', externalId: 'shopkeeper' }, { client: 'shop' });

// Customer of each order number.
const orders = new Map<string, string>();

const app = express();
app.use('/chat', parley.router); // best before compression() and your own body parsers: Parley does both itself
app.use(express.json());

app.post('/sign-up', async (request, response) => {
  const { name, password } = request.body as { name: string; password: string };
  passwords.set(name, password);
  const user = await parley.users.upsert({ realm: 'shop', externalId: name, name, role: 'guest' });
  await shopkeeper.messages.send({ to: name, content: `Welcome, **${name}**!` });
  response.json({ chatUserId: user.id });
});

app.post('/log-in', (request, response) => {
  const { name, password } = request.body as { name: string; password: string };
  if (passwords.get(name) !== password) {
    response.status(401).end();
    return;
  }
  const session = randomUUID();
  sessions.set(session, name);
  response.cookie('session', session, { httpOnly: true, sameSite: 'lax' }).end();
});

app.post('/orders/:number', async (request, response) => {
  const customer = customerOf(request);
  const { number } = request.params;
  if (!customer) {
    response.status(401).end();
    return;
  }
  if (orders.has(number)) {
    response.status(409).end();
    return;
  }
  orders.set(number, customer);
  // One private channel per order, for the customer and the shopkeeper.
  const channel = `Order ${number}`;
  await shopkeeper.channels.ensure({ name: channel, isPrivate: true, subscribers: [customer] });
  response.json(await shopkeeper.messages.send({ channel, content: `Thank you, @**${customer}**!` }));
});

app.get('/orders/:number/messages', async (request, response) => {
  const customer = customerOf(request);
  const { number } = request.params;
  if (!customer || orders.get(number) !== customer) {
    response.status(customer ? 404 : 401).end();
    return;
  }
  // Uses the customer's permissions, so that a mistake above shows nothing either.
  const chat = parley.as({ realm: 'shop', externalId: customer });
  response.json(await chat.messages.list({ channel: `Order ${number}`, last: 20 }).toArray());
});

app.use(errorHandler()); // refusals become { code, message } with their status

const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}/chat`));

process.once('SIGTERM', async () => {
  server.close();
  await parley.close(); // ends waiting polls, finishes requests in flight, closes the database
});
