import type { Route } from '@parley/http';
import { fieldsOf } from '../testing/expectations.js';
import { MULTIPART, multipart } from '../testing/multipart.js';
import { TestServer, type TestUser } from '../testing/test-server.js';
import { expectInStep, WireWorld as World, type WorldChannel, type WorldPerson } from '../testing/wire-world.js';

type Fields = Readonly<Record<string, unknown>>;

/** One successful call of an operation, and what clients hear of it. */
interface Scenario {
  readonly title: string;
  /** Null: nobody signed in. */
  readonly as: WorldPerson | null;
  /** Before the clients register. */
  readonly given?: ((world: World) => Promise<unknown>) | undefined;
  /** Of a form with files, instead of parameters. */
  readonly body?: Buffer;
  readonly params?: Fields | ((world: World) => Fields | Promise<Fields>);
  /** Instead of the parameters in the route's path. */
  readonly at?: (world: World) => Fields;
  /** `type/op` of every event that any client hears. */
  readonly heard: readonly string[];
}

const MESSAGE = ['message'];
/** What is not logged reaches clients that poll; these have only registered. */
const NOT_YET_THERE: readonly string[] = [];
const FLAGS_ADDED = ['update_message_flags/add'];
const FLAGS_REMOVED = ['update_message_flags/remove'];
/** A sender follows the topics they start (messages §4.4). */
const FOLLOWED = ['muted_topics', 'user_topic'];
const CREATED = ['stream/create'];
const JOINED = ['subscription/add', 'subscription/peer_add'];
const LEFT = ['subscription/peer_remove', 'subscription/remove'];
const HIDDEN = ['stream/delete'];
const UPDATED = ['update_message'];
const GONE = ['delete_message'];
const CHANGED = ['stream/update'];
/** Somebody new, or new to a guest. */
const ACQUAINTED = ['realm_user/add'];
const LOST = ['realm_user/remove'];
/** Of somebody whom a guest knows no longer. */
const OUT_OF_SIGHT = ['realm/update_dict', 'stream/update', 'user_group/remove_members', 'user_group/update'];
const ROLE = ['realm_user/update', 'user_group/add_members', 'user_group/remove_members'];

const send =
  (content: string, to: (world: World) => Fields) =>
  (world: World): Fields => ({ content, ...to(world) });
const toTown =
  (topic: string) =>
  ({ channels }: World): Fields => ({ type: 'channel', to: channels.town, topic });
