import type { ChannelId, GroupId, MessageId, UserId } from '@parley/domain/kernel';
import type { Route } from '@parley/http';
import type { TestServer, TestUser } from './test-server.js';

/** Contents of an organization by wire ids. */
export interface Contents {
  readonly userIds: readonly UserId[];
  readonly emails: readonly string[];
  readonly channelIds: readonly ChannelId[];
  readonly channelNames: readonly string[];
  readonly groupIds: readonly GroupId[];
  readonly messageIds: readonly MessageId[];
  /** Path parts that end file URLs. */
  readonly pathIds: readonly string[];
  readonly realmId: number;
}

/** Status and body by path and parameters. */
type Responses = Readonly<Record<string, unknown>>;

type Asked = readonly [path: string, params?: object];

const pairs = <A, B>(first: readonly A[], second: readonly B[]): readonly (readonly [A, B])[] =>
  first.flatMap((a) => second.map((b) => [a, b] as const));

const PAGE = { anchor: 'newest', num_before: 1000, num_after: 0, allow_empty_topic_name: true };
const narrowed = (operator: string, operand: unknown): Asked => [
  '/messages',
  { ...PAGE, narrow: [{ operator, operand }] },
];

/** Values of path parameters by name. */
const PATH_VALUES: Readonly<Record<string, (contents: Contents) => readonly (number | string)[]>> = {
  message_id: ({ messageIds }) => messageIds,
  stream_id: ({ channelIds }) => channelIds,
  user_id: ({ userIds }) => userIds,
  user_id_or_email: ({ userIds }) => userIds,
  user_group_id: ({ groupIds }) => groupIds,
};

const namesIn = (path: string): readonly string[] => [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => name!);

/** Returns the path filled with every combination of values. */
const filled = (path: string, contents: Contents): readonly string[] =>
  namesIn(path).reduce<readonly string[]>(
    (paths, name) =>
      paths.flatMap((each) => PATH_VALUES[name]!(contents).map((value) => each.replace(`:${name}`, String(value)))),
    [path],
  );

/** Requests that cover all contents, for read operations with more parameters than `PATH_VALUES` has. */
const ASKED: Readonly<Record<string, (contents: Contents) => readonly Asked[]>> = {
  '/messages': ({ channelIds }) => [
    ['/messages', { ...PAGE, narrow: [] }],
    ['/messages', { ...PAGE, narrow: [], apply_markdown: false }],
    narrowed('channels', 'public'),
    ...channelIds.map((id) => narrowed('channel', id)),
    ...['dm', 'starred', 'mentioned', 'unread', 'alerted', 'resolved', 'followed', 'muted'].map((it) =>
      narrowed('is', it),
    ),
    ...['link', 'image', 'attachment', 'reaction'].map((it) => narrowed('has', it)),
    narrowed('search', 'welcome'),
    narrowed('sender', 'hamlet@zulip.com'),
  ],
  '/messages/matches_narrow': ({ messageIds }) => [
    ['/messages/matches_narrow', { msg_ids: messageIds, narrow: [{ operator: 'has', operand: 'link' }] }],
  ],
  // Temporary URLs contain a key, so only the bytes are compared.
  '/user_uploads/:realm_id/*filename': ({ pathIds }) =>
    pathIds.flatMap((path) => [
      [`//user_uploads/${path}`] as const,
      [`//user_uploads/thumbnail/${path}/840x560.webp`] as const,
    ]),
  '/streams': () => [['/streams', { include_all: true, include_subscribed: true, include_default: true }]],
  '/get_stream_id': ({ channelNames }) => channelNames.map((stream) => ['/get_stream_id', { stream }]),
  '/users/me/subscriptions': () => [['/users/me/subscriptions', { include_subscribers: true }]],
  '/channel_folders': () => [['/channel_folders', { include_archived: true }]],
  '/users/me/:stream_id/topics': ({ channelIds }) =>
    channelIds.map((id) => [`/users/me/${id}/topics`, { allow_empty_topic_name: true }]),
  '/users': () => [['/users', { include_custom_profile_fields: true, client_gravatar: false }]],
  '/users/:user_id': ({ userIds }) =>
    userIds.map((id) => [`/users/${id}`, { include_custom_profile_fields: true, client_gravatar: false }]),
  '/users/:email': ({ emails }) => emails.map((email) => [`/users/${email}`, { client_gravatar: false }]),
  '/user_groups': () => [['/user_groups', { include_deactivated_groups: true }]],
  '/user_groups/:user_group_id/members/:user_id': ({ groupIds, userIds }) =>
    pairs(groupIds.slice(-2), userIds).map(([group, user]) => [`/user_groups/${group}/members/${user}`]),
};

