import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { personOf, startSession } from './log-in.js';
import { page } from './page.js';

const app = new Hono();

// Parley reads bodies and compresses responses itself: middleware that does so comes later.
app.all('/chat/*', (context) => parley.fetch(context.req.raw, { address: getConnInfo(context).remote.address }));

app.get('/', (context) =>
  context.html(page(personOf({ headers: { cookie: context.req.header('Cookie') } }), context.req.query('next'))),
);

app.post('/log-in', async (context) => {
  const form = new URLSearchParams(await context.req.text());
  const name = form.get('name') ?? '';
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  context.header('Set-Cookie', startSession(person));
  return context.redirect(returnAddress(form.get('next')), 303);
});

const server = serve({ fetch: app.fetch, port }, () => console.log(`http://localhost:${port}`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await parley.close(); // finishes requests in flight, closes the database
    server.close();
  });
}
