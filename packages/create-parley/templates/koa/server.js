import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { createHttpServer } from 'parley';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { personOf, startSession } from './log-in.js';
import { page } from './page.js';

const app = new Koa();
app.use(async (context) => {
  if (context.method === 'POST' && context.path === '/log-in') {
    const form = new URLSearchParams(await text(context.req));
    const name = form.get('name') ?? '';
    const person = { id: name.trim().toLowerCase(), name };
    await enterChat(person);
    context.set('Set-Cookie', startSession(person));
    context.redirect(returnAddress(form.get('next')));
    context.status = 303;
  } else if (context.path === '/') context.body = page(personOf(context), context.query.next);
});

// Parley reads bodies and compresses responses itself: Koa's middleware comes later.
const chat = parley.mount('/chat');
const pages = app.callback();
const server = createHttpServer((request, response) => chat(request, response, () => pages(request, response)));
server.listen(port, () => console.log(`http://localhost:${port}`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    await parley.close(); // finishes requests in flight, closes the database
  });
}
