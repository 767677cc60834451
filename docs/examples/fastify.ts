// A Fastify application with a chat at /chat that reacts to chat events.
import { fastify } from 'fastify';
import { createParley, DomainError, refuse } from 'parley';

const port = Number(process.env.PORT ?? 3000);

const parley = await createParley({ database: 'sqlite:data/chat.db', url: `http://localhost:${port}/chat` });
await parley.realms.ensure({ name: 'shop', title: 'The Shop' });
await parley.users.upsert({ realm: 'shop', externalId: 'ann', name: 'Ann', role: 'owner' });
const ann = parley.as({ realm: 'shop', externalId: 'ann' });
await ann.channels.ensure({ name: 'orders' });

// May change or refuse any message, from any client.
parley.before('message.send', async ({ content }) => {
  if (content.includes('http://')) throw refuse('Links have to be https.');
});

// Live events, while the process runs …
let unseen = 0;
parley.on('message.sent', () => {
  unseen++;
});

// … and every message exactly once, even across crashes: the copy and the log position are stored in one transaction.
await ann.channels.ensure({ name: 'audit', isPrivate: true });
await parley.consume(
  'audit',
  async (events, tx) => {
    for (const { realm, message } of events) {
      if (message.channel?.name !== 'orders') continue;
      const content = `${message.sender.name} in ${message.topic}`;
      await tx.send({ realm, externalId: 'ann' }, { channel: 'audit', topic: 'orders', content });
    }
  },
  { types: ['message.sent'] },
);

const app = fastify({ forceCloseConnections: true });

const chat = parley.mount('/chat');
app.register(async (scope) => {
  // Parley reads bodies and sends responses itself.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const path of ['/chat', '/chat/*']) {
    scope.all(path, (request, reply) => {
      reply.hijack();
      chat(request.raw, reply.raw);
    });
  }
});

app.post<{ Params: { number: string } }>('/orders/:number', async ({ params: { number } }) =>
  ann.messages.send({ channel: 'orders', topic: `Order ${number}`, content: 'Paid' }),
);
app.post('/orders/:number/links', async () => ann.messages.send({ channel: 'orders', content: 'http://example.com' }));
app.get('/unseen', async () => ({ unseen }));
app.get('/audit', async () =>
  (await ann.messages.list({ channel: 'audit', topic: 'orders' }).toArray()).map(({ content }) => content),
);

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof DomainError)) throw error;
  reply.code(error.status).send({ code: error.code, message: error.message });
});
app.addHook('onClose', () => parley.close());

await app.listen({ port });
console.log(`http://localhost:${port}/chat`);
process.once('SIGTERM', () => void app.close());
