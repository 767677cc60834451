import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';
import {
  ACQUAINTED,
  type Fields,
  FLAGS_ADDED,
  FOLLOWED,
  MESSAGE,
  type Scenarios,
  toMessage,
  toTown,
} from './scenario.js';

const FLAGS_REMOVED = ['update_message_flags/remove'];

const UPDATED = ['update_message'];

const GONE = ['delete_message'];

const send =
  (content: string, to: (world: World) => Fields) =>
  (world: World): Fields => ({ content, ...to(world) });

const toPeople =
  (...names: readonly WorldPerson[]) =>
  ({ people }: World): Fields => ({ type: 'direct', to: names.map((name) => people[name].id) });

const mark =
  (op: string, flag: string, ...indexes: readonly number[]) =>
  ({ messages }: World): Fields => ({ op, flag, messages: indexes.map((index) => messages[index]) });

const everything = { anchor: 'oldest', num_before: 0, num_after: 100, narrow: [] };

export const MESSAGES_SCENARIOS: Scenarios = {
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
      as: 'shiva',
      prepare: ({ server, people }) =>
        server.delete('/users/me/subscriptions', people.iago, { subscriptions: ['garden'] }),
      params: ({ channels }) => ({ type: 'channel', to: channels.garden, topic: 'roses', content: 'hello' }),
      heard: [],
    },
    { title: 'to one person', as: 'iago', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    { title: 'to several', as: 'iago', params: send('hello', toPeople('hamlet', 'cordelia')), heard: MESSAGE },
    { title: 'to oneself', as: 'hamlet', params: send('hello', toPeople('hamlet')), heard: MESSAGE },
    {
      title: 'to a guest who did not know the sender',
      as: 'cordelia',
      params: send('hello', toPeople('lonelyGuest')),
      heard: [...MESSAGE, ...ACQUAINTED],
    },
  ],
  'POST /messages/flags': [
    { title: 'read', as: 'hamlet', params: mark('add', 'read', 0, 1, 3), heard: FLAGS_ADDED },
    {
      title: 'unread again',
      as: 'hamlet',
      prepare: ({ server, people }) => server.post('/mark_all_as_read', people.hamlet),
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
      prepare: ({ server, people, channels }) =>
        server.patch('/realm', people.desdemona, { moderation_request_channel_id: channels.closet }),
      at: toMessage(0),
      params: { report_type: 'spam' },
      heard: MESSAGE,
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
      title: 'to a channel to which others are subscribed',
      as: 'iago',
      prepare: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: messages.slice(0, 2), op: 'add', flag: 'starred' }),
      at: toMessage(1),
      params: ({ channels }) => ({ stream_id: channels.garden, propagate_mode: 'change_all' }),
      heard: [...UPDATED, ...GONE, ...FOLLOWED, ...MESSAGE],
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
      prepare: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: messages.slice(0, 2), op: 'add', flag: 'starred' }),
      at: toMessage(0),
      params: ({ channels }) => ({ stream_id: channels.archive, topic: 'old news', propagate_mode: 'change_all' }),
      heard: [...UPDATED, ...GONE, ...FOLLOWED, ...MESSAGE],
    },
    {
      title: 'out of a private channel',
      as: 'iago',
      prepare: async ({ server, people, channels, messages }) => {
        const params = { type: 'channel', to: channels.closet, topic: 'secret', content: 'hush' };
        messages[0] = fieldsOf(await server.post('/messages', people.iago, params)).id!;
      },
      at: toMessage(0),
      params: ({ channels }) => ({ stream_id: channels.town }),
      heard: [...UPDATED, ...MESSAGE, ...FOLLOWED],
    },
  ],
  'DELETE /messages/:message_id': [
    { title: 'in a channel', as: 'iago', at: toMessage(1), heard: ['delete_message'] },
    { title: 'a starred message', as: 'desdemona', at: toMessage(0), heard: ['delete_message'] },
    { title: 'the newest one', as: 'iago', at: toMessage(2), heard: ['delete_message'] },
    { title: 'between people', as: 'iago', at: toMessage(3), heard: ['delete_message'] },
    {
      title: 'starred by somebody who never received it',
      as: 'iago',
      prepare: ({ server, people, messages }) =>
        server.post('/messages/flags', people.cordelia, { messages: [messages[1]], op: 'add', flag: 'starred' }),
      at: toMessage(1),
      heard: ['delete_message'],
    },
  ],
  'POST /streams/:stream_id/delete_topic': [
    {
      title: 'with what somebody wanted of it',
      as: 'iago',
      prepare: ({ server, people, channels }) =>
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
      title: 'a topic without messages',
      as: 'iago',
      at: ({ channels }) => ({ stream_id: channels.town }),
      params: { topic_name: 'nothing' },
      heard: [],
    },
  ],
  'POST /messages/render': [{ title: 'changes nothing', as: 'hamlet', params: { content: '*hello*' }, heard: [] }],
};
