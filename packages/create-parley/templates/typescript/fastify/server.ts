import { fastify } from 'fastify';
import { DomainError } from 'parley';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { personOf, startSession } from './log-in.js';
import { page } from './page.js';

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

app.addContentTypeParser<string>('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(body))),
);

app.get<{ Querystring: { next?: string } }>('/', async (request, reply) => {
  reply.type('text/html');
  return page(personOf(request), request.query.next);
});

app.post<{ Body: { name?: string; next?: string } | undefined }>('/log-in', async (request, reply) => {
  const { name = '', next } = request.body ?? {};
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  return reply.header('Set-Cookie', startSession(person)).redirect(returnAddress(next), 303);
});

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof DomainError)) throw error;
  reply.code(error.status).send({ code: error.code, message: error.message });
});
app.addHook('onClose', () => parley.close()); // finishes requests in flight, closes the database

await app.listen({ port });
console.log(`http://localhost:${port}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close());
