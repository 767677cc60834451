import { ReadFileTexts } from '@parley/domain/files';
import { IndexMessages } from '@parley/domain/messages';
import { FakeImageProcessor } from '@parley/testkit';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type FileUpload, postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = serverPerSuite({
  searchesFiles: true,
  images: Object.assign(new FakeImageProcessor(), { readDocument: async () => 'open sesame' }),
});
beforeAll(async () => {
  await server.createChannel('general', [people.hamlet, people.cordelia]);
  await server.createChannel('secret', [people.hamlet], { invite_only: true });
});

const readFiles = async () => {
  const reader = server.parley.useCase(ReadFileTexts);
  while (await reader.execute());
};
async function share(
  as: TestUser,
  to: string | readonly TestUser[],
  file: FileUpload,
): Promise<[id: number, url: string]> {
  const { url } = fieldsOf(await postFiles(server, '/user_uploads', as, [file])) as Wire;
  return [await server.sendMessage(as, to, { topic: 'files', content: `[the file](${url})` }), url];
}
const find = async (query: string, as: TestUser = people.cordelia, negated = false): Promise<readonly number[]> => {
  const narrow = [{ operator: 'search', operand: query, negated }];
  const page = await server.get('/messages', as, { narrow, anchor: 'newest', num_before: 100, num_after: 0 });
  return (fieldsOf(page) as Wire).messages.map(({ id }: Wire) => id);
};
const plan = (content: string): FileUpload => ({ name: 'plan.md', type: 'text/markdown', content });

describe('search in files (extensions §9)', () => {
  it('finds messages that link to a file with all words, in any form', async () => {
    const { hamlet } = people;
    const [id] = await share(hamlet, 'general', plan('# Quarterly budget\n\nThe *meetings* about walnuts'));
    expect(await find('walnut')).toEqual([]);
    await readFiles();
    for (const query of ['walnut', 'meeting budget', 'walnut quart']) expect(await find(query)).toEqual([id]);
    for (const query of ['walnut peanut', '"walnuts"']) expect(await find(query)).toEqual([]);
    expect(await find('file', people.cordelia, true)).not.toContain(id);
    expect(await find('walnut', people.cordelia, true)).not.toContain(id);
    const again = await server.sendMessage(hamlet, 'general', { topic: 'files', content: 'walnuts without a file' });
    expect(await find('walnut')).toEqual([id, again]);
  });

  it('finds files by name', async () => {
    const url = fieldsOf(
      await postFiles(server, '/user_uploads', people.hamlet, [{ ...plan('x'), name: 'harvest-2024.txt' }]),
    ) as Wire;
    const content = `[harvest-2024.txt](${url.url})`;
    const id = await server.sendMessage(people.hamlet, 'general', { topic: 'files', content });
    for (const query of ['harvest', 'harvest-2024.txt', 'harv']) expect(await find(query)).toEqual([id]);
  });

  it('marks links to the files with the searched words, in results and in matches_narrow', async () => {
    const { hamlet, cordelia } = people;
    const upload = async (content: string): Promise<string> =>
      (fieldsOf(await postFiles(server, '/user_uploads', hamlet, [plan(content)])) as Wire).url;
    const [found, other] = [await upload('a pomegranate'), await upload('an apricot')];
    const content = `[Plan A](${found}) or [Plan B](${other})`;
    const id = await server.sendMessage(hamlet, 'general', { topic: 'files', content });
    await readFiles();
    const narrow = [{ operator: 'search', operand: 'pomegranate' }];
    const range = { anchor: 'newest', num_before: 1, num_after: 0 };
    const page = fieldsOf(await server.get('/messages', cordelia, { narrow, ...range })) as Wire;
    const marked = `<a href="${found}"><span class="highlight">Plan A</span></a> or <a href="${other}">Plan B</a>`;
    expect(page.messages).toMatchObject([{ id, match_content: `<p>${marked}</p>` }]);
    const matches = await server.get('/messages/matches_narrow', cordelia, { narrow, msg_ids: [id] });
    expect((fieldsOf(matches) as Wire).messages[id].match_content).toBe(`<p>${marked}</p>`);
  });

  it('finds only files that the user may read', async () => {
    const { hamlet, cordelia } = people;
    const [id, url] = await share(hamlet, 'secret', plan('the merger with Elsinore'));
    await readFiles();
    expect(await find('elsinore', hamlet)).toEqual([id]);
    expect(await find('elsinore')).toEqual([]);
    const link = await server.sendMessage(cordelia, 'general', { topic: 'files', content: `[see](${url})` });
    expect(await find('elsinore')).toEqual([]);
    expect(await find('elsinore', hamlet)).toEqual([id, link]);
  });

  it('checks only the newest 20 messages with a file for permission to read it', async () => {
    const { hamlet } = people;
    const [id, url] = await share(hamlet, 'general', plan('the archipelago'));
    await readFiles();
    for (let sent = 0; sent < 19; sent++) await server.sendMessage(hamlet, 'secret', { content: `[again](${url})` });
    expect(await find('archipelago')).toEqual([id]);
    await server.sendMessage(hamlet, 'secret', { content: `[again](${url})` });
    expect(await find('archipelago')).toEqual([]);
    expect(await find('archipelago', hamlet)).toHaveLength(21);
  });

  it('no longer finds edited messages and deleted files', async () => {
    const { hamlet } = people;
    const [edited] = await share(hamlet, 'general', plan('a heron'));
    const [kept, url] = await share(hamlet, 'general', plan('another heron'));
    await readFiles();
    expect(await find('heron')).toEqual([edited, kept]);
    fieldsOf(await server.patch(`/messages/${edited}`, hamlet, { content: 'nothing' }));
    expect(await find('heron')).toEqual([kept]);
    const { attachments } = fieldsOf(await server.get('/attachments', hamlet)) as Wire;
    const { id } = attachments.find(({ path_id }: Wire) => url.endsWith(path_id));
    fieldsOf(await server.delete(`/attachments/${id}`, hamlet));
    expect(await find('heron')).toEqual([]);
  });

  it('reads files again after a rebuild, and after a change of the languages', async () => {
    const [id] = await share(people.hamlet, 'general', plan('Wartung verschoben'));
    await readFiles();
    expect(await find('Wartungen ')).toEqual([]);
    fieldsOf(await server.patch('/realm', people.iago, { search_languages: 'de' }));
    await readFiles();
    expect(await find('Wartungen ')).toEqual([id]);
    const index = server.parley.useCase(IndexMessages);
    await index.reset();
    while (await index.execute());
    expect(await find('Wartungen ')).toEqual([id]);
  });

  it('finds texts of documents', async () => {
    const type = 'application/vnd.oasis.opendocument.text';
    // Archives have the type that the client claims.
    const [id] = await share(people.hamlet, 'general', { name: 'a.odt', type, content: 'PK\x03\x04 anything' });
    const [pdf] = await share(people.hamlet, 'general', { name: 'a', type: 'text/plain', content: '%PDF-1.7' });
    await readFiles();
    expect(await find('sesame')).toEqual([id, pdf]);
  });

  it('ignores HTML files, and rejects blank searches', async () => {
    await share(people.hamlet, 'general', { name: 'a.html', type: 'text/html', content: '<p>pelican</p>' });
    await readFiles();
    expect(await find('pelican')).toEqual([]);
    expectRefusal(
      await server.get('/messages', people.cordelia, { narrow: [['search', ' ']] }),
      'operand cannot be blank.',
    );
  });
});
