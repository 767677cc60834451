import {
  type Input,
  type InputContext,
  type Inputs,
  lengthened,
  messageIn,
  newChannels,
  peopleOf,
} from '../input-context.js';
import type { Fields } from '../routes.js';

const CHANNEL_PERMISSIONS = [
  'can_add_subscribers_group',
  'can_remove_subscribers_group',
  'can_administer_channel_group',
  'can_send_message_group',
  'can_subscribe_group',
];
/** Maximum number of subscriptions that one request changes: see docs/limits.md. */
const MAX_CHANGED_SUBSCRIPTIONS = 100_000;
const peopleForAllChannels = (surroundings: InputContext): readonly number[] =>
  peopleOf(surroundings).slice(0, Math.floor(MAX_CHANGED_SUBSCRIPTIONS / surroundings.organization.channelIds.length));
const allChannels = ({ organization }: InputContext) => organization.channelNames.map((name) => ({ name }));
/** Maximum number of people named in the permissions of one request: see docs/limits.md. */
const MAX_HOLDERS = 10_000;
const holders = (surroundings: InputContext): readonly number[] =>
  peopleOf(surroundings).slice(0, Math.floor(MAX_HOLDERS / CHANNEL_PERMISSIONS.length));
const permissionsFor = (surroundings: InputContext): Fields =>
  Object.fromEntries(
    CHANNEL_PERMISSIONS.map((name) => [name, { direct_members: holders(surroundings), direct_subgroups: [] }]),
  );
/** Number of channels with permissions that together reach the limit. */
const channelsWithPermissions = (surroundings: InputContext): number =>
  Math.floor(MAX_HOLDERS / (CHANNEL_PERMISSIONS.length * holders(surroundings).length));
const firstChannel: Input = ({ organization: { channelIds } }) => ({ stream_id: channelIds[0], topic_name: 'topic 1' });
/** Returns a channel to which the caller subscribes, regardless of other requests. */
async function ownChannel({ organization: { channelIds, channelNames }, post }: InputContext): Promise<Fields> {
  await post('/users/me/subscriptions', { subscriptions: [{ name: channelNames[0] }] });
  return { stream_id: channelIds[0] };
}
/** Looks up the id, which the creating operation does not return. */
async function defaultGroup({ n, post }: InputContext): Promise<number> {
  const name = `Made ${n}`;
  await post('/default_stream_groups/create', { group_name: name, description: '', stream_names: [] });
  const { realm_default_stream_groups: groups } = await post('/register', { event_types: ['default_stream_groups'] });
  return (groups as { id: number; name: string }[]).find((group) => group.name === name)!.id;
}

