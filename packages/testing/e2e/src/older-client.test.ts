import type { Answer, Client } from 'zulip-js';
import type { ParleyProcess } from './testing/parley-process.js';
import { QueueReader } from './testing/queue-reader.js';
import { connect, type Person, TestOrganization } from './testing/test-organization.js';

/** Exact request of zulip-term 0.7.0; some of the names no longer exist. */
const REGISTER = {
  event_types:
    '["message", "update_message", "reaction", "subscription", "typing", "update_message_flags", "update_global_notifications", "update_display_settings", "user_settings", "realm_emoji"]',
  narrow: '[]',
  fetch_event_types:
    '["realm", "presence", "subscription", "message", "starred_messages", "update_message_flags", "muted_topics", "realm_user", "realm_user_groups", "update_global_notifications", "update_display_settings", "user_settings", "realm_emoji", "zulip_version"]',
  client_gravatar: 'true',
  apply_markdown: 'true',
  include_subscribers: 'true',
};

/** All fields required by the client at startup, determined by removing them one by one. */
const NEEDED = {
  queue_id: expect.any(String),
  last_event_id: -1,
  zulip_version: expect.any(String),
  zulip_feature_level: expect.any(Number),
  user_id: expect.any(Number),
  email: expect.any(String),
  full_name: 'Hamlet',
  realm_name: 'Elsinore',
  realm_message_retention_days: -1,
  realm_user_groups: expect.any(Array),
  realm_users: expect.any(Array),
  cross_realm_bots: expect.any(Array),
  realm_emoji: {},
  presences: {},
  muted_topics: [],
  starred_messages: [],
  max_message_id: expect.any(Number),
  twenty_four_hour_time: false,
  pm_content_in_desktop_notifications: true,
  user_settings: expect.objectContaining({ send_private_typing_notifications: true }),
};

