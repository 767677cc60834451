// Short story in a folder with the installed package, run by try-node-versions.mjs with one version of Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createHttpServer, createParley } from 'parley';
import { ParleyClient } from 'parley/client';
import { createTestParley, until } from 'parley/testing';

const database = 'sqlite:data/chat.db';
const ann = { realm: '', externalId: 'ann' };

// Storage in memory: Markdown, a formula and an unread count.
const test = await createTestParley();
const { as } = await test.populate({ users: { ann: 'owner', bob: 'member' }, channels: ['orders'] });
await as('ann').messages.send({ channel: 'orders', topic: '#7', content: 'Paid **now** $$x^2$$' });
const [message] = await as('bob').messages.list({ channel: 'orders', topic: '#7', last: 20 }).toArray();
assert.match(message.html, /<strong>now<\/strong>.*katex/);
await until(async () => (await as('bob').unread.count()).messages >= 1);
await test.close();

// SQLite and HTTP: log-in by key, an event and a file.
const parley = await createParley({ database, url: 'http://localhost' });
await parley.realms.ensure({ name: '', title: 'Shop', isStarted: true });
await parley.users.upsert({ ...ann, name: 'Ann', email: 'ann@example.com', role: 'owner' });
const server = createHttpServer(parley.handler).listen(0, '127.0.0.1');
await once(server, 'listening');
const client = new ParleyClient({
  url: `http://localhost:${server.address().port}`,
  credentials: { email: 'ann@example.com', apiKey: await parley.users.apiKey(ann) },
});
const stop = new AbortController();
for await (const event of client.events({ event_types: ['message'] }, { signal: stop.signal })) {
  if (event.type === 'registered') {
    await client.post('/messages', { type: 'channel', to: 'general', topic: 'node', content: process.version });
  } else if (event.type === 'message') {
    assert.equal(event.message.content, `<p>${process.version}</p>`);
    break;
  }
}
const { url } = await client.post('/user_uploads', { filename: new File(['Paid'], 'paid.txt') });
assert.match(url, /paid\.txt$/);
server.close();
await parley.close();

// CommonJS and commands, with the same database.
assert.equal(typeof createRequire(import.meta.url)('parley').createParley, 'function');
const run = (...args) =>
  execFileSync(process.execPath, [join('node_modules/parley/dist/main.js'), ...args, `--database=${database}`], {
    encoding: 'utf8',
  });
assert.match(run('user', 'list'), /ann@example\.com/);
run('backup', 'backup.tar');
console.log(`The story ends well on Node ${process.version}.`);
process.exit();
