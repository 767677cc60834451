import type { RealmId, UnixSeconds } from '@parley/domain/kernel';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';

const { server, people } = serverPerSuite();

/** Stores the record of an imported message. */
const remember = (source: string, recordId: string, targetId: number, realmId: RealmId = server.realmId) =>
  server.storage.uow.write(realmId, async (tx) => {
    const batch = { realmId, source, startedAt: 1 as UnixSeconds, status: 'complete', createdRealm: false } as const;
    const { id: batchId } = await tx.importBatches.add({
      ...batch,
      messages: 1,
      lastMessageId: targetId,
      version: 0,
      requesterId: null,
    });
    const record = { kind: 'message', recordId, hash: 'x', batchId, targetId, editedAt: null, reactions: 0 } as const;
    await tx.importedRecords.put(realmId, [record]);
  });

const open = async (path: string, as = people.hamlet) =>
  (await TestBrowser.loggedIn(server, as)).get(`/import/${path}`);

describe('GET /import/:source/*path', () => {
  it.each([
    ['slack:T1', 'C0123ABCD/1700000000.000100', 'slack/C0123ABCD/p1700000000000100'],
    ['slack:T1', 'C0123ABCD/1700000000.000200', 'slack/C0123ABCD/1700000000.000200'],
    ['discord:7', '99', 'discord/7/8/99'],
    ['rocketchat', 'aB3', 'rocketchat/aB3'],
  ])('redirects to a message of %s by its former address', async (source, recordId, path) => {
    const channel = await server.createChannel(`moved ${recordId}`, [people.hamlet]);
    const id = await server.sendMessage(people.hamlet, channel, { topic: 'lunch' });
    await remember(source, recordId, id);
    const reply = await open(path);
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toMatch(new RegExp(`^/#narrow/channel/${channel}-.*/topic/lunch/near/${id}$`));
  });

  it('redirects to direct messages of the user', async () => {
    const id = await server.sendMessage(people.hamlet, [people.cordelia]);
    await remember('slack:T1', 'D1/1700000000.000300', id);
    const reply = await open('slack/D1/p1700000000000300');
    expect(reply.headers.location).toMatch(new RegExp(`^/#narrow/dm/[\\d,]+-pm/near/${id}$`));
  });

  it('returns the same page for hidden, foreign and unknown messages', async () => {
    const hidden = await server.sendMessage(people.cordelia, [people.iago]);
    await remember('slack:T1', 'D2/1700000000.000400', hidden);
    const shown = await server.sendMessage(people.hamlet, [people.hamlet]);
    await remember('slack:T1', 'C9/1700000000.000500', shown, await server.addRealm('foreign'));
    await remember('discord:7', 'C9/1700000000.000600', shown);
    const replies = await Promise.all(
      ['slack/D2/p1700000000000400', 'slack/C9/p1700000000000500', 'slack/C9/p1700000000000600', 'slack/C9/p1'].map(
        (path) => open(path),
      ),
    );
    for (const reply of replies) expect([reply.status, reply.body]).toEqual([replies[3]!.status, replies[3]!.body]);
    expect(replies[3]!.status).toBe(400);
  });

  it('leads to the log-in page first', async () => {
    const reply = await server.request('GET', '//import/slack/C1/p1700000000000100');
    expect([reply.status, reply.headers.location]).toEqual([
      303,
      `/login/?next=${encodeURIComponent('/import/slack/C1/p1700000000000100')}`,
    ]);
  });

  it('leads anonymous callers to the log-in page alone if the address is long', async () => {
    const reply = await server.request('GET', `//import/slack/${encodeURIComponent('😀'.repeat(1000))}`);
    expect([reply.status, reply.headers.location]).toEqual([303, '/login/']);
  });
});
