// A chat at a path of a node:http server, with an organization per customer: http://localhost:3000/chat/acme
import { createHttpServer, createParley } from 'parley';

const port = Number(process.env.PORT ?? 3000);

const parley = await createParley({
  database: 'sqlite:data/chat.db',
  url: `http://localhost:${port}/chat`,
  realmAddresses: 'path',
});
for (const name of ['acme', 'globex']) {
  await parley.realms.ensure({ name });
  await parley.users.upsert({ realm: name, externalId: 'support', name: 'Support', role: 'owner' });
  await parley.as({ realm: name, externalId: 'support' }).channels.ensure({ name: 'help', isDefault: true });
}

const chat = parley.mount(); // below the path of `url`
const server = createHttpServer((request, response) => {
  chat(request, response, () => response.writeHead(404).end('Nothing here but the chat'));
}).listen(port, () => console.log(`http://localhost:${port}/chat`));

process.once('SIGTERM', async () => {
  server.close();
  await parley.close();
});
