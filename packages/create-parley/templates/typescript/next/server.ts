// Next.js with its own server, which long polls and event streams of the chat need. Pages are in `app`.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import next from 'next';
import { createHttpServer } from 'parley';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { startSession } from './log-in.js';

const app = next({ dev: process.env.NODE_ENV !== 'production', port });
await app.prepare();
const pages = app.getRequestHandler();
const chat = parley.mount('/chat');

async function logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const name = form.get('name') ?? '';
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  response.writeHead(303, { 'Set-Cookie': startSession(person), Location: returnAddress(form.get('next')) }).end();
}

const server = createHttpServer((request, response) => {
  chat(request, response, () => {
    if (request.method !== 'POST' || request.url !== '/log-in') return pages(request, response);
    logIn(request, response).catch((error) => response.writeHead(error.status ?? 500).end(error.message));
  });
});
if (process.env.NODE_ENV !== 'production') server.on('upgrade', app.getUpgradeHandler());
server.listen(port, () => console.log(`http://localhost:${port}`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    await parley.close(); // finishes requests in flight, closes the database
    await app.close();
  });
}
