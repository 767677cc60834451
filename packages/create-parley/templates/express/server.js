import express from 'express';
import { createHttpServer, errorHandler } from 'parley';
import { enterChat, parley, port, returnAddress } from './chat.js';
import { personOf, startSession } from './log-in.js';
import { page } from './page.js';

const app = express();
app.use('/chat', parley.router); // before compression() and your own body parsers: Parley does both itself
app.use(express.urlencoded());

app.get('/', (request, response) => {
  response.send(page(personOf(request), request.query.next));
});

app.post('/log-in', async (request, response) => {
  const { name = '', next } = request.body ?? {};
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  response.setHeader('Set-Cookie', startSession(person)).redirect(303, returnAddress(next));
});

app.use(errorHandler()); // refusals of the chat become { code, message } with their status

const server = createHttpServer(app).listen(port, () => console.log(`http://localhost:${port}`));

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    await parley.close(); // finishes requests in flight, closes the database
  });
}
