import type { Answer, Client } from 'zulip-js';
import { QueueReader } from './testing/queue-reader.js';
import { connect, type Person, TestOrganization } from './testing/test-organization.js';

/** Changes by one client reach the others. */
describe('clients of one organization', () => {
  let organization: TestOrganization;
  let people: Record<'desdemona' | 'hamlet' | 'iago', Person>;
  let clients: Record<keyof typeof people, Client>;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    people = {
      desdemona: await organization.addPerson('Desdemona', 'owner'),
      hamlet: await organization.addPerson('Hamlet'),
      iago: await organization.addPerson('Iago'),
    };
    const server = await organization.serve();
    clients = {
      desdemona: await connect(server, people.desdemona),
      hamlet: await connect(server, people.hamlet),
      iago: await connect(server, people.iago),
    };
  });
  afterAll(() => organization.close());

  it('agree on read and starred messages', async () => {
    const { hamlet, iago } = clients;
    const { id: channelId } = await createChannel(iago, 'rampart', [people.iago, people.hamlet]);
    const types = { event_types: ['message', 'update_message_flags'] };
    const telephone = await QueueReader.open(hamlet, types);
    const computer = await QueueReader.open(hamlet, types);
    const other = await QueueReader.open(iago, { event_types: ['update_message_flags'] });

    const say = async (content: string): Promise<number> =>
      (await iago.messages.send({ type: 'stream', to: 'rampart', topic: 'the watch', content })).id;
    const [first, second, third] = [await say("Who's there?"), await say('@**Hamlet**?'), await say('Nobody?')];
    const whisper = (await iago.messages.send({ type: 'direct', to: [people.hamlet.id], content: 'Psst.' })).id;
    for (const device of [telephone, computer]) {
      expect((await device.next(4)).map(({ message, flags }) => [message.id, flags])).toEqual([
        [first, []],
        [second, ['mentioned']],
        [third, []],
        [whisper, []],
      ]);
    }

    const changed = (fields: Record<string, unknown>) => ({
      id: expect.any(Number),
      type: 'update_message_flags',
      all: false,
      ...fields,
    });
    const added = (flag: string, messages: number[]) => changed({ op: 'add', operation: 'add', flag, messages });
    const removed = (flag: string, messages: number[]) =>
      changed({ op: 'remove', operation: 'remove', flag, messages });
    const responseTo = (messages: number[]) => ({
      result: 'success',
      msg: '',
      messages,
      ignored_because_not_subscribed_channels: [],
    });

    // Messages are read on the phone; the waiting computer is notified.
    const waiting = computer.poll();
    expect(await hamlet.messages.flags.add({ messages: [whisper, first, second], flag: 'read' })).toEqual(
      responseTo([whisper, first, second]),
    );
    expect(await waiting).toEqual({
      result: 'success',
      msg: '',
      queue_id: computer.id,
      events: [added('read', [first, second, whisper])],
    });
    expect(await hamlet.messages.flags.add({ messages: [second], flag: 'starred' })).toEqual(responseTo([second]));
    // Only actual changes are published.
    expect(await hamlet.messages.flags.add({ messages: [first, third], flag: 'read' })).toEqual(
      responseTo([first, third]),
    );
    expect(await hamlet.messages.flags.remove({ messages: [second], flag: 'starred' })).toEqual(responseTo([second]));
    expect(await hamlet.messages.flags.remove({ messages: [second, whisper], flag: 'read' })).toEqual(
      responseTo([second, whisper]),
    );
    expect(await computer.next(4)).toEqual([
      added('starred', [second]),
      added('read', [third]),
      removed('starred', [second]),
      {
        ...removed('read', [second, whisper]),
        message_details: {
          [second]: {
            type: 'stream',
            stream_id: channelId,
            topic: 'the watch',
            unmuted_stream_msg: true,
            mentioned: true,
          },
          [whisper]: { type: 'private', user_ids: [people.iago.id] },
        },
      },
    ]);
    // The originating device gets the same event.
    expect(await telephone.next(5)).toMatchObject([
      { op: 'add', flag: 'read' },
      { op: 'add', flag: 'starred' },
      { op: 'add', flag: 'read' },
      { op: 'remove', flag: 'starred' },
      { op: 'remove', flag: 'read' },
    ]);

    const flagsNow = async () => {
      const page = await hamlet.messages.retrieve({ anchor: first, num_before: 0, num_after: 10 });
      return page.messages.map(({ id, flags }: Answer) => [id, flags]);
    };
    expect(await flagsNow()).toEqual([
      [first, ['read']],
      [second, ['mentioned']],
      [third, ['read']],
      [whisper, []],
    ]);
    const fresh = await QueueReader.open(hamlet, { fetch_event_types: ['message', 'update_message_flags'] });
    // The notice of the channel's creation is still unread.
    const [notice] = fresh.snapshot.unread_msgs.streams.filter(({ topic }: Answer) => topic === 'channel events');
    expect(fresh.snapshot.unread_msgs).toEqual({
      count: 3,
      pms: [{ other_user_id: people.iago.id, sender_id: people.iago.id, unread_message_ids: [whisper] }],
      streams: [notice, { stream_id: channelId, topic: 'the watch', unread_message_ids: [second] }],
      huddles: [],
      mentions: [second],
      old_unreads_missing: false,
    });

    expect(await hamlet.callEndpoint('/mark_all_as_read', 'POST')).toEqual({
      result: 'success',
      msg: '',
      complete: true,
    });
    expect(await computer.next(1)).toEqual([{ ...added('read', []), all: true }]);
    expect((await flagsNow()).every(([, flags]: [number, string[]]) => flags.includes('read'))).toBe(true);
    // Other users are not notified of read state.
    expect(await other.drain()).toEqual([]);
  });

  it('receive subscriptions and unsubscriptions', async () => {
    const { desdemona, hamlet, iago } = clients;
    const types = { event_types: ['stream', 'subscription'] };
    const ears = {
      desdemona: await QueueReader.open(desdemona, types),
      hamlet: await QueueReader.open(hamlet, types),
      iago: await QueueReader.open(iago, types),
    };
    const everybody = Object.values(ears);

    // Public channel: all users receive it, subscribers receive their subscription, others the subscriber list.
    const created = await createChannel(hamlet, 'garden', [people.hamlet, people.desdemona]);
    const garden = created.id as number;
    expect(created).toEqual({ result: 'success', msg: '', id: expect.any(Number) });
    const listed: Answer = (await iago.streams.retrieve()).streams.find(({ name }: Answer) => name === 'garden');
    const [creation, invitation] = await ears.desdemona.next(2);
    const channel = {
      ...listed,
      // Changed by the first message.
      first_message_id: null,
      subscriber_count: expect.any(Number),
    };
    expect(creation).toEqual({ id: expect.any(Number), type: 'stream', op: 'create', streams: [channel] });
    const subscription = {
      ...listed,
      first_message_id: null,
      color: expect.stringMatching(/^#[0-9a-f]{6}$/),
      is_muted: false,
      in_home_view: true,
      pin_to_top: false,
      desktop_notifications: null,
      audible_notifications: null,
      push_notifications: null,
      email_notifications: null,
      wildcard_mentions_notify: null,
      subscribers: [people.desdemona.id, people.hamlet.id],
    };
    const joined = { id: expect.any(Number), type: 'subscription', op: 'add', subscriptions: [subscription] };
    expect(invitation).toEqual(joined);
    expect(await ears.hamlet.next(2)).toEqual([creation, joined].map(anyId));
    const peers = (op: string, streamId: number, userIds: number[]) => ({
      id: expect.any(Number),
      type: 'subscription',
      op,
      stream_ids: [streamId],
      user_ids: userIds,
    });
    expect(await ears.iago.next(2)).toEqual([
      anyId(creation),
      peers('peer_add', garden, [people.desdemona.id, people.hamlet.id]),
    ]);

    // Users subscribe and unsubscribe themselves.
    expect(await iago.users.me.subscriptions.add({ subscriptions: [{ name: 'Garden' }] })).toEqual({
      result: 'success',
      msg: '',
      subscribed: { [people.iago.id]: ['garden'] },
      already_subscribed: {},
      new_subscription_messages_sent: true,
    });
    expect(await ears.iago.next(1)).toMatchObject([{ op: 'add', subscriptions: [{ name: 'garden' }] }]);
    for (const ear of [ears.desdemona, ears.hamlet]) {
      expect(await ear.next(1)).toEqual([peers('peer_add', garden, [people.iago.id])]);
    }
    const left = await iago.users.me.subscriptions.remove({ subscriptions: '["garden"]' });
    expect(left).toEqual({ result: 'success', msg: '', removed: ['garden'], not_removed: [] });
    expect(await ears.iago.next(1)).toEqual([
      {
        id: expect.any(Number),
        type: 'subscription',
        op: 'remove',
        subscriptions: [{ stream_id: garden, name: 'garden' }],
      },
    ]);
    for (const ear of [ears.desdemona, ears.hamlet]) {
      expect(await ear.next(1)).toEqual([peers('peer_remove', garden, [people.iago.id])]);
    }

    // Private channel created by subscribing: others receive nothing, and removed subscribers lose access.
    await hamlet.users.me.subscriptions.add({
      subscriptions: [{ name: 'closet' }],
      principals: [people.hamlet.id, people.iago.id],
      invite_only: 'true',
    });
    const closet = (await hamlet.streams.getStreamId('closet')).stream_id as number;
    expect(await ears.iago.next(2)).toMatchObject([
      { type: 'stream', op: 'create', streams: [{ stream_id: closet, invite_only: true }] },
      { type: 'subscription', op: 'add', subscriptions: [{ subscribers: [people.hamlet.id, people.iago.id] }] },
    ]);
    expect(await ears.hamlet.next(2)).toMatchObject([
      { type: 'stream', op: 'create' },
      { type: 'subscription', op: 'add' },
    ]);
    // Owners receive the channel without access to its content.
    expect(await ears.desdemona.next(2)).toMatchObject([
      { type: 'stream', op: 'create', streams: [{ stream_id: closet }] },
      { type: 'subscription', op: 'peer_add', user_ids: [people.hamlet.id, people.iago.id] },
    ]);
    const putOut = await desdemona.users.me.subscriptions.remove({
      subscriptions: '["closet"]',
      principals: JSON.stringify([people.iago.id]),
    });
    expect(putOut).toMatchObject({ result: 'success', removed: ['closet'] });
    expect(await ears.iago.next(2)).toEqual([
      {
        id: expect.any(Number),
        type: 'subscription',
        op: 'remove',
        subscriptions: [{ stream_id: closet, name: 'closet' }],
      },
      {
        id: expect.any(Number),
        type: 'stream',
        op: 'delete',
        stream_ids: [closet],
        streams: [{ stream_id: closet }],
      },
    ]);
    for (const ear of [ears.hamlet, ears.desdemona]) {
      expect(await ear.next(1)).toEqual([peers('peer_remove', closet, [people.iago.id])]);
    }
    expect(await iago.streams.getStreamId('closet')).toMatchObject({
      result: 'error',
      msg: "Invalid channel name 'closet'",
    });
    for (const ear of everybody) expect(await ear.drain()).toEqual([]);

    // The received events add up to the current state.
    const { subscriptions } = await hamlet.streams.subscriptions.retrieve();
    expect(subscriptions.map(({ name }: Answer) => name)).toEqual(expect.arrayContaining(['closet', 'garden']));
  });
});

const anyId = (event: Answer): Answer => ({ ...event, id: expect.any(Number) });

function createChannel(client: Client, name: string, subscribers: readonly Person[]): Promise<Answer> {
  return client.callEndpoint('/channels/create', 'POST', { name, subscribers: subscribers.map(({ id }) => id) });
}
