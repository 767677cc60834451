import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeExport } from '@parley/export-files';
import { zulipReader } from '@parley/import-readers';
import { COLUMN_NAMES } from '@parley/server/testing';
import { RealmReader } from '@parley/transfer/exports';
import type { OpenImport } from '@parley/transfer/records';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { ImportLab } from '../testing/import-lab.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let folder: string;
let from: TestServer;
let lab: ImportLab;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-archives-'));
  from = await TestServer.start();
  lab = await ImportLab.start();
});
afterEach(async () => {
  await from.close();
  await lab.close();
  rmSync(folder, { recursive: true });
});

let archives = 0;

/** Exports the organization of `from` and opens the archive. */
async function archive(): Promise<OpenImport> {
  const source = await from.parley.useCase(RealmReader).open(from.realmId, { covers: 'all' });
  const path = join(folder, `export-${++archives}.tar.gz`);
  await writeFile(path, writeExport(source, { names: COLUMN_NAMES, temporaryFolder: folder }));
  return zulipReader({ names: COLUMN_NAMES, temporaryFolder: folder }).open(path);
}

/** Imports the organization of `from` into that of the lab. */
async function merge() {
  const opened = await archive();
  try {
    return await lab.merged(lab.server.realmId, opened, { opensPublicChannels: true });
  } finally {
    await opened.close();
  }
}

const post = async (path: string, as: TestUser, params: object): Promise<Wire> =>
  fieldsOf(await from.post(path, as, { ...params }));

async function send(as: TestUser, to: number | readonly number[], content: string, topic = 'news'): Promise<number> {
  const type = typeof to === 'number' ? 'channel' : 'direct';
  return (await post('/messages', as, { type, to, topic, content })).id;
}

async function makeChannel(name: string, subscribers: readonly TestUser[], more: object = {}): Promise<number> {
  const { desdemona } = from.people;
  return (await post('/channels/create', desdemona, { name, subscribers: subscribers.map(({ id }) => id), ...more }))
    .id;
}

const messagesOf = async (server: TestServer, as: TestUser): Promise<Wire[]> => {
  return server.messagesFor(as, { num_before: 1000, narrow: [], apply_markdown: false });
};

/** Returns the texts of people's messages in channels of all topics, and in direct conversations, that a person can read. */
const readableBy = async (server: TestServer, as: TestUser): Promise<readonly string[]> =>
  (await messagesOf(server, as))
    .filter((message) => !message.sender_full_name.endsWith('Bot'))
    .map(({ subject, content }) => `${subject}: ${content}`)
    .sort();

const NAMES = ['hamlet', 'cordelia', 'polonius', 'iago', 'desdemona'] as const;