/** Ten-year-old client without capabilities next to a modern one. */
describe('older client', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let people: Record<'hamlet' | 'horatio' | 'desdemona', Person>;
  let hamlet: Client;
  let desdemona: Client;
  let channelId: number;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    people = {
      hamlet: await organization.addPerson('Hamlet'),
      horatio: await organization.addPerson('Horatio'),
      desdemona: await organization.addPerson('Desdemona', 'owner'),
    };
    server = await organization.serve();
    hamlet = await connect(server, people.hamlet);
    desdemona = await connect(server, people.desdemona);
    const subscribers = [people.hamlet.id, people.desdemona.id];
    const created = await desdemona.callEndpoint('/channels/create', 'POST', { name: 'rampart', subscribers });
    channelId = created.id;
    await hamlet.callEndpoint('/mark_all_as_read', 'POST');
  });
  afterAll(() => organization.close());

  /** Sends a terminal request as Hamlet. */
  async function terminal(method: 'GET' | 'POST', path: string, params: Record<string, string>): Promise<Answer> {
    const { email, apiKey } = people.hamlet;
    const headers = {
      authorization: `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`,
      'user-agent': 'ZulipTerminal/0.7.0 Linux-6.1.0-x86_64-with-glibc2.36 (Debian GNU/Linux; 12)',
    };
    const form = new URLSearchParams(params);
    const url = `${server.url}/api/v1${path}`;
    const response =
      method === 'GET' ? await fetch(`${url}?${form}`, { headers }) : await fetch(url, { method, headers, body: form });
    return response.json();
  }

  it('receives every field in the legacy format', async () => {
    const inChannel = { type: 'stream', to: 'rampart', topic: '' };
    const unread = (await desdemona.messages.send({ ...inChannel, content: 'Without a *topic*' })).id;
    const group = [people.hamlet.id, people.horatio.id];
    const toGroup = (await desdemona.messages.send({ type: 'private', to: group, content: 'Hail!' })).id;
    const toHamlet = (await desdemona.messages.send({ type: 'private', to: [people.hamlet.id], content: 'Psst.' })).id;

    const start = await terminal('POST', '/register', REGISTER);
    expect(start).toMatchObject({ result: 'success', ...NEEDED });
    expect(start).not.toHaveProperty('ignored_parameters_unsupported');
    expect(start.unread_msgs).toEqual({
      count: 3,
      pms: [
        {
          other_user_id: people.desdemona.id,
          sender_id: people.desdemona.id,
          unread_message_ids: [toHamlet],
        },
      ],
      streams: [{ stream_id: channelId, topic: 'general chat', unread_message_ids: [unread] }],
      huddles: [
        {
          user_ids_string: [...group, people.desdemona.id].sort((a, b) => a - b).join(','),
          unread_message_ids: [toGroup],
        },
      ],
      mentions: [],
      old_unreads_missing: false,
    });
    // The client does not support inherited settings.
    expect(start.subscriptions).toMatchObject([
      {
        name: 'rampart',
        subscribers: [people.hamlet.id, people.desdemona.id],
        desktop_notifications: false,
        audible_notifications: false,
        push_notifications: false,
        email_notifications: false,
        wildcard_mentions_notify: true,
      },
    ]);

    const capabilities = JSON.stringify({ notification_settings_null: true, empty_topic_name: true });
    const modern = await QueueReader.open(hamlet, { client_capabilities: capabilities });
    expect(modern.snapshot.subscriptions).toMatchObject([
      { name: 'rampart', desktop_notifications: null, wildcard_mentions_notify: null },
    ]);
    expect(modern.snapshot.unread_msgs.streams).toEqual([
      { stream_id: channelId, topic: '', unread_message_ids: [unread] },
    ]);
    for (const key of ['twenty_four_hour_time', 'pm_content_in_desktop_notifications']) {
      expect(modern.snapshot).not.toHaveProperty(key);
    }

    const page = await terminal('GET', '/messages', {
      anchor: '0',
      num_before: '30',
      num_after: '10',
      apply_markdown: 'true',
      use_first_unread_anchor: 'true',
      client_gravatar: 'true',
      narrow: '[]',
    });
    expect([page.anchor, page.found_newest]).toEqual([unread, true]);
    expect(page.messages.find(({ id }: Answer) => id === unread)).toMatchObject({ subject: 'general chat' });

    // Sends with legacy parameters; own messages are marked as read.
    const sent = await terminal('POST', '/messages', {
      type: 'stream',
      to: 'rampart',
      subject: 'general chat',
      content: 'Angels and ministers of grace defend us!',
    });
    await terminal('POST', '/messages/flags', { messages: `[${unread}]`, op: 'add', flag: 'read' });
    await desdemona.messages.send({ ...inChannel, content: '@**Hamlet** gets the event' });
    const { events } = await terminal('GET', '/events', { queue_id: start.queue_id, last_event_id: '-1' });
    expect(events).toMatchObject([
      {
        type: 'message',
        message: {
          id: sent.id,
          subject: 'general chat',
          client: 'ZulipTerminal',
          content: '<p>Angels and ministers of grace defend us!</p>',
        },
        flags: ['read'],
      },
      { type: 'update_message_flags', op: 'add', operation: 'add', flag: 'read', messages: [unread], all: false },
      { type: 'message', message: { subject: 'general chat' }, flags: ['mentioned'] },
    ]);
    // A client that requests everything receives both formats, the legacy one first.
    const heard = await modern.drain();
    expect(heard[0].message.subject).toBe('');
    expect(heard.filter(({ type }) => /topic/.test(type))).toEqual([
      { id: expect.any(Number), type: 'muted_topics', muted_topics: [] },
      {
        id: expect.any(Number),
        type: 'user_topic',
        stream_id: channelId,
        topic_name: '',
        last_updated: expect.any(Number),
        visibility_policy: 3,
      },
    ]);
  });

  it('recognizes a missing queue by the error text', async () => {
    const gone = { queue_id: '01234567-89ab-cdef-0123-456789abcdef', last_event_id: '-1' };
    expect(await terminal('GET', '/events', gone)).toEqual({
      result: 'error',
      msg: `Bad event queue id: ${gone.queue_id}`,
      code: 'BAD_EVENT_QUEUE_ID',
      queue_id: gone.queue_id,
    });
    expect((await hamlet.events.retrieve(gone)).msg).toBe(`Bad event queue ID: ${gone.queue_id}`);
  });
});
