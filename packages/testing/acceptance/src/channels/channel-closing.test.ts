import { CloseIdleChannels } from '@parley/domain/channels';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';

const DAY = 86_400;
const realm = 'shop';
const [sam, ann, bob] = [
  { realm, externalId: 'sam' },
  { realm, externalId: 'ann' },
  { realm, externalId: 'bob' },
];
const code = (expected: string) => expect.objectContaining({ code: expected });

let orders = 0;
const { server } = serverPerSuite();
beforeAll(async () => {
  const { parley } = server;
  await parley.realms.ensure({ name: realm, preset: 'customers' });
  await parley.users.upsert({ ...sam, name: 'Sam', role: 'owner' });
  for (const customer of [ann, bob]) {
    await parley.users.upsert({ ...customer, name: customer.externalId, role: 'guest' });
  }
});

/** Creates a channel for the next order of Ann, and returns its name. */
async function order(options: { readonly closesAfterDays?: number } = {}): Promise<string> {
  const name = `Order ${++orders}`;
  const channel = { name, isPrivate: true, sharesHistory: true, subscribers: ['ann'], ...options };
  await server.parley.as(sam).channels.ensure(channel);
  return name;
}
const say = (channel: string, who = ann) =>
  server.parley.as(who).messages.send({ channel, topic: 'Support', content: 'Where is my parcel?' });
const textsIn = async (channel: string) =>
  (await server.parley.as(ann).messages.list({ channel }).toArray()).map(({ content }) => content);
const isOpen = async (name: string) => (await server.parley.as(ann).channels.list()).some((it) => it.name === name);
async function after(days: number): Promise<void> {
  server.clock.advance(days * DAY);
  await runJobs(server, server.parley.useCase(CloseIdleChannels));
}

describe('a channel with closesAfterDays', () => {
  it('is archived that many days after it was created, and keeps its name', async () => {
    const name = await order({ closesAfterDays: 30 });
    await after(29);
    expect(await isOpen(name)).toBe(true);
    await after(1);
    expect(await isOpen(name)).toBe(false);
    const { channels } = server.parley.as(sam);
    expect(await channels.find(name)).toMatchObject({ name, isArchived: true });
    expect(await channels.ensure({ name, isPrivate: true })).toEqual({ ...(await channels.find(name)), differs: [] });
  });

  it('stays open while it has newer messages, and is archived within a tenth of the time after the last one', async () => {
    const name = await order({ closesAfterDays: 30 });
    await after(20);
    await say(name);
    await after(29);
    expect(await isOpen(name)).toBe(true);
    await after(4);
    expect(await isOpen(name)).toBe(false);
    expect(await textsIn(name)).toHaveLength(1);
  });

  it('is closed again after it was reopened by a message', async () => {
    const name = await order({ closesAfterDays: 2 });
    await after(2);
    await say(name);
    expect(await isOpen(name)).toBe(true);
    await after(1);
    expect(await isOpen(name)).toBe(true);
    await after(1);
    await after(1);
    expect(await isOpen(name)).toBe(false);
  });

  it('stays archived at its next message if somebody has archived it', async () => {
    const name = await order({ closesAfterDays: 2 });
    await server.parley.as(sam).channels.archive(name);
    await after(2);
    await expect(say(name)).rejects.toEqual(code('CANNOT_POST_IN_CHANNEL'));
    expect(await server.parley.as(sam).channels.reopen(name)).toBe(false);
  });

  it.each([0, 3651, 1.5])('is rejected with %j days', async (closesAfterDays) => {
    await expect(order({ closesAfterDays })).rejects.toEqual(code('INVALID_ARGUMENT'));
  });
});

describe('parley.as(…).channels.close', () => {
  it('archives a channel until the next message of the application, with its history', async () => {
    const name = await order();
    await say(name);
    await server.parley.as(sam).channels.close(name);
    expect(await isOpen(name)).toBe(false);
    expect(await textsIn(name)).toHaveLength(1);
    await say(name);
    expect(await isOpen(name)).toBe(true);
    expect(await textsIn(name)).toHaveLength(2);
    await after(400);
    expect(await isOpen(name)).toBe(true);
  });

  it('leaves the channel closed for people who may not post in it and for clients', async () => {
    const name = await order();
    const { parley } = server;
    await parley.as(sam).channels.close(name);
    await expect(say(name, bob)).rejects.toMatchObject({
      code: expect.stringMatching(/UNKNOWN_DESTINATION|CANNOT_POST/),
    });
    await expect(parley.as(bob).channels.reopen(name)).rejects.toEqual(code('UNKNOWN_CHANNEL'));
    expect(await isOpen(name)).toBe(false);
    await expect(parley.as(ann).channels.close(name)).rejects.toEqual(code('CANNOT_ADMINISTER_CHANNEL'));
    await expect(parley.as(sam).channels.close(name)).rejects.toEqual(code('CHANNEL_ARCHIVED'));
    expect(await parley.as(ann).channels.reopen(name)).toBe(true);
    expect(await parley.as(ann).channels.reopen(name)).toBe(false);
    expect(await isOpen(name)).toBe(true);
  });
});