describe('import of an archive of Parley into an organization that exists', () => {
  it('shows the same messages to the same people', async () => {
    const { hamlet, cordelia, polonius, desdemona } = from.people;
    await makeChannel('town', [hamlet, cordelia, polonius, desdemona]).then((id) => send(hamlet, id, 'to all'));
    const secret = await makeChannel('secret', [hamlet, cordelia], { invite_only: true });
    await send(cordelia, secret, 'psst');
    const closed = { invite_only: true, history_public_to_subscribers: false };
    const council = await makeChannel('council', [desdemona, hamlet], closed);
    await send(hamlet, council, 'before Polonius');
    await post('/users/me/subscriptions', desdemona, {
      subscriptions: [{ name: 'council' }],
      principals: [polonius.id],
    });
    await send(hamlet, council, 'with Polonius');
    await send(hamlet, [cordelia.id, polonius.id], 'three of us');
    await send(hamlet, [cordelia.id], 'two of us');
    await send(hamlet, [hamlet.id], 'to be');

    const before = new Map<string, readonly string[]>();
    for (const name of NAMES) before.set(name, await readableBy(lab.server, lab.server.people[name]));
    const { summary } = await merge();
    for (const name of NAMES) {
      const expected = [...before.get(name)!, ...(await readableBy(from, from.people[name]))].sort();
      expect([name, await readableBy(lab.server, lab.server.people[name])]).toEqual([name, expected]);
    }
    expect(summary.renamedChannels).toContainEqual({ from: 'council', to: 'council (2)' });
  });

  it('keeps topics, edits, reactions, stars, references and files, which only readers of their message can open', async () => {
    const { hamlet, cordelia, desdemona } = from.people;
    fieldsOf(await postFiles(from, '/realm/emoji/yorick', desdemona, [imageFile()]));
    await post('/user_groups/create', desdemona, { name: 'kings', description: 'all', members: [hamlet.id] });
    const secret = await makeChannel('secret', [hamlet, cordelia], { invite_only: true });
    const { url } = fieldsOf(await postFiles(from, '/user_uploads', hamlet, [{ name: 'skull.txt', content: 'alas' }]));
    const first = await send(hamlet, secret, 'draft', 'plot');
    from.clock.advance(10);
    fieldsOf(
      await from.patch(`/messages/${first}`, hamlet, {
        content: `[skull](${url}) for @**${cordelia.user.fullName}** and @*kings*, not \`@*kings*\``,
      }),
    );
    await post(`/messages/${first}/reactions`, cordelia, { emoji_name: 'yorick' });
    await post(`/messages/${first}/reactions`, hamlet, { emoji_name: 'smile' });
    await post('/messages/flags', cordelia, { messages: [first], op: 'add', flag: 'starred' });
    await send(
      cordelia,
      secret,
      `Hamlet [said](http://zulip.example/#narrow/channel/${secret}-secret/topic/plot/near/${first})`,
    );
    await merge();

    const { server } = lab;
    const people = server.people;
    const messages = (await messagesOf(server, people.cordelia)).filter(
      ({ display_recipient: name }) => name === 'secret',
    );
    const [message, answer] = messages.filter(({ sender_full_name: name }) => !name.endsWith('Bot'));
    expect(message).toMatchObject({
      subject: 'plot',
      sender_id: people.hamlet.id,
      content: expect.stringMatching(
        /^\[skull\]\(\/user_uploads\/\S+\/skull\.txt\) for @_\*\*.*\|\d+\*\* and @_\*kings\*, not `@\*kings\*`$/,
      ),
      flags: expect.arrayContaining(['starred']),
      last_edit_timestamp: expect.any(Number),
    });
    expect(message.reactions.map((it: Wire) => [it.emoji_name, it.user_id])).toEqual([
      ['yorick', people.cordelia.id],
      ['smile', people.hamlet.id],
    ]);
    expect(answer.content).toContain(`/near/${message.id}`);
    const history = fieldsOf(await server.get(`/messages/${message.id}/history`, people.hamlet)) as Wire;
    expect(history.message_history[0].content).toBe('draft');
    const path = /\/user_uploads\/(\S+)\)/.exec(message.content)![1]!;
    const opens = async (as: TestUser) => (await server.get(`/user_uploads/${path}`, as)).status;
    expect([await opens(people.cordelia), await opens(people.polonius)]).toEqual([200, 403]);
  });

  it('hides earlier messages with protected history from people who join between two imports', async () => {
    const { hamlet, cordelia, desdemona } = from.people;
    const closed = { invite_only: true, history_public_to_subscribers: false };
    const council = await makeChannel('council', [desdemona, hamlet], closed);
    await send(hamlet, council, 'before');
    await merge();
    await post('/users/me/subscriptions', desdemona, {
      subscriptions: [{ name: 'council' }],
      principals: [cordelia.id],
    });
    await send(hamlet, council, 'after');
    await merge();
    const { server } = lab;
    const texts = async (as: TestUser) => (await readableBy(server, as)).filter((text) => text.startsWith('news: '));
    expect(await texts(server.people.cordelia)).toEqual(['news: after']);
    expect(await texts(server.people.hamlet)).toEqual(['news: after', 'news: before']);
  });

  it('adds only what is new in later archives, changes edited messages, and is undone', async () => {
    const { hamlet, cordelia } = from.people;
    const secret = await makeChannel('secret', [hamlet, cordelia], { invite_only: true });
    const first = await send(hamlet, secret, 'one');
    const { batch } = await merge();
    expect(batch).not.toBeNull();
    expect((await merge()).batch).toBeNull();

    fieldsOf(await from.patch(`/messages/${first}`, hamlet, { content: 'one, edited' }));
    await send(cordelia, secret, 'two');
    const again = await merge();
    expect([again.messages, again.changes.changed]).toEqual([1, 1]);
    const { server } = lab;
    const texts = () => readableBy(server, server.people.cordelia);
    expect(await texts()).toEqual(expect.arrayContaining(['news: one, edited', 'news: two']));
    const opened = await archive();
    expect(await lab.verify(server.realmId, opened, again.batch!.id)).toMatchObject({ differences: [], added: [] });
    await opened.close();

    for (const { id } of [...(await lab.batches(server.realmId))].sort((a, b) => b.id - a.id))
      await lab.undo(server.realmId, { batchId: id, isForced: true });
    expect((await texts()).filter((text) => text.startsWith('news: '))).toEqual([]);
  });

  it('accounts for every part of the archive that it does not take', async () => {
    const { hamlet, desdemona } = from.people;
    await post('/realm/filters', desdemona, { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' });
    await post('/saved_snippets', hamlet, { title: 'a', content: 'b' });
    await post('/users/me/alert_words', hamlet, { alert_words: ['ghost'] });
    fieldsOf(await postFiles(from, '/realm/icon', desdemona, [imageFile()]));
    const { summary } = await merge();
    const skipped = summary.ledger.filter(({ kind }) => kind === 'skipped').map(({ reason }) => reason.split(':')[0]);
    expect(skipped).toEqual(
      expect.arrayContaining([
        'zulip.linkifiers',
        'zulip.snippets',
        'zulip.alertWords',
        'zulip.file',
        'zulip.settings',
      ]),
    );
  });
});