/**
 * Operations with responses that are not exported or independent of the organization: secrets, sessions, transient
 * state.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  '/openapi.json',
  '/dev_list_users',
  '/events',
  '/events/stream',
  // A check of the credentials alone.
  '/external/:integration',
  '/tus/*path_id',
  '/streams/:stream_id/email_address',
  '/bots/:bot_id/api_key',
  // Sessions are not exported.
  '/users/me/sessions',
  '/users/:user_id/sessions',
  '/export/realm',
  '/export/users',
  '/export/users/:export_id/archive',
  // The audit log and holds are not exported.
  '/audit',
  '/audit/csv',
  '/holds',
  // The list of imports is not exported.
  '/realm/imports',
  '/invites',
  '/calls/bigbluebutton/create',
  // Redirects to pictures, which browsers load without the API.
  '/realm/icon',
  '/realm/logo',
]);

const readsOf = (routes: readonly Route[]): readonly string[] =>
  routes
    .filter(({ method, atRoot }) => method === 'GET' && !atRoot)
    .map(({ path }) => path)
    .filter((path) => !(path in ASKED) && !LEFT_OUT.has(path));

/** Returns read operations with path parameters for which no values exist. */
export const forgottenReads = (routes: readonly Route[]): readonly string[] =>
  readsOf(routes).filter((path) => namesIn(path).some((name) => !(name in PATH_VALUES)));

export async function contentsOf({ storage, realmId }: TestServer): Promise<Contents> {
  return storage.uow.read(realmId, async (reads) => {
    const entries = await reads.users.listEntries(realmId);
    const users = await reads.users.list(
      realmId,
      entries.map(({ id }) => id),
    );
    const channels = await reads.channels.listAll(realmId);
    const files = await Promise.all(users.map(({ id }) => reads.files.list(realmId, id, 0, 100)));
    return {
      realmId,
      userIds: users.map(({ id }) => id),
      emails: users.map(({ email }) => email),
      channelIds: channels.map(({ id }) => id),
      channelNames: channels.map(({ name }) => name),
      groupIds: (await reads.groups.listNamed(realmId)).map(({ id }) => id),
      messageIds: (await reads.copies.listMessageIds(realmId, 0, 1000)).ids,
      pathIds: files.flat().map(({ pathId }) => pathId),
    };
  });
}

/** Returns responses of every read operation to a user, by path and parameters. */
export function everyResponse(server: TestServer, as: TestUser, contents: Contents): Promise<Responses> {
  return responsesOf(server, as, contents, [...Object.keys(ASKED), ...readsOf(server.parley.routes)]);
}

/** Returns responses of some read operations, named by route paths, to a user. */
export async function responsesOf(
  server: TestServer,
  as: TestUser,
  contents: Contents,
  operations: readonly string[],
): Promise<Responses> {
  const responses: Record<string, unknown> = {};
  const requests = operations.flatMap(
    (path) => ASKED[path]?.(contents) ?? filled(path, contents).map((each): Asked => [each]),
  );
  for (const [path, params] of requests) {
    const { status, body } = await server.get(path, as, { ...params });
    responses[`${path} ${JSON.stringify(params ?? {})}`] = { status, body };
  }
  return responses;
}
