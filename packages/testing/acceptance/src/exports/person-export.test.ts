import { filesOfArchive } from '../testing/archives.js';
import { fieldsOf } from '../testing/expectations.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';

const { server } = serverPerSuite();

async function filesOf(archive: AsyncIterable<Uint8Array>): Promise<ReadonlyMap<string, string>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive) chunks.push(chunk);
  return filesOfArchive(Buffer.concat(chunks));
}

const linesOf = (files: ReadonlyMap<string, string>, name: string) =>
  files
    .get(name)!
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('parley.users.export', () => {
  it("contains everything of the person, and others' words only in shared direct conversations", async () => {
    const { hamlet, cordelia, iago } = server.people;
    await server.createChannel('castle', [hamlet, cordelia]);
    const own = await server.sendMessage(hamlet, 'castle', { content: 'first text' });
    fieldsOf(await server.patch(`/messages/${own}`, hamlet, { content: 'second text' }));
    const others = await server.sendMessage(cordelia, 'castle', { content: 'words of Cordelia' });
    fieldsOf(await server.post(`/messages/${others}/reactions`, hamlet, { emoji_name: 'octopus' }));
    await server.sendMessage(cordelia, [hamlet], { content: 'direct answer' });
    await server.sendMessage(cordelia, [iago], { content: 'a secret' });
    const poll = await server.sendMessage(cordelia, 'castle', { content: '/poll Lunch?\nPears' });
    const vote = { message_id: poll, msg_type: 'widget', content: '{"type":"vote","key":"canned,0","vote":1}' };
    fieldsOf(await server.post('/submessage', hamlet, vote));
    fieldsOf(await server.post('/drafts', hamlet, { drafts: [{ type: '', to: [], topic: '', content: 'my draft' }] }));
    fieldsOf(await postFiles(server, '/user_uploads', hamlet, [imageFile()]));
    fieldsOf(await postFiles(server, '/users/me/avatar', hamlet, [imageFile()]));

    await server.parley.users.apiKey({ realm: 'zulip', userId: hamlet.id });
    const files = await filesOf(server.parley.users.export({ realm: 'zulip', userId: hamlet.id }));
    const whole = [...files.values()].join('\n');
    for (const word of ['first text', 'second text', 'direct answer', 'my draft', hamlet.email])
      expect(whole).toContain(word);
    for (const word of ['words of Cordelia', 'Lunch', 'a secret', hamlet.apiKey]) expect(whole).not.toContain(word);
    expect(linesOf(files, 'channel-messages.jsonl')).toMatchObject([
      { id: own, content: 'second text', channel: { name: 'castle' }, earlierTexts: [{ content: 'first text' }] },
    ]);
    expect(linesOf(files, 'reactions.jsonl')).toMatchObject([{ messageId: others, name: 'octopus' }]);
    expect(linesOf(files, 'answers.jsonl')).toEqual([{ messageId: poll, content: vote.content }]);
    expect(linesOf(files, 'audit.jsonl')).toContainEqual(
      expect.objectContaining({ action: 'users.apiKey', isOwn: false, details: null }),
    );
    const [file] = linesOf(files, 'files.jsonl');
    expect(files.has(file!.path as string)).toBe(true);
    expect(files.has('avatar.png')).toBe(true);
  });

  it('contains direct messages and own messages of a deactivated person', async () => {
    const { cordelia } = server.people;
    await server.parley.users.deactivate({ realm: 'zulip', userId: cordelia.id });
    const files = await filesOf(server.parley.users.export({ realm: 'zulip', userId: cordelia.id }));
    expect(linesOf(files, 'channel-messages.jsonl')).toMatchObject([
      { content: 'words of Cordelia' },
      { content: '/poll Lunch?\nPears' },
    ]);
    expect(linesOf(files, 'direct-messages.jsonl').map(({ content }) => content)).toEqual([
      'direct answer',
      'a secret',
    ]);
  });

  it('rejects users of other organizations with the first read', async () => {
    await server.addRealm('other');
    await server.parley.users.upsert({ realm: 'other', externalId: 'elsewhere', name: 'Elsewhere' });
    const elsewhere = await server.parley.users.find({ realm: 'other', externalId: 'elsewhere' });
    const archive = server.parley.users.export({ realm: 'zulip', userId: elsewhere!.id });
    await expect(filesOf(archive)).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
  });
});
