// Parley in CommonJS, on Node 20.19 or newer.
const { createServer } = require('node:http');
const { createParley } = require('parley');

async function main() {
  const port = Number(process.env.PORT ?? 3000);
  const parley = await createParley({ database: 'sqlite:data/chat.db', url: `http://localhost:${port}` });
  await parley.realms.ensure({ name: '', title: 'The Team' });
  const server = createServer(parley.handler).listen(port, () => console.log(`http://localhost:${port}`));
  process.once('SIGTERM', async () => {
    server.close();
    await parley.close();
  });
}

void main();
