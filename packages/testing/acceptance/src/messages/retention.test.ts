import type { ChannelId } from '@parley/domain/kernel';
import { ExpireMessages, PurgeArchive, RestoreMessages } from '@parley/domain/writing';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const { server, people } = serverPerTest();

const DAY = 86_400;
const ALL = { messageId: null, channelId: null, topicKey: null, since: null };

/** `days`: wire format. */
const createChannel = (name: string, days?: number | string) =>
  server.createChannel(name, [people.hamlet], days === undefined ? {} : { message_retention_days: days });
const say = (to: number | readonly TestUser[], topic?: string) => server.sendMessage(people.hamlet, to, { topic });
const list = async (): Promise<number[]> => {
  return (await server.messagesFor(people.hamlet, { num_before: 1000 })).map(({ id }: Wire) => id);
};
const expire = () => server.parley.useCase(ExpireMessages).execute();
const restore = (selection: object, isDryRun = false) =>
  server.parley
    .useCase(RestoreMessages)
    .execute({ realmId: server.realmId, selection: { ...ALL, ...selection }, isDryRun });

describe('message retention', () => {
  it("deletes messages older than the channel's retention and notifies users with access", async () => {
    const [short, long, own] = [
      await createChannel('short', 3),
      await createChannel('long', 30),
      await createChannel('own'),
    ];
    const old = [await say(short), await say(short, 'Plans'), await say(short, 'other')];
    const kept = [await say(long), await say(own), await say([people.iago])];
    server.clock.advance(2 * DAY);
    kept.push(await say(short));
    server.clock.advance(DAY);
    expect(await expire()).toBe(0);
    server.clock.advance(1);
    const queue = await openQueue(server, people.hamlet, {
      event_types: ['delete_message'],
      client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
    });
    // Includes the creation notice.
    expect(await expire()).toBe(4);
    expect(await eventsAfter(server, queue)).toMatchObject([
      { topic: 'channel events', message_ids: [expect.any(Number)] },
      { message_type: 'stream', stream_id: short, topic: 'Plans', message_ids: old.slice(0, 2) },
      { message_type: 'stream', stream_id: short, topic: 'other', message_ids: [old[2]] },
    ]);
    const left = await list();
    expect(left).toEqual(expect.arrayContaining(kept));
    for (const id of old) expect(left).not.toContain(id);
  });

  it("uses the organization's period for direct messages and for channels without a period", async () => {
    fieldsOf(await server.patch('/realm', people.desdemona, { message_retention_days: 10 }));
    const [own, forever] = [await createChannel('own'), await createChannel('forever', '"unlimited"')];
    const [inOwn, direct, kept] = [await say(own), await say([people.iago]), await say(forever)];
    server.clock.advance(10 * DAY + 1);
    const queue = await openQueue(server, people.iago, { event_types: ['delete_message'] });
    await expire();
    expect(await list()).toContain(kept);
    expect(await list()).not.toContain(inOwn);
    expect(await list()).not.toContain(direct);
    expect(await eventsAfter(server, queue)).toContainEqual({
      type: 'delete_message',
      message_type: 'private',
      message_id: direct,
    });
  });

  it('deletes more messages than fit into one batch', async () => {
    const short = await createChannel('short', 1);
    const ids: number[] = [];
    for (let n = 0; n < 120; n++) ids.push(await say(short));
    server.clock.advance(DAY + 1);
    expect(await expire()).toBe(121);
    expect(await list()).not.toContain(ids[119]);
  });
});

describe('restoring deleted messages', () => {
  it('restores a topic with its flags and updates the first message of the channel', async () => {
    const { hamlet, iago } = people;
    const general = await createChannel('general');
    fieldsOf(await server.post(`/streams/${general}/delete_topic`, iago, { topic_name: 'channel events' }));
    const [first, other] = [await say(general), await say(general, 'other')];
    fieldsOf(await server.post('/messages/flags', hamlet, { messages: [first], op: 'add', flag: 'starred' }));
    const before = (fieldsOf(await server.get(`/messages/${first}`, hamlet)) as Wire).message;
    for (const topic_name of ['plans', 'other']) {
      fieldsOf(await server.post(`/streams/${general}/delete_topic`, iago, { topic_name }));
    }
    const topic = { channelId: general as ChannelId, topicKey: 'plans' };
    expect(await restore(topic, true)).toBe(1);
    expect(await list()).not.toContain(first);
    expect(await restore(topic)).toBe(1);
    expect(await restore(topic)).toBe(0);
    expect((fieldsOf(await server.get(`/messages/${first}`, hamlet)) as Wire).message).toEqual(before);
    expect(await list()).toContain(first);
    expect(await list()).not.toContain(other);
    expect(await server.messagesFor(hamlet, { narrow: [['search', 'hello']], num_before: 9 })).toMatchObject([
      { id: first },
    ]);
    const { streams } = fieldsOf(await server.get('/streams', hamlet)) as Wire;
    expect(streams.find(({ stream_id }: Wire) => stream_id === general).first_message_id).toBe(first);
    // Restored messages can be deleted again.
    fieldsOf(await server.delete(`/messages/${first}`, hamlet));
  });

  it('restores more messages than fit into one batch', async () => {
    const general = await createChannel('general');
    const ids: number[] = [];
    for (let n = 0; n < 130; n++) ids.push(await say(general));
    fieldsOf(await server.post(`/streams/${general}/delete_topic`, people.iago, { topic_name: 'plans' }));
    expect(await restore({ since: server.clock.now() })).toBe(130);
    expect(await list()).toEqual(expect.arrayContaining(ids));
  });

  it('works until the archive is purged', async () => {
    const general = await createChannel('general');
    const id = await say(general);
    fieldsOf(await server.delete(`/messages/${id}`, people.hamlet));
    const purge = () => server.parley.useCase(PurgeArchive).execute({ keepSeconds: 30 * DAY });
    server.clock.advance(30 * DAY);
    expect(await purge()).toBe(0);
    server.clock.advance(1);
    expect(await purge()).toBe(1);
    expect(await restore({})).toBe(0);
  });
});