export const INPUTS: Inputs = {
  'GET /streams': {
    'all of them': () => ({
      include_public: true,
      include_subscribed: true,
      include_all: true,
      include_default: true,
      exclude_archived: false,
    }),
  },
  'POST /channels/create': {
    'a small one': ({ n }) => ({ name: `Small ${n}`, subscribers: [] }),
    'one for everybody, with permissions for each of them': (surroundings) => ({
      ...permissionsFor(surroundings),
      name: lengthened(`Created ${surroundings.n} `, 60),
      description: lengthened('', 1024),
      subscribers: peopleOf(surroundings),
      announce: true,
    }),
  },
  'PATCH /streams/:stream_id': {
    'a small one': async ({ makeChannel, n }) => ({ stream_id: await makeChannel(`Small ${n}`), description: 'x' }),
    'a description': async ({ organization: { channelIds }, n, post }) => {
      // It may be the report channel, which must be private.
      await post('/realm', { method: 'PATCH', moderation_request_channel_id: -1 });
      return { stream_id: channelIds[0], description: `About ${n}` };
    },
    'everything of the largest one, with permissions for everybody': (surroundings) => {
      const { organization, n } = surroundings;
      const permissions = Object.entries(permissionsFor(surroundings));
      return {
        stream_id: organization.channelIds[1],
        new_name: lengthened(`Changed ${n} `, 60),
        description: lengthened(`${n} `, 1024),
        is_private: n % 2 === 0,
        topics_policy: n % 2 === 0 ? 'inherit' : 'disable_empty_topic',
        message_retention_days: n + 1,
        ...Object.fromEntries(permissions.map(([name, value]) => [name, { new: value }])),
      };
    },
  },
  'DELETE /streams/:stream_id': {
    'a channel': async ({ n, makeChannel }) => ({ stream_id: await makeChannel(`Archived ${n}`) }),
  },
  'POST /default_streams': { 'a channel': firstChannel },
  'DELETE /default_streams': { 'a channel': firstChannel },
  'POST /default_stream_groups/create': {
    'a small one': ({ n }) => ({ group_name: `Group ${n}`, description: '', stream_names: [] }),
    'of all channels': ({ n, organization: { channelNames } }) => ({
      group_name: lengthened(`Group ${n} `, 60),
      description: lengthened('', 1024),
      stream_names: channelNames.slice(1),
    }),
  },
  'PATCH /default_stream_groups/:group_id': {
    'its description': async (surroundings) => ({
      group_id: await defaultGroup(surroundings),
      new_description: lengthened('', 1024),
    }),
  },
  'PATCH /default_stream_groups/:group_id/streams': {
    'all channels': async (surroundings) => ({
      group_id: await defaultGroup(surroundings),
      op: 'add',
      stream_names: surroundings.organization.channelNames.slice(1),
    }),
  },
  'DELETE /default_stream_groups/:group_id': {
    'a small one': async (surroundings) => ({ group_id: await defaultGroup(surroundings) }),
  },
  'POST /channel_folders/create': {
    'a folder': ({ n }) => ({ name: lengthened(`Folder ${n} `, 60), description: lengthened('*all* ', 1024) }),
  },
  'PATCH /channel_folders': {
    'in any order': () => ({ order: Array.from({ length: 10_000 }, (_, index) => index + 1) }),
  },
  'PATCH /channel_folders/:channel_folder_id': {
    'everything of it': async ({ n, post }) => {
      const { channel_folder_id } = await post('/channel_folders/create', { name: `Changed ${n}` });
      return { channel_folder_id, name: `To ${n}`, description: lengthened('*all* ', 1024), is_archived: true };
    },
  },
  'GET /users/me/subscriptions': {
    'with subscribers': () => ({ include_subscribers: 'true' }),
  },
  'POST /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ subscriptions: [{ name: organization.channelNames[0] }] }),
    'a thousand new channels': (surroundings) => ({ subscriptions: newChannels(surroundings, 1000) }),
    'new channels for everybody': (surroundings) => ({
      subscriptions: newChannels(surroundings, 20),
      principals: peopleOf(surroundings),
      announce: true,
    }),
    'new channels with permissions': (surroundings) => ({
      ...permissionsFor(surroundings),
      subscriptions: newChannels(surroundings, channelsWithPermissions(surroundings)),
    }),
    'all channels': (surroundings) => ({ subscriptions: allChannels(surroundings) }),
    'all channels for everybody': (surroundings) => ({
      subscriptions: allChannels(surroundings),
      principals: peopleForAllChannels(surroundings),
    }),
  },
  'DELETE /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ subscriptions: [organization.channelNames[0]] }),
    'all channels': ({ organization }) => ({ subscriptions: organization.channelNames }),
    'all channels for everybody': (surroundings) => ({
      subscriptions: surroundings.organization.channelNames,
      principals: peopleForAllChannels(surroundings),
    }),
  },
  'PATCH /users/me/subscriptions': {
    'one channel': ({ organization }) => ({ add: [{ name: organization.channelNames[0] }] }),
    'all channels, there and back': (surroundings) => ({
      add: allChannels(surroundings),
      delete: surroundings.organization.channelNames,
    }),
  },
  'POST /users/me/subscriptions/properties': {
    'of one': async (surroundings) => ({
      subscription_data: [{ ...(await ownChannel(surroundings)), property: 'is_muted', value: true }],
    }),
    'a thousand': async (surroundings) => {
      const channel = await ownChannel(surroundings);
      const change = (n: number) => ({ ...channel, property: 'is_muted', value: n % 2 === 0 });
      return { subscription_data: Array.from({ length: 1000 }, (_, n) => change(n)) };
    },
  },
  'PATCH /users/me/subscriptions/:stream_id': {
    'of one': async (surroundings) => ({ ...(await ownChannel(surroundings)), property: 'color', value: '#123456' }),
  },
  'PATCH /users/me/subscriptions/muted_topics': {
    'a topic': ({ organization: { channelIds }, n }) => ({ stream_id: channelIds[0], topic: `${n}`, op: 'add' }),
  },
  'POST /user_topics': {
    'a topic': ({ organization: { channelIds }, n }) => ({
      stream_id: channelIds[0],
      topic: `${n}`,
      visibility_policy: 3,
    }),
  },
  'GET /get_stream_id': {
    'a channel': ({ organization }) => ({ stream: organization.channelNames[0] }),
  },
  'GET /json/users/me/:stream_id/topics': {
    'a web-public one': ({ webPublicChannelId }) => ({ stream_id: webPublicChannelId }),
  },
  'POST /streams/:stream_id/delete_topic': {
    'a new one': async (surroundings) => {
      await messageIn(surroundings, 'new');
      return { stream_id: surroundings.organization.channelIds[0], topic_name: 'new' };
    },
    'a topic': ({ organization: { channelIds } }) => ({ stream_id: channelIds[0], topic_name: 'topic 50' }),
  },
  'POST /mark_stream_as_read': { 'a channel': firstChannel },
  'POST /mark_topic_as_read': { 'a topic': firstChannel },
};
