import { createRequestHandler } from '@react-router/express';
import express from 'express';
import { createHttpServer } from 'parley';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { startSession } from './log-in.js';

const app = express();
app.use('/chat', parley.router); // before compression() and your own body parsers: Parley does both itself
app.use(express.static('build/client'));

// The log-in is not an action: the build has copies of the modules that routes import, and would open the chat twice.
app.post('/log-in', express.urlencoded(), async (request, response) => {
  const { name = '', next } = request.body ?? {};
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  response.setHeader('Set-Cookie', startSession(person)).redirect(303, returnAddress(next));
});

app.use(createRequestHandler({ build: await import('./build/server/index.js') }));

const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    await parley.close(); // finishes requests in flight, closes the database
  });
}