const toPeople =
  (...names: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({ type: 'direct', to: names.map((name) => people[name].id) });
const mark =
  (op: string, flag: string, ...indexes: readonly number[]) =>
  ({ messages }: World): Fields => ({ op, flag, messages: indexes.map((index) => messages[index]) });
const TEXT_FILE = multipart([{ name: 'a.txt', content: 'hello' }]);
const SNIPPET = { title: 'Greeting', content: 'Hello!' };
const VIEW = { fragment: 'narrow/is/starred' };
const toUser =
  (name: WorldPerson) =>
  ({ people }: World): Fields => ({ user_id: people[name].id });
const SMILE = { emoji_name: 'smile' };
const toMessage =
  (index: number) =>
  ({ messages }: World): Fields => ({ message_id: messages[index] });
const toChannel =
  (name: WorldChannel) =>
  ({ channels }: World): Fields => ({ stream_id: channels[name] });
const everything = { anchor: 'oldest', num_before: 0, num_after: 100, narrow: [] };
const subscribing =
  (names: readonly string[], ...principals: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({
    subscriptions: names.map((name) => ({ name })),
    ...(principals.length > 0 && { principals: principals.map((name) => people[name].id) }),
  });
const leaving =
  (names: readonly string[], ...principals: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({
    subscriptions: names,
    ...(principals.length > 0 && { principals: principals.map((name) => people[name].id) }),
  });
const creating =
  (name: string, fields: Fields, ...subscribers: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({ name, subscribers: subscribers.map((each) => people[each].id), ...fields });

const LINKIFIER = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' };
const PLAYGROUND = { name: 'Play', pygments_language: 'Python', url_template: 'https://example.com/{code}' };

/** Every operation that may change something, by its route. A route without a row fails the test. */
const SCENARIOS: Readonly<Record<string, readonly Scenario[]>> = {
  'POST /messages': [
    { title: 'in a channel', as: 'iago', params: send('hello', toTown('news')), heard: MESSAGE },
    { title: 'in a new topic', as: 'hamlet', params: send('hello', toTown('plans')), heard: [...MESSAGE, ...FOLLOWED] },
    { title: 'without a topic', as: 'iago', params: send('hello', toTown('')), heard: MESSAGE },
    {
      title: 'in another spelling of a topic',
      as: 'iago',
      params: send('hello', toTown('NEWS')),
      heard: MESSAGE,
    },
    {
      title: 'with mentions',
      as: 'iago',
      params: send('@**King Hamlet** @**all** @**topic**', toTown('news')),
      heard: MESSAGE,
    },
    {
      title: 'in a channel that none of them follows',
      as: 'iago',
      params: ({ channels }) => ({ type: 'channel', to: channels.garden, topic: 'roses', content: 'hello' }),
      heard: [],
    },
    { title: 'to one person', as: 'iago', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    { title: 'to several', as: 'iago', params: send('hello', toPeople('hamlet', 'cordelia')), heard: MESSAGE },
    { title: 'to oneself', as: 'hamlet', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    {
      title: 'to a guest who did not know the sender',
      as: 'cordelia',
      params: send('hello', toPeople('stranger')),
      heard: [...MESSAGE, ...ACQUAINTED],
    },
  ],
  'POST /messages/flags': [
    { title: 'read', as: 'hamlet', params: mark('add', 'read', 0, 1, 3), heard: FLAGS_ADDED },
    {
      title: 'unread again',
      as: 'hamlet',
      given: ({ server, people }) => server.post('/mark_all_as_read', people.hamlet),
      params: mark('remove', 'read', 0, 1, 2, 3),
      heard: FLAGS_REMOVED,
    },
    { title: 'starred', as: 'hamlet', params: mark('add', 'starred', 1, 3), heard: FLAGS_ADDED },
    { title: 'starred no longer', as: 'hamlet', params: mark('remove', 'starred', 0), heard: FLAGS_REMOVED },
    {
      title: 'starred, which the person never received',
      as: 'cordelia',
      params: mark('add', 'starred', 0),
      heard: FLAGS_ADDED,
    },
    { title: 'collapsed', as: 'hamlet', params: mark('add', 'collapsed', 0), heard: FLAGS_ADDED },
  ],
  'POST /messages/flags/narrow': [
    { title: 'read', as: 'hamlet', params: { ...everything, op: 'add', flag: 'read' }, heard: FLAGS_ADDED },
    {
      title: 'unread again',
      as: 'polonius',
      params: { ...everything, op: 'remove', flag: 'read' },
      heard: FLAGS_REMOVED,
    },
  ],
  'POST /mark_all_as_read': [{ title: 'all', as: 'hamlet', heard: FLAGS_ADDED }],
  'POST /mark_stream_as_read': [
    { title: 'a channel', as: 'hamlet', params: ({ channels }) => ({ stream_id: channels.town }), heard: FLAGS_ADDED },
  ],
  'POST /mark_topic_as_read': [
    {
      title: 'a topic',
      as: 'hamlet',
      params: ({ channels }) => ({ stream_id: channels.town, topic_name: 'NEWS' }),
      heard: FLAGS_ADDED,
    },
  ],
  'POST /submessage': [
    {
      title: 'a vote',
      as: 'iago',
      params: async ({ server, channels, people }) => ({
        message_id: fieldsOf(
          await server.post('/messages', people.iago, {
            type: 'channel',
            to: channels.town,
            topic: 'news',
            content: '/poll x',
          }),
        ).id,
        msg_type: 'widget',
        content: '{"type":"vote","key":"1,1","vote":1}',
      }),
      heard: ['message', 'submessage'],
    },
  ],
  'POST /zcommand': [
    { title: 'another theme', as: 'hamlet', params: { command: '/dark' }, heard: ['user_settings/update'] },
  ],
  'POST /messages/:message_id/report': [
    {
      title: 'to the moderators',
      as: 'hamlet',
      given: ({ server, people, channels }) =>
        server.patch('/realm', people.desdemona, { moderation_request_channel_id: channels.closet }),
      at: toMessage(0),
      params: { report_type: 'spam' },
      heard: MESSAGE,
    },
  ],
  'POST /typing': [
    {
      title: 'in a channel',
      as: 'hamlet',
      params: ({ channels }) => ({ op: 'start', type: 'stream', stream_id: channels.town, topic: 'news' }),
      heard: NOT_YET_THERE,
    },
    {
      title: 'between people',
      as: 'hamlet',
      params: ({ people }) => ({ op: 'stop', to: [people.polonius.id] }),
      heard: NOT_YET_THERE,
    },
  ],
  'POST /messages/:message_id/typing': [
    {
      title: 'in a channel',
      as: 'iago',
      at: toMessage(0),
      params: { op: 'start' },
      heard: NOT_YET_THERE,
    },
  ],
  'POST /messages/:message_id/reactions': [
    { title: 'to a message in a channel', as: 'iago', at: toMessage(0), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'to one that the person never received',
      as: 'cordelia',
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/add'],
    },
    { title: 'between people', as: 'hamlet', at: toMessage(3), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'in a topic that one follows by taking part',
      as: 'hamlet',
      given: ({ server, people }) =>
        server.patch('/settings', people.hamlet, { automatically_follow_topics_policy: 1 }),
      at: toMessage(2),
      params: SMILE,
      heard: [...FOLLOWED, 'reaction/add'],
    },
  ],
  'DELETE /messages/:message_id/reactions': [
    {
      title: 'of a message in a channel',
      as: 'iago',
      given: ({ server, people, messages }) =>
        server.post(`/messages/${messages[0]}/reactions`, people.iago, { ...SMILE }),
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/remove'],
    },
  ],
  'POST /drafts': [
    { title: 'two', as: 'hamlet', given: keepDraft, params: twoDrafts, heard: ['drafts/add'] },
    { title: 'none', as: 'hamlet', given: keepDraft, params: { drafts: [] }, heard: ['drafts/add'] },
  ],
  'PATCH /drafts/:draft_id': [
    {
      title: 'another text',
      as: 'hamlet',
      given: keepDraft,
      at: () => ({ draft_id: 1 }),
      params: { draft: { type: 'private', to: [], topic: '', content: 'done', timestamp: 7 } },
      heard: ['drafts/update'],
    },
  ],
  'DELETE /drafts/:draft_id': [
    { title: 'deleted', as: 'hamlet', given: keepDraft, at: () => ({ draft_id: 1 }), heard: ['drafts/remove'] },
  ],
  'POST /user_uploads': [{ title: 'a file', as: 'hamlet', body: TEXT_FILE, heard: ['attachment/add'] }],
  'DELETE /attachments/:attachment_id': [
    {
      title: 'a file',
      as: 'hamlet',
      given: uploadFile,
      at: () => ({ attachment_id: 1 }),
      heard: ['attachment/remove'],
    },
  ],
  'POST /saved_snippets': [
    { title: 'a text', as: 'hamlet', given: saveSnippet, params: SNIPPET, heard: ['saved_snippets/add'] },
  ],
  'PATCH /saved_snippets/:saved_snippet_id': [
    {
      title: 'another title',
      as: 'hamlet',
      given: saveSnippet,
      at: () => ({ saved_snippet_id: 1 }),
      params: { title: 'Farewell' },
      heard: ['saved_snippets/update'],
    },
  ],
  'DELETE /saved_snippets/:saved_snippet_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      given: saveSnippet,
      at: () => ({ saved_snippet_id: 1 }),
      heard: ['saved_snippets/remove'],
    },
  ],
  'POST /navigation_views': [
    {
      title: 'one of their own',
      as: 'hamlet',
      given: addView,
      params: { fragment: 'narrow/is/alerted', name: 'Alerts', is_pinned: false },
      heard: ['navigation_view/add'],
    },
  ],
  'PATCH /navigation_views/*fragment': [
    {
      title: 'pinned',
      as: 'hamlet',
      given: addView,
      at: () => VIEW,
      params: { is_pinned: true },
      heard: ['navigation_view/update'],
    },
  ],
  'DELETE /navigation_views/*fragment': [
    { title: 'deleted', as: 'hamlet', given: addView, at: () => VIEW, heard: ['navigation_view/remove'] },
  ],
  'POST /users/me/muted_users/:muted_user_id': [
    {
      title: 'who has written',
      as: 'hamlet',
      at: mutedUser('iago'),
      heard: ['muted_users', 'update_message_flags/add'],
    },
  ],
  'DELETE /users/me/muted_users/:muted_user_id': [
    {
      title: 'no longer',
      as: 'hamlet',
      given: ({ server, people }) => server.post(`/users/me/muted_users/${people.iago.id}`, people.hamlet),
      at: mutedUser('iago'),
      heard: ['muted_users'],
    },
  ],
  'POST /users/me/alert_words': [
    { title: 'a word', as: 'hamlet', params: { alert_words: ['Tea'] }, heard: ['alert_words'] },
  ],
  'DELETE /users/me/alert_words': [
    {
      title: 'a word',
      as: 'hamlet',
      given: ({ server, people }) => server.post('/users/me/alert_words', people.hamlet, { alert_words: ['Tea'] }),
      params: { alert_words: ['tea'] },
      heard: ['alert_words'],
    },
  ],
  'POST /users/me/onboarding_steps': [
    {
      title: 'shown',
      as: 'hamlet',
      params: { onboarding_step: 'intro_recent_view_modal' },
      heard: ['onboarding_steps'],
    },
  ],
  'POST /users/me/status': [
    {
      title: 'a text and an emoji',
      as: 'hamlet',
      params: { status_text: 'busy', ...SMILE },
      heard: ['user_status'],
    },
    {
      title: 'away',
      as: 'hamlet',
      params: { away: true },
      heard: ['presence', 'user_settings/update', 'user_status'],
    },
    {
      title: 'none any more',
      as: 'hamlet',
      given: ({ server, people }) => server.post('/users/me/status', people.hamlet, { status_text: 'busy', ...SMILE }),
      params: { status_text: '', emoji_name: '' },
      heard: ['user_status'],
    },
  ],
  'POST /users/:user_id/status': [
    {
      title: 'of somebody whom few know',
      as: 'iago',
      at: ({ people }) => ({ user_id: people.shiva.id }),
      params: { status_text: 'busy' },
      heard: ['user_status'],
    },
  ],
  'POST /users/me/presence': [{ title: 'of who was not there', as: 'hamlet', params: { status: 'active' }, heard: [] }],
  'POST /bots': [
    {
      title: 'of one’s own',
      as: 'hamlet',
      params: { full_name: 'Another Helper', short_name: 'another', default_sending_stream: 'town' },
      heard: [...ACQUAINTED, 'user_group/add_members', 'realm_bot/add'],
    },
  ],
  'PATCH /bots/:bot_id': [
    {
      title: 'its name, address and channels',
      as: 'hamlet',
      at: ({ people }) => ({ bot_id: people.helper.id }),
      params: {
        full_name: 'Another',
        short_name: 'another',
        default_sending_stream: 'town',
        default_all_public_streams: true,
      },
      heard: ['realm_user/update', 'realm_bot/update'],
    },
    {
      title: 'its owner',
      as: 'desdemona',
      at: ({ people }) => ({ bot_id: people.helper.id }),
      params: ({ people }) => ({ bot_owner_id: people.cordelia.id }),
      heard: ['realm_user/update', 'realm_bot/add', 'realm_bot/delete'],
    },
  ],
  'DELETE /bots/:bot_id': [
    {
      title: 'that follows channels',
      as: 'hamlet',
      given: ({ server, people }) =>
        server.post('/users/me/subscriptions', people.hamlet, {
          subscriptions: [{ name: 'town' }, { name: 'closet' }],
          principals: [people.helper.id],
        }),
      at: ({ people }) => ({ bot_id: people.helper.id }),
      heard: ['realm_user/update', 'subscription/peer_remove'],
    },
  ],
  'POST /bots/:bot_id/api_key/regenerate': [
    { title: 'changes nothing', as: 'hamlet', at: ({ people }) => ({ bot_id: people.helper.id }), heard: [] },
  ],
  'POST /users/me/api_key/regenerate': [{ title: 'ends the user’s queues', as: 'shiva', heard: [] }],
  'POST /register_client_device': [{ title: 'a device', as: 'hamlet', heard: ['device/add'] }],
  'POST /remove_client_device': [
    {
      title: 'a device',
      as: 'hamlet',
      given: addDevice,
      params: async ({ server, people }) => ({ device_id: await deviceOf(server, people.hamlet) }),
      heard: ['device/remove'],
    },
  ],
  'POST /mobile_push/register': [
    {
      title: 'a key and a token, which the push service takes later',
      as: 'hamlet',
      given: (world) => {
        world.pushService.hold();
        return addDevice(world);
      },
      params: async ({ server, people }) => ({
        device_id: await deviceOf(server, people.hamlet),
        push_key_id: 7,
        push_key: Buffer.from('1'.repeat(33)).toString('base64'),
        token_kind: 'fcm',
        token_id: 'AAAAAAAAAAA=',
        bouncer_public_key: 'key',
        encrypted_push_registration: 'text',
      }),
      heard: ['device/update'],
    },
  ],
  'POST /users/me/apns_device_token': [
    { title: 'is nothing to clients', as: 'hamlet', params: { token: 'abcd', appid: 'a' }, heard: [] },
  ],
  'DELETE /users/me/apns_device_token': [
    {
      title: 'is nothing to clients',
      as: 'hamlet',
      given: ({ server, people }) =>
        server.post('/users/me/apns_device_token', people.hamlet, { token: 'abcd', appid: 'a' }),
      params: { token: 'abcd' },
      heard: [],
    },
  ],
  'POST /users/me/android_gcm_reg_id': [
    { title: 'is nothing to clients', as: 'hamlet', params: { token: 'abcd' }, heard: [] },
  ],
  'DELETE /users/me/android_gcm_reg_id': [
    {
      title: 'is nothing to clients',
      as: 'hamlet',
      given: ({ server, people }) => server.post('/users/me/android_gcm_reg_id', people.hamlet, { token: 'abcd' }),
      params: { token: 'abcd' },
      heard: [],
    },
  ],
  'POST /mobile_push/test_notification': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'POST /mobile_push/e2ee/test_notification': [
    {
      title: 'to a device that is there no more',
      as: 'hamlet',
      given: async ({ server, people, pushService }) => {
        const { realmId } = server;
        pushService.goneTokenIds.push('AAAAAAAAAAE=');
        await server.storage.uow.write(async (tx) => {
          for (const tokenId of ['AAAAAAAAAAE=', 'AAAAAAAAAAI=']) {
            const device = await tx.devices.add(realmId, people.hamlet.id);
            const key = { id: 7, key: Buffer.from('1'.repeat(33)).toString('base64') };
            await tx.devices.update({ ...device, key, tokenId, tokenKind: 'fcm' });
          }
        });
      },
      heard: ['device/remove'],
    },
  ],
  'PATCH /messages/:message_id': [
    { title: 'a text', as: 'iago', at: toMessage(0), params: { content: 'other' }, heard: UPDATED },
    {
      title: 'a text that names somebody',
      as: 'iago',
      at: toMessage(2),
      params: { content: '@**King Hamlet** @**all**' },
      heard: UPDATED,
    },
    {
      title: 'a text that no longer does',
      as: 'iago',
      at: toMessage(1),
      params: { content: 'nobody' },
      heard: UPDATED,
    },
    { title: 'between people', as: 'iago', at: toMessage(3), params: { content: 'aloud' }, heard: UPDATED },
    {
      title: 'a topic',
      as: 'iago',
      at: toMessage(1),
      params: { topic: 'plans', send_notification_to_old_thread: true },
      heard: [...UPDATED, ...MESSAGE],
    },
    {
      title: 'a topic of all messages in it, and what one wanted of it',
      as: 'iago',
      at: toMessage(0),
      params: { topic: 'plans', propagate_mode: 'change_all' },
      heard: [...UPDATED, ...FOLLOWED, ...MESSAGE],
    },
    {
      title: 'a topic that is resolved',
      as: 'iago',
      at: toMessage(0),
      params: { topic: '✔ news', propagate_mode: 'change_all' },
      heard: [...UPDATED, ...FOLLOWED, ...MESSAGE],
    },
    {
      title: 'to a channel that others follow',
      as: 'iago',
      given: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: messages.slice(0, 2), op: 'add', flag: 'starred' }),
      at: toMessage(1),
      params: ({ channels }) => ({ stream_id: channels.garden, propagate_mode: 'change_all' }),
      heard: [...UPDATED, ...GONE, ...FOLLOWED],
    },
    {
      title: 'to a channel whose history is protected',
      as: 'iago',
      at: toMessage(1),
      params: ({ channels }) => ({ stream_id: channels.closet, propagate_mode: 'change_later' }),
      heard: [...UPDATED, ...GONE, ...MESSAGE],
    },
    {
      title: 'to a private channel, whole, under another name',
      as: 'shiva',
      given: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: messages.slice(0, 2), op: 'add', flag: 'starred' }),
      at: toMessage(0),
      params: ({ channels }) => ({ stream_id: channels.archive, topic: 'old news', propagate_mode: 'change_all' }),
      heard: [...UPDATED, ...GONE, ...FOLLOWED, ...MESSAGE],
    },
    {
      title: 'out of a private channel',
      as: 'iago',
      given: async ({ server, people, channels, messages }) => {
        const params = { type: 'channel', to: channels.closet, topic: 'secret', content: 'hush' };
        messages[0] = fieldsOf(await server.post('/messages', people.iago, params)).id!;
      },
      at: toMessage(0),
      params: ({ channels }) => ({ stream_id: channels.town }),
      heard: [...UPDATED, ...MESSAGE],
    },
  ],
  'DELETE /messages/:message_id': [
    { title: 'in a channel', as: 'iago', at: toMessage(1), heard: ['delete_message'] },
    { title: 'that one has starred', as: 'desdemona', at: toMessage(0), heard: ['delete_message'] },
    { title: 'the newest one', as: 'iago', at: toMessage(2), heard: ['delete_message'] },
    { title: 'between people', as: 'iago', at: toMessage(3), heard: ['delete_message'] },
    {
      title: 'starred by somebody who never received it',
      as: 'iago',
      given: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: [messages[1]], op: 'add', flag: 'starred' }),
      at: toMessage(1),
      heard: ['delete_message'],
    },
  ],
  'POST /streams/:stream_id/delete_topic': [
    {
      title: 'with what somebody wanted of it',
      as: 'iago',
      given: ({ server, people, channels }) =>
        server.post('/messages', people.hamlet, {
          type: 'channel',
          to: channels.town,
          topic: 'plans',
          content: 'mine',
        }),
      at: ({ channels }) => ({ stream_id: channels.town }),
      params: { topic_name: 'PLANS' },
      heard: ['delete_message', ...FOLLOWED],
    },
    {
      title: 'with the first message of the channel',
      as: 'desdemona',
      at: ({ channels }) => ({ stream_id: channels.town }),
      params: { topic_name: 'channel events' },
      heard: ['delete_message', 'stream/update'],
    },
    {
      title: 'that there is not',
      as: 'iago',
      at: ({ channels }) => ({ stream_id: channels.town }),
      params: { topic_name: 'nothing' },
      heard: [],
    },
  ],
  'PUT /bot_storage': [
    { title: 'is the bot’s own business', as: 'helper', params: { storage: { key: 'value' } }, heard: [] },
  ],
  'DELETE /bot_storage': [{ title: 'is the bot’s own business', as: 'helper', heard: [] }],
  'POST /scheduled_messages': [
    {
      title: 'to a channel',
      as: 'hamlet',
      given: scheduleHello(20),
      params: later(10),
      heard: ['scheduled_messages/add'],
    },
  ],
  'PATCH /scheduled_messages/:scheduled_message_id': [
    {
      title: 'to a later time',
      as: 'hamlet',
      given: async (world) => {
        await scheduleHello(10)(world);
        await scheduleHello(20)(world);
      },
      at: () => ({ scheduled_message_id: 1 }),
      params: ({ server }) => ({ scheduled_delivery_timestamp: server.clock.now() + 30 }),
      heard: ['scheduled_messages/update'],
    },
  ],
  'DELETE /scheduled_messages/:scheduled_message_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      given: scheduleHello(10),
      at: () => ({ scheduled_message_id: 1 }),
      heard: ['scheduled_messages/remove'],
    },
  ],
  'POST /reminders': [
    { title: 'of a message', as: 'hamlet', given: remindLater(20), params: reminding(10), heard: ['reminders/add'] },
  ],
  'DELETE /reminders/:reminder_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      given: remindLater(10),
      at: () => ({ reminder_id: 1 }),
      heard: ['reminders/remove'],
    },
  ],
  'POST /messages/render': [{ title: 'changes nothing', as: 'hamlet', params: { content: '*hello*' }, heard: [] }],
  'POST /channels/create': [
    {
      title: 'a public one',
      as: 'iago',
      params: creating('attic', {}, 'hamlet', 'polonius'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'a private one',
      as: 'iago',
      params: creating('attic', { invite_only: true }, 'hamlet'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'one on the Internet',
      as: 'desdemona',
      params: creating('attic', { is_web_public: true }, 'hamlet'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
    {
      title: 'a default one',
      as: 'iago',
      params: creating('attic', { is_default_stream: true }),
      heard: [...CREATED, 'default_streams'],
    },
  ],
  'PATCH /streams/:stream_id': [
    {
      title: 'what it is called and like',
      as: 'iago',
      at: toChannel('town'),
      params: { new_name: 'city', description: '*hills*', topics_policy: 'disable_empty_topic' },
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'which folder it is in',
      as: 'hamlet',
      given: async (world) => {
        await addFolders(world);
        await hamletAdministersCloset(world);
      },
      at: toChannel('closet'),
      params: { folder_id: 2 },
      heard: CHANGED,
    },
    {
      title: 'how long it keeps messages',
      as: 'desdemona',
      at: toChannel('museum'),
      params: { message_retention_days: 30 },
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'no default channel any more',
      as: 'iago',
      at: toChannel('garden'),
      params: { is_default_stream: false },
      heard: ['default_streams'],
    },
    ...[
      ['closet', 'public', { is_private: false }, [...CREATED, 'subscription/peer_add']],
      ['closet', 'web-public', { is_private: false, is_web_public: true }, [...CREATED, 'subscription/peer_add']],
      ['closet', 'private with a shared history', { history_public_to_subscribers: true }, []],
      ['town', 'private', { is_private: true }, HIDDEN],
      ['town', 'web-public', { is_web_public: true }, [...CREATED, 'subscription/peer_add']],
      ['museum', 'public', { is_web_public: false }, HIDDEN],
      ['museum', 'private', { is_private: true, is_web_public: false }, HIDDEN],
    ].map(([channel, kind, params, more]) => ({
      title: `${channel} ${kind}`,
      as: 'desdemona' as const,
      given: channel === 'closet' ? desdemonaJoinsCloset : undefined,
      at: toChannel(channel as WorldChannel),
      params: params as Fields,
      heard: [...CHANGED, ...MESSAGE, ...(more as string[])],
    })),
    {
      title: 'public while it is archived',
      as: 'desdemona',
      given: async (world) => {
        const { server, people, channels } = world;
        await desdemonaJoinsCloset(world);
        // Nobody writes that it is public, which would be unread where clients do not know of it.
        fieldsOf(await server.patch('/realm', people.desdemona, { send_channel_events_messages: false }));
        for (const who of [people.hamlet, people.desdemona]) {
          fieldsOf(await server.post('/mark_stream_as_read', who, { stream_id: channels.closet }));
        }
        fieldsOf(await server.delete(`/streams/${channels.closet}`, people.desdemona));
      },
      at: toChannel('closet'),
      params: { is_private: false },
      heard: [...CHANGED, ...CREATED, 'subscription/peer_add'],
    },
    {
      title: 'who may post',
      as: 'iago',
      at: toChannel('town'),
      params: async (world) => ({ can_send_message_group: { new: (await systemGroups(world)).administrators } }),
      heard: [...CHANGED, ...MESSAGE],
    },
    {
      title: 'who may see and join it',
      as: 'hamlet',
      given: hamletAdministersCloset,
      at: toChannel('closet'),
      params: ({ people: { cordelia, polonius } }) => ({
        can_subscribe_group: { new: { direct_members: [cordelia.id, polonius.id], direct_subgroups: [] } },
      }),
      heard: [...CHANGED, ...CREATED, 'subscription/peer_add'],
    },
    {
      title: 'who may see and join it no longer',
      as: 'hamlet',
      given: async (world) => {
        const { server, people, channels } = world;
        await hamletAdministersCloset(world);
        fieldsOf(
          await server.patch(`/streams/${channels.closet}`, people.hamlet, {
            can_subscribe_group: { new: { direct_members: [people.cordelia.id], direct_subgroups: [] } },
          }),
        );
      },
      at: toChannel('closet'),
      params: async (world) => ({ can_subscribe_group: { new: (await systemGroups(world)).nobody } }),
      heard: [...CHANGED, ...HIDDEN],
    },
    {
      title: 'in use again',
      as: 'iago',
      given: ({ server, people, channels }) => server.delete(`/streams/${channels.museum}`, people.iago),
      at: toChannel('museum'),
      params: { is_archived: false },
      heard: [...CHANGED, ...CREATED, ...JOINED, ...MESSAGE],
    },
  ],
  'DELETE /streams/:stream_id': [
    {
      title: 'one that anybody sees',
      as: 'iago',
      // What is unread in an archived channel is counted for clients that do not know of it, too.
      given: async ({ server, people, channels }) => {
        fieldsOf(await server.post('/mark_stream_as_read', people.hamlet, { stream_id: channels.museum }));
        const group = { group_name: 'indoors', description: 'd', stream_names: ['museum', 'town'] };
        fieldsOf(await server.post('/default_stream_groups/create', people.iago, group));
      },
      at: toChannel('museum'),
      heard: [...CHANGED, ...HIDDEN, ...MESSAGE, 'default_stream_groups'],
    },
    {
      title: 'a default one where newcomers are announced',
      as: 'desdemona',
      given: ({ server, people, channels }) =>
        server.patch('/realm', people.desdemona, {
          new_stream_announcements_stream_id: channels.garden,
          signup_announcements_stream_id: channels.garden,
        }),
      at: toChannel('garden'),
      heard: ['default_streams', 'realm/update_dict', ...CHANGED, ...HIDDEN],
    },
  ],
  'POST /default_streams': [
    {
      title: 'a public one',
      as: 'iago',
      params: ({ channels }) => ({ stream_id: channels.town }),
      heard: ['default_streams'],
    },
  ],
  'DELETE /default_streams': [
    {
      title: 'a default one',
      as: 'iago',
      params: ({ channels }) => ({ stream_id: channels.garden }),
      heard: ['default_streams'],
    },
  ],
  'POST /default_stream_groups/create': [
    {
      title: 'of channels',
      as: 'iago',
      params: { group_name: 'outdoors', description: 'd', stream_names: ['town', 'museum'] },
      heard: ['default_stream_groups'],
    },
  ],
  'PATCH /default_stream_groups/:group_id': [
    {
      title: 'what it is called',
      as: 'iago',
      given: addGroup,
      at: () => ({ group_id: 1 }),
      params: { new_group_name: 'inside' },
      heard: ['default_stream_groups'],
    },
  ],
  'PATCH /default_stream_groups/:group_id/streams': [
    {
      title: 'with one more',
      as: 'iago',
      given: addGroup,
      at: () => ({ group_id: 1 }),
      params: { op: 'add', stream_names: ['museum'] },
      heard: ['default_stream_groups'],
    },
  ],
  'DELETE /default_stream_groups/:group_id': [
    {
      title: 'the only one',
      as: 'iago',
      given: addGroup,
      at: () => ({ group_id: 1 }),
      heard: ['default_stream_groups'],
    },
  ],
  'POST /channel_folders/create': [
    {
      title: 'beside another',
      as: 'iago',
      given: addFolders,
      params: { name: 'third', description: '*d*' },
      heard: ['channel_folder/add'],
    },
  ],
  'PATCH /channel_folders': [
    {
      title: 'the other way round',
      as: 'iago',
      given: addFolders,
      params: { order: [2, 99, 1] },
      heard: ['channel_folder/reorder'],
    },
  ],
  'PATCH /channel_folders/:channel_folder_id': [
    {
      title: 'in every way',
      as: 'iago',
      given: addFolders,
      at: () => ({ channel_folder_id: 1 }),
      params: { name: 'changed', description: '*c*', is_archived: true },
      heard: ['channel_folder/update'],
    },
  ],
  'POST /users/me/subscriptions': [
    { title: 'to a public channel', as: 'cordelia', params: subscribing(['town']), heard: [...JOINED, ...ACQUAINTED] },
    {
      title: 'to an archived channel',
      as: 'hamlet',
      given: ({ server, people, channels }) => server.delete(`/streams/${channels.garden}`, people.iago),
      params: subscribing(['garden']),
      heard: JOINED,
    },
    { title: 'again', as: 'hamlet', given: leaveTown, params: subscribing(['town']), heard: JOINED },
    {
      title: 'of others, to a private channel',
      as: 'hamlet',
      params: subscribing(['closet', 'archive'], 'cordelia', 'polonius'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'of a guest who knew nobody',
      as: 'iago',
      params: subscribing(['town', 'garden'], 'stranger'),
      heard: [...CREATED, ...JOINED, ...ACQUAINTED, ...MESSAGE],
    },
    {
      title: 'to new channels',
      as: 'hamlet',
      params: subscribing(['attic', 'cellar'], 'hamlet', 'polonius'),
      heard: [...CREATED, ...JOINED, ...MESSAGE],
    },
  ],
  'PATCH /users/me/subscriptions': [
    {
      title: 'to a new channel, and away from another',
      as: 'hamlet',
      params: { add: [{ name: 'attic' }], delete: ['museum'] },
      heard: [...CREATED, ...JOINED, ...LEFT, ...FLAGS_ADDED, ...MESSAGE],
    },
  ],
  'POST /users/me/subscriptions/properties': [
    {
      title: 'of everything',
      as: 'hamlet',
      params: ({ channels }) => ({
        subscription_data: Object.entries({
          color: '#c0ffee',
          is_muted: true,
          pin_to_top: true,
          desktop_notifications: true,
          audible_notifications: false,
          push_notifications: true,
          email_notifications: false,
          wildcard_mentions_notify: true,
        }).map(([property, value]) => ({ stream_id: channels.town, property, value })),
      }),
      heard: ['subscription/update'],
    },
  ],
  'PATCH /users/me/subscriptions/:stream_id': [
    {
      title: 'of whether it is muted',
      as: 'polonius',
      at: toChannel('town'),
      params: { property: 'in_home_view', value: 'false' },
      heard: ['subscription/update'],
    },
  ],
  'PATCH /users/me/subscriptions/muted_topics': [
    {
      title: 'of a topic',
      as: 'polonius',
      params: { stream: 'town', topic: 'NEWS', op: 'add' },
      heard: FOLLOWED,
    },
  ],
  'POST /user_topics': [
    {
      title: 'of a topic, and of no topic any more',
      as: 'hamlet',
      given: ({ server, people, channels }) =>
        server.post('/user_topics', people.hamlet, { stream_id: channels.town, topic: 'News', visibility_policy: 1 }),
      params: ({ channels }) => ({ stream_id: channels.town, topic: 'NEWS', visibility_policy: 3 }),
      heard: FOLLOWED,
    },
    {
      title: 'of one that is not muted any more',
      as: 'hamlet',
      given: ({ server, people, channels }) =>
        server.post('/user_topics', people.hamlet, { stream_id: channels.town, topic: '', visibility_policy: 1 }),
      params: ({ channels }) => ({ stream_id: channels.town, topic: 'general chat', visibility_policy: 0 }),
      heard: FOLLOWED,
    },
  ],
  'DELETE /users/me/subscriptions': [
    { title: 'of a public channel', as: 'hamlet', params: leaving(['town']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'of a private channel',
      as: 'hamlet',
      params: leaving(['closet', 'archive']),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    { title: 'of a guest', as: 'polonius', params: leaving(['town']), heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED] },
    { title: 'of one that anybody sees', as: 'hamlet', params: leaving(['museum']), heard: [...LEFT, ...FLAGS_ADDED] },
    {
      title: 'of others',
      as: 'iago',
      params: leaving(['town'], 'hamlet', 'polonius'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED],
    },
    {
      title: 'of guests who know each other by it',
      as: 'iago',
      given: ({ server, people }) =>
        server.post('/users/me/subscriptions', people.iago, {
          subscriptions: [{ name: 'town' }],
          principals: [people.stranger.id],
        }),
      params: leaving(['town'], 'polonius', 'stranger'),
      heard: [...LEFT, ...HIDDEN, ...FLAGS_ADDED, 'realm_user/remove'],
    },
  ],
  'POST /users': [
    {
      title: 'a member',
      as: 'desdemona',
      params: { email: 'yorick@zulip.com', password: 'alas, poor yorick 1601', full_name: 'Yorick' },
      heard: [...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'DELETE /users/:user_id': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      given: spellOut('shiva'),
      at: toUser('shiva'),
      heard: ['realm_user/update', ...LOST, 'subscription/peer_remove', ...OUT_OF_SIGHT],
    },
  ],
  'DELETE /users/me': [
    {
      title: 'the owner of a bot',
      as: 'shiva',
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'POST /users/:user_id/reactivate': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      given: async (world) => {
        await spellOut('shiva')(world);
        fieldsOf(await world.server.delete(`/users/${world.people.shiva.id}`, world.people.iago));
      },
      at: toUser('shiva'),
      heard: [
        'realm/update_dict',
        'realm_user/update',
        ...ACQUAINTED,
        'stream/update',
        'subscription/peer_add',
        'user_group/add_members',
        'user_group/update',
      ],
    },
    {
      title: 'somebody whose role changed meanwhile',
      as: 'iago',
      given: async ({ server, people: { iago, shiva } }) => {
        fieldsOf(await server.delete(`/users/${shiva.id}`, iago));
        fieldsOf(await server.patch(`/users/${shiva.id}`, iago, { role: 400 }));
      },
      at: toUser('shiva'),
      heard: ['realm_user/update', 'subscription/peer_add', 'user_group/add_members', 'user_group/remove_members'],
    },
  ],
  'PATCH /users/:user_id': [
    {
      title: 'a name',
      as: 'iago',
      at: toUser('hamlet'),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
    { title: 'a role', as: 'iago', at: toUser('hamlet'), params: { role: 300 }, heard: ROLE },
    {
      title: 'the same for less',
      as: 'iago',
      at: toUser('hamlet'),
      params: { role: 600 },
      heard: [...ROLE, ...HIDDEN, ...LOST, 'default_streams'],
    },
    {
      title: 'that of a guest who knew few',
      as: 'iago',
      at: toUser('stranger'),
      params: { role: 400 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add', ...ACQUAINTED, 'default_streams'],
    },
    {
      title: 'to administrator',
      as: 'desdemona',
      at: toUser('cordelia'),
      params: { role: 200 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add'],
    },
  ],
  'PATCH /users/:email': [
    {
      title: 'a name',
      as: 'iago',
      at: ({ people }) => ({ email: people.hamlet.email }),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
  ],
  'POST /user_groups/create': [
    {
      title: 'with members and subgroups',
      as: 'iago',
      params: async (world) => ({
        name: 'cast',
        description: 'On stage',
        members: [world.people.hamlet.id, world.people.polonius.id],
        subgroups: [(await systemGroups(world)).moderators],
        can_mention_group: { direct_members: [world.people.hamlet.id], direct_subgroups: [] },
      }),
      heard: ['user_group/add', 'user_group/add_subgroups'],
    },
  ],
  'PATCH /user_groups/:user_group_id': [
    {
      title: 'name and permissions',
      as: 'iago',
      given: makeGroup(),
      at: toGroup,
      params: async (world) => ({
        name: 'crew',
        description: 'Behind the stage',
        can_join_group: { new: (await systemGroups(world)).members },
      }),
      heard: ['user_group/update'],
    },
    {
      title: 'one that is not in use',
      as: 'iago',
      given: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { name: 'crew' },
      heard: ['user_group/update'],
    },
    {
      title: 'that it is back in use',
      as: 'iago',
      given: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { deactivated: false },
      heard: ['user_group/add', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/deactivate': [
    {
      title: 'one with members',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      heard: ['user_group/remove', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/members': [
    {
      title: 'coming and going',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      params: ({ people }) => ({ add: [people.cordelia.id, people.stranger.id], delete: [people.hamlet.id] }),
      heard: ['user_group/add_members', 'user_group/remove_members', ...MESSAGE],
    },
    {
      title: 'to whom it opens channels, and rights',
      as: 'iago',
      given: letGroupSeeChannel(),
      at: toGroup,
      params: async (world) => ({
        add: [world.people.cordelia.id],
        add_subgroups: [(await systemGroups(world)).members],
      }),
      heard: ['user_group/add_members', 'user_group/add_subgroups', ...CREATED, 'subscription/peer_add', ...MESSAGE],
    },
    {
      title: 'to whom it closes them',
      as: 'iago',
      given: letGroupSeeChannel('hamlet', 'cordelia'),
      at: toGroup,
      params: ({ people }) => ({ delete: [people.hamlet.id, people.cordelia.id] }),
      heard: ['user_group/remove_members', ...HIDDEN, ...MESSAGE],
    },
  ],
  'POST /user_groups/:user_group_id/subgroups': [
    {
      title: 'a role',
      as: 'iago',
      given: makeGroup('hamlet'),
      at: toGroup,
      params: async (world) => ({ add: [(await systemGroups(world)).owners] }),
      heard: ['user_group/add_subgroups'],
    },
  ],
  'POST /realm/profile_fields': [
    {
      title: 'one with choices',
      as: 'iago',
      params: { field_type: 3, name: 'Editor', field_data: { vim: { text: 'VIM', order: '1' } } },
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields': [
    {
      title: 'their order',
      as: 'iago',
      given: addFields,
      params: async (world) => ({ order: [...(await fieldIds(world))].reverse() }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /realm/profile_fields/:field_id': [
    {
      title: 'a name',
      as: 'iago',
      given: addFields,
      at: () => ({ field_id: 1 }),
      params: { name: 'Motto', display_in_profile_summary: true },
      heard: ['custom_profile_fields'],
    },
  ],
  'DELETE /realm/profile_fields/:field_id': [
    {
      title: 'with what was said in it',
      as: 'iago',
      given: addFields,
      at: () => ({ field_id: 1 }),
      heard: ['custom_profile_fields'],
    },
  ],
  'PATCH /users/me/profile_data': [
    {
      title: 'new and other values',
      as: 'hamlet',
      given: addFields,
      params: async (world) => {
        const [quote, birthday] = await fieldIds(world);
        return {
          data: [
            { id: quote, value: 'To be, *or* not to be' },
            { id: birthday, value: '1601-01-01' },
          ],
        };
      },
      heard: ['realm_user/update'],
    },
  ],
  'DELETE /users/me/profile_data': [
    {
      title: 'a value',
      as: 'hamlet',
      given: addFields,
      params: async (world) => ({ data: await fieldIds(world) }),
      heard: ['realm_user/update'],
    },
  ],
  'PATCH /settings': [
    {
      title: 'their own',
      as: 'hamlet',
      params: { twenty_four_hour_time: true, color_scheme: 2, enable_drafts_synchronization: false },
      heard: ['user_settings/update'],
    },
    {
      title: 'that drafts stay off the server',
      as: 'hamlet',
      given: keepDraft,
      params: { enable_drafts_synchronization: false },
      heard: ['user_settings/update'],
    },
    { title: 'a language', as: 'hamlet', params: { default_language: 'de' }, heard: ['user_settings/update'] },
    {
      title: 'whether others see when they are there',
      as: 'hamlet',
      params: { presence_enabled: false },
      heard: ['presence', 'user_settings/update'],
    },
    { title: 'a name', as: 'hamlet', params: { full_name: 'Prince Hamlet' }, heard: ['realm_user/update'] },
    {
      title: 'a time zone',
      as: 'hamlet',
      params: { timezone: 'Europe/Copenhagen' },
      heard: ['realm_user/update', 'user_settings/update'],
    },
    {
      title: 'who sees the address',
      as: 'hamlet',
      params: { email_address_visibility: 4 },
      heard: ['realm_user/update', 'user_settings/update'],
    },
  ],
  'PATCH /settings/display': [
    { title: 'their own', as: 'hamlet', params: { color_scheme: 2 }, heard: ['user_settings/update'] },
  ],
  'PATCH /settings/notifications': [
    { title: 'their own', as: 'hamlet', params: { enable_sounds: false }, heard: ['user_settings/update'] },
  ],
  'PATCH /realm/user_settings_defaults': [
    {
      title: 'of newcomers',
      as: 'desdemona',
      params: { color_scheme: 2, enable_sounds: false },
      heard: ['realm_user_settings_defaults/update'],
    },
  ],
  'PATCH /realm': [
    { title: 'a name', as: 'desdemona', params: { name: 'Elsinore' }, heard: ['realm/update'] },
    { title: 'a description', as: 'desdemona', params: { description: '*Denmark*' }, heard: ['realm/update_dict'] },
    {
      title: 'limits',
      as: 'desdemona',
      params: {
        message_content_edit_limit_seconds: 60,
        allow_message_editing: true,
        topics_policy: 'disable_empty_topic',
      },
      heard: ['realm/update_dict'],
    },
    {
      title: 'history',
      as: 'desdemona',
      params: { message_edit_history_visibility_policy: 'none' },
      heard: ['realm/update_dict'],
    },
    {
      title: 'ways to sign in',
      as: 'desdemona',
      params: { authentication_methods: { Email: false, Dev: true } },
      heard: ['realm/update_dict'],
    },
    {
      title: 'permissions',
      as: 'desdemona',
      params: async (world) => {
        const { moderators, administrators, nobody } = await systemGroups(world);
        return {
          can_create_public_channel_group: { new: moderators },
          can_create_private_channel_group: { new: administrators },
          can_invite_users_group: { new: administrators },
          can_mention_many_users_group: { new: nobody },
        };
      },
      heard: ['realm/update_dict'],
    },
    {
      title: 'whom guests know, who knew few',
      as: 'desdemona',
      params: async (world) => ({ can_access_all_users_group: { new: (await systemGroups(world)).everyone } }),
      heard: ['realm/update_dict', ...ACQUAINTED],
    },
    {
      title: 'whom guests know, who knew everybody',
      as: 'desdemona',
      given: async (world) => {
        const everyone = (await systemGroups(world)).everyone;
        const params = { can_access_all_users_group: { new: everyone } };
        return world.server.patch('/realm', world.people.desdemona, params);
      },
      params: async (world) => ({ can_access_all_users_group: { new: (await systemGroups(world)).members } }),
      heard: ['realm/update_dict', ...LOST],
    },
    {
      title: 'a jitsi server',
      as: 'desdemona',
      params: { jitsi_server_url: '"https://jitsi.example.com"' },
      heard: ['realm/update'],
    },
  ],
  'POST /realm/deactivate': [],
  // None of them can be configured.
  'POST /calls/zoom/create': [],
  'POST /calls/constructorgroups/create': [],
  'POST /calls/nextcloud_talk/create': [],
  'POST /calls/webex/create': [],
  'POST /invites/multiuse': [{ title: 'a link', as: 'desdemona', heard: ['invites_changed'] }],
  'POST /invites': [
    {
      title: 'somebody',
      as: 'hamlet',
      params: { invitee_emails: 'yorick@example.com', stream_ids: [] },
      heard: ['invites_changed'],
    },
  ],
  'POST /invites/:invite_id/resend': [
    { title: 'a letter', as: 'hamlet', given: inviteYorick, at: () => ({ invite_id: 1 }), heard: [] },
  ],
  'DELETE /invites/:invite_id': [
    {
      title: 'a letter',
      as: 'hamlet',
      given: inviteYorick,
      at: () => ({ invite_id: 1 }),
      heard: ['invites_changed'],
    },
  ],
  'DELETE /invites/multiuse/:invite_id': [
    {
      title: 'a link',
      as: 'iago',
      given: makeLink,
      at: () => ({ invite_id: 1 }),
      heard: ['invites_changed'],
    },
  ],
  'POST /invites/accept': [
    {
      title: 'by a link into channels with a history',
      as: null,
      given: makeLink,
      params: async ({ server, people }) => {
        const { invites } = fieldsOf(await server.get('/invites', people.iago)) as unknown as {
          invites: { link_url: string }[];
        };
        return {
          key: invites[0]!.link_url.split('/').at(-2)!,
          email: 'yorick@example.com',
          full_name: 'Yorick',
          password: 'alas, poor yorick 1601',
        };
      },
      heard: [...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'POST /realm/test_welcome_bot_custom_message': [
    { title: 'to oneself', as: 'desdemona', params: { welcome_message_custom_text: 'Hi' }, heard: MESSAGE },
  ],
  'POST /realm/domains': [
    {
      title: 'a domain',
      as: 'desdemona',
      params: { domain: 'example.com', allow_subdomains: true },
      heard: ['realm_domains/add'],
    },
  ],
  'PATCH /realm/domains/:domain': [
    {
      title: 'a domain',
      as: 'desdemona',
      given: addDomain,
      at: () => ({ domain: 'example.com' }),
      params: { allow_subdomains: true },
      heard: ['realm_domains/change'],
    },
  ],
  'DELETE /realm/domains/:domain': [
    {
      title: 'the last one',
      as: 'desdemona',
      given: async (world) => {
        await addDomain(world);
        await world.server.patch('/realm', world.people.desdemona, { emails_restricted_to_domains: true });
      },
      at: () => ({ domain: 'example.com' }),
      heard: ['realm/update', 'realm_domains/remove'],
    },
  ],
  'POST /realm/filters': [{ title: 'a linkifier', as: 'iago', params: LINKIFIER, heard: ['realm_linkifiers'] }],
  'PATCH /realm/filters/:filter_id': [
    {
      title: 'a linkifier',
      as: 'iago',
      given: addLinkifier,
      at: () => ({ filter_id: 1 }),
      params: { ...LINKIFIER, url_template: 'https://example.org/{id}' },
      heard: ['realm_linkifiers'],
    },
  ],
  'DELETE /realm/filters/:filter_id': [
    {
      title: 'a linkifier',
      as: 'iago',
      given: addLinkifier,
      at: () => ({ filter_id: 1 }),
      heard: ['realm_linkifiers'],
    },
  ],
  'PATCH /realm/linkifiers': [
    {
      title: 'an order',
      as: 'iago',
      given: addLinkifier,
      params: { ordered_linkifier_ids: [1] },
      heard: ['realm_linkifiers'],
    },
  ],
  'POST /realm/playgrounds': [{ title: 'a playground', as: 'iago', params: PLAYGROUND, heard: ['realm_playgrounds'] }],
  'DELETE /realm/playgrounds/:playground_id': [
    {
      title: 'a playground',
      as: 'iago',
      given: ({ server, people }) => server.post('/realm/playgrounds', people.iago, PLAYGROUND),
      at: () => ({ playground_id: 1 }),
      heard: ['realm_playgrounds'],
    },
  ],
  'POST /register': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'DELETE /events': [
    {
      title: 'changes nothing',
      as: 'hamlet',
      params: async ({ server, people }) => {
        const { queue_id } = fieldsOf(await server.post('/register', people.hamlet, { event_types: [] }));
        return { queue_id };
      },
      heard: [],
    },
  ],
  'POST /fetch_api_key': [
    {
      title: 'changes nothing',
      as: null,
      params: ({ people: { hamlet } }) => ({ username: hamlet.email, password: hamlet.password }),
      heard: [],
    },
  ],
  'POST /dev_fetch_api_key': [
    { title: 'changes nothing', as: null, params: ({ people }) => ({ username: people.hamlet.email }), heard: [] },
  ],
};

const systemGroups = ({ server }: World) =>
  server.storage.uow.read(({ groups }) => groups.systemGroupIds(server.realmId));

async function desdemonaJoinsCloset({ server, people }: World): Promise<void> {
  fieldsOf(
    await server.post('/users/me/subscriptions', people.hamlet, {
      subscriptions: [{ name: 'closet' }],
      principals: [people.desdemona.id],
    }),
  );
}

async function hamletAdministersCloset({ server, people, channels }: World): Promise<void> {
  fieldsOf(
    await server.patch(`/streams/${channels.closet}`, people.desdemona, {
      can_administer_channel_group: { new: { direct_members: [people.hamlet.id], direct_subgroups: [] } },
    }),
  );
}

/** The newest group: `makeGroup` has made it. */
const madeGroups = new WeakMap<World, number>();
function toGroup(world: World): Fields {
  return { user_group_id: madeGroups.get(world) };
}
function makeGroup(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const params = { name: 'cast', description: '', members: members.map((name) => people[name].id) };
    madeGroups.set(world, fieldsOf(await server.post('/user_groups/create', people.iago, params)).group_id!);
  };
}
/** Such a group, whose members see a channel and make others. */
function letGroupSeeChannel(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    await makeGroup(...members)(world);
    const group = madeGroups.get(world);
    const params = { name: 'stage', subscribers: [people.iago.id], invite_only: true, can_subscribe_group: group };
    fieldsOf(await server.post('/channels/create', people.desdemona, params));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_private_channel_group: { new: group } }));
  };
}

/** Puts somebody into the town, where a guest is, and into permissions of everything by name. */
function spellOut(name: WorldPerson): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const value = { direct_members: [people[name].id, people.hamlet.id], direct_subgroups: [] };
    const subscribed = { subscriptions: [{ name: 'town' }], principals: [people[name].id] };
    fieldsOf(await server.post('/users/me/subscriptions', people.iago, subscribed));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    fieldsOf(
      await server.patch(`/streams/${world.channels.town}`, people.iago, { can_send_message_group: { new: value } }),
    );
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    const params = { name: 'named', description: '', members: [people[name].id], can_join_group: value };
    fieldsOf(await server.post('/user_groups/create', people[name], params));
  };
}

/** A quote and a birthday; Hamlet has the first. */
async function addFields({ server, people }: World): Promise<void> {
  for (const params of [
    { field_type: 1, name: 'Quote' },
    { field_type: 4, name: 'Birthday' },
  ]) {
    fieldsOf(await server.post('/realm/profile_fields', people.iago, params));
  }
  const data = [{ id: 1, value: 'Words' }];
  fieldsOf(await server.patch('/users/me/profile_data', people.hamlet, { data }));
}
async function fieldIds({ server, people }: World): Promise<number[]> {
  const { custom_fields } = fieldsOf(await server.get('/realm/profile_fields', people.iago));
  return (custom_fields as unknown as { id: number }[]).map(({ id }) => id);
}

function addDevice({ server, people }: World): Promise<unknown> {
  return server.post('/register_client_device', people.hamlet);
}

async function deviceOf(server: TestServer, who: TestUser): Promise<number> {
  const { devices } = fieldsOf(await server.post('/register', who, { fetch_event_types: ['device'] }));
  return Number(Object.keys(devices!)[0]);
}

async function addFolders({ server, people }: World): Promise<void> {
  for (const name of ['first', 'second']) fieldsOf(await server.post('/channel_folders/create', people.iago, { name }));
}

async function addGroup({ server, people }: World): Promise<void> {
  const params = { group_name: 'outdoors', description: 'd', stream_names: ['town'] };
  fieldsOf(await server.post('/default_stream_groups/create', people.iago, params));
}

function leaveTown({ server, people }: World): Promise<unknown> {
  return server.delete('/users/me/subscriptions', people.hamlet, { subscriptions: ['town'] });
}

function inviteYorick({ server, people }: World): Promise<unknown> {
  return server.post('/invites', people.hamlet, { invitee_emails: 'yorick@example.com', stream_ids: [] });
}
function makeLink({ server, people, channels }: World): Promise<unknown> {
  return server.post('/invites/multiuse', people.iago, { stream_ids: [channels.town] });
}
function addDomain({ server, people }: World): Promise<unknown> {
  return server.post('/realm/domains', people.desdemona, { domain: 'example.com', allow_subdomains: false });
}
function addLinkifier({ server, people }: World): Promise<unknown> {
  return server.post('/realm/filters', people.iago, LINKIFIER);
}
function mutedUser(name: WorldPerson) {
  return ({ people }: World): Fields => ({ muted_user_id: people[name].id });
}
function twoDrafts({ channels }: World): Fields {
  const draft = { type: 'stream', to: [channels.town], topic: 'news', content: 'to be continued' };
  return { drafts: [draft, { ...draft, timestamp: 5 }] };
}
function keepDraft(world: World): Promise<unknown> {
  return world.server.post('/drafts', world.people.hamlet, twoDrafts(world));
}
function uploadFile({ server, people }: World): Promise<unknown> {
  return server.request('POST', '/user_uploads', { as: people.hamlet, body: TEXT_FILE, headers: MULTIPART });
}
function saveSnippet({ server, people }: World): Promise<unknown> {
  return server.post('/saved_snippets', people.hamlet, SNIPPET);
}
function addView({ server, people }: World): Promise<unknown> {
  return server.post('/navigation_views', people.hamlet, { ...VIEW, is_pinned: false });
}
function later(seconds: number) {
  return (world: World): Fields => ({
    ...toTown('news')(world),
    content: 'hello',
    scheduled_delivery_timestamp: world.server.clock.now() + seconds,
  });
}
function scheduleHello(seconds: number) {
  return (world: World): Promise<unknown> =>
    world.server.post('/scheduled_messages', world.people.hamlet, later(seconds)(world));
}
function reminding(seconds: number) {
  return ({ server, messages }: World): Fields => ({
    message_id: messages[0],
    scheduled_delivery_timestamp: server.clock.now() + seconds,
  });
}
function remindLater(seconds: number) {
  return (world: World): Promise<unknown> =>
    world.server.post('/reminders', world.people.hamlet, reminding(seconds)(world));
}

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
const rows = Object.entries(SCENARIOS).flatMap(([route, scenarios]) =>
  scenarios.map((scenario) => [route, scenario.title, scenario] as const),
);

/** Events §9: the register answer, with the events that came since, is what a fresh register answers. */
describe('clients stay in step with the server', () => {
  it('in scenarios of every operation that may change something', async () => {
    const server = await TestServer.start();
    const changing = server.parley.routes.filter(({ method }) => method !== 'GET').map(nameOf);
    await server.close();
    expect(Object.keys(SCENARIOS).sort()).toEqual([...new Set(changing)].sort());
  });

  it.each(rows)('%s: %s', async (route, _, { as, given, params, body, at, heard }) => {
    const world = await World.open();
    try {
      await given?.(world);
      const clients = await world.observe();
      const [method, path] = route.split(' ') as [string, string];
      const place = at?.(world) ?? {};
      const reply = await world.server.request(
        method,
        path.replace(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(String(place[name]))),
        {
          as: as && world.people[as],
          ...(body
            ? { body, headers: MULTIPART }
            : { params: (typeof params === 'function' ? await params(world) : params) ?? {} }),
        },
      );
      expect(reply).toMatchObject({ status: 200, body: { result: 'success' } });
      await expectInStep(clients);
      const told = new Set([...clients.values()].flatMap((client) => [...client.heard]));
      expect([...told].sort()).toEqual([...new Set(heard)].sort());
    } finally {
      await world.close();
    }
  });
});
