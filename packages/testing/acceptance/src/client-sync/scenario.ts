import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Successful call of an operation and the events that clients receive. */
export interface Scenario {
  readonly title: string;
  /** True for a page at the root. */
  readonly isPage?: boolean;
  /** Null for an anonymous caller. */
  readonly as: WorldPerson | null;
  /** Runs before the clients register. */
  readonly prepare?: ((world: World) => Promise<unknown>) | undefined;
  /** Multipart body instead of parameters. */
  readonly body?: Buffer | string | ((world: World) => string);
  /** Request headers; by default those of a multipart form if there is a body. */
  readonly headers?: Readonly<Record<string, string>> | ((world: World) => Readonly<Record<string, string>>);
  /** Status of a response that does not have the standard format. */
  readonly status?: number;
  readonly params?: Fields | ((world: World) => Fields | Promise<Fields>);
  /** Values of the route's path parameters. */
  readonly at?: (world: World) => Fields | Promise<Fields>;
  /** `type/op` of every event that any client receives. */
  readonly heard: readonly string[];
}

/** Scenarios by route. */
export type Scenarios = Readonly<Record<string, readonly Scenario[]>>;

export const MESSAGE = ['message'];

export const FLAGS_ADDED = ['update_message_flags/add'];

/** Senders follow topics that they start (messages §4.4). */
export const FOLLOWED = ['muted_topics', 'user_topic'];

export const CREATED = ['stream/create'];

export const HIDDEN = ['stream/delete'];

/** Events for a user who becomes accessible. */
export const ACQUAINTED = ['realm_user/add'];

export const LOST = ['realm_user/remove'];

export const toTown =
  (topic: string) =>
  ({ channels }: World): Fields => ({ type: 'channel', to: channels.town, topic });

export const SMILE = { emoji_name: 'smile' };

export const toMessage =
  (index: number) =>
  ({ messages }: World): Fields => ({ message_id: messages[index] });

export const systemGroups = ({ server }: Pick<World, 'server'>) => server.systemGroups();

export function twoDrafts({ channels }: World): Fields {
  const draft = { type: 'stream', to: [channels.town], topic: 'news', content: 'to be continued' };
  return { drafts: [draft, { ...draft, timestamp: 5 }] };
}

export function keepDraft(world: World): Promise<unknown> {
  return world.server.post('/drafts', world.people.hamlet, twoDrafts(world));
}

/** Makes a group of default channels, unless there is one. */
export function addGroup({ server, people }: World): Promise<unknown> {
  const params = { group_name: 'outdoors', description: 'd', stream_names: ['town'] };
  return server.post('/default_stream_groups/create', people.iago, params);
}
